//! Why a request is no delivery.

use http::StatusCode;

/// A request that was turned away before anything of its body was read as data. Its text is what the sender may see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not signed by the forge. Outside, all causes look alike; the cause is for the log.
    #[error("the signature does not hold")]
    Unauthenticated(SignatureFault),
    /// Signed, and sent in an encoding that hides the JSON (R5).
    #[error(
        "this hook must send `application/json`, and it sent {found}; in the settings of the GitHub App or of the hook set \
         the content type to `application/json`"
    )]
    ContentType {
        /// What the header said, cut short.
        found: String,
    },
    /// Signed, and without a header that every delivery carries, or with one that cannot be (R6).
    #[error("the header {name} {problem}")]
    Header {
        /// The header's name.
        name: &'static str,
        /// What is wrong with it.
        problem: HeaderFault,
    },
}

impl Refusal {
    /// What the sender is answered with.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Unauthenticated(_) => StatusCode::UNAUTHORIZED,
            Self::ContentType { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Header { .. } => StatusCode::BAD_REQUEST,
        }
    }
}

/// What was wrong with a signature. For the log; the sender is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFault {
    /// No header: the hook has no secret, or somebody else is knocking.
    Missing,
    /// More than one header.
    Repeated,
    /// Not `sha256=` and 64 lower-case hexadecimal digits.
    Shape,
    /// No active secret makes this digest over these bytes: another secret, or a proxy that changed the body.
    Mismatch,
}

impl SignatureFault {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::Shape => "not sha256= and 64 lower-case hexadecimal digits",
            Self::Mismatch => "made with no active secret over these bytes",
        }
    }
}

/// What was wrong with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// It is not there.
    #[error("is missing")]
    Missing,
    /// It is there more than once.
    #[error("is there more than once")]
    Repeated,
    /// Its value cannot be one.
    #[error("has a value that no forge sends")]
    Value,
}
