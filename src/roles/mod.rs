//! The processes: `receive` (public, webhook secrets), `work` (forge credentials, no public port), `web` (pages,
//! reads the store), `serve` (their parent).
//!
//! Deliberately absent: judgement. A role wires rooms together, owns the clock and the signals, and nothing else.

mod clock;
mod error;
mod receive;
mod serve;
mod signals;
mod start;
mod telemetry;
mod uploads;
mod web;
mod work;

pub use clock::now;
pub use error::RoleError;
pub use start::{RoleArgs, WorkArgs, run_receive, run_serve, run_web, run_work};
