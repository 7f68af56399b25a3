//! Exact shas -> [`Change`]: git objects, raw name-status. The only place that starts git.
//!
//! Deliberately absent: nothing is checked out, no rename is guessed, no path is turned into lossy text, no configuration,
//! attribute, hook or filter of a repository is obeyed.

mod fold;
mod path;
mod row;

pub use fold::{fold, fold_text};
pub use path::BytePath;
pub use row::{Change, Mode, PathChange, Side, Status};
