//! Changed lines that no test runs.

use super::{Facts, Finding, Oracle, Rule, wording};
use crate::policy::{Class, Unobserved};
use crate::words::Verdict;

pub(super) struct UnobservedLines;

pub(super) static UNOBSERVED_LINES: Rule = Rule {
    id: "unobserved-lines",
    verdict: Verdict::Review,
    when: "Changed lines are run by no test of the coverage map, or there is no map that could say.",
    innocent: "Code that no test reaches yet; with `surface.unobserved = \"unscored\"` it is not scored.",
    next: "Add tests for these lines on the base branch, or let a person review them as untested code.",
};

impl Oracle for UnobservedLines {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&UNOBSERVED_LINES] }
    }

    /// No fact carries a coverage map yet, so every product line is one of which nobody knows an observer.
    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        if facts.policy.surface.unobserved != Unobserved::Unscored {
            return Vec::new();
        }
        let finding = wording::over(
            &UNOBSERVED_LINES,
            facts.rows,
            |row| row.class == Class::Product,
            |number, names| {
                let files = wording::count(number, "product file changes", "product files change");
                format!("{files}, and no coverage map says which lines a test runs: {names}")
            },
        );
        finding.map(|finding| finding.with_verdict(Verdict::Unscored)).into_iter().collect()
    }
}
