//! Where a host keeps its indexes: below the data directory, by what they were made of.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::Index;
use crate::change::Sha256;
use crate::maps::{Map, MapError};

/// A folder of indexes, each named by the digest of its map.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// The shelf of a data directory. Nothing is made until something is kept.
    pub fn below(data_directory: &Path) -> Self {
        Self { folder: data_directory.join("maps") }
    }

    /// Makes the index of a map, whole or not at all, and opens it. A map that is kept already is not made again.
    pub fn keep(&self, origin: &str, map: Map) -> Result<Index, MapError> {
        let Some(digest) = map.digest else { return Index::in_memory(origin, map) };
        if let Some(kept) = self.find(digest)? {
            return Ok(kept);
        }
        let path = self.path(digest);
        let written = self.write(&path, map);
        written.map_err(|source| MapError::Write { path: path.display().to_string(), source })?;
        Index::read(&path)
    }

    /// The index of a map with this digest; `None` where it is not kept.
    pub fn find(&self, digest: Sha256) -> Result<Option<Index>, MapError> {
        let path = self.path(digest);
        match Index::read(&path) {
            Err(MapError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    fn path(&self, digest: Sha256) -> PathBuf {
        self.folder.join(format!("{digest}.egmap"))
    }

    fn write(&self, path: &Path, map: Map) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        Index::write(map, BufWriter::new(file.as_file_mut()))?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        File::open(&self.folder)?.sync_all()
    }
}
