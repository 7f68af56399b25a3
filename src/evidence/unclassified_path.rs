//! A path that no pattern knows.

use super::{Facts, Finding, Oracle, Rule, wording};
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct UnclassifiedPath;

pub(super) static UNCLASSIFIED_PATH: Rule = Rule {
    id: "unclassified-path",
    verdict: Verdict::Hold,
    when: "A path is in no class, or its name is no readable text.",
    innocent: "The policy does not know this part of the repository yet.",
    next: "A person looks at these files and a maintainer approves this head, or adds a pattern for them under [classes] of the policy on the base branch.",
};

impl Oracle for UnclassifiedPath {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&UNCLASSIFIED_PATH] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        wording::over(
            &UNCLASSIFIED_PATH,
            facts.rows,
            |row| row.class == Class::Other,
            |number, names| {
                format!(
                    "{} in no class of the policy: {names}",
                    wording::count(number, "changed path is", "changed paths are")
                )
            },
        )
        .into_iter()
        .collect()
    }
}
