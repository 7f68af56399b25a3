//! What configures the runner decides which tests count.

use super::{Facts, Finding, Oracle, Rule, attributes_edited, wording};
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct TestConfigEdited;

pub(super) static TEST_CONFIG_EDITED: Rule = Rule {
    id: "test-config-edited",
    verdict: Verdict::Hold,
    when: "Runner configuration, a harness file, a CI workflow, or configuration that runs code changes.",
    innocent: "The runner is updated or a job is added, and every test still runs and still counts.",
    next: "A person checks that every test still runs and still counts under these files, and a maintainer approves this head.",
};

impl Oracle for TestConfigEdited {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&TEST_CONFIG_EDITED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        wording::over(
            &TEST_CONFIG_EDITED,
            facts.rows,
            |row| row.class == Class::TestConfig && !row.row.paths().all(attributes_edited::is_attributes),
            |number, names| {
                let files = wording::count(
                    number,
                    "test, CI or tool configuration file",
                    "test, CI or tool configuration files",
                );
                format!("{files} changed: {names}")
            },
        )
        .into_iter()
        .collect()
    }
}
