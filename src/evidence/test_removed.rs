//! A test that is gone observes nothing.

use std::collections::BTreeSet;

use super::moves::{Move, moves, stays_a_test};
use super::{ClassedRow, Facts, Finding, Oracle, Rule, wording};
use crate::change::BytePath;
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct TestRemoved;

pub(super) static TEST_REMOVED: Rule = Rule {
    id: "test-removed",
    verdict: Verdict::Reject,
    when: "A test file, or a test inside one, disappears. A file that moved with the same bytes and is still a test is rewritten, not removed.",
    innocent: "The tested feature is removed on purpose: a maintainer softens `tests.removed`, or the tests go in a pull request of their own.",
    next: "Restore these tests; where the tested feature goes away on purpose, let a maintainer remove them.",
};

impl Oracle for TestRemoved {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&TEST_REMOVED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let kept: BTreeSet<&BytePath> =
            test_moves(facts).into_iter().filter(stays_a_test).map(|moved| moved.from).collect();
        let finding = wording::over(
            &TEST_REMOVED,
            facts.rows,
            |row| disappears(row) && !kept.contains(row.row.path()),
            |number, names| format!("{} no more: {names}", wording::count(number, "test file is", "test files are")),
        );
        finding.map(|finding| finding.with_verdict(facts.policy.tests.removed.verdict())).into_iter().collect()
    }
}

/// Moves from one test path to another.
pub(super) fn test_moves<'a>(facts: &Facts<'a>) -> Vec<Move<'a>> {
    moves(facts.rows, |row| row.class == Class::Test)
}

/// Whether a test file is deleted, or turned into something that holds no tests.
fn disappears(row: &ClassedRow<'_>) -> bool {
    let had_a_file = row.row.old.as_ref().is_some_and(|side| side.mode.is_file());
    let has_a_file = row.row.new.as_ref().is_some_and(|side| side.mode.is_file());
    row.class == Class::Test && had_a_file && !has_a_file
}
