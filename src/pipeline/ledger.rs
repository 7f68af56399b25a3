//! The freeze ledger, and the commits that its entries are bound to.

use std::collections::{BTreeMap, BTreeSet};

use super::collect::{Fetch, Held};
use super::kept::{Kept, kept};
use jiff::Timestamp;
use jiff::tz::Offset;

use super::source::Whole;
use super::{PipelineError, Question};
use crate::change::{Ancestors, Git, Sha256};
use crate::evidence::Finding;
use crate::evidence::ledger::{Bound, LARGEST_LEDGER, Ledger, LedgerFacts, SHORTEST_SHA, parse, sound};
use crate::policy::Policy;
use crate::words::ObjectId;

pub(super) fn collect(
    git: &Git,
    question: &Question,
    policy: &Policy,
    fetch: Fetch<'_>,
) -> Result<Held<LedgerFacts>, PipelineError> {
    let ledger = kept(git, question, question.ledger.as_ref(), &policy.freeze.ledger, LARGEST_LEDGER, fetch)?;
    let (origin, bytes) = match ledger {
        Kept::Absent => return Ok(Held::default()),
        Kept::Unreadable { origin, why } => {
            return Ok(Held { facts: LedgerFacts::Unreadable { origin, why }, digest: None });
        }
        Kept::Whole { origin, bytes } => (origin, bytes),
    };
    let digest = Some(Sha256::of(&bytes).to_string());
    let facts = match parse(&bytes) {
        Ok(ledger) => {
            let bound = bound(git, question.base.id(), &ledger, fetch)?;
            LedgerFacts::Read { origin, ledger, bound }
        }
        Err(error) => LedgerFacts::Unreadable { origin, why: error.to_string() },
    };
    Ok(Held { facts, digest })
}

/// What the rules about the ledger alone say of one that a person is about to commit: `freeze check`. That there is no coverage map is
/// no fault of the ledger.
pub fn check_ledger(
    git: &Git,
    base: &ObjectId,
    origin: &str,
    ledger: &Ledger,
    policy: &Policy,
    clock: fn() -> Timestamp,
) -> Result<Vec<Finding>, PipelineError> {
    let bound = bound(git, base, ledger, &mut Whole)?;
    Ok(sound(origin, ledger, &bound, policy, Offset::UTC.to_datetime(clock()).date()))
}

/// What each `bound_sha` names in the history of the base's tip. More history is fetched only while one of them is not found.
pub(super) fn bound(
    git: &Git,
    base: &ObjectId,
    ledger: &Ledger,
    fetch: Fetch<'_>,
) -> Result<BTreeMap<String, Bound>, PipelineError> {
    let shas = ledger.freezes.iter().filter_map(|freeze| freeze.bound_sha.clone());
    let names: BTreeSet<String> = shas.filter(|sha| sha.len() >= SHORTEST_SHA).collect();
    let mut found = git.ancestors(base, &names)?;
    while found.cut_off && !found.all_found() {
        let Some(deeper) = fetch.deeper()? else { break };
        found = deeper.ancestors(base, &names)?;
    }
    let Ancestors { named, cut_off } = found;
    let bound = |commits: Vec<ObjectId>| match <[ObjectId; 1]>::try_from(commits) {
        Ok([commit]) => Bound::Ancestor(commit),
        Err(none) if none.is_empty() && cut_off => Bound::CutOff,
        Err(none) if none.is_empty() => Bound::Nothing,
        Err(several) => Bound::Several(several.len()),
    };
    Ok(named.into_iter().map(|(name, commits)| (name, bound(commits))).collect())
}
