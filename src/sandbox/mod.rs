//! The only place that starts a pull request's code; brings back facts and judges nothing.

mod order;

pub use order::{Ended, Limits, Mount, Order, Outcome, Sandbox, SandboxError};
