//! sha256 of blobs that were hashed before, in one file.
//!
//! A blob's id names its bytes, so what was hashed once holds for ever. The file is ours alone: it lies in the data directory of a
//! worker, or in the cache folder of whoever runs the command line, and whoever can write there can replace this program as well. One
//! that is damaged is not believed. Two runs at once keep what the later one knows; that costs time, and never an answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracing::warn;

use super::whole;
use crate::change::Sha256;
use crate::words::{ObjectId, RepoRef};

/// Where a worker keeps the digests of a repository's blobs: a file of its own for each.
pub fn known_digests(data_dir: &Path, repository: &RepoRef) -> PathBuf {
    data_dir.join("digests").join(repository.forge.as_str()).join(repository.id.to_string())
}

/// What the file begins with; the sha256 of all that follows stands behind it.
const HEAD: &str = "evidence-gate blob digests 1 ";

/// The most digests that are kept.
const MOST: usize = 2_000_000;

/// Digits of a sha256.
const DIGEST: usize = 64;

/// Lines `blob-id sha256`, sorted, all of one length, so that one is found without reading the others.
pub(super) struct KnownDigests {
    path: Option<PathBuf>,
    lines: Vec<u8>,
    /// Bytes of one line with its end.
    width: usize,
}

impl KnownDigests {
    /// What the file knows; nothing when there is no file, or none that can be believed.
    pub(super) fn open(path: Option<PathBuf>) -> Self {
        let read = path.as_deref().map(std::fs::read);
        let (lines, width) = match read {
            Some(Ok(bytes)) => believed(bytes).unwrap_or_default(),
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                warn!(error = %error, "cannot read the digests of blobs that were hashed before: {error}");
                Default::default()
            }
            Some(Err(_)) | None => Default::default(),
        };
        Self { path, lines, width }
    }

    /// The digest of a blob, if it is known.
    pub(super) fn get(&self, id: &ObjectId) -> Option<Sha256> {
        let id = id.as_str().as_bytes();
        if self.width != id.len() + DIGEST + 2 {
            return None;
        }
        let (mut low, mut high) = (0, self.lines.len() / self.width);
        while low < high {
            let middle = low + (high - low) / 2;
            let line = &self.lines[middle * self.width..(middle + 1) * self.width];
            match line[..id.len()].cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return std::str::from_utf8(&line[id.len() + 1..self.width - 1]).ok()?.parse().ok();
                }
            }
        }
        None
    }

    /// Keeps more of them. That they cannot be written is logged: the next run hashes again.
    pub(super) fn add(&mut self, new: &BTreeMap<ObjectId, Sha256>) {
        let Some(path) = self.path.clone() else { return };
        let Some(width) = new.keys().next().map(|id| id.as_str().len() + DIGEST + 2) else { return };
        let mut lines: Vec<Vec<u8>> = if self.width == width && self.lines.len() / width + new.len() <= MOST {
            self.lines.chunks_exact(width).map(<[u8]>::to_vec).collect()
        } else {
            Vec::new()
        };
        lines.extend(new.iter().map(|(id, digest)| format!("{id} {digest}\n").into_bytes()));
        lines.sort_unstable();
        lines.dedup();
        (self.lines, self.width) = (lines.concat(), width);
        let head = format!("{HEAD}{}\n", Sha256::of(&self.lines));
        if let Err(error) = whole::write(&path, &[head.as_bytes(), &self.lines]) {
            warn!(error = %error, "cannot keep the digests of blobs in {}: {error}", path.display());
        }
    }
}

/// The lines behind the head and how long each is, if they are what was written.
fn believed(mut bytes: Vec<u8>) -> Option<(Vec<u8>, usize)> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let sum: Sha256 = std::str::from_utf8(&bytes[..end]).ok()?.strip_prefix(HEAD)?.parse().ok()?;
    bytes.drain(..=end);
    let width = bytes.iter().position(|byte| *byte == b'\n')? + 1;
    let whole = matches!(width, 106 | 130) && bytes.len().is_multiple_of(width);
    (whole && Sha256::of(&bytes) == sum).then_some((bytes, width))
}
