//! What a rule says of itself.

use super::{Facts, Finding};
use crate::words::Verdict;

/// One rule of DESIGN section 4. Its id is policy key, report heading and the anchor in `docs/rules.md`.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Lower-case words with dashes.
    pub id: &'static str,
    /// The verdict that it usually gives; a policy may soften or sharpen some.
    pub verdict: Verdict,
    /// When it fires: one sentence for `docs/rules.md`.
    pub when: &'static str,
    /// When this is innocent: one sentence for `docs/rules.md`.
    pub innocent: &'static str,
    /// What the author of the pull request does next: one sentence, in every report.
    pub next: &'static str,
}

/// A judge of one kind of evidence.
pub trait Oracle: Sync {
    /// Every rule that [`Oracle::judge`] can report.
    fn rules(&self) -> &'static [&'static Rule];

    /// The findings of this oracle. Empty means that nothing is wrong; what it could not judge is a finding of its own.
    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding>;
}
