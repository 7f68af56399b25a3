//! The fixture lock, and the trees that it is held against.

use std::collections::{BTreeSet, HashMap};

use super::collect::{Fetch, Held};
use super::digests::KnownDigests;
use super::fulfilled::Fulfilled;
use super::kept::{Kept, kept};
use super::{PipelineError, Question};
use crate::change::{Git, Sha256};
use crate::evidence::lock::{
    LARGEST_LOCK, Lock, LockFacts, LockedBase, LockedTrees, blobs_to_hash, folders_to_list, parse, touches,
};
use crate::policy::Policy;
use crate::words::ObjectId;

/// How many blobs are fetched and hashed before what was learned is kept: a run that is cut off goes on where it stopped.
const BATCH: usize = 2_000;

pub(super) fn collect(
    git: &Git,
    question: &Question,
    policy: &Policy,
    merged_tree: Option<&ObjectId>,
    fetch: Fetch<'_>,
) -> Result<Held<LockFacts>, PipelineError> {
    let lock = kept(git, question, question.lock.as_ref(), &policy.fixtures.lock, LARGEST_LOCK, fetch)?;
    let (origin, bytes) = match lock {
        Kept::Absent => return Ok(Held::default()),
        Kept::Unreadable { origin, why } => {
            return Ok(Held { facts: LockFacts::Unreadable { origin, why }, digest: None });
        }
        Kept::Whole { origin, bytes } => (origin, bytes),
    };
    let sum = Sha256::of(&bytes);
    let digest = Some(sum.to_string());
    let facts = match parse(&bytes) {
        Ok(lock) => {
            let trees = trees(git, question, (&lock, &sum), merged_tree, fetch)?;
            LockFacts::Read { origin, lock, trees }
        }
        Err(error) => LockFacts::Unreadable { origin, why: error.to_string() },
    };
    Ok(Held { facts, digest })
}

fn trees(
    git: &Git,
    question: &Question,
    (lock, sum): (&Lock, &Sha256),
    merged_tree: Option<&ObjectId>,
    fetch: Fetch<'_>,
) -> Result<LockedTrees, PipelineError> {
    let fulfilled = Fulfilled::beside(question.known_digests.as_ref());
    let base = match fulfilled.by(sum) {
        Some(before) if still_fulfils(git, lock, &before, question.base.id()) => LockedBase::Fulfils,
        _ => LockedBase::Listed(git.files(question.base.id(), &folders_to_list(lock))?),
    };
    let merged = merged_tree.map(|tree| git.rows(question.base.id(), tree)).transpose()?;
    let wanted = blobs_to_hash(lock, &base, merged.as_deref());
    let digests = digests(git, question, wanted, fetch)?;
    let trees = LockedTrees { base, merged, digests };
    if trees.base_fulfils(lock) {
        fulfilled.remember(sum, question.base.id());
    }
    Ok(trees)
}

/// Whether nothing that the lock lists changed since it was fulfilled. A commit that is no longer here answers no.
fn still_fulfils(git: &Git, lock: &Lock, before: &ObjectId, now: &ObjectId) -> bool {
    before == now || git.rows(before, now).is_ok_and(|rows| !touches(lock, &rows))
}

/// sha256 of each blob: known from before, or read now.
pub(super) fn digests(
    git: &Git,
    question: &Question,
    wanted: Vec<ObjectId>,
    fetch: Fetch<'_>,
) -> Result<HashMap<ObjectId, Sha256>, PipelineError> {
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let mut known = KnownDigests::open(question.known_digests.clone());
    let mut digests = HashMap::with_capacity(wanted.len());
    let mut unknown = Vec::new();
    for id in wanted {
        match known.get(&id) {
            Some(digest) => drop(digests.insert(id, digest)),
            None => unknown.push(id),
        }
    }
    for batch in unknown.chunks(BATCH) {
        let batch: BTreeSet<ObjectId> = batch.iter().cloned().collect();
        fetch.blobs(&batch)?;
        let new = git.sha256(&batch)?;
        known.add(&new);
        digests.extend(new);
    }
    Ok(digests)
}
