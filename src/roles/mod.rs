//! The processes: `receive` (public, webhook secrets), `work` (forge credentials, no public port), `serve` (their parent).
//!
//! Deliberately absent: judgement. A role wires rooms together, owns the clock and the signals, and nothing else.

mod clock;
mod serve;
mod signals;
mod telemetry;

pub use clock::now;
pub use serve::serve;
pub use signals::{stop_on_signal, stop_with_parent};
pub use telemetry::start as start_logging;
