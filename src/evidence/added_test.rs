//! An added test is intent, not proof.

use std::collections::BTreeSet;

use super::moves::stays_a_test;
use super::test_removed::{place, test_moves};
use super::test_rewritten::shown;
use super::{Facts, FileTests, Finding, Location, Oracle, Rule, wording};
use crate::change::{BytePath, Status};
use crate::policy::{AddedTests, Class};
use crate::words::Verdict;

pub(super) struct AddedTest;

pub(super) static ADDED_TEST: Rule = Rule {
    id: "added-test",
    verdict: Verdict::Hold,
    when: "A file is added under a test pattern. It inherits no freeze and counts for nothing in this pull request.",
    innocent: "New behaviour comes with its tests; with `added_tests = \"record\"` they are listed and hold nothing.",
    next: "A person reads the new tests and a maintainer approves this head; they count from the moment they are on the base branch.",
};

pub(super) static ADDED_TEST_ACTS: Rule = Rule {
    id: "added-test-acts",
    verdict: Verdict::Hold,
    when: "An added test file acts on the product or the runner when it is imported: it patches, replaces or deletes something outside itself. It holds whatever the policy says of added tests.",
    innocent: "The new test needs a stand-in for a service, set up when the file is loaded.",
    next: "Move what acts into the new tests themselves, or a person looks at what it reaches, and a maintainer approves this head.",
};

pub(super) static TEST_EXTENDED: Rule = Rule {
    id: "test-extended",
    verdict: Verdict::Hold,
    when: "A test file gains only new tests and helpers under new names; all that it had is unchanged, token for token.",
    innocent: "New behaviour comes with its tests; with `added_tests = \"record\"` they are listed and hold nothing.",
    next: "A person reads the new tests and a maintainer approves this head; they count from the moment they are on the base branch.",
};

impl Oracle for AddedTest {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&TEST_EXTENDED, &ADDED_TEST, &ADDED_TEST_ACTS] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let moved: BTreeSet<&BytePath> =
            test_moves(facts).into_iter().filter(stays_a_test).map(|moved| moved.to).collect();
        let added: BTreeSet<&BytePath> = facts
            .rows
            .iter()
            .filter(|row| {
                row.class == Class::Test && row.row.status == Status::Added && !moved.contains(row.row.path())
            })
            .map(|row| row.row.path())
            .collect();
        let mut findings = Vec::new();
        if !added.is_empty() {
            let names = wording::list(added.iter().map(|path| wording::name(path)).collect());
            let message = format!("{} added: {names}", wording::count(added.len(), "test file is", "test files are"));
            findings.push(softened(
                facts,
                Finding::new(&ADDED_TEST, message).at(added.iter().map(|path| Location::file(path))),
            ));
        }
        let extended: Vec<&FileTests> = facts
            .analysis
            .files
            .iter()
            .filter(|file| file.judgement.is_extended() && !added.contains(&file.path))
            .collect();
        if !extended.is_empty() {
            let names = wording::list(
                extended
                    .iter()
                    .map(|file| format!("{} ({})", wording::name(&file.path), shown(&file.judgement.added)))
                    .collect(),
            );
            let message = format!(
                "{} only new tests and helpers: {names}",
                wording::count(extended.len(), "test file gains", "test files gain")
            );
            let places = extended.iter().flat_map(|file| file.judgement.added.iter().map(|note| place(file, note)));
            findings.push(softened(facts, Finding::new(&TEST_EXTENDED, message).at(places)));
        }
        let acting =
            facts.analysis.files.iter().filter(|file| added.contains(&file.path) && !file.judgement.acts.is_empty());
        findings.extend(acting.map(|file| {
            let message =
                format!("{} acts when it is imported: {}", wording::name(&file.path), shown(&file.judgement.acts));
            Finding::new(&ADDED_TEST_ACTS, message).at(file.judgement.acts.iter().map(|note| place(file, note)))
        }));
        findings
    }
}

fn softened(facts: &Facts<'_>, mut finding: Finding) -> Finding {
    match facts.policy.added_tests {
        AddedTests::Hold => finding,
        AddedTests::Record => {
            "Nothing: added tests are listed, and count from the moment they are on the base branch."
                .clone_into(&mut finding.next);
            finding.with_verdict(Verdict::Review)
        }
    }
}
