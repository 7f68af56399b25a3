//! Names of the files, and how they are written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::NamedTempFile;
use tracing::warn;

use super::receipt::{OfCommit, Receipt};
use crate::maps::Shelf;
use crate::words::{ForgeKind, ObjectId, RepoRef, RepositoryId};

/// What a file begins with that is not whole yet.
pub(super) const HALF: &str = ".new-";

/// The maps of a data directory.
#[derive(Clone, Debug)]
pub struct Depot {
    pub(super) data: PathBuf,
    /// One upload at a time is put in its place.
    pub(super) turn: Arc<Mutex<()>>,
}

impl Depot {
    /// The depot of a data directory. Nothing is made until something is kept.
    pub fn below(data_dir: &Path) -> Self {
        Self { data: data_dir.to_owned(), turn: Arc::default() }
    }

    /// Where the indexes are.
    pub fn shelf(&self) -> Shelf {
        Shelf::below(&self.data)
    }

    pub(super) fn uploads(&self) -> PathBuf {
        self.data.join("uploads")
    }

    pub(super) fn taken(&self) -> PathBuf {
        self.data.join("maps").join("of")
    }

    pub(super) fn pending_folder(&self, forge: ForgeKind, repository: RepositoryId) -> PathBuf {
        self.uploads().join(forge.as_str()).join(repository.to_string())
    }

    pub(super) fn taken_folder(&self, forge: ForgeKind, repository: RepositoryId) -> PathBuf {
        self.taken().join(forge.as_str()).join(repository.to_string())
    }

    /// The bytes of a pending map, and its receipt.
    pub(super) fn pending_paths(&self, receipt: &Receipt) -> (PathBuf, PathBuf) {
        let folder = self.pending_folder(receipt.repository.forge, receipt.repository.id);
        let name = format!("{}-{}", receipt.commit, receipt.digest);
        (folder.join(format!("{name}.map")), folder.join(format!("{name}.json")))
    }

    /// The bytes of a map that was taken up.
    pub(super) fn taken_path(&self, receipt: &Receipt) -> PathBuf {
        let folder = self.taken_folder(receipt.repository.forge, receipt.repository.id);
        folder.join(format!("{}-{}.map", receipt.commit, receipt.digest))
    }

    pub(super) fn commit_path(&self, repository: &RepoRef, commit: &ObjectId) -> PathBuf {
        self.taken_folder(repository.forge, repository.id).join(format!("{commit}.json"))
    }

    /// What is known of a commit's maps.
    pub fn of_commit(&self, repository: &RepoRef, commit: &ObjectId) -> io::Result<Option<OfCommit>> {
        let path = self.commit_path(repository, commit);
        read_json::<OfCommit>(&path).map(|read| read.filter(|of| is_believed(of.is_known(), &path)))
    }

    /// The pending maps of one repository, in the order of commits and digests.
    pub fn pending(&self, repository: &RepoRef) -> io::Result<Vec<Receipt>> {
        receipts_in(&self.pending_folder(repository.forge, repository.id))
    }

    /// The pending maps of all repositories.
    pub fn waiting(&self) -> io::Result<Vec<Receipt>> {
        let mut found = Vec::new();
        for folder in folders_of_repositories(&self.uploads())? {
            found.extend(receipts_in(&folder)?);
        }
        Ok(found)
    }

    /// Every repository with pending maps, once, by its newest name.
    pub fn repositories_with_pending(&self) -> io::Result<Vec<RepoRef>> {
        let mut newest = BTreeMap::new();
        let mut waiting = self.waiting()?;
        waiting.sort_by_key(|receipt| receipt.received);
        newest.extend(waiting.into_iter().map(|one| ((one.repository.forge, one.repository.id), one.repository)));
        Ok(newest.into_values().collect())
    }
}

/// The receipts in a folder, in the order of their names. One that cannot be believed is left out with a word in the log.
pub(super) fn receipts_in(folder: &Path) -> io::Result<Vec<Receipt>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.extension().is_some_and(|end| end == "json")
            && let Some(receipt) = read_json::<Receipt>(&path)?
            && is_believed(receipt.is_known(), &path)
        {
            found.push(receipt);
        }
    }
    Ok(found)
}

fn is_believed(known: bool, path: &Path) -> bool {
    if !known {
        warn!("{} was written by another version of this program and is passed over", path.display());
    }
    known
}

/// `FOLDER/FORGE/REPOSITORY` for every one that is there.
pub(super) fn folders_of_repositories(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for forge in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        found.extend(entries(&forge)?.into_iter().filter(|path| path.is_dir()));
    }
    Ok(found)
}

/// The entries of a folder in order; none where it is not there. Files that are not whole yet are left out.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let read = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let mut found = read.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with(HALF)));
    found.sort();
    Ok(found)
}

/// A document; `None` where it is not there. One that is no such document is passed over with a word in the log: what it says is
/// missing then, and nothing that is missing counts for anybody.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    match serde_json::from_slice(&bytes) {
        Ok(read) => Ok(Some(read)),
        Err(error) => {
            warn!("{} is damaged and passed over: {error}", path.display());
            Ok(None)
        }
    }
}

/// Writes a document whole or not at all, and durably.
pub(super) fn write_json(path: &Path, document: &impl Serialize) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotADirectory)?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(HALF).tempfile_in(folder)?;
    file.write_all(&serde_json::to_vec(document).map_err(io::Error::other)?)?;
    place(file, path)
}

/// Gives a file that is whole its name, durably.
pub(super) fn place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotADirectory)?;
    fs::create_dir_all(folder)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(folder)?.sync_all()
}

/// Removes a file; one that is gone already is as good.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
