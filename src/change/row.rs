//! What changed, row by row.

use crate::change::BytePath;
use crate::words::{BaseSha, HeadSha, MergeBase, ObjectId};

/// All that changed between the merge base and the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Tip of the target branch.
    pub base: BaseSha,
    /// Tip of the pull request.
    pub head: HeadSha,
    /// Their one common ancestor.
    pub merge_base: MergeBase,
    /// The tree that merging head into base makes; `None` when they conflict, or when git could not make it.
    pub merged_tree: Option<ObjectId>,
    /// Rows in git's order. No renames: a moved file is one row that deletes and one that adds.
    pub rows: Vec<PathChange>,
}

/// One row of name-status between merge base and head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// What happened.
    pub status: Status,
    /// The path on the merge base's side; `None` when it is new.
    pub old: Option<Side>,
    /// The path on the head's side; `None` when it is gone.
    pub new: Option<Side>,
}

impl PathChange {
    /// The path that names the row: the head's, or the old one where the file is gone.
    pub fn path(&self) -> &BytePath {
        match (&self.new, &self.old) {
            (Some(side), _) | (None, Some(side)) => &side.path,
            (None, None) => unreachable!("a row has at least one side; the parser makes no other"),
        }
    }

    /// Every name that the row touches: one, or two for a rename.
    pub fn paths(&self) -> impl Iterator<Item = &BytePath> {
        let old = self.old.as_ref().map(|s| &s.path);
        let new = self.new.as_ref().map(|s| &s.path).filter(|new| Some(*new) != old);
        old.into_iter().chain(new)
    }
}

/// A path on one side of the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Where.
    pub path: BytePath,
    /// What kind of entry.
    pub mode: Mode,
    /// Its object; a commit of another repository for a submodule.
    pub blob: ObjectId,
}

/// The letter of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// `A`
    Added,
    /// `M`: bytes, mode, or both.
    Modified,
    /// `D`
    Deleted,
    /// `T`: file, symlink and submodule changed into each other.
    TypeChanged,
    /// Any other letter, kept so that it can be named: it is never judged as one of the above.
    Unparsed(u8),
}

impl Status {
    /// The letter as git prints it.
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
            Self::TypeChanged => 'T',
            Self::Unparsed(letter) => char::from(letter),
        }
    }
}

/// The mode of a tree entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode(pub u32);

impl Mode {
    /// An ordinary file.
    pub const FILE: Self = Self(0o100_644);
    /// A file that may be run.
    pub const EXECUTABLE: Self = Self(0o100_755);
    /// A symbolic link; its blob is the target.
    pub const SYMLINK: Self = Self(0o120_000);
    /// A submodule.
    pub const SUBMODULE: Self = Self(0o160_000);
    /// A folder.
    pub const TREE: Self = Self(0o040_000);

    /// Whether the entry is a file, executable or not.
    pub fn is_file(self) -> bool {
        self.0 & 0o170_000 == 0o100_000
    }
}

impl std::fmt::Display for Mode {
    /// Six octal digits, as git prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:06o}", self.0)
    }
}
