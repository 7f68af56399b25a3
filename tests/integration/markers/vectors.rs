//! Every case that was run against a real framework.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use evidence_gate::words::Verdict;

use super::{BY_PATH, Tree, findings, rule_ids};

/// How the cases stand in a repository, as `tests/cases/markers.json` says.
#[derive(serde::Deserialize)]
struct Standing {
    places: BTreeMap<String, String>,
    configured: Vec<Configured>,
    plain: BTreeMap<String, BTreeMap<String, String>>,
    against_base: Vec<AgainstBase>,
    conditions: Vec<String>,
    not_seen: BTreeMap<String, String>,
}

#[derive(serde::Deserialize)]
struct Configured {
    case: String,
    path: String,
    text: String,
}

/// A case that shows only against what was there before: the words to put back, so that the base is the honest file.
#[derive(serde::Deserialize)]
struct AgainstBase {
    case: String,
    hidden: String,
    honest: String,
    rule: String,
}

static STANDING: LazyLock<Standing> =
    LazyLock::new(|| serde_json::from_slice(&std::fs::read("tests/cases/markers.json").unwrap()).unwrap());

struct Case {
    id: String,
    hides: bool,
    head: Tree,
}

/// Where the files of a case stand in a repository. Product files go below `src/`.
fn place(name: &str) -> String {
    STANDING.places.get(name).map_or(name, String::as_str).to_owned()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir("tests/vectors/markers").unwrap() {
        let path = entry.unwrap().path();
        let runner = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if runner == "catalogue" {
            continue;
        }
        let list: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for case in list.as_array().unwrap() {
            let id = format!("{runner}/{}", case["marker"].as_str().unwrap());
            let mut head = Tree::new();
            if let Some(code) = case["code"].as_str() {
                head.insert("tests/a.test.js".to_owned(), code.as_bytes().to_vec());
            }
            for (name, text) in case["files"].as_object().into_iter().flatten() {
                // The program that ran the case is no part of it.
                if name != "R.java" {
                    head.insert(place(name), text.as_str().unwrap().as_bytes().to_vec());
                }
            }
            for told in STANDING.configured.iter().filter(|told| told.case == id) {
                head.insert(told.path.clone(), told.text.as_bytes().to_vec());
            }
            cases.push(Case { hides: case["hides_a_failing_test"].as_bool().unwrap(), id, head });
        }
    }
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    cases
}

/// The base of a case: nothing, or the honest file where the case says how it differs.
fn base_of(case: &Case) -> Tree {
    if let Some(AgainstBase { hidden, honest, .. }) = STANDING.against_base.iter().find(|known| known.case == case.id) {
        let swap = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(hidden, honest).into_bytes();
        return case.head.iter().map(|(path, bytes)| (path.clone(), swap(bytes))).collect();
    }
    if case.id.starts_with("phpunit9/testsuite file removed") {
        let mut base = case.head.clone();
        base.insert("phpunit.xml".to_owned(), b"<phpunit><testsuites><testsuite name=\"d\"><file>ATest.php</file><file>BTest.php</file></testsuite></testsuites></phpunit>".to_vec());
        return base;
    }
    // A condition matters on a test that the base has: the base is the file without the marker's line or attribute.
    Tree::new()
}

/// Words that a condition is written with; taken out they leave the honest test.
fn without_condition(case: &Case) -> Tree {
    let strip = |bytes: &[u8]| {
        let mut text = String::from_utf8(bytes.to_vec()).unwrap();
        for word in &STANDING.conditions {
            text = text.replace(word, "");
        }
        text.into_bytes()
    };
    let mut base: Tree = case.head.iter().map(|(path, bytes)| (path.clone(), strip(bytes))).collect();
    if let Some(bytes) = base.remove("b_windows_test.go") {
        base.insert("b_test.go".to_owned(), bytes);
    }
    base
}

#[test]
fn every_way_to_hide_a_failing_test_that_a_parser_can_see_is_found() {
    let mut missed = Vec::new();
    let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases().iter().filter(|case| case.hides) {
        let base = base_of(case);
        let found = findings(&base, &case.head);
        let mut rules = rule_ids(&found);
        let wanted = STANDING.against_base.iter().find(|known| known.case == case.id).map(|known| known.rule.as_str());
        if wanted.is_none() && base.is_empty() {
            let honest = without_condition(case);
            if honest != case.head {
                rules.extend(rule_ids(&findings(&honest, &case.head)));
            }
        }
        let hit = match wanted {
            Some(rule) => rules.contains(rule),
            None => rules.iter().any(|rule| {
                !BY_PATH.contains(rule)
                    && !rule.starts_with("unobserved")
                    && !rule.starts_with("property")
                    && !rule.starts_with("sandbox")
            }),
        };
        let listed = STANDING.not_seen.contains_key(&case.id);
        if hit == listed {
            missed.push(format!("{} (listed as not seen: {listed}) {rules:?}", case.id));
        }
        for rule in rules {
            *by_rule.entry(rule).or_default() += 1;
        }
    }
    assert!(missed.is_empty(), "{}\n{by_rule:?}", missed.join("\n"));
}

#[test]
fn unmarked_controls_have_no_marker() {
    let controls: Vec<Case> =
        cases().into_iter().filter(|case| case.id.contains("CONTROL") || case.id.contains("benign")).collect();
    assert!(controls.len() >= 4, "the vectors hold controls");
    for case in controls {
        let found = findings(&Tree::new(), &case.head);
        let rules: Vec<_> = rule_ids(&found)
            .into_iter()
            .filter(|rule| {
                rule.contains("marker")
                    || rule.contains("disabled")
                    || rule.contains("forced")
                    || rule.contains("retries")
            })
            .collect();
        assert!(rules.is_empty(), "{}: {rules:?}", case.id);
    }
}

#[test]
fn what_is_not_seen_is_a_case_of_the_vectors() {
    let ids: Vec<String> = cases().into_iter().map(|case| case.id).collect();
    for (id, why) in &STANDING.not_seen {
        assert!(ids.iter().any(|known| known == id) && !why.is_empty(), "{id} is no case");
    }
}

#[test]
fn a_test_that_is_hidden_is_never_waved_through_where_it_stood_plain_before() {
    let mut waved = Vec::new();
    for case in cases().iter().filter(|case| case.hides && !STANDING.not_seen.contains_key(&case.id)) {
        let runner = case.id.split_once('/').unwrap().0;
        let base: Tree =
            STANDING.plain[runner].iter().map(|(path, text)| (path.clone(), text.as_bytes().to_vec())).collect();
        let found = findings(&base, &case.head);
        if found.iter().all(|finding| finding.verdict == Verdict::Review) {
            waved.push(case.id.clone());
        }
    }
    assert!(waved.is_empty(), "{}", waved.join("\n"));
}
