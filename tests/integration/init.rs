//! `init`, as a maintainer runs it who has never seen the program.

use std::os::unix::fs::PermissionsExt as _;

use evidence_gate::policy::{Gate, parse};

use crate::working_copy::{Said, WorkingCopy};

/// A small repository with Python, a recorded input and a recorded output, three changes old.
fn python() -> WorkingCopy {
    let copy = WorkingCopy::new();
    copy.write("pyproject.toml", "[project]\nname = \"till\"\n")
        .write("src/till/money.py", "def split(a):\n    return a\n");
    copy.write("tests/test_money.py", "def test_split():\n    assert True\n").write("README.md", "# Till\n");
    copy.write("tests/fixtures/fees.json", "{}\n").write("tests/baseline/report.txt", "1\n");
    copy.write("contrib/completion/_till", "complete\n").write("src/till/page.html", "<p>\n");
    copy.commit();
    copy.write("src/till/money.py", "def split(a):\n    return a + 0\n").commit();
    copy.write("contrib/completion/_till", "complete more\n").commit();
    copy.write("tests/fixtures/fees.json", "{\"a\": 1}\n").commit();
    copy
}

fn init(copy: &WorkingCopy, more: &[&str]) -> Said {
    copy.run(&[&["init", "--no-property"], more].concat())
}

fn text(copy: &WorkingCopy, path: &str) -> String {
    std::fs::read_to_string(copy.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_repository_gets_a_policy_a_lock_and_a_ledger_that_the_gate_takes() {
    let copy = python();
    let said = init(&copy, &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{}", said.text());
    let policy = parse(&text(&copy, ".evidence-gate.toml"), "written").unwrap();
    assert_eq!(policy.scope.gate, Gate::All);
    assert!(policy.require.fixture_lock);
    assert_eq!(policy.classes.snapshot[0].text(), "tests/baseline/**");
    let lint = copy.run(&["policy", "lint"]);
    assert_eq!(lint.code, 0, "what is not committed yet is no fault: {}", lint.text());
    assert!(lint.text().contains("fixtures.lock is in the working copy and not in HEAD"), "{}", lint.text());
    let base = copy.commit();
    let head = copy.write("src/till/money.py", "def split(a):\n    return a - 0\n").commit();
    let record = copy.score(&base, &head);
    assert_eq!(record.findings, [], "{}", record.title);
    assert!(record.digests.lock.is_some() && record.digests.ledger.is_some());
    assert_eq!(copy.run(&["lock", "verify"]).code, 0);
    assert_eq!(copy.run(&["freeze", "check"]).code, 0);
}

#[test]
fn it_says_what_it_did_what_the_last_changes_would_have_met_and_what_is_next() {
    let said = init(&python(), &[]).text();
    let at = |what: &str| said.find(what).unwrap_or_else(|| panic!("{what:?} is not in\n{said}"));
    let order = [
        "has a policy now. Nothing is enforced before you commit it.",
        "wrote  .evidence-gate.toml",
        "python      pyproject.toml, 2 source files",
        "1 of the last 3 changes of HEAD would have passed by itself (33.3%).",
        "evidence-edited",
        "product = [\"contrib/**\"]",
        "Next\n",
        "git add .evidence-gate.toml fixtures.lock freeze_ledger.json",
    ];
    let places = order.map(at);
    assert!(places.is_sorted(), "{places:?} in\n{said}");
    assert!(said.contains("(line 23: `product`"), "the line of `product` is named:\n{said}");
}

#[test]
fn what_is_there_is_never_overwritten_and_a_second_run_writes_nothing() {
    let copy = python();
    copy.write("freeze_ledger.json", "mine\n");
    std::os::unix::fs::symlink("nowhere", copy.path("fixtures.lock")).unwrap();
    let said = init(&copy, &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(text(&copy, "freeze_ledger.json"), "mine\n");
    assert!(copy.path("fixtures.lock").is_symlink());
    assert_eq!(said.text().matches("  kept   ").count(), 2, "{}", said.text());
    let before = text(&copy, ".evidence-gate.toml");
    let said = init(&copy, &[]);
    assert_eq!(text(&copy, ".evidence-gate.toml"), before);
    assert!(said.text().starts_with("Everything is there already"), "{}", said.text());
}

#[test]
fn a_policy_of_ones_own_stays_and_what_it_names_is_written() {
    let copy = python();
    copy.write(
        ".evidence-gate.toml",
        "schema = 1\n[fixtures]\nlock = \"locks/inputs\"\n[freeze]\nledger = \"flaky.json\"\n",
    );
    assert_eq!(init(&copy, &[]).code, 0);
    assert!(text(&copy, "locks/inputs").ends_with("  tests/fixtures/fees.json\n"));
    assert!(text(&copy, "flaky.json").contains("\"freezes\": {}"));
    copy.write(".evidence-gate.toml", "schema = 1\nadded_test = \"hold\"\n");
    let said = init(&copy, &[]);
    assert_eq!(said.code, 65);
    assert!(said.stderr.contains("did you mean `added_tests`?"), "{}", said.stderr);
}

#[test]
fn a_dry_run_shows_the_policy_and_writes_nothing() {
    let copy = python();
    let said = init(&copy, &["--dry-run"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.text().contains("  | schema = 1\n"), "{}", said.text());
    assert!(said.text().contains("would  fixtures.lock"), "{}", said.text());
    assert_eq!(copy.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_empty_repository_gets_a_policy_that_knows_every_language() {
    let copy = WorkingCopy::new();
    let said = init(&copy, &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert!(said.text().contains("There is no commit yet"), "{}", said.text());
    let policy = parse(&text(&copy, ".evidence-gate.toml"), "written").unwrap();
    assert_eq!(policy.classes.extends.len(), 8);
    assert!(!policy.require.fixture_lock && !copy.path("fixtures.lock").exists());
}

#[test]
fn a_repository_with_one_commit_has_no_change_to_judge() {
    let copy = WorkingCopy::new();
    copy.write("main.go", "package main\n").commit();
    let said = init(&copy, &[]).text();
    assert!(said.contains("There is no change to judge: HEAD has no commit that stands on another."), "{said}");
    assert!(said.contains("No fixture") || text(&copy, ".evidence-gate.toml").contains("No fixture was found"));
}

#[test]
fn a_repository_of_no_known_language_is_told_so_and_offered_its_own_folders() {
    let copy = WorkingCopy::new();
    copy.write("rtl/core.v", "module core;\n").write("rtl/alu.v", "module alu;\n").write("odd\"name", "x\n").commit();
    let said = init(&copy, &[]).text();
    assert!(said.contains("no language that has patterns of its own was found"), "{said}");
    let policy = text(&copy, ".evidence-gate.toml");
    assert!(policy.contains("extends = [\"generic\"]"), "{policy}");
    assert!(policy.contains("    # \"rtl/**\",  # 2 files, such as rtl/alu.v"), "{policy}");
    // Taking every # away leaves a policy.
    let offered = policy.replace("    # \"", "    \"").replace("    # '", "    '");
    assert_ne!(offered, policy);
    parse(&offered, "offered").unwrap();
}

#[test]
fn a_bare_repository_a_shallow_clone_and_a_folder_outside_git_get_clear_words() {
    let copy = python();
    let bare = copy.beside("bare.git");
    copy.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let said = copy.run(&["init", "--repo", bare.to_str().unwrap()]);
    assert_eq!(said.code, 64);
    assert!(said.stderr.contains("is a bare repository, with no working copy to write to"), "{}", said.stderr);
    assert_eq!(copy.run(&["init", "--no-property", "--dry-run", "--repo", bare.to_str().unwrap()]).code, 0);

    let shallow = copy.beside("shallow");
    let from = format!("file://{}", copy.dir().display());
    copy.git(&["clone", "--quiet", "--depth=2", &from, shallow.to_str().unwrap()]);
    let said = copy.run(&["init", "--no-property", "--repo", shallow.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.text().contains("of the last 1 change of HEAD"), "{}", said.text());
    assert!(said.text().contains("`git fetch --unshallow` brings the rest"), "{}", said.text());

    let outside = copy.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    let said = copy.run(&["init", "--repo", outside.to_str().unwrap()]);
    assert_eq!((said.code, said.text().as_str()), (64, ""));
    assert!(said.stderr.contains("is not in a git repository"), "{}", said.stderr);
}

#[test]
fn a_folder_that_is_a_link_is_no_way_out_of_the_repository() {
    let copy = python();
    let outside = copy.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, copy.path("locks")).unwrap();
    copy.write(".evidence-gate.toml", "schema = 1\n[fixtures]\nlock = \"locks/inputs\"\n");
    let said = init(&copy, &[]);
    assert_eq!(said.code, 64);
    assert!(said.stderr.contains("is no folder"), "{}", said.stderr);
    assert_eq!(std::fs::read_dir(outside).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_an_error_of_input_and_output() {
    let copy = python();
    std::fs::set_permissions(copy.dir(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let said = init(&copy, &[]);
    std::fs::set_permissions(copy.dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
    // The owner of every file may write anywhere, whatever the mode says.
    assert!(matches!(said.code, 74 | 0), "{said:?}");
    assert_eq!(said.code == 74, !copy.path(".evidence-gate.toml").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn the_example_property_ran_before_it_is_written_and_runs_again_in_score() {
    let copy = python();
    let said = copy.run(&["init", "--last", "0"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{}", said.text());
    assert!(said.text().contains("an example property; it passed here"), "{}", said.text());
    copy.commit();
    copy.git(&["checkout", "--quiet", "-b", "proposal"]);
    copy.write("src/till/money.py", "def split(a:\n    return a\n").commit();
    let said = copy.run(&["score", "--base", "main", "--format", "json"]);
    let record: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(record["properties"][0]["counterexample"], "src/till/money.py", "{record:#}");
    assert_eq!(record["properties"][0]["exc_type"], "SyntaxError");
}
