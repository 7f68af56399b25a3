//! The only place that starts a pull request's code; brings back facts and judges nothing.
//!
//! [`open`] makes the [`Sandbox`] of the operator's configuration, and [`Sandbox::run`] runs one [`Order`] in it. [`check`] tries
//! everything that it promises; [`proven`] is an [`open`] that tries all of it first, for a process that starts.
//!
//! Deliberately absent: a way to run without a sandbox, a second backend that is taken when the first one is not to be had, and
//! anything of the pull request that could say how the sandbox is made.

mod arguments;
mod bubblewrap;
mod check;
mod filter;
mod order;
mod owner;
mod spawn;
mod system;
mod usage;
mod watch;
mod why;

pub use bubblewrap::open;
pub use check::{Line, check, proven};
pub use order::{Ended, FROM_SUBJECT, Limits, Mount, Order, Outcome, Sandbox, SandboxError, TO_SUBJECT};
