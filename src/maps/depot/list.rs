//! What there is, for whoever judges and for whoever looks.

use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;

use super::files::{Depot, entries, folders_of_repositories, read_json};
use super::receipt::{OfCommit, Receipt};
use crate::change::Sha256;
use crate::words::{ObjectId, RepoRef};

/// The maps of one repository that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// For each commit that has one, its map's digest.
    pub by_commit: BTreeMap<ObjectId, Sha256>,
    /// When one of them became another one last.
    pub changed: Option<Timestamp>,
}

/// One map that was brought, and the commit's map that it went into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The map.
    pub receipt: Receipt,
    /// The index that it is part of, by its map's digest.
    pub index: Option<String>,
    /// Tests of that index.
    pub tests: u32,
    /// Tests about which the commit's maps disagree.
    pub jitter: usize,
}

impl Depot {
    /// The maps of one repository that count.
    pub fn known(&self, repository: &RepoRef) -> io::Result<Known> {
        let mut known = Known::default();
        for path in entries(&self.taken_folder(repository.forge, repository.id))? {
            let commit =
                path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")?.parse::<ObjectId>().ok());
            let Some(commit) = commit else { continue };
            let Some(of) = read_json::<OfCommit>(&path)?.filter(OfCommit::is_known) else { continue };
            if let Ok(Some(index)) = of.index() {
                known.by_commit.insert(commit, index);
                known.changed = known.changed.max(Some(of.changed));
            }
        }
        Ok(known)
    }

    /// Every map that is pending, that counts, and that was refused, oldest first.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let pending = self.waiting()?.into_iter();
        let mut found: Vec<Listed> =
            pending.map(|receipt| Listed { receipt, index: None, tests: 0, jitter: 0 }).collect();
        for folder in folders_of_repositories(&self.taken())? {
            for path in entries(&folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
                let Some(of) = read_json::<OfCommit>(&path)?.filter(OfCommit::is_known) else { continue };
                let OfCommit { index, tests, jitter, receipts, .. } = of;
                found.extend(receipts.into_iter().map(|receipt| Listed {
                    receipt,
                    index: index.clone(),
                    tests,
                    jitter,
                }));
            }
        }
        found.sort_by(|a, b| (a.receipt.received, &a.receipt.digest).cmp(&(b.receipt.received, &b.receipt.digest)));
        Ok(found)
    }
}
