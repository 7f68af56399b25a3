//! The only place that starts a pull request's code; brings back facts and judges nothing.
//!
//! [`open`] makes the [`Sandbox`] of the operator's configuration, and [`Sandbox::run`] runs one [`Order`] in it. [`check`] tries
//! everything that it promises; [`proven`] is an [`open`] that tries all of it first, for a process that starts.
//!
//! Deliberately absent: a way to run without a sandbox, a second backend that is taken when the first one is not to be had, and
//! anything of the pull request that could say how the sandbox is made.

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod check;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod filter;
mod line;
mod order;
#[cfg(target_os = "linux")]
mod owner;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
mod usage;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod why;

#[cfg(target_os = "linux")]
pub use bubblewrap::open;
#[cfg(target_os = "linux")]
pub use check::{check, proven};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{check, open, proven};
pub use line::Line;
pub use order::{Ended, FROM_SUBJECT, Limits, Mount, Order, Outcome, Sandbox, SandboxError, TO_SUBJECT};
