//! Pending maps become an index, or are refused.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

use super::files::{Depot, remove, write_json};
use super::receipt::{Fate, OfCommit, Receipt};
use crate::maps::{Limits, Map, MapError, read_map};
use crate::words::{ObjectId, RepoRef, with_causes};

/// What became of the pending maps of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenUp {
    /// Each that was pending, with its fate.
    pub receipts: Vec<Receipt>,
    /// Whether the commit has another index now than before.
    pub changed: bool,
    /// Tests about which the commit's maps disagree.
    pub jitter: usize,
}

impl Depot {
    /// Unites the pending maps of one commit with those that it has, makes the index, and writes down what became of each. A map that
    /// cannot be read, or that names another commit, is refused and leaves the others as they are.
    pub fn take_up(
        &self,
        repository: &RepoRef,
        commit: &ObjectId,
        pending: Vec<Receipt>,
        limits: Limits,
        now: Timestamp,
    ) -> Result<TakenUp, MapError> {
        let mut of = self.read_commit(repository, commit, now)?;
        let asked: BTreeSet<String> = pending.iter().map(|one| one.digest.clone()).collect();
        // A try that died after it had written everything down left its receipts pending.
        let earlier = of.receipts.iter().filter(|one| one.fate == Fate::Taken && !asked.contains(&one.digest));
        let mut maps = Vec::new();
        for receipt in earlier.cloned().chain(pending).collect::<Vec<_>>() {
            match self.read(&receipt, limits) {
                Ok(map) => maps.push((receipt, map)),
                Err(error @ MapError::Read { .. }) => return Err(error),
                Err(error) => of.note(refused(receipt, &error)),
            }
        }
        // In the order of their digests, so that shards make one index in whatever order they came.
        maps.sort_by(|(a, _), (b, _)| a.digest.cmp(&b.digest));
        let before = of.index.clone();
        self.unite(&mut of, commit, maps, &asked)?;
        let changed = of.index != before;
        if changed {
            of.changed = now;
        }
        self.write_down(repository, commit, &of)?;
        let jitter = of.jitter;
        let receipts = of.receipts.into_iter().filter(|one| asked.contains(&one.digest)).collect();
        Ok(TakenUp { receipts, changed, jitter })
    }

    /// Makes the index of what could be read. Where all together are too large, the new ones are refused: what counted before still does.
    fn unite(
        &self,
        of: &mut OfCommit,
        commit: &ObjectId,
        maps: Vec<(Receipt, Map)>,
        asked: &BTreeSet<String>,
    ) -> Result<(), MapError> {
        if maps.is_empty() {
            return Ok(());
        }
        let (receipts, named): (Vec<Receipt>, Vec<(String, Map)>) =
            maps.into_iter().map(|(one, map)| (one.clone(), (name(&one), map))).unzip();
        match Map::united(named).and_then(|map| self.shelf().keep(&format!("the map of {commit}"), map)) {
            Ok(index) => {
                of.index = Some(index.digest().to_string());
                of.tests = index.tests();
                of.jitter = index.look(std::iter::empty(), &[])?.jitter.len();
                for one in receipts {
                    of.note(one.with(Fate::Taken));
                }
            }
            Err(error @ (MapError::Read { .. } | MapError::Write { .. })) => return Err(error),
            Err(error) => {
                let new = receipts.into_iter().filter(|one| asked.contains(&one.digest));
                new.for_each(|one| of.note(refused(one, &error)));
            }
        }
        Ok(())
    }

    /// Refuses the pending maps of one commit.
    pub fn refuse(
        &self,
        repository: &RepoRef,
        commit: &ObjectId,
        pending: Vec<Receipt>,
        why: &str,
        now: Timestamp,
    ) -> Result<TakenUp, MapError> {
        let mut of = self.read_commit(repository, commit, now)?;
        let receipts: Vec<Receipt> = pending.into_iter().map(|one| one.with(Fate::Refused(why.to_owned()))).collect();
        for one in &receipts {
            of.note(one.clone());
        }
        self.write_down(repository, commit, &of)?;
        Ok(TakenUp { receipts, changed: false, jitter: of.jitter })
    }

    fn read_commit(&self, repository: &RepoRef, commit: &ObjectId, now: Timestamp) -> Result<OfCommit, MapError> {
        let path = self.commit_path(repository, commit);
        let read = self.of_commit(repository, commit);
        let read = read.map_err(|source| MapError::Read { origin: path.display().to_string(), source })?;
        Ok(read.unwrap_or_else(|| OfCommit::new(now)))
    }

    /// Reads a map and holds it against the commit that it was brought for.
    fn read(&self, receipt: &Receipt, limits: Limits) -> Result<Map, MapError> {
        let reading = |source| MapError::Read { origin: name(receipt), source };
        let file = self.bytes_of(receipt).and_then(File::open).map_err(reading)?;
        let mut map = read_map(&name(receipt), file, limits)?;
        match &map.about.base_sha {
            None => map.about.base_sha = Some(receipt.commit.to_string()),
            Some(named) if *named == receipt.commit.as_str() => {}
            Some(named) => {
                let (origin, found, wanted) = (name(receipt), named.clone(), receipt.commit.to_string());
                return Err(MapError::OtherCommit { origin, found, wanted });
            }
        }
        Ok(map)
    }

    /// Where a map's bytes are: still where the receiver put them, or where an earlier try did.
    fn bytes_of(&self, receipt: &Receipt) -> io::Result<PathBuf> {
        let (pending, _) = self.pending_paths(receipt);
        if pending.try_exists()? { Ok(pending) } else { Ok(self.taken_path(receipt)) }
    }

    /// First the bytes that count, then the document that counts them, then what is pending goes: a crash in between leaves a pending
    /// receipt, and with it everything is done once more.
    fn write_down(&self, repository: &RepoRef, commit: &ObjectId, of: &OfCommit) -> Result<(), MapError> {
        let document = self.commit_path(repository, commit);
        let write = || -> io::Result<()> {
            fs::create_dir_all(self.taken_folder(repository.forge, repository.id))?;
            for receipt in of.receipts.iter().filter(|one| one.fate == Fate::Taken) {
                let (bytes, _) = self.pending_paths(receipt);
                if bytes.try_exists()? {
                    fs::rename(bytes, self.taken_path(receipt))?;
                }
            }
            write_json(&document, of)?;
            for receipt in &of.receipts {
                let (bytes, written) = self.pending_paths(receipt);
                remove(&bytes)?;
                remove(&written)?;
            }
            Ok(())
        };
        write().map_err(|source| MapError::Write { path: document.display().to_string(), source })
    }
}

fn name(receipt: &Receipt) -> String {
    format!("the map {}", &receipt.digest[..12])
}

fn refused(receipt: Receipt, error: &MapError) -> Receipt {
    receipt.with(Fate::Refused(with_causes(error)))
}
