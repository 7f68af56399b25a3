//! `evidence-gate policy lint`: what a maintainer would want to be told about a policy that can be read.
//!
//! Each remark has a line of the policy and a next step. Deliberately absent: whether the file is a policy at all, which is
//! `policy check`, and anything that is right or wrong by taste.

mod command;
mod files;
mod patterns;
mod remark;

pub use command::{LintArgs, LintFormat};
pub(super) use command::{committed, lint};
