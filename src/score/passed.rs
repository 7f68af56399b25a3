//! The one way to a success.

use super::Record;
use super::build::SCHEMA;
use crate::words::{ObjectId, Verdict};

/// Proof that a complete record says review. A success conclusion asks for one, and nothing but [`Record::passed`] makes one (R27).
#[derive(Debug)]
pub struct Passed<'a> {
    record: &'a Record,
}

impl<'a> Passed<'a> {
    /// The record that passed.
    pub fn record(&self) -> &'a Record {
        self.record
    }
}

impl Record {
    /// The proof that this record may become a success. `None` unless it says review, no finding says anything worse but holds
    /// that somebody acknowledged on this very head, and it holds all that a review stands on: full ids of head, base, merge base and merged tree, the policy's digest, and a changed file.
    pub fn passed(&self) -> Option<Passed<'_>> {
        let acknowledged = |rule: &str| {
            let mut rows = self.acknowledged.iter().filter(|row| row.rule == rule);
            rows.any(|row| row.sha == self.head && !row.by.is_empty())
        };
        let quiet = self.findings.iter().all(|finding| match finding.verdict {
            Verdict::Review => true,
            Verdict::Hold => acknowledged(&finding.rule),
            Verdict::Unscored | Verdict::Reject => false,
        });
        let passes = self.verdict == Verdict::Review && quiet && self.missing_for_review().is_empty();
        passes.then_some(Passed { record: self })
    }

    /// What a review stands on and this record does not hold, in words for a person.
    pub(super) fn missing_for_review(&self) -> Vec<&'static str> {
        let id = |text: Option<&str>| text.is_some_and(|text| text.parse::<ObjectId>().is_ok_and(|id| !id.is_null()));
        let sha256 = |text: Option<&str>| {
            text.is_some_and(|text| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
        };
        let parts = [
            (self.schema == SCHEMA, "known shape"),
            (id(Some(&self.head)), "head"),
            (id(Some(&self.base)), "base"),
            (id(self.merge_base.as_deref()), "merge base"),
            (id(self.merged_tree.as_deref()), "merged tree"),
            (sha256(self.digests.policy.as_deref()), "digest of the policy"),
            (!self.rows.is_empty(), "changed file"),
        ];
        parts.into_iter().filter(|(there, _)| !there).map(|(_, name)| name).collect()
    }
}
