//! The clock of a process. Everything else gets the time as an argument.

use jiff::Timestamp;

/// The time now.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn now() -> Timestamp {
    Timestamp::now()
}
