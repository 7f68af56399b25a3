//! What the rules say of outcomes that no run has to make first: freezes, flaky outcomes, live tests by name.

use std::collections::BTreeMap;
use std::time::Duration;

use evidence_gate::change::{BytePath, Change, Mode, PathChange, Side, Status};
use evidence_gate::classes::Classifier;
use evidence_gate::evidence::ledger::{LedgerFacts, MessageDigest, Normaliser, Signature, parse};
use evidence_gate::evidence::lock::LockFacts;
use evidence_gate::evidence::property::{Failed, Flaky, KnownBad, Outcome, PropertyFacts, Sample, TrialLog};
use evidence_gate::evidence::surface::{MapFacts, SurfaceFacts};
use evidence_gate::evidence::tree_tests::{TreeFacts, TreeRun, read, worse};
use evidence_gate::evidence::{Blobs, ClassedRow, Comparison, Facts, Merge, RulesFrom, Runs, analyse, judge_runs};
use evidence_gate::policy::{Policy, PropertyId};
use evidence_gate::sandbox::{Ended, Outcome as Run};
use insta::assert_snapshot;

/// One entry of a ledger: node id, seed, type, message and last day.
type Entry<'a> = (&'a str, Option<i64>, &'a str, &'a str, &'a str);

fn ledger(entries: &[Entry<'_>]) -> LedgerFacts {
    let freezes: Vec<String> = entries
        .iter()
        .map(|(nodeid, seed, exc_type, message, last)| {
            let digest = MessageDigest::of(message, Normaliser::default(), &[], None);
            let signature = Signature::of(nodeid, *seed, exc_type, &digest);
            let seed = seed.map_or("null".to_owned(), |seed| seed.to_string());
            format!(
                r#""{signature}": {{"nodeid": "{nodeid}", "seed": {seed}, "exc_type": "{exc_type}", "message_digest": "{digest}",
                "first_seen": "2026-09-15", "expires_on": "{last}", "reason": "known", "citation": "https://ci.example/1", "bound_sha": "{}"}}"#,
                "b".repeat(40)
            )
        })
        .collect();
    read_ledger(&format!(r#"{{"schema": 2, "freezes": {{{}}}}}"#, freezes.join(",")))
}

fn read_ledger(text: &str) -> LedgerFacts {
    LedgerFacts::Read { origin: "ledger".to_owned(), ledger: parse(text.as_bytes()).unwrap(), bound: BTreeMap::new() }
}

/// Every finding of some runs as a line; `path` is what the change touches.
fn told(ledger: &LedgerFacts, path: &str, runs: &Runs) -> String {
    let policy = Policy::default();
    let classifier = Classifier::new(&policy);
    let side =
        |digit: &str| Side { path: BytePath::new(path), mode: Mode::FILE, blob: digit.repeat(40).parse().unwrap() };
    let row = PathChange { status: Status::Modified, old: Some(side("1")), new: Some(side("2")) };
    let change = Change {
        base: "b".repeat(40).parse().unwrap(),
        head: "a".repeat(40).parse().unwrap(),
        merge_base: "c".repeat(40).parse().unwrap(),
        merged_tree: None,
        rows: vec![row],
    };
    let rows: Vec<ClassedRow<'_>> =
        change.rows.iter().map(|row| ClassedRow { row, class: classifier.class_of(row) }).collect();
    let (blobs, rules_from) = (Blobs::default(), RulesFrom::Read("a test".to_owned()));
    let analysis = analyse(&policy, &[], &blobs);
    let facts = Facts {
        policy: &policy,
        rules_from: &rules_from,
        classifier: &classifier,
        change: &change,
        comparison: &Comparison::One,
        merge: &Merge::Clean,
        rows: &rows,
        twins: &[],
        blobs: &blobs,
        analysis: &analysis,
        lock: &LockFacts::Absent,
        ledger,
        surface: &SurfaceFacts::without_map(MapFacts::NotNeeded, &rows, &blobs),
        today: jiff::civil::date(2026, 10, 1),
    };
    let findings = judge_runs(&facts, runs);
    let lines = findings.iter().map(|finding| format!("{} {}: {}", finding.verdict, finding.rule.id, finding.message));
    lines.collect::<Vec<_>>().join("\n")
}

fn complete() -> Outcome {
    Outcome::Complete(TrialLog { seed: 7, trials: 50, hits: 50, counterexample: None, exc_type: None, message: None })
}

fn failed(exc_type: &str, message: &str) -> Outcome {
    Outcome::Failed(Failed { exc_type: exc_type.to_owned(), message: message.to_owned(), log: None })
}

fn property(merged: Outcome, base: Option<Outcome>) -> PropertyFacts {
    let id = PropertyId::new("p").unwrap();
    PropertyFacts { id, seed: 7, merged, base, sample: None, known_bad: None, flaky: None }
}

fn of(ledger: &LedgerFacts, property: PropertyFacts) -> String {
    told(ledger, "src/a.py", &Runs::Ended { properties: vec![property], tests: None })
}

#[test]
fn a_frozen_failure_of_a_property_is_skipped_until_its_last_day() {
    let until = |last| ledger(&[("property:p", Some(7), "AssertionError", "double(3) is 2", last)]);
    let fails = || property(failed("AssertionError", "double(4) is 3"), None);
    assert_snapshot!(of(&until("2026-10-01"), fails()), @"unscored property-frozen: property p fails with the seed 7 as it is frozen: AssertionError: double(4) is 3");
    assert_snapshot!(of(&until("2026-09-30"), fails()), @"reject freeze-expired: property p fails with the seed 7, and the freeze of this failure has ended: AssertionError: double(4) is 3");
    assert_snapshot!(of(&until("2026-10-01"), property(complete(), None)), @"hold freeze-open: property p holds with the seed 7, and a freeze of it stands");
    assert_eq!(of(&until("2026-09-30"), property(complete(), None)), "");
    let other = property(failed("AssertionError", "other"), Some(complete()));
    assert_snapshot!(of(&until("2026-10-01"), other), @"reject property-failed: property p fails with the seed 7, and holds on the base: AssertionError: other");
    let mut seeded = fails();
    (seeded.seed, seeded.base) = (8, Some(complete()));
    assert_snapshot!(of(&until("2026-10-01"), seeded), @"reject property-failed: property p fails with the seed 8, and holds on the base: AssertionError: double(4) is 3");
}

#[test]
fn what_the_base_does_decides_over_a_failure() {
    let base = |outcome| of(&LedgerFacts::Absent, property(failed("ValueError", "no"), outcome));
    assert_snapshot!(base(Some(failed("KeyError", "no"))), @"reject property-failed: property p fails with the seed 7, and fails on the base in another way (KeyError: no): ValueError: no");
    assert_snapshot!(base(Some(failed("ValueError", "no"))), @"hold property-failed-on-base: property p fails with the seed 7 as it does on the base: ValueError: no");
    assert_snapshot!(base(Some(Outcome::Incomplete("it left no trial log".into()))), @"unscored property-base-unknown: property p fails with the seed 7, and nothing can be said of the base (it left no trial log): ValueError: no");
    assert_snapshot!(base(None), @"unscored property-base-unknown: property p fails with the seed 7, and nothing can be said of the base (it was not run there): ValueError: no");
}

#[test]
fn samples_known_bad_inputs_and_flaky_outcomes_speak_beside_the_trials() {
    let mut all = property(complete(), None);
    all.sample = Some(Sample::Incomplete("it left no trial log".into()));
    all.known_bad = Some(KnownBad::Incomplete("it judged 1 of 2 inputs".into()));
    all.flaky = Some(Flaky { stands: "incomplete".into(), other: "complete".into() });
    assert_snapshot!(of(&LedgerFacts::Absent, all), @r"
    unscored property-incomplete: property p could not compute its sample: it left no trial log
    unscored property-incomplete: property p did not judge its known-bad inputs to an end: it judged 1 of 2 inputs
    hold flaky-outcome: property p with the seed 7 was incomplete in one run and complete in another with the same inputs; the first stands
    ");
}

/// A run whose report has these cases: a name, and what is inside.
fn reported(cases: &[(&str, &str)]) -> TreeRun {
    let cases =
        cases.iter().map(|(name, inner)| format!(r#"<testcase classname="t" name="{name}">{inner}</testcase>"#));
    let report = format!("<testsuite>{}</testsuite>", cases.collect::<String>());
    let run = Run { ended: Ended::Exited(0), stdout: vec![], stderr: vec![], log: vec![], took: Duration::ZERO };
    read(&run, Ok(report.as_bytes()))
}

const WRONG: &str = r#"<failure type="ValueError" message="3 is wrong"/>"#;

fn live(ledger: &LedgerFacts, path: &str, merged: TreeRun, base: TreeRun) -> String {
    let tests = Some(TreeFacts { merged, base, flaky: Vec::new() });
    told(ledger, path, &Runs::Ended { properties: Vec::new(), tests })
}

#[test]
fn a_test_that_is_skipped_now_and_ran_before_has_vanished() {
    let (base, now) =
        (reported(&[("a", ""), ("b", "<skipped/>")]), reported(&[("a", "<skipped/>"), ("b", "<skipped/>")]));
    assert_snapshot!(live(&LedgerFacts::Absent, "src/a.py", now, base), @"unscored tests-vanished: 1 live test that ran on the base does not run on the merged tree: t::a");
}

#[test]
fn a_frozen_test_without_a_signature_must_not_run_and_does_not_count() {
    let ledger = read_ledger(&format!(
        r#"{{"schema": 1, "frozen": [{{"nodeid": "t::a", "reason": "known", "bound_sha": "{}"}}]}}"#,
        "b".repeat(40)
    ));
    let base = || reported(&[("a", ""), ("b", "")]);
    assert_eq!(live(&ledger, "src/a.py", reported(&[("b", "")]), base()), "");
    assert_snapshot!(live(&ledger, "src/a.py", reported(&[("a", ""), ("b", "")]), base()), @"unscored frozen-test-ran: 1 frozen test ran and should have been left out: t::a");
}

#[test]
fn a_test_frozen_by_its_signature_excuses_that_failure_alone() {
    let until = |last| ledger(&[("t::a", None, "ValueError", "1 is wrong", last)]);
    let fails = |inner| reported(&[("a[2]", inner)]);
    let base = || reported(&[("a[2]", "")]);
    assert_eq!(live(&until("2026-10-01"), "src/a.py", fails(WRONG), base()), "");
    assert_snapshot!(live(&until("2026-09-30"), "src/a.py", fails(WRONG), base()), @"reject freeze-expired: the live test t::a[2] fails, and the freeze of this failure has ended: ValueError: 3 is wrong");
    let other = r#"<failure type="KeyError" message="3 is wrong"/>"#;
    assert_snapshot!(live(&until("2026-10-01"), "src/a.py", fails(other), base()), @"reject tree-test-failed: the live test t::a[2] fails, and passes on the base: KeyError: 3 is wrong");
}

#[test]
fn failures_are_held_against_the_bases() {
    let one = |inner| reported(&[("a", inner)]);
    let absent = LedgerFacts::Absent;
    assert_snapshot!(live(&absent, "src/a.py", one(WRONG), one(r#"<failure type="ValueError" message="4 is wrong"/>"#)), @"hold tree-test-failed-on-base: the live test t::a fails as it does on the base: ValueError: 3 is wrong");
    assert_snapshot!(live(&absent, "src/a.py", one(WRONG), one(r#"<error type="KeyError" message="x"/>"#)), @"reject tree-test-failed: the live test t::a fails in another way than on the base: ValueError: 3 is wrong");
    assert_snapshot!(live(&absent, "src/a.py", one(WRONG), one("<skipped/>")), @"reject tree-test-failed: the live test t::a fails, and is skipped on the base: ValueError: 3 is wrong");
    let missing = r#"<error type="ModuleNotFoundError" message="No module named 'x'"/>"#;
    assert_snapshot!(live(&absent, "requirements.txt", one(missing), one("")), @"unscored environment-missing: the live test t::a misses something that the scoring host does not have, and the change touches build or dependency files: ModuleNotFoundError: No module named 'x'");
    assert_snapshot!(live(&absent, "src/a.py", one(""), TreeRun::Missing("the time ran out".into())), @"unscored tree-report-missing: the live tests left no report on the base: the time ran out");
}

#[test]
fn the_worse_of_two_runs_stands_test_by_test() {
    let now = reported(&[("a", ""), ("b", WRONG), ("c", ""), ("d", "")]);
    let earlier = reported(&[("a", WRONG), ("b", ""), ("c", "")]);
    let (stands, flaky) = worse(now, earlier);
    assert_eq!(flaky, ["t::a", "t::b", "t::d"]);
    let tests = TreeFacts { merged: stands, base: reported(&[("a", ""), ("b", ""), ("c", ""), ("d", "")]), flaky };
    assert_snapshot!(told(&LedgerFacts::Absent, "src/a.py", &Runs::Ended { properties: Vec::new(), tests: Some(tests) }), @r"
    hold flaky-outcome: 3 live tests ended in another way in an earlier run with the same inputs; the worse outcome stands: t::a, t::b, t::d
    unscored tests-vanished: 1 live test that ran on the base does not run on the merged tree: t::d
    reject tree-test-failed: the live test t::a fails, and passes on the base: ValueError: 3 is wrong
    reject tree-test-failed: the live test t::b fails, and passes on the base: ValueError: 3 is wrong
    ");
    let (stands, flaky) = worse(reported(&[("a", "")]), TreeRun::Missing("nothing".into()));
    assert_eq!((stands, flaky), (TreeRun::Missing("nothing".into()), vec!["the whole report".to_owned()]));
}

#[test]
fn a_report_of_a_run_that_was_stopped_is_none() {
    let run = |ended| Run { ended, stdout: vec![], stderr: vec![], log: vec![], took: Duration::ZERO };
    let report = b"<testsuite><testcase name=\"a\"/></testsuite>";
    for ended in [Ended::TimedOut, Ended::OutOfMemory, Ended::OutputLimit] {
        assert!(
            matches!(read(&run(ended), Ok(report)), TreeRun::Missing(why) if why.starts_with("the run was stopped"))
        );
    }
    assert!(matches!(read(&run(Ended::Exited(1)), Ok(report)), TreeRun::Reported(_)));
}
