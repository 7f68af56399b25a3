//! Why a command could not do what it was asked.

/// A failure of the command itself; never a verdict. The text is one sentence, or a drawing with a caret for a policy.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong usage: a revision or a folder that is not there.
    #[error("{0}")]
    Usage(String),
    /// An input file that is not what it should be.
    #[error("{0}")]
    BadInput(String),
    /// A forge or a database out of reach.
    #[error("{0}")]
    OutOfReach(String),
    /// A fault of ours.
    #[error("{0}")]
    Ours(String),
    /// A file that cannot be read or written.
    #[error("{doing} {path}: {source}")]
    InputOutput {
        /// `cannot read` or `cannot write`.
        doing: &'static str,
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl Failure {
    /// What the command exits with (DESIGN section 9).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 64,
            Self::BadInput(_) => 65,
            Self::OutOfReach(_) => 69,
            Self::Ours(_) => 70,
            Self::InputOutput { .. } => 74,
        }
    }

    /// A file that cannot be written.
    pub(crate) fn write(path: impl std::fmt::Display, source: std::io::Error) -> Self {
        Self::InputOutput { doing: "cannot write", path: path.to_string(), source }
    }

    /// A file that cannot be read.
    pub(crate) fn read(path: impl std::fmt::Display, source: std::io::Error) -> Self {
        Self::InputOutput { doing: "cannot read", path: path.to_string(), source }
    }
}
