//! What a trial of the sandbox shows.

/// What one trial showed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Line {
    /// What was tried, in one word.
    pub check: &'static str,
    /// Whether the promise holds.
    pub holds: bool,
    /// What was seen.
    pub said: String,
    /// What forbids it and how it is allowed; empty where the promise holds.
    pub next: String,
}

impl Line {
    #[cfg(target_os = "linux")]
    pub(super) fn ok(check: &'static str, said: impl Into<String>) -> Self {
        Self { check, holds: true, said: said.into(), next: String::new() }
    }

    pub(super) fn fault(check: &'static str, said: impl Into<String>, next: impl Into<String>) -> Self {
        Self { check, holds: false, said: said.into(), next: next.into() }
    }
}
