//! `evidence-gate init`: a first policy for a repository, made of what git holds, and what it would have said of the last changes.
//!
//! Deliberately absent: anything that overwrites a file, and anything that reads the working copy's contents: what is looked at is
//! the tree of HEAD.

mod command;
mod detect;
mod draft;
mod example;
mod say;
mod write;

pub use command::{InitArgs, init};
pub(super) use detect::{ecosystem_of, is_vendored};
