//! An added test is intent, not proof.

use std::collections::BTreeSet;

use super::moves::stays_a_test;
use super::test_removed::test_moves;
use super::{Facts, Finding, Oracle, Rule, wording};
use crate::change::{BytePath, Status};
use crate::policy::{AddedTests, Class};
use crate::words::Verdict;

pub(super) struct AddedTest;

pub(super) static ADDED_TEST: Rule = Rule {
    id: "added-test",
    verdict: Verdict::Hold,
    when: "A file is added under a test pattern. It inherits no freeze and counts for nothing in this pull request.",
    innocent: "New behaviour comes with its tests; with `added_tests = \"record\"` they are listed and hold nothing.",
    next: "A person reads the new tests and approves this head; they count from the moment they are on the base branch.",
};

impl Oracle for AddedTest {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&ADDED_TEST] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let moved: BTreeSet<&BytePath> =
            test_moves(facts).into_iter().filter(stays_a_test).map(|moved| moved.to).collect();
        let finding = wording::over(
            &ADDED_TEST,
            facts.rows,
            |row| row.class == Class::Test && row.row.status == Status::Added && !moved.contains(row.row.path()),
            |number, names| format!("{} added: {names}", wording::count(number, "test file is", "test files are")),
        );
        finding
            .map(|mut finding| match facts.policy.added_tests {
                AddedTests::Hold => finding,
                AddedTests::Record => {
                    "Nothing: added tests are listed, and count from the moment they are on the base branch."
                        .clone_into(&mut finding.next);
                    finding.with_verdict(Verdict::Review)
                }
            })
            .into_iter()
            .collect()
    }
}
