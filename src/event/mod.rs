//! [`Delivery`](crate::delivery::Delivery) -> [`Trigger`]: pure; ignores what is not ours and says why.
//!
//! Deliberately absent: no I/O, no clock, no log. A trigger is a request to look at the present state of a pull request;
//! nothing that a delivery says is taken for the state itself.

mod command;
mod errand;
mod github;
mod life;
mod malformed;
mod parse;
mod shape;
mod trigger;

pub use command::{Command, command};
pub use errand::{Errand, Task, Way};
pub use malformed::{JsonFault, Malformed};
pub use parse::parse;
pub use trigger::{Cause, Event, Ignored, Trigger};
