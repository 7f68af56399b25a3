//! What builds the product decides what the product is.

use super::{Facts, Finding, Oracle, Rule, wording};
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct BuildEdited;

pub(super) static BUILD_EDITED: Rule = Rule {
    id: "build-edited",
    verdict: Verdict::Hold,
    when: "A build manifest, a dependency list or a lock file changes.",
    innocent: "A new dependency or a version that the change needs.",
    next: "A person looks at what is built, downloaded and run by these files, and a maintainer approves this head.",
};

impl Oracle for BuildEdited {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&BUILD_EDITED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        wording::over(
            &BUILD_EDITED,
            facts.rows,
            |row| row.class == Class::Build,
            |number, names| {
                format!(
                    "{} changed: {names}",
                    wording::count(number, "build or dependency file", "build or dependency files")
                )
            },
        )
        .into_iter()
        .collect()
    }
}
