//! The fixture lock, and the trees that it is held against.

use std::collections::{BTreeSet, HashMap};

use super::collect::{Fetch, Held};
use super::digests::KnownDigests;
use super::kept::{Kept, kept};
use super::{PipelineError, Question};
use crate::change::{Git, Sha256};
use crate::evidence::lock::{LARGEST_LOCK, Lock, LockFacts, LockedTrees, blobs_to_hash, folders_to_list, parse};
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
    let digest = Some(Sha256::of(&bytes).to_string());
    let facts = match parse(&bytes) {
        Ok(lock) => {
            let trees = trees(git, question, &lock, merged_tree, fetch)?;
            LockFacts::Read { origin, lock, trees }
        }
        Err(error) => LockFacts::Unreadable { origin, why: error.to_string() },
    };
    Ok(Held { facts, digest })
}

fn trees(
    git: &Git,
    question: &Question,
    lock: &Lock,
    merged_tree: Option<&ObjectId>,
    fetch: Fetch<'_>,
) -> Result<LockedTrees, PipelineError> {
    let base = git.files(question.base.id(), &folders_to_list(lock))?;
    let merged = merged_tree.map(|tree| git.rows(question.base.id(), tree)).transpose()?;
    let wanted = blobs_to_hash(lock, &base, merged.as_deref());
    let digests = digests(git, question, wanted, fetch)?;
    Ok(LockedTrees { base, merged, digests })
}

/// sha256 of each blob: known from before, or read now.
fn digests(
    git: &Git,
    question: &Question,
    wanted: Vec<ObjectId>,
    fetch: Fetch<'_>,
) -> Result<HashMap<ObjectId, Sha256>, PipelineError> {
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
