//! Why a try at a job did not end well, and what is to be done about it.

use std::time::Duration;

use crate::forge::ForgeError;
use crate::queue::QueueError;

/// Every failure of a job answers one question: try again, or give up.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Try again, not before `after`.
    #[error("{why}")]
    Retry {
        /// What went wrong, in one line, without secrets.
        why: String,
        /// How long to wait at least; the queue's own back-off may be longer.
        after: Duration,
    },
    /// It will not work by trying again.
    #[error("{why}")]
    GiveUp {
        /// What is missing.
        why: String,
    },
    /// The lease went to somebody else: nothing more may be done under it.
    #[error("the lease was lost")]
    LeaseLost,
    /// The queue failed; the lease will run out and the job is taken up again.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

impl Failure {
    /// A failure that is worth another try soon.
    pub(super) fn retry(why: impl Into<String>) -> Self {
        Self::Retry { why: why.into(), after: Duration::ZERO }
    }
}

impl From<ForgeError> for Failure {
    fn from(error: ForgeError) -> Self {
        let why = error.to_string();
        match error {
            ForgeError::Retry { after, .. } => Self::Retry { why, after },
            ForgeError::GiveUp { .. } | ForgeError::NotFound { .. } => Self::GiveUp { why },
        }
    }
}
