//! A test that is gone observes nothing.

use std::collections::BTreeSet;

use super::moves::{Move, moves, stays_a_test};
use super::tests::Note;
use super::{ClassedRow, Facts, FileTests, Finding, Location, Oracle, Rule, wording};
use crate::change::BytePath;
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct TestRemoved;

pub(super) static TEST_REMOVED: Rule = Rule {
    id: "test-removed",
    verdict: Verdict::Reject,
    when: "A test file, or a test inside one, disappears. A test that moved or was renamed with the same or nearly the same body is rewritten, not removed.",
    innocent: "The tested feature is removed on purpose: a maintainer softens `tests.removed`, or the tests go in a pull request of their own.",
    next: "Restore these tests; where the tested feature goes away on purpose, let a maintainer remove them.",
};

impl Oracle for TestRemoved {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&TEST_REMOVED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let moved: BTreeSet<&BytePath> =
            test_moves(facts).into_iter().filter(stays_a_test).map(|moved| moved.from).collect();
        let tests =
            facts.analysis.files.iter().flat_map(|file| file.judgement.removed.iter().map(move |note| (file, note)));
        let tests: Vec<(&FileTests, &Note)> = tests.filter(|(file, _)| !moved.contains(&file.path)).collect();
        let named: BTreeSet<&BytePath> = tests.iter().map(|(file, _)| &file.path).collect();
        // A file of which the grammar knows no test still was one by its name.
        let files: Vec<&ClassedRow<'_>> = facts
            .rows
            .iter()
            .filter(|row| {
                disappears(row)
                    && !moved.contains(row.row.path())
                    && !named.contains(row.row.path())
                    && !moved_inside(facts, row)
            })
            .collect();
        let mut names: Vec<String> =
            tests.iter().map(|(file, note)| format!("{} of {}", note.text, wording::name(&file.path))).collect();
        names.extend(files.iter().map(|row| wording::name(row.row.path())));
        names.sort();
        if names.is_empty() {
            return Vec::new();
        }
        let number = match tests.len() {
            0 => wording::count(names.len(), "test file is", "test files are"),
            _ => wording::count(names.len(), "test is", "tests are"),
        };
        let places = tests
            .iter()
            .map(|(file, note)| place(file, note))
            .chain(files.iter().map(|row| Location::file(row.row.path())));
        let finding = Finding::new(&TEST_REMOVED, format!("{number} gone: {}", wording::list(names))).at(places);
        vec![finding.with_verdict(facts.policy.tests.removed.verdict())]
    }
}

/// Where a note is shown: on the lines of the head, or on the whole file where they are gone from it.
pub(super) fn place(file: &FileTests, note: &Note) -> Location {
    match note.lines {
        Some((first, last)) if !note.gone || !file.at_head => Location::lines(&file.path, first, last),
        _ => Location::file(&file.path),
    }
}

/// Moves from one test path to another.
pub(super) fn test_moves<'a>(facts: &Facts<'a>) -> Vec<Move<'a>> {
    moves(facts.rows, |row| row.class == Class::Test)
}

/// Whether the tests of a file that is gone were found again in other files.
fn moved_inside(facts: &Facts<'_>, row: &ClassedRow<'_>) -> bool {
    facts.analysis.files.iter().any(|file| {
        &file.path == row.row.path() && !file.judgement.rewritten.is_empty() && file.judgement.removed.is_empty()
    })
}

/// Whether a test file is deleted, or turned into something that holds no tests.
fn disappears(row: &ClassedRow<'_>) -> bool {
    let had_a_file = row.row.old.as_ref().is_some_and(|side| side.mode.is_file());
    let has_a_file = row.row.new.as_ref().is_some_and(|side| side.mode.is_file());
    row.class == Class::Test && had_a_file && !has_a_file
}
