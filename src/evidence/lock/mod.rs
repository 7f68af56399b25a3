//! The fixture lock: sha256 of every input file that the oracles may read (DESIGN 4.2).
//!
//! Read in three spellings, written in one: the text of `sha256sum`. Deliberately absent: files. Which bytes a path has comes in as
//! a fact, from git objects and never from a working copy.

mod facts;
mod judge;
mod line;
mod parse;

pub use facts::{LockFacts, LockedBase, LockedTrees, blobs_to_hash, folders_to_list, touches};
pub(super) use judge::{LockOracle, Unfulfilled, added_beside, unfulfilled};
pub use line::{checked_name, line};
pub use parse::{LARGEST_LOCK, Lock, LockError, Locked, Spelling, parse};
