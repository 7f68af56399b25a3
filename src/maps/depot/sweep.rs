//! Maps that nobody asks for any more go.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::files::{Depot, HALF, entries, folders_of_repositories, read_json, remove};
use super::receipt::OfCommit;

/// An index that no commit has, and a file that never became whole, go after this time: who made or asked for it is done by then.
const IDLE: SignedDuration = SignedDuration::from_hours(2);

/// How much is kept, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Maps that were changed longer ago go.
    pub keep: SignedDuration,
    /// But not the newest so many of each repository.
    pub newest: usize,
    /// Above so many bytes in all the oldest go, but never the newest of a repository.
    pub bytes: u64,
}

/// What went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Commits whose maps went.
    pub commits: u64,
    /// Bytes that are left, pending maps and indexes included.
    pub bytes: u64,
}

/// The maps of one commit on the disk.
struct Commit {
    document: PathBuf,
    changed: Timestamp,
    bytes: u64,
    /// How many newer ones the repository has.
    newer: usize,
    maps: Vec<PathBuf>,
}

impl Depot {
    /// Removes what is too old or too much. Safe while somebody judges: a commit's document goes first, so that nobody finds the map any
    /// more, and its index only at a later sweep; a file that is open is read to its end.
    pub fn sweep(&self, retention: &Retention, now: Timestamp) -> io::Result<Swept> {
        self.remove_half_files(now)?;
        let commits = self.commits()?;
        let indexes = self.remove_idle_indexes(now)?;
        let pending: u64 = self.waiting()?.iter().map(|receipt| receipt.bytes).sum();
        let bytes = indexes + pending + commits.iter().map(|commit| commit.bytes).sum::<u64>();
        let mut swept = Swept { commits: 0, bytes };
        for commit in commits {
            let is_old = commit.newer >= retention.newest && now.duration_since(commit.changed) > retention.keep;
            let is_too_much = commit.newer > 0 && swept.bytes > retention.bytes;
            if is_old || is_too_much {
                remove(&commit.document)?;
                commit.maps.iter().try_for_each(|map| remove(map))?;
                swept.commits += 1;
                swept.bytes -= commit.bytes;
            }
        }
        Ok(swept)
    }

    /// Every commit with maps, those that were changed longest ago first.
    fn commits(&self) -> io::Result<Vec<Commit>> {
        let mut all = Vec::new();
        for folder in folders_of_repositories(&self.taken())? {
            let mut of_repository = Vec::new();
            for document in
                entries(&folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json"))
            {
                let Some(of) = read_json::<OfCommit>(&document)? else { continue };
                let maps: Vec<PathBuf> = of.receipts.iter().map(|receipt| self.taken_path(receipt)).collect();
                let mut bytes = size(&document)?;
                for map in &maps {
                    bytes += size(map)?;
                }
                of_repository.push(Commit { document, changed: of.changed, bytes, newer: 0, maps });
            }
            of_repository.sort_by_key(|commit| std::cmp::Reverse(commit.changed));
            (0..).zip(&mut of_repository).for_each(|(newer, commit)| commit.newer = newer);
            all.extend(of_repository);
        }
        all.sort_by_key(|commit| commit.changed);
        Ok(all)
    }

    /// Removes indexes that no commit has, and answers how many bytes the others take.
    fn remove_idle_indexes(&self, now: Timestamp) -> io::Result<u64> {
        let mut in_use = BTreeSet::new();
        for folder in folders_of_repositories(&self.taken())? {
            for document in
                entries(&folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json"))
            {
                in_use.extend(read_json::<OfCommit>(&document)?.and_then(|of| of.index));
            }
        }
        let mut bytes = 0;
        for path in entries(&self.data.join("maps"))? {
            let Some(digest) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".egmap")) else {
                continue;
            };
            if in_use.contains(digest) || !is_idle(&path, now)? {
                bytes += size(&path)?;
            } else {
                remove(&path)?;
            }
        }
        Ok(bytes)
    }

    /// Removes files that a process which died never finished.
    fn remove_half_files(&self, now: Timestamp) -> io::Result<()> {
        let mut folders = vec![self.uploads(), self.data.join("maps")];
        folders.extend(folders_of_repositories(&self.uploads())?);
        folders.extend(folders_of_repositories(&self.taken())?);
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                let is_half = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(HALF));
                if is_half && is_idle(&path, now)? {
                    remove(&path)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether nobody has written to it for a while. One that is gone is not idle.
fn is_idle(path: &Path, now: Timestamp) -> io::Result<bool> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        about => about?,
    };
    let written = Timestamp::try_from(about.modified()?).map_err(io::Error::other)?;
    Ok(now.duration_since(written) > IDLE)
}

/// Bytes of a file; 0 for one that is gone.
fn size(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        about => Ok(about?.len()),
    }
}
