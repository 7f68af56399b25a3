//! `simulate`: a policy on changes that were merged already.

use serde_json::Value;

use crate::working_copy::{Said, WorkingCopy};

const POLICY: &str = "schema = 1\n\n[classes]\nextends = [\"python\"]\nproduct = []\n";

/// Five changes: the product, a squashed test, a merged branch of two commits, a fixture, and a path of no class.
fn till() -> WorkingCopy {
    let copy = WorkingCopy::new();
    copy.write("src/a.py", "a = 1\n").write("tests/fixtures/in.json", "1\n").write("misc/x.bin", "1\n").commit();
    copy.write("src/a.py", "a = 2\n").commit();
    copy.write("tests/test_b.py", "def test_b():\n    assert 1\n").commit();
    copy.git(&["checkout", "--quiet", "-b", "topic"]);
    copy.write("src/b.py", "b = 1\n").commit();
    copy.write("src/b.py", "b = 2\n").commit();
    copy.git(&["checkout", "--quiet", "main"]);
    copy.git(&["merge", "--quiet", "--no-ff", "--message", "Merge topic", "topic"]);
    copy.write("tests/fixtures/in.json", "2\n").commit();
    copy.write("misc/x.bin", "2\n").commit();
    copy.write(".evidence-gate.toml", POLICY);
    copy
}

fn simulate(copy: &WorkingCopy, more: &[&str]) -> Said {
    copy.run(&[&["simulate"], more].concat())
}

fn json(copy: &WorkingCopy, more: &[&str]) -> Value {
    let said = simulate(copy, &[&["--format", "json"], more].concat());
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{}", said.text());
    serde_json::from_slice(&said.stdout).unwrap()
}

#[test]
fn each_change_of_the_first_parent_line_is_judged_once_merges_included() {
    let document = json(&till(), &[]);
    let changes = document["changes"].as_array().unwrap();
    let verdicts: Vec<&str> = changes.iter().map(|change| change["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["hold", "reject", "review", "hold", "review"]);
    assert_eq!(changes[2]["subject"], "Merge topic");
    assert_eq!(document["verdicts"], serde_json::json!({"review": 2, "hold": 2, "unscored": 0, "reject": 1}));
    let levers: Vec<_> = document["levers"].as_array().unwrap().iter().map(|of| of["line"].as_str().unwrap()).collect();
    assert_eq!(levers, ["added_tests = \"record\"", "product = [\"misc/**\"]"]);
    assert_eq!(document["with_all_levers"], 2);
}

#[test]
fn the_lines_that_it_advises_do_what_it_says() {
    let copy = till();
    copy.write(
        ".evidence-gate.toml",
        "schema = 1\nadded_tests = \"record\"\n[classes]\nextends = [\"python\"]\nproduct = [\"misc/**\"]\n",
    );
    assert_eq!(json(&copy, &[])["verdicts"]["review"], 4);
}

#[test]
fn it_says_the_same_as_score() {
    let copy = till();
    let document = json(&copy, &[]);
    for change in document["changes"].as_array().unwrap() {
        let (base, head) = (change["before"].as_str().unwrap(), change["commit"].as_str().unwrap());
        let said =
            copy.run(&["score", "--base", base, "--head", head, "--policy", ".evidence-gate.toml", "--format", "json"]);
        let record: Value = serde_json::from_slice(&said.stdout).unwrap();
        assert_eq!(record["verdict"], change["verdict"]);
        assert_eq!(record["title"], change["title"]);
    }
}

#[test]
fn a_person_reads_the_share_first_then_why_and_which_line_changes_it() {
    let said = simulate(&till(), &[]).text();
    assert!(said.starts_with("2 of the last 5 changes of HEAD would have passed by themselves (40%).\n"), "{said}");
    let at = |what: &str| said.find(what).unwrap_or_else(|| panic!("{what:?} is not in\n{said}"));
    assert!(at("evidence-edited") < at("misc/x.bin"), "{said}");
    assert!(at("misc/x.bin") < at("     +1  product = [\"misc/**\"]  (line 5: `product` in [classes]"), "{said}");
    assert!(said.contains("     +2  all of them together"), "{said}");
}

#[test]
fn a_required_lock_that_an_old_base_had_not_is_the_one_that_it_would_have_had() {
    let copy = till();
    copy.write(".evidence-gate.toml", format!("{POLICY}[require]\nfixture_lock = true\n"));
    let document = json(&copy, &[]);
    assert_eq!(document["verdicts"]["unscored"], 0, "{document:#}");
    let rules = document["changes"][1]["rules"].as_array().unwrap();
    assert!(rules.contains(&"fixture-mismatch".into()) && rules.contains(&"evidence-edited".into()), "{rules:?}");
}

#[test]
fn properties_are_not_run_unless_asked_for_and_that_is_said() {
    let copy = till();
    copy.write(
        ".evidence-gate.toml",
        format!("{POLICY}[[property]]\nid = \"p\"\ncommand = [\"python3\", \"p.py\"]\n[proposal]\nchecks = [\"ci\"]\n"),
    );
    let said = simulate(&copy, &[]).text();
    assert!(said.starts_with("2 of the last 5 changes"), "{said}");
    assert!(said.contains("Not run here: 1 property, what the pull request's own checks said."), "{said}");
}

#[test]
fn one_change_is_judged_in_full_with_another_policy_or_base() {
    let copy = till();
    let said = simulate(&copy, &["--change", "HEAD~1"]);
    assert_eq!(said.code, 0);
    assert!(said.text().starts_with("REJECT: evidence-edited"), "{}", said.text());
    let said = simulate(&copy, &["--change", "HEAD", "--base", "HEAD~2", "--format", "json"]);
    let record: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(record["rows"].as_array().unwrap().len(), 2);
    copy.write("other.toml", "schema = 1\n[classes]\nallowed = [\"misc/**\"]\n");
    let said = simulate(&copy, &["--change", "HEAD", "--policy", "other.toml"]);
    assert!(said.text().starts_with("review: "), "{}", said.text());
    let first = copy.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let said = simulate(&copy, &["--change", &first]);
    assert_eq!(said.code, 64);
    assert!(said.stderr.contains("has no parent here"), "{}", said.stderr);
}

#[test]
fn without_a_policy_it_says_how_to_get_one_and_a_bare_repository_brings_its_own() {
    let copy = till();
    copy.commit();
    let bare = copy.beside("bare.git");
    copy.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    assert_eq!(json(&copy, &["--repo", bare.to_str().unwrap(), "--last", "2"])["judged"], 2);
    copy.remove(".evidence-gate.toml").commit();
    let said = simulate(&copy, &[]);
    assert_eq!((said.code, said.text().as_str()), (64, ""));
    assert!(said.stderr.contains("`evidence-gate init` writes one"), "{}", said.stderr);
}

#[test]
fn a_hostile_subject_or_path_is_shown_and_does_nothing() {
    let copy = till();
    let name = "misc/<img src=x onerror=alert(1)>`|\u{202e}\n::error::x";
    copy.write(name, "1\n");
    copy.git(&["add", "--all"]);
    copy.git(&["commit", "--quiet", "--message", "</summary><script>alert(1)</script> `x` | \u{1b}[31m"]);
    let page = simulate(&copy, &["--format", "html"]).text();
    assert!(page.contains("&lt;/summary&gt;&lt;script&gt;") && !page.contains("<script"), "{page}");
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
    let text = simulate(&copy, &[]).text();
    assert!(!text.contains('\u{1b}') && !text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
    let table = simulate(&copy, &["--format", "markdown"]).text();
    assert!(!table.contains("<img src") || table.contains("`misc/<img"), "{table}");
    assert!(table.lines().all(|line| !line.trim_start().starts_with("::")), "{table}");
}

#[test]
fn the_page_goes_to_a_file_and_standard_output_stays_empty() {
    let copy = till();
    let said = simulate(&copy, &["--format", "html", "--output", "page.html"]);
    assert_eq!((said.code, said.text().as_str(), said.stderr.as_str()), (0, "", ""));
    assert!(std::fs::read_to_string(copy.path("page.html")).unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(simulate(&copy, &["--output", "no/such/folder"]).code, 74);
}
