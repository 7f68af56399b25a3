//! `policy lint`: what a maintainer is told about a policy that can be read.

use serde_json::Value;

use crate::working_copy::WorkingCopy;

/// Product, a fixture, a snapshot in Rust, tests in two languages; a policy as given.
fn copy(policy: &str) -> WorkingCopy {
    let copy = WorkingCopy::new();
    copy.write("src/a.py", "a = 1\n").write("tests/test_a.py", "def test_a():\n    assert 1\n");
    copy.write("tests/fixtures/in.json", "1\n").write("checks/case.lua", "x\n").write("ui/form.verified.txt", "1\n");
    copy.write(".evidence-gate.toml", policy).commit();
    copy
}

fn document(copy: &WorkingCopy, more: &[&str]) -> (i32, Value) {
    let said = copy.run(&[&["policy", "lint", "--format", "json"], more].concat());
    assert_eq!(said.stderr, "", "{}", said.text());
    (said.code, serde_json::from_slice(&said.stdout).unwrap())
}

/// `level check line` of each remark.
fn remarks(copy: &WorkingCopy) -> Vec<String> {
    let (_, document) = document(copy, &[]);
    let text = |of: &Value| of.as_str().map_or_else(|| of.to_string(), str::to_owned);
    let all = document["remarks"].as_array().unwrap();
    all.iter().map(|of| format!("{} {} {}", text(&of["level"]), text(&of["check"]), text(&of["line"]))).collect()
}

#[test]
fn a_policy_with_nothing_to_remark_says_so_and_exits_with_0() {
    let copy = copy("schema = 1\n");
    copy.remove("checks/case.lua").commit();
    let said = copy.run(&["policy", "lint"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert!(
        said.text().ends_with(".evidence-gate.toml: nothing to remark, held against the 5 files of HEAD\n"),
        "{}",
        said.text()
    );
}

#[test]
fn a_pattern_that_matches_nothing_or_decides_nothing_is_named_with_its_line() {
    let policy = "schema = 1\n[classes]\nproduct = [\n  \"src/**\",\n  \"lib/**\",\n  \"tests/fixtures/**\",\n]\nallowed = [\"**/src/**\"]\n";
    let found = remarks(&copy(policy));
    assert_eq!(
        found,
        ["warning decides-nothing 4", "warning matches-nothing 5", "warning decides-nothing 6"],
        "{found:?}"
    );
}

#[test]
fn product_over_evidence_is_told_that_evidence_stays() {
    let copy = copy("schema = 1\n[classes]\nproduct = [\"**\"]\n");
    let found = remarks(&copy);
    assert!(found.contains(&"note covers-evidence 3".to_owned()), "{found:?}");
}

#[test]
fn evidence_of_a_set_that_is_left_out_has_no_protection_and_that_is_a_fault() {
    let copy = copy("schema = 1\n[classes]\nextends = [\"javascript\"]\nproduct = [\"ui/**\"]\n");
    let (code, found) = document(&copy, &[]);
    assert_eq!(code, 1);
    let first = &found["remarks"][0];
    assert_eq!(
        (&first["level"], &first["check"], &first["line"]),
        (&"fault".into(), &"evidence-unprotected".into(), &4.into())
    );
    let message = first["message"].as_str().unwrap();
    assert!(
        message.contains("snapshot for the built-in set `dotnet`") && message.contains("ui/form.verified.txt"),
        "{message}"
    );
    let all = found["remarks"].as_array().unwrap();
    let left_out = all.iter().find(|of| of["check"] == "language-left-out").unwrap();
    assert_eq!(left_out["next"], "add \"python\" to `extends`");
}

#[test]
fn a_test_pattern_of_a_language_without_a_grammar_is_a_warning() {
    let found = remarks(&copy("schema = 1\n[classes]\ntest = [\n  \"checks/**\",\n  \"*.bats\",\n]\n"));
    assert!(found.contains(&"warning no-grammar 4".to_owned()), "{found:?}");
    assert!(found.contains(&"warning no-grammar 5".to_owned()), "{found:?}");
    assert!(found.contains(&"warning matches-nothing 5".to_owned()), "{found:?}");
}

#[test]
fn a_lock_that_is_missing_unreadable_stale_or_short_is_told_apart() {
    let policy = "schema = 1\n[require]\nfixture_lock = true\n[fixtures]\nlock = \"fixtures.lock\"\n";
    let copy = copy(policy);
    assert!(remarks(&copy).contains(&"fault lock-missing 5".to_owned()));
    copy.write("fixtures.lock", "nonsense\n").commit();
    assert!(remarks(&copy).contains(&"fault lock-unreadable 5".to_owned()));
    copy.write("fixtures.lock", "").commit();
    assert!(remarks(&copy).contains(&"warning fixture-unlocked 5".to_owned()));
    assert_eq!(copy.run(&["lock", "write", "--output", "fixtures.lock"]).code, 0);
    copy.commit();
    assert!(remarks(&copy).iter().all(|remark| !remark.contains("lock")), "{:?}", remarks(&copy));
    copy.write("tests/fixtures/in.json", "2\n").commit();
    assert!(remarks(&copy).contains(&"fault lock-stale 5".to_owned()));
}

#[test]
fn files_that_a_property_or_the_ledger_needs_are_looked_for_in_the_commit() {
    let policy = "schema = 1\n[freeze]\nledger = \"flaky.json\"\n[[property]]\nid = \"p\"\ncommand = [\"python3\", \"-I\", \"properties/p.py\"]\npaths = [\"lib/**\"]\n";
    let copy = copy(policy);
    let found = remarks(&copy);
    for wanted in [
        "fault property-file-missing 6",
        "warning matches-nothing 7",
        "note property-without-known-bad 5",
        "note ledger-missing 3",
    ] {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is not in {found:?}");
    }
    copy.write("oracle/properties/p.py", "").write("oracle/known_bad/p.json", "[]").write("flaky.json", "{}").commit();
    let found = remarks(&copy);
    assert!(found.contains(&"fault ledger-unreadable 3".to_owned()), "{found:?}");
    assert!(!found.iter().any(|remark| remark.contains("property-")), "{found:?}");
}

#[test]
fn warnings_exit_with_0_and_with_strict_with_1() {
    let copy = copy("schema = 1\n[classes]\nproduct = [\"lib/**\"]\n");
    assert_eq!(document(&copy, &[]).0, 0);
    assert_eq!(document(&copy, &["--strict"]).0, 1);
}

#[test]
fn a_policy_that_is_not_committed_or_cannot_be_read_is_said() {
    let copy = copy("schema = 1\n");
    copy.write(".evidence-gate.toml", "schema = 1\nadded_tests = \"record\"\n");
    assert!(remarks(&copy).contains(&"note not-committed null".to_owned()));
    copy.write(".evidence-gate.toml", "schema = 2\n");
    let said = copy.run(&["policy", "lint"]);
    assert_eq!((said.code, said.text().as_str()), (65, ""));
    copy.remove(".evidence-gate.toml").commit();
    let said = copy.run(&["policy", "lint"]);
    assert_eq!(said.code, 64);
    assert!(said.stderr.contains("`evidence-gate init` writes one"), "{}", said.stderr);
}
