//! Exact shas -> [`Change`]: git objects, raw name-status. The only place that starts git.
//!
//! [`Git`] reads a repository: one on this machine, or a [`Mirror`] of a forge's that was filled before. Everything here
//! blocks; an async caller puts it on a blocking thread.
//!
//! Deliberately absent: no working copy is made or read ([`Git::export`] writes a tree's bytes and nothing else), no rename is guessed, no path is turned into lossy text, no configuration,
//! attribute, hook or filter of a repository is obeyed.

mod error;
mod export;
mod fold;
mod git;
mod history;
mod listing;
mod messages;
mod mirror;
mod objects;
mod path;
mod people;
mod process;
mod raw;
mod row;
mod sha256;
mod twins;

pub use error::{GitError, Remedy};
pub use fold::{fold, fold_text};
pub use git::{Compared, Git, Limits, Merged, require_git};
pub use history::{Ancestors, Line};
pub use listing::TreeFile;
pub use mirror::{Mirror, Want};
pub use objects::{Blob, Entry};
pub use path::BytePath;
pub use people::{Signature, Signed};
pub use raw::{NotRaw, parse_raw};
pub use row::{Change, Mode, PathChange, Side, Status};
pub use sha256::{NotASha256, Sha256};
pub use twins::Twin;
