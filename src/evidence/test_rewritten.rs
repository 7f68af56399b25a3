//! A test that changed may observe less.

use super::moves::stays_a_test;
use super::test_removed::test_moves;
use super::{ClassedRow, Facts, Finding, Location, Oracle, Rule, wording};
use crate::change::Side;
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct TestRewritten;

pub(super) static TEST_REWRITTEN: Rule = Rule {
    id: "test-rewritten",
    verdict: Verdict::Hold,
    when: "Existing tests, helpers or assertions of a test file change, or a test file moves with the same bytes.",
    innocent: "The tested behaviour changes on purpose, and the tests still ask for what they asked before.",
    next: "A person compares what these tests ask for with what they asked before, and approves this head.",
};

impl Oracle for TestRewritten {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&TEST_REWRITTEN] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let verdict = facts.policy.tests.rewritten.verdict();
        let edited = wording::over(&TEST_REWRITTEN, facts.rows, is_edited, |number, names| {
            format!("{} rewritten: {names}", wording::count(number, "existing test file is", "existing test files are"))
        });
        let mut moved: Vec<_> = test_moves(facts).into_iter().filter(stays_a_test).collect();
        moved.sort_by_key(|moved| moved.from);
        let moved = (!moved.is_empty()).then(|| {
            let named =
                moved.iter().map(|one| format!("{} to {}", wording::name(one.from), wording::name(one.to))).collect();
            let files = wording::count(moved.len(), "test file moved", "test files moved");
            let message = format!("{files} without a change of its bytes: {}", wording::list(named));
            let places = moved.iter().flat_map(|one| [one.from, one.to]).map(Location::file);
            Finding::new(&TEST_REWRITTEN, message).at(places)
        });
        join(edited, moved).map(|finding| finding.with_verdict(verdict)).into_iter().collect()
    }
}

fn is_edited(row: &ClassedRow<'_>) -> bool {
    let is_file = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.mode.is_file());
    row.class == Class::Test && is_file(&row.row.old) && is_file(&row.row.new) && changes_bytes(row)
}

/// A mode alone is a finding of its own.
fn changes_bytes(row: &ClassedRow<'_>) -> bool {
    match (&row.row.old, &row.row.new) {
        (Some(old), Some(new)) => old.blob != new.blob || old.path != new.path,
        (None, _) | (_, None) => true,
    }
}

/// One finding of two that say the same rule.
fn join(one: Option<Finding>, other: Option<Finding>) -> Option<Finding> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.message = format!("{}; {}", one.message, other.message);
            Some(one.at(other.locations))
        }
        (one, other) => one.or(other),
    }
}
