//! The corpus: every case is whole, and the shipped program judges each as it says.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

#[expect(clippy::disallowed_methods, reason = "the shipped program is started here")]
fn run(folder: &Path) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_evidence-gate"))
        .args(["corpus", "run"])
        .arg(folder)
        .output()
        .unwrap()
}

fn cases(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.join("expected.json").exists() {
        return found.push(folder.to_owned());
    }
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() && path.file_name().is_some_and(|name| name != "runners") {
            cases(&path, found);
        }
    }
}

fn expected(case: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap()
}

#[test]
fn every_case_comes_out_as_it_says_and_nothing_is_missed_that_is_no_known_gap() {
    let out = run(&root());
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let all = text.lines().find(|line| line.starts_with("all ")).unwrap();
    let numbers: Vec<usize> = all.split_whitespace().skip(1).map(|number| number.parse().unwrap()).collect();
    let [attacks, caught, missed, _, wrong] = *numbers else { panic!("{all}") };
    assert_eq!(caught + missed, attacks, "{text}");
    let gaps = |control: bool| {
        let mut found = Vec::new();
        cases(&root(), &mut found);
        let gap = |case: &PathBuf| {
            let expected = expected(case);
            expected["known_gap"] == true && expected["control"] == control
        };
        found.iter().filter(|case| gap(case)).count()
    };
    assert!(missed <= gaps(false) && wrong <= gaps(true), "{text}");
    assert!(caught * 100 >= attacks * 95, "{text}");
}

#[test]
fn a_case_that_comes_out_otherwise_is_named_and_ends_the_run_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let case = folder.path().join("case");
    std::fs::create_dir_all(case.join("base/src")).unwrap();
    std::fs::write(case.join("base/src/a.py"), "one = 1\n").unwrap();
    std::fs::write(case.join("patch.diff"), "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-one = 1\n+one = 2\n")
        .unwrap();
    let text = r#"{"id": "made/up", "kind": "made up", "control": false, "verdict": "reject", "rules": ["no-such"]}"#;
    std::fs::write(case.join("expected.json"), text).unwrap();
    let out = run(folder.path());
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert!(text.contains("made/up: review by ") && text.contains("; expected reject by no-such"), "{text}");
    std::fs::remove_file(case.join("expected.json")).unwrap();
    let out = run(folder.path());
    assert_eq!(out.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&out.stderr).contains("holds no case"));
}

#[test]
fn every_case_says_why_and_bears_the_name_of_its_folder() {
    let mut found = Vec::new();
    cases(&root(), &mut found);
    assert!(found.len() > 150, "{}", found.len());
    for case in found {
        let expected = expected(&case);
        let id = expected["id"].as_str().unwrap();
        assert!(case.ends_with(id), "{} calls itself {id}", case.display());
        assert!(expected["why"].as_str().is_some_and(|why| why.len() > 10), "{id} does not say why");
        assert!(case.join("base").is_dir() && case.join("patch.diff").is_file(), "{id} is not whole");
    }
}
