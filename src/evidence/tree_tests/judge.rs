//! The rules about live tests.

use super::{Inventory, Tested, TreeFacts, TreeRun};
use crate::evidence::junit::TestFailure;
use crate::evidence::ledger::{Failure, Ledger, LedgerFacts, Match};
use crate::evidence::property::{self, FLAKY_OUTCOME, Failed};
use crate::evidence::{Facts, Finding, Rule, wording};
use crate::words::Verdict;

static TREE_REPORT_MISSING: Rule = Rule {
    id: "tree-report-missing",
    verdict: Verdict::Unscored,
    when: "The live tests left no report that can be used, on the merged tree or on the base.",
    innocent: "The command of the policy does not work in the sandbox, or does not write to `tree_tests.report`.",
    next: "Look at the named reason; a maintainer repairs the command on the base branch, or the change lets the tests end by themselves.",
};

static TESTS_VANISHED: Rule = Rule {
    id: "tests-vanished",
    verdict: Verdict::Unscored,
    when: "A live test that ran on the base does not run on the merged tree.",
    innocent: "The test was removed or renamed on purpose, which has a rule of its own.",
    next: "Let these tests run again, under the names that they have on the base.",
};

static FROZEN_TEST_RAN: Rule = Rule {
    id: "frozen-test-ran",
    verdict: Verdict::Unscored,
    when: "A test that is frozen without a signature ran, although it should have been left out.",
    innocent: "The policy's `tree_tests.deselect` does not fit the runner.",
    next: "A maintainer sets `tree_tests.deselect` so that the runner leaves frozen tests out.",
};

static TREE_TEST_FAILED: Rule = Rule {
    id: "tree-test-failed",
    verdict: Verdict::Reject,
    when: "A live test fails on the merged tree, and passes on the base or fails there with another signature.",
    innocent: "The test is flaky: then it is frozen on the base branch, and not here.",
    next: "Repair what these tests show.",
};

static TREE_TEST_FAILED_ON_BASE: Rule = Rule {
    id: "tree-test-failed-on-base",
    verdict: Verdict::Hold,
    when: "A live test fails on the merged tree exactly as it fails on the base.",
    innocent: "The failure is older than the change.",
    next: "A maintainer repairs the base branch or freezes the failure there; a person decides on this change, and a maintainer approves this head.",
};

pub(in crate::evidence) static RULES: &[&Rule] =
    &[&TREE_REPORT_MISSING, &TESTS_VANISHED, &FROZEN_TEST_RAN, &TREE_TEST_FAILED, &TREE_TEST_FAILED_ON_BASE];

/// Ids of live freezes that name no property, by whether they have a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frozen {
    /// Left out of the run.
    pub whole: Vec<String>,
    /// Not counted.
    pub by_signature: Vec<String>,
}

/// The tests that a ledger freezes today.
pub fn frozen_ids(facts: &Facts<'_>) -> Frozen {
    let mut frozen = Frozen::default();
    let LedgerFacts::Read { ledger, .. } = facts.ledger else { return frozen };
    for freeze in ledger.live(facts.today).filter(|freeze| !freeze.nodeid.starts_with("property:")) {
        let list = if freeze.failure.is_some() { &mut frozen.by_signature } else { &mut frozen.whole };
        list.push(freeze.nodeid.clone());
    }
    for list in [&mut frozen.whole, &mut frozen.by_signature] {
        list.sort();
        list.dedup();
    }
    frozen
}

pub(in crate::evidence) fn judge(facts: &Facts<'_>, tests: &TreeFacts) -> Vec<Finding> {
    let missing = |place: &str, why: &str| {
        Finding::new(&TREE_REPORT_MISSING, format!("the live tests left no report on {place}: {}", wording::text(why)))
    };
    let mut findings = Vec::new();
    if !tests.flaky.is_empty() {
        let message = format!(
            "{} ended in another way in an earlier run with the same inputs; the worse outcome stands: {}",
            wording::count(tests.flaky.len(), "live test", "live tests"),
            names(&tests.flaky)
        );
        findings.push(Finding::new(&FLAKY_OUTCOME, message));
    }
    match (&tests.merged, &tests.base) {
        (TreeRun::Reported(merged), TreeRun::Reported(base)) => findings.extend(compared(facts, merged, base)),
        (merged, base) => {
            for (run, place) in [(merged, "the merged tree"), (base, "the base")] {
                if let TreeRun::Missing(why) = run {
                    findings.push(missing(place, why));
                }
            }
        }
    }
    findings
}

fn compared(facts: &Facts<'_>, merged: &Inventory, base: &Inventory) -> Vec<Finding> {
    let frozen = frozen_ids(facts);
    let is_in = |test: &Tested, ids: &[String]| ids.iter().any(|id| test.case.is_one_of(id));
    let mut vanished = Vec::new();
    for (id, before) in base.iter().filter(|(_, before)| before.ran) {
        let counts = !is_in(before, &frozen.whole) && !is_in(before, &frozen.by_signature);
        if counts && merged.get(id).is_none_or(|now| !now.ran) {
            vanished.push(id.clone());
        }
    }
    let mut ran = Vec::new();
    let mut failures = Vec::new();
    for (id, now) in merged.iter().filter(|(_, now)| now.ran) {
        if is_in(now, &frozen.whole) {
            ran.push(id.clone());
            continue;
        }
        // A test that the base does not have is intent: it is recorded and not counted.
        let (Some(before), Some(failure)) = (base.get(id), now.failure()) else { continue };
        failures.push(of_failure(facts, id, (now, failure), before));
    }
    let mut findings = Vec::new();
    if !vanished.is_empty() {
        let number =
            wording::count(vanished.len(), "live test that ran on the base does", "live tests that ran on the base do");
        findings
            .push(Finding::new(&TESTS_VANISHED, format!("{number} not run on the merged tree: {}", names(&vanished))));
    }
    if !ran.is_empty() {
        let number = wording::count(ran.len(), "frozen test", "frozen tests");
        findings.push(Finding::new(
            &FROZEN_TEST_RAN,
            format!("{number} ran and should have been left out: {}", names(&ran)),
        ));
    }
    findings.extend(failures.into_iter().flatten());
    findings
}

/// What the failure of a test means that the base has as well. `None` for a frozen one, which is recorded and skipped.
fn of_failure(
    facts: &Facts<'_>,
    id: &str,
    (now, failure): (&Tested, &TestFailure),
    before: &Tested,
) -> Option<Finding> {
    let name = wording::text(id);
    let what = format!("{}: {}", wording::text(&failure.exc_type), wording::text(failure.message.trim()));
    match frozen_by(facts, now, failure) {
        Match::Live(_) => return None,
        Match::Expired(_) => {
            let message = format!("the live test {name} fails, and the freeze of this failure has ended: {what}");
            return Some(Finding::new(&property::FREEZE_EXPIRED, message));
        }
        Match::None => {}
    }
    let failed = failed(failure);
    if property::misses_environment(facts, &failed) {
        let message = format!(
            "the live test {name} misses something that the scoring host does not have, and the change touches build or dependency files: {what}"
        );
        return Some(property::environment_missing(message));
    }
    let keep = &facts.policy.freeze.keep;
    Some(match before.failure() {
        Some(old) if failed.is_same(&self::failed(old), keep) => Finding::new(
            &TREE_TEST_FAILED_ON_BASE,
            format!("the live test {name} fails as it does on the base: {what}"),
        ),
        Some(_) => Finding::new(
            &TREE_TEST_FAILED,
            format!("the live test {name} fails in another way than on the base: {what}"),
        ),
        None if before.ran => {
            Finding::new(&TREE_TEST_FAILED, format!("the live test {name} fails, and passes on the base: {what}"))
        }
        None => {
            Finding::new(&TREE_TEST_FAILED, format!("the live test {name} fails, and is skipped on the base: {what}"))
        }
    })
}

fn failed(failure: &TestFailure) -> Failed {
    Failed { exc_type: failure.exc_type.clone(), message: failure.message.clone(), log: None }
}

/// The freeze that a failure falls under, by any of the test's names.
fn frozen_by<'a>(facts: &Facts<'a>, test: &Tested, failure: &TestFailure) -> Match<'a> {
    let LedgerFacts::Read { ledger, .. } = facts.ledger else { return Match::None };
    let mut found = Match::None;
    for nodeid in called(ledger, test) {
        let TestFailure { exc_type, message } = failure;
        let failure = Failure { nodeid, seed: None, exc_type, message, error_code: None };
        match ledger.matching(&failure, facts.today) {
            live @ Match::Live(_) => return live,
            expired @ Match::Expired(_) => found = expired,
            Match::None => {}
        }
    }
    found
}

fn called<'a>(ledger: &'a Ledger, test: &'a Tested) -> impl Iterator<Item = &'a str> {
    ledger.freezes.iter().map(|freeze| freeze.nodeid.as_str()).filter(|nodeid| test.case.is_one_of(nodeid))
}

fn names(ids: &[String]) -> String {
    wording::list(ids.iter().map(|id| wording::text(id)).collect())
}
