//! What the lock's oracle may know.

use std::collections::HashMap;

use super::Lock;
use crate::change::{BytePath, PathChange, Sha256, TreeFile};
use crate::words::ObjectId;

/// The fixture lock of the base's tip, or the operator's, and the trees that it is held against.
#[derive(Clone, Debug, Default)]
pub enum LockFacts {
    /// Neither the base's tip nor the operator has one.
    #[default]
    Absent,
    /// There is one, and it cannot be read: where, and why in one line.
    Unreadable {
        /// Where it is.
        origin: String,
        /// What is wrong with it.
        why: String,
    },
    /// It was read.
    Read {
        /// Where it is.
        origin: String,
        /// What it lists.
        lock: Lock,
        /// What it is held against.
        trees: LockedTrees,
    },
}

/// The trees that a lock is held against, as far as it speaks about them.
#[derive(Clone, Debug)]
pub struct LockedTrees {
    /// What the base's tip holds.
    pub base: LockedBase,
    /// Every row between the base's tip and the merged tree; `None` when there is no merged tree.
    pub merged: Option<Vec<PathChange>>,
    /// sha256 of every blob that a locked path has on either side.
    pub digests: HashMap<ObjectId, Sha256>,
}

/// What the base's tip holds of what a lock lists.
#[derive(Clone, Debug)]
pub enum LockedBase {
    /// Every listed file is there with its bytes: found by an earlier run, and nothing that is listed changed since.
    Fulfils,
    /// Its files below every folder that holds a locked file, sorted by path; more do not matter.
    Listed(Vec<TreeFile>),
}

impl LockedTrees {
    /// Whether the base's tip holds every listed file with its bytes.
    pub fn base_fulfils(&self, lock: &Lock) -> bool {
        self.stale(lock).is_empty()
    }
}

/// Whether one of the rows, on either side, is at a listed path.
pub fn touches(lock: &Lock, rows: &[PathChange]) -> bool {
    rows.iter().flat_map(PathChange::paths).any(|path| lock.at(path).is_some())
}

/// More folders than this are not named one by one: the whole tree is listed at less cost.
const MOST_FOLDERS: usize = 20;

/// The folders in which every locked file lies, for listing the base's tree; empty for the whole tree.
pub fn folders_to_list(lock: &Lock) -> Vec<BytePath> {
    let mut folders: Vec<&[u8]> = Vec::new();
    for locked in &lock.files {
        let path = locked.path.as_bytes();
        let Some(slash) = path.iter().rposition(|byte| *byte == b'/') else { return Vec::new() };
        let folder = &path[..slash];
        let below =
            |outer: &[u8]| folder == outer || folder.strip_prefix(outer).is_some_and(|rest| rest.starts_with(b"/"));
        // Paths are sorted, so what covers this one mostly came just before.
        if !folders.iter().rev().any(|outer| below(outer)) {
            folders.push(folder);
            if folders.len() > MOST_FOLDERS {
                return Vec::new();
            }
        }
    }
    folders.into_iter().map(BytePath::new).collect()
}

/// The blobs whose sha256 the oracle must know: what stands at locked paths, before and after the change. Sorted, without doubles.
pub fn blobs_to_hash(lock: &Lock, base: &LockedBase, merged: Option<&[PathChange]>) -> Vec<ObjectId> {
    let mut ids = Vec::new();
    if let LockedBase::Listed(files) = base {
        let mut files = files.iter().peekable();
        for locked in lock.files.iter().filter(|locked| locked.digest.is_some()) {
            while files.next_if(|file| file.path < locked.path).is_some() {}
            ids.extend(
                files.peek().filter(|file| file.path == locked.path && file.mode.is_file()).map(|file| file.id.clone()),
            );
        }
    }
    for side in merged.into_iter().flatten().filter_map(|row| row.new.as_ref()).filter(|side| side.mode.is_file()) {
        if lock.at(&side.path).is_some_and(|locked| locked.digest.is_some()) {
            ids.push(side.blob.clone());
        }
    }
    ids.sort_unstable();
    ids.dedup();
    ids
}
