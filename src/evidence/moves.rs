//! Files that moved as they were: one row that deletes and one that adds the same bytes.

use std::collections::BTreeMap;

use super::ClassedRow;
use crate::change::{BytePath, Status};
use crate::words::ObjectId;

/// A file that moved without a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move<'a> {
    /// Where it was.
    pub(super) from: &'a BytePath,
    /// Where it is.
    pub(super) to: &'a BytePath,
}

/// Pairs deleted with added files of the same bytes, each file once; files that keep their name are paired first. The order of the
/// rows does not matter.
pub(super) fn moves<'a>(rows: &'a [ClassedRow<'a>], concerns: impl Fn(&ClassedRow<'a>) -> bool) -> Vec<Move<'a>> {
    let mut blobs: BTreeMap<&ObjectId, (Vec<&BytePath>, Vec<&BytePath>)> = BTreeMap::new();
    for row in rows.iter().filter(|row| concerns(row)) {
        match (row.row.status, &row.row.old, &row.row.new) {
            (Status::Deleted, Some(old), None) if old.mode.is_file() => {
                blobs.entry(&old.blob).or_default().0.push(&old.path);
            }
            (Status::Added, None, Some(new)) if new.mode.is_file() => {
                blobs.entry(&new.blob).or_default().1.push(&new.path);
            }
            _ => {}
        }
    }
    let mut moves = Vec::new();
    for (mut gone, mut come) in blobs.into_values() {
        gone.sort();
        come.sort();
        for same_name in [true, false] {
            gone.retain(|from| {
                let fits = |to: &&BytePath| !same_name || file_name(from) == file_name(to);
                let Some(at) = come.iter().position(fits) else { return true };
                moves.push(Move { from, to: come.remove(at) });
                false
            });
        }
    }
    moves
}

/// A move of a test file after which it is still a test: its ending is the same, and its name still says that it is one if it did.
/// Otherwise a runner may no longer find it, and it is as good as gone.
pub(super) fn stays_a_test(moved: &Move<'_>) -> bool {
    ending(moved.from) == ending(moved.to) && (!says_test(moved.from) || says_test(moved.to))
}

pub(super) fn file_name(path: &BytePath) -> &[u8] {
    path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

fn ending(path: &BytePath) -> Option<&[u8]> {
    let name = file_name(path);
    name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot..])
}

fn says_test(path: &BytePath) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    name.windows(4).any(|part| part == b"test" || part == b"spec")
}
