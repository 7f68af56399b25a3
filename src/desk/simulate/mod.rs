//! `evidence-gate simulate`: what a policy would have said of changes that were merged, before anything is enforced.
//!
//! Every change is asked of the same pipeline as by `score`. Deliberately absent: a judgement of its own. Where a simulation runs
//! nothing, the finding that says so is not counted, and the report says what was not run.

mod advice;
mod ask;
mod command;
mod html;
mod json;
mod markdown;
mod outcome;
mod pool;
mod summary;
mod text;

pub(super) use advice::pattern;
pub(super) use ask::{Ask, run};
pub(super) use command::progress;
pub use command::{SimulateArgs, SimulateFormat, simulate};
pub(super) use text::report as text;
