//! Where symbolic links point, by their text alone.

use std::collections::BTreeMap;

use crate::change::{BytePath, Mode, PathChange, Side};
use crate::evidence::{Blob, Blobs};
use crate::words::ObjectId;

/// A chain of links longer than this is given up, as operating systems do.
const LONGEST_CHAIN: usize = 40;

/// The blobs that hold the targets of symbolic links which the change adds or edits: they must be read before
/// [`paths_to_look_up`] can be asked.
pub fn symlink_blobs(rows: &[PathChange]) -> impl Iterator<Item = &ObjectId> {
    links(rows).map(|side| &side.blob)
}

/// Every path whose namesakes in the tree of the base tip the oracles must know (see [`super::Twin`]): the head's side of every row,
/// and whatever the symbolic links of the change point to. Sorted, without doubles.
pub fn paths_to_look_up(rows: &[PathChange], blobs: &Blobs) -> Vec<BytePath> {
    let targets = Targets::of(rows, blobs);
    let mut paths: Vec<BytePath> =
        rows.iter().filter_map(|row| row.new.as_ref()).map(|side| side.path.clone()).collect();
    for side in links(rows) {
        if let Target::Inside(path) = targets.resolve(&side.path) {
            paths.push(path);
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn links(rows: &[PathChange]) -> impl Iterator<Item = &Side> {
    rows.iter().filter_map(|row| row.new.as_ref()).filter(|side| side.mode == Mode::SYMLINK)
}

/// What a symbolic link of the change points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A path of the repository.
    Inside(BytePath),
    /// The repository's root folder itself, so everything in it.
    Root,
    /// A path outside the repository, an absolute one, or one that never ends.
    Outside,
    /// The link's text was not read.
    Unknown,
}

/// The links of a change and their texts.
pub(super) struct Targets<'a>(BTreeMap<&'a [u8], Option<&'a [u8]>>);

impl<'a> Targets<'a> {
    /// Collects the links that the change adds or edits.
    pub(super) fn of(rows: &'a [PathChange], blobs: &'a Blobs) -> Self {
        Self(
            links(rows)
                .map(|side| {
                    let text = match blobs.get(&side.blob) {
                        Some(Blob::Whole(bytes)) => Some(&**bytes),
                        Some(Blob::TooLarge(_) | Blob::Missing) | None => None,
                    };
                    (side.path.as_bytes(), text)
                })
                .collect(),
        )
    }

    /// Follows the link at `path`, and every link of the change that it leads to, through names alone. Links that the base already
    /// has are not followed here: they come back as [`super::Twin`]s.
    pub(super) fn resolve(&self, path: &BytePath) -> Target {
        let mut path = path.as_bytes().to_vec();
        for _ in 0..LONGEST_CHAIN {
            let Some((at, text)) = self.first_link(&path) else { return Target::Inside(BytePath::new(path)) };
            let Some(text) = text else { return Target::Unknown };
            let rest = path.get(at..).unwrap_or_default().to_vec();
            let folder = path[..at].iter().rposition(|byte| *byte == b'/').map_or(&[][..], |slash| &path[..slash]);
            match join(folder, text, &rest) {
                None => return Target::Outside,
                Some(joined) if joined.is_empty() => return Target::Root,
                Some(joined) => path = joined,
            }
        }
        Target::Outside
    }

    /// The shortest leading part of `path` that is a link of the change: where it ends, and the link's text.
    fn first_link(&self, path: &[u8]) -> Option<(usize, Option<&'a [u8]>)> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.chain([path.len()]).find_map(|end| Some((end, *self.0.get(&path[..end])?)))
    }
}

/// `folder/text/rest` without `.` and `..`; `None` when it is absolute or leaves the repository.
fn join(folder: &[u8], text: &[u8], rest: &[u8]) -> Option<Vec<u8>> {
    if text.first() == Some(&b'/') {
        return None;
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in [folder, text, rest].into_iter().flat_map(|piece| piece.split(|byte| *byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join(&b'/'))
}
