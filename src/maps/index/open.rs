//! An index that is there.

use std::fs::File;
use std::io;
use std::path::Path;

use super::head::{FilePart, Head, MAGIC, Part, sum, take_text};
use super::write::write;
use crate::change::Sha256;
use crate::maps::{About, Grain, Home, Limits, Map, MapError, read_map};

/// Bytes at the end: where the head begins, its sum, and the mark.
const TAIL: usize = 20;

/// The index of one map: of one commit's tests, from one run or from several.
pub struct Index {
    pub(super) origin: String,
    pub(super) home: Box<dyn Home>,
    pub(super) head: Head,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("origin", &self.origin).field("head", &self.head).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens an index, or reads a map of either format (gzip, zstd or plain) and makes its index in memory.
    pub fn read(path: &Path) -> Result<Self, MapError> {
        let origin = path.display().to_string();
        let read = |source| MapError::Read { origin: origin.clone(), source };
        let file = File::open(path).map_err(read)?;
        let is_index = Home::length(&file).map_err(read)? > 8 && Home::read(&file, 0, 8).map_err(read)? == MAGIC;
        if is_index {
            return Self::open(origin, Box::new(file));
        }
        let map = read_map(&origin, file, Limits::default())?;
        Self::in_memory(&origin, map)
    }

    /// Makes the index of a map and keeps it in memory.
    pub fn in_memory(origin: &str, map: Map) -> Result<Self, MapError> {
        let mut bytes = Vec::new();
        write(map, &mut bytes).map_err(|source| MapError::Read { origin: origin.to_owned(), source })?;
        Self::open(origin.to_owned(), Box::new(bytes))
    }

    /// Writes the index of a map.
    pub fn write(map: Map, out: impl io::Write) -> io::Result<()> {
        write(map, out)
    }

    /// Opens an index wherever it is.
    pub fn open(origin: String, home: Box<dyn Home>) -> Result<Self, MapError> {
        let damaged = || damaged(&origin);
        let read = |source| MapError::Read { origin: origin.clone(), source };
        let length = home.length().map_err(read)?;
        let tail_at = length.checked_sub(TAIL as u64).filter(|at| *at >= 8).ok_or_else(damaged)?;
        let tail = home.read(tail_at, TAIL).map_err(read)?;
        let (head_at, rest) = tail.split_first_chunk::<8>().ok_or_else(damaged)?;
        let (head_sum, magic) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
        let head_at = u64::from_le_bytes(*head_at);
        if magic != MAGIC || home.read(0, 8).map_err(read)? != MAGIC {
            return Err(damaged());
        }
        let size = tail_at.checked_sub(head_at).and_then(|size| usize::try_from(size).ok()).ok_or_else(damaged)?;
        let head = home.read(head_at, size).map_err(read)?;
        if sum(&head) != u32::from_le_bytes(*head_sum) {
            return Err(damaged());
        }
        let head = Head::from_bytes(&head).ok_or_else(damaged)?;
        Ok(Self { origin, home, head })
    }

    /// The commit on which the tests ran; `None` where the map does not say.
    pub fn base_sha(&self) -> Option<&str> {
        self.head.about.base_sha.as_deref()
    }

    /// The tool that measured; `None` where the map does not say.
    pub fn tool(&self) -> Option<&str> {
        self.head.about.tool.as_deref()
    }

    /// Whether the tool says that it does not see every line that a test runs.
    pub fn partial(&self) -> bool {
        self.head.about.partial
    }

    /// All that the map says of itself.
    pub fn about(&self) -> &About {
        &self.head.about
    }

    /// Whether the map tells tests and lines apart, or why it does not.
    pub fn grain(&self) -> &Grain {
        &self.head.grain
    }

    /// sha256 of the map's bytes as they came, packed or not. Where several maps were united: of their digests in hexadecimal, in
    /// order, one a line.
    pub fn digest(&self) -> Sha256 {
        self.head.digest
    }

    /// How many tests were collected or run.
    pub fn tests(&self) -> u32 {
        self.head.tests
    }

    /// The files that a test or an import ran, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.head.files.iter().map(|file| file.path.as_str())
    }

    pub(super) fn file(&self, path: &str) -> Option<&FilePart> {
        let at = self.head.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(&self.head.files[at])
    }

    /// A stretch of the bytes, if it is what was written.
    pub(super) fn part(&self, part: Part) -> Result<Vec<u8>, MapError> {
        let length = usize::try_from(part.length).map_err(|_| damaged(&self.origin))?;
        let read = |source| MapError::Read { origin: self.origin.clone(), source };
        let bytes = self.home.read(part.at, length).map_err(read)?;
        if sum(&bytes) == part.sum { Ok(bytes) } else { Err(damaged(&self.origin)) }
    }

    /// The ids of a group, in order.
    pub(super) fn group(&self, number: usize) -> Result<Vec<String>, MapError> {
        let (_, part) = self.head.groups.get(number).ok_or_else(|| damaged(&self.origin))?;
        let bytes = self.part(*part)?;
        let mut left = bytes.as_slice();
        let mut ids = Vec::new();
        while !left.is_empty() {
            ids.push(take_text(&mut left).ok_or_else(|| damaged(&self.origin))?);
        }
        Ok(ids)
    }
}

pub(super) fn damaged(origin: &str) -> MapError {
    MapError::broken(origin, "it is a damaged index", "remove it: it is made anew from the map")
}
