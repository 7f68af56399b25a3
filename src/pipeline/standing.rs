//! What a verdict would stand for now, without a verdict: the merge base and the digests that it falls with (R104).

use std::path::Path;

use super::kept::{Kept, kept};
use super::source::Mirrored;
use super::{PipelineError, Question, map, mirrored, policy, running};
use crate::change::Sha256;
use crate::evidence::ledger::LARGEST_LEDGER;
use crate::evidence::lock::LARGEST_LOCK;
use crate::evidence::surface::COVERAGE_MAP_MISSING;
use crate::forge::Remote;
use crate::policy::{Class, Policy};
use crate::score::{Digests, Record};

/// What decides whether an answer still holds.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Full object id of the one merge base; `None` when there is none or more than one.
    pub merge_base: Option<String>,
    /// sha256 of policy, ledger, lock and oracles at the base's tip, or of the operator's own; and of the coverage map.
    pub digests: Digests,
    /// The policy; the default one where none can be read.
    pub policy: Policy,
}

impl Standing {
    /// Whether this record was made of the same.
    pub fn bears(&self, record: &Record) -> bool {
        self.merge_base == record.merge_base && self.has_digests_of(record)
    }

    /// Whether the record's map is the one that would be used now. One that went since then proves nothing against what it said while it
    /// was there; one that came where there was none changes what the record says of the product.
    pub fn has_map_of(&self, record: &Record) -> bool {
        match (&record.digests.map, &self.digests.map) {
            (Some(then), Some(now)) => then == now,
            (None, Some(_)) => {
                let missing = record.findings.iter().any(|finding| finding.rule == COVERAGE_MAP_MISSING.id);
                !missing && !record.rows.iter().any(|row| row.class == Class::Product)
            }
            (Some(_) | None, None) => true,
        }
    }

    /// Whether the policy, the ledger and the lock are those of the record, and the oracles where any ran for it.
    pub fn has_digests_of(&self, record: &Record) -> bool {
        let of = |digests: &Digests| (digests.policy.clone(), digests.ledger.clone(), digests.lock.clone());
        let oracles = record.digests.oracles.is_none() || record.digests.oracles == self.digests.oracles;
        of(&self.digests) == of(&record.digests) && oracles
    }
}

/// Fetches the two commits and reads what a verdict about them would stand for.
pub fn standing(data_dir: &Path, remote: &Remote, question: &Question) -> Result<Standing, PipelineError> {
    let (mirror, base, git) = mirrored(data_dir, remote, question)?;
    let fetch = &mut Mirrored::new(&mirror, remote, &base);
    let rules = policy::rules(&git, question, fetch)?;
    let digest = |kept: Kept| match kept {
        Kept::Whole { bytes, .. } => Some(Sha256::of(&bytes).to_string()),
        Kept::Absent | Kept::Unreadable { .. } => None,
    };
    let lock =
        kept(&git, question, question.lock.as_ref(), &rules.policy.fixtures.lock, LARGEST_LOCK, fetch).map(digest)?;
    let ledger = kept(&git, question, question.ledger.as_ref(), &rules.policy.freeze.ledger, LARGEST_LEDGER, fetch)
        .map(digest)?;
    let bases = git.merge_bases(&question.base, &question.head)?;
    let merge_base = match &bases[..] {
        [only] => Some(only.to_string()),
        _ => None,
    };
    let oracles = running::oracles_digest(&git, question, &rules.policy)?;
    let map = match &bases[..] {
        [only] => map::digest_now(&git, question, only, rules.policy.surface.max_map_age, fetch)?,
        _ => None,
    };
    let digests = Digests { policy: rules.digest, lock, ledger, oracles, map };
    Ok(Standing { merge_base, digests, policy: rules.policy })
}
