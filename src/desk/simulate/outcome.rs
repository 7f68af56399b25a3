//! What came of one simulated change.

use std::time::Duration;

use crate::change::Landed;
use crate::score::{FindingRow, Record};
use crate::words::Verdict;

/// Findings that say only that a simulation runs nothing and asks no forge. Where it does run what the policy asks for, none is left out.
const NOT_ASKED: [&str; 2] = ["sandbox-unavailable", "proposal-unread"];

/// A merged change, and what a policy would have said of it.
#[derive(Clone, Debug)]
pub(in crate::desk) struct Simulated {
    /// The change.
    pub(super) change: Landed,
    /// What was said.
    pub(super) outcome: Outcome,
    /// How long it took.
    pub(super) took: Duration,
}

/// What was said of a change.
#[derive(Clone, Debug)]
pub(in crate::desk) enum Outcome {
    /// It was judged.
    Judged {
        /// The record, as `score` makes it.
        record: Box<Record>,
        /// Whether what the policy asks to run was run.
        runs: Runs,
    },
    /// It could not be judged: why.
    NotJudged(String),
}

/// Whether a simulation runs properties and live tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::desk) enum Runs {
    /// It does.
    Run,
    /// It does not.
    LeftOut,
}

impl Outcome {
    /// The findings that object, worst first. Empty for a change that was not judged.
    pub(super) fn objections(&self) -> impl Iterator<Item = &FindingRow> {
        let (findings, runs) = match self {
            Self::Judged { record, runs } => (&record.findings[..], *runs),
            Self::NotJudged(_) => (&[][..], Runs::Run),
        };
        findings.iter().filter(move |finding| {
            let left_out = runs == Runs::LeftOut && NOT_ASKED.contains(&finding.rule.as_str());
            finding.verdict > Verdict::Review && !left_out
        })
    }

    /// The worst of what objects; `None` for a change that was not judged.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Judged { .. } => {
                Some(self.objections().map(|finding| finding.verdict).max().unwrap_or(Verdict::Review))
            }
            Self::NotJudged(_) => None,
        }
    }
}
