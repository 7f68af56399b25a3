//! More than a person can review.

use super::{Facts, Finding, Oracle, Rule, moves};
use crate::words::Verdict;

pub(super) struct TooWide;

pub(super) static TOO_WIDE: Rule = Rule {
    id: "too-wide",
    verdict: Verdict::Reject,
    when: "More files change than `limits.max_changed_files` allows; a file that only moved counts once.",
    innocent: "A mechanical change across the repository: a maintainer raises the limit on the base branch, or it comes in parts.",
    next: "Split the pull request, or have a maintainer raise limits.max_changed_files on the base branch.",
};

impl Oracle for TooWide {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&TOO_WIDE] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let moved = moves::moves(facts.rows, |_| true).len();
        let files = facts.rows.len().saturating_sub(moved);
        let most = facts.policy.limits.max_changed_files;
        if u32::try_from(files).is_ok_and(|files| files <= most) {
            return Vec::new();
        }
        vec![Finding::new(&TOO_WIDE, format!("{files} files change, and the policy allows {most} in one pull request"))]
    }
}
