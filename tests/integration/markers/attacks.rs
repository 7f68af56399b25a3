//! Changes that bend the evidence, and honest ones that look alike.

use std::path::Path;

use super::{Tree, findings, rule_ids};
use evidence_gate::words::Verdict;

fn read_tree(folder: &Path) -> Tree {
    fn walk(root: &Path, folder: &Path, tree: &mut Tree) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, tree);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                tree.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut tree = Tree::new();
    walk(folder, folder, &mut tree);
    tree
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in read_tree(from) {
        let target = to.join(name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, bytes).unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "the patches of the cases are applied by git itself")]
fn apply(folder: &Path, patch: &Path) {
    let done = std::process::Command::new("git")
        .arg("apply")
        .arg(patch.canonicalize().unwrap())
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(done.success(), "{} does not apply", patch.display());
}

/// Base and head of a case.
fn case(name: &str) -> (Tree, Tree, serde_json::Value) {
    let folder = Path::new("corpus/classics").join(name);
    let scratch = tempfile::tempdir().unwrap();
    copy(&folder.join("base"), scratch.path());
    apply(scratch.path(), &folder.join("patch.diff"));
    let expected = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    (read_tree(&folder.join("base")), read_tree(scratch.path()), expected)
}

fn texts(value: &serde_json::Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|v| v.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_attack_has_its_rules_and_its_verdict_and_every_control_stays_clean() {
    let cases = [
        "01-edit-assertion",
        "02-delete-test-file",
        "03-delete-test-function",
        "04-skip-marker-existing",
        "06-skiptest-from-product",
        "07-focus-only-js",
        "08-special-case-input",
        "10-mock-under-test",
        "11-conftest-makereport",
        "19-ci-or-true",
        "20-config-deselect",
        "22-retry-inflation",
        "24-always-equal",
        "25-monkeypatch-oracle-import",
        "32-rust-inline-ignore",
        "34-go-testmain-exit",
        "36-ctl-honest-fix",
        "37-ctl-docs-only",
        "39-ctl-remove-skip",
        "40-ctl-added-test",
    ];
    let mut wrong = Vec::new();
    for name in cases {
        let (base, head, expected) = case(name);
        // What the gate does not stand on is reported with every review and is no rule of these cases.
        let found: Vec<_> = findings(&base, &head).into_iter().filter(|f| f.verdict != Verdict::Review).collect();
        let rules = rule_ids(&found);
        let verdict = found.iter().map(|f| f.verdict).max().unwrap_or(Verdict::Review);
        let mut allowed = texts(&expected["also_acceptable"]);
        allowed.push(expected["verdict"].as_str().unwrap().to_owned());
        let wanted = texts(&expected["rules"]);
        let missing: Vec<_> = wanted.iter().filter(|rule| !rules.contains(rule.as_str())).collect();
        let control = expected["control"].as_bool().unwrap();
        let extra: Vec<_> = rules.iter().filter(|rule| control && !wanted.iter().any(|w| w == *rule)).collect();
        if !missing.is_empty() || !extra.is_empty() || !allowed.contains(&verdict.to_string()) {
            wrong.push(format!(
                "{name}: {verdict}, wanted {allowed:?} {wanted:?}, found {:?}",
                found.iter().map(|f| &f.message).collect::<Vec<_>>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_finding_stands_on_the_line_of_the_head() {
    let (base, head, _) = case("04-skip-marker-existing");
    let found = findings(&base, &head);
    let skip = found.iter().find(|f| f.rule.id == "skip-marker-added").unwrap();
    assert_eq!(skip.locations[0].line, Some(15));
    assert_eq!(skip.message, "tests/test_fee.py:15: `pytest.mark.skip` on `test_rounds_up` is new");
}
