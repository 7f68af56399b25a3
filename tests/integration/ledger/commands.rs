//! `freeze list`, `check`, `signature` and `add`, as a person runs them.

use evidence_gate::evidence::ledger::parse;
use evidence_gate::score::{PropertyRow, Record};
use serde_json::Value;

use crate::working_copy::WorkingCopy;

const REPORT: &str = r#"<testsuites><testsuite name="pytest"><testcase classname="tests.test_retry" name="test_cap"><failure message="AssertionError: cap 1000 exceeded">x</failure></testcase><testcase classname="tests.test_retry" name="test_empty"><failure message="ValueError: 17">x</failure></testcase><testcase classname="tests.test_retry" name="test_fine"/></testsuite></testsuites>"#;

const ADD: [&str; 12] = [
    "freeze",
    "add",
    "--junit",
    "../junit.xml",
    "--nodeid",
    "tests/test_retry.py::test_cap",
    "--reason",
    "slow runner",
    "--days",
    "7",
    "--citation",
    "https://ci.example/1",
];

fn copy() -> (WorkingCopy, String) {
    let copy = WorkingCopy::new();
    let base = copy.write(".evidence-gate.toml", "schema = 1\n").write("src/a.py", "1\n").commit();
    copy.git(&["checkout", "--quiet", "-b", "topic"]);
    copy.write("src/a.py", "2\n").commit();
    std::fs::write(copy.beside("junit.xml"), REPORT).unwrap();
    (copy, base.to_string())
}

fn ledger(copy: &WorkingCopy) -> Value {
    serde_json::from_slice(&std::fs::read(copy.path("freeze_ledger.json")).unwrap()).unwrap()
}

#[test]
fn a_failure_of_a_report_is_frozen_and_bound_to_the_merge_base() {
    let (copy, base) = copy();
    let said = copy.run(&ADD);
    assert_eq!(said.code, 0, "{said:?}");
    let ledger = ledger(&copy);
    let (key, entry) = ledger["freezes"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(entry["exc_type"], "AssertionError");
    assert_eq!(entry["bound_sha"], base);
    assert_eq!((&entry["reason"], &entry["citation"]), (&"slow runner".into(), &"https://ci.example/1".into()));
    assert!(said.text().starts_with(&format!("{key} is frozen until ")), "{}", said.text());
    let signature = copy.run(&[
        "freeze",
        "signature",
        "--nodeid",
        "tests/test_retry.py::test_cap",
        "--exc-type",
        "AssertionError",
        "--message",
        "cap 50 exceeded",
    ]);
    let signature: Value = serde_json::from_str(&signature.text()).unwrap();
    assert_eq!(signature["signature"], key.as_str());
    assert_eq!(signature["normalised"], "cap <n> exceeded");
    let list = copy.run(&["freeze", "list"]);
    assert!(list.text().starts_with("1 live, 0 ended\n"), "{}", list.text());
    assert!(list.text().contains("(7 days left)  tests/test_retry.py::test_cap: slow runner"), "{}", list.text());
    copy.commit();
    let check = copy.run(&["freeze", "check"]);
    assert_eq!((check.code, check.text().ends_with("is sound: 1 entry\n")), (0, true), "{check:?}");
    let again = copy.run(&ADD);
    assert_eq!(again.code, 65);
    assert!(again.stderr.contains("take it out before it is renewed"), "{}", again.stderr);
}

#[test]
fn an_added_entry_leaves_the_others_as_they_are() {
    let (copy, _) = copy();
    copy.run(&ADD);
    let first = ledger(&copy);
    let other = copy
        .run(&[&ADD[..], &["--error-code", "E7", "--normaliser", "2", "--keep", "cap \\d+", "--seed", "-3"]].concat());
    assert_eq!(other.code, 0, "{other:?}");
    let both = ledger(&copy);
    let entries = both["freezes"].as_object().unwrap();
    let [(one, same), (_, new)] = entries.iter().collect::<Vec<_>>()[..] else { panic!("{both:#}") };
    assert_eq!(first["freezes"][one], *same);
    assert_eq!((&new["seed"], &new["error_code"], &new["normaliser"]), (&(-3).into(), &"E7".into(), &2.into()));
    assert!(parse(&std::fs::read(copy.path("freeze_ledger.json")).unwrap()).is_ok());
}

#[test]
fn what_cannot_be_frozen_is_refused_and_nothing_is_written() {
    let (copy, _) = copy();
    let with = |at: usize, text: &'static str| {
        let mut args = ADD;
        args[at] = text;
        args
    };
    for (args, code, expected) in [
        (with(5, "tests/test_retry.py::test_empty"), 65, "its message has no word but placeholders"),
        (with(5, "tests/test_retry.py::test_fine"), 65, "shows no failure of tests/test_retry.py::test_fine"),
        (
            with(5, "tests/test_retry.py::test_gone"),
            65,
            "has no test tests/test_retry.py::test_gone; it shows failures of",
        ),
        (with(7, "  "), 64, "--reason is empty"),
        (with(9, "31"), 64, "more than `freeze.max_days`, which is 30"),
        (with(11, ""), 64, "--citation is empty"),
        (with(3, "../nowhere.xml"), 74, "cannot read ../nowhere.xml"),
    ] {
        let said = copy.run(&args);
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert!(!copy.path("freeze_ledger.json").exists());
    }
    copy.write(
        "freeze_ledger.json",
        r#"{"schema": 1, "frozen": [{"nodeid": "a", "reason": "r", "bound_sha": "0123456789"}]}"#,
    );
    assert!(copy.run(&ADD).stderr.contains("has an older shape"));
}

#[test]
fn a_property_of_a_record_is_frozen_with_its_seed_and_cited_by_its_digest() {
    let (copy, base) = copy();
    let base = base.parse().unwrap();
    let head = copy.git(&["rev-parse", "HEAD"]).parse().unwrap();
    let mut record: Record = copy.score(&base, &head);
    record.properties = vec![PropertyRow {
        id: "retry_budget".to_owned(),
        runner: "worker".to_owned(),
        isolation: "two-sandboxes".to_owned(),
        seed: Some(20_260_921),
        trials: Some(200),
        hits: Some(10),
        counterexample: None,
        exc_type: Some("AssertionError".to_owned()),
        message: Some("budget 9 exceeded".to_owned()),
        signature: None,
        sample: None,
        known_bad: None,
        log: None,
    }];
    let bytes = serde_json::to_vec(&record).unwrap();
    std::fs::write(copy.beside("record.json"), &bytes).unwrap();
    let add = |nodeid| {
        copy.run(&["freeze", "add", "--record", "../record.json", "--nodeid", nodeid, "--reason", "r", "--days", "1"])
    };
    let said = add("property:retry_budget");
    assert_eq!(said.code, 0, "{said:?}");
    let ledger = ledger(&copy);
    let entry = ledger["freezes"].as_object().unwrap().values().next().unwrap().clone();
    assert_eq!(entry["seed"], 20_260_921);
    assert_eq!(entry["citation"], format!("sha256:{}", evidence_gate::change::Sha256::of(&bytes)));
    assert!(add("property:other").stderr.contains("it shows failures of property:retry_budget"));
    assert_eq!(add("retry_budget").code, 64);
}

#[test]
fn check_names_every_fault_and_says_what_score_would_say() {
    let (copy, _) = copy();
    copy.run(&ADD);
    let mut ledger = ledger(&copy);
    let key = ledger["freezes"].as_object().unwrap().keys().next().unwrap().clone();
    ledger["freezes"][&key]["bound_sha"] = "1".repeat(40).into();
    copy.write("freeze_ledger.json", ledger.to_string());
    let said = copy.run(&["freeze", "check"]);
    assert_eq!(said.code, 2);
    assert!(said.text().starts_with("freeze-unbound: 1 entry"), "{}", said.text());
    ledger["freezes"][&key]["expires_on"] = "never".into();
    ledger["freezes"][&key]["reason"] = 5.into();
    copy.write("freeze_ledger.json", ledger.to_string());
    let said = copy.run(&["freeze", "check"]);
    assert_eq!((said.code, said.stdout.len()), (65, 0));
    for expected in ["`expires_on` is \"never\"", "`reason` is a whole number"] {
        assert!(said.stderr.contains(&format!("entry {key}: {expected}")), "{}", said.stderr);
    }
}
