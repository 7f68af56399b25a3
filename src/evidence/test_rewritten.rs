//! A test that changed may observe less.

use super::moves::stays_a_test;
use super::test_removed::{place, test_moves};
use super::tests::Note;
use super::{Facts, FileTests, Finding, Location, Oracle, Rule, wording};
use crate::words::Verdict;

pub(super) struct TestRewritten;

pub(super) static TEST_REWRITTEN: Rule = Rule {
    id: "test-rewritten",
    verdict: Verdict::Hold,
    when: "Existing tests, helpers or assertions of a test file or test region change, token for token and layout aside; or something comes in that reaches beyond itself: a hook, a name that is bound again, a statement that acts at import. A test that moved or was renamed counts here.",
    innocent: "The tested behaviour changes on purpose, and the tests still ask for what they asked before.",
    next: "A person compares what these tests ask for with what they asked before, and a maintainer approves this head.",
};

/// Up to so many files have a finding each.
const SEPARATE: usize = 10;

/// How many remarks on one file a message holds.
const SHOWN: usize = 4;

impl Oracle for TestRewritten {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&TEST_REWRITTEN] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let verdict = facts.policy.tests.rewritten.verdict();
        let mut moved: Vec<_> = test_moves(facts).into_iter().filter(stays_a_test).collect();
        moved.sort_by_key(|moved| moved.from);
        let is_moved = |file: &FileTests| moved.iter().any(|one| one.from == &file.path || one.to == &file.path);
        let files = facts.analysis.files.iter().filter(|file| !file.judgement.rewritten.is_empty() && !is_moved(file));
        let files: Vec<&FileTests> = files.collect();
        let mut findings: Vec<Finding> = match files.len() {
            0..=SEPARATE => files.into_iter().map(rewritten).collect(),
            _ => vec![many(&files)],
        };
        if !moved.is_empty() {
            let named =
                moved.iter().map(|one| format!("{} to {}", wording::name(one.from), wording::name(one.to))).collect();
            let count = wording::count(moved.len(), "test file moved", "test files moved");
            let message = format!("{count} without a change of its bytes: {}", wording::list(named));
            let places = moved.iter().flat_map(|one| [one.from, one.to]).map(Location::file);
            findings.push(Finding::new(&TEST_REWRITTEN, message).at(places));
        }
        findings.into_iter().map(|finding| finding.with_verdict(verdict)).collect()
    }
}

fn rewritten(file: &FileTests) -> Finding {
    let judgement = &file.judgement;
    let mut message =
        format!("1 existing test file changed: {} ({})", wording::name(&file.path), shown(&judgement.rewritten));
    if !judgement.weakened.is_empty() {
        message = format!("{message}; weaker now: {}", shown(&judgement.weakened));
    }
    let places = judgement.rewritten.iter().chain(&judgement.weakened).map(|note| place(file, note));
    Finding::new(&TEST_REWRITTEN, message).at(places)
}

/// More files than a person reads one by one.
fn many(files: &[&FileTests]) -> Finding {
    let names = files.iter().map(|file| wording::name(&file.path)).collect();
    let message = format!(
        "{} changed: {}",
        wording::count(files.len(), "existing test file", "existing test files"),
        wording::list(names)
    );
    Finding::new(&TEST_REWRITTEN, message).at(files.iter().map(|file| Location::file(&file.path)))
}

/// Remarks in one sentence, each on one line.
pub(super) fn shown(notes: &[Note]) -> String {
    let texts: Vec<String> = notes.iter().take(SHOWN).map(|note| wording::text(&note.text)).collect();
    match notes.len().saturating_sub(SHOWN) {
        0 => texts.join("; "),
        more => format!("{}; and {more} more", texts.join("; ")),
    }
}
