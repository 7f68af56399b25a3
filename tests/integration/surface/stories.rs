//! The program itself on real repositories: the vectors, the attacks, old maps, and what a person reads.

use std::path::Path;

use evidence_gate::maps::{Limits, Shelf, read_map};
use evidence_gate::pipeline::{KnownMaps, OperatorsMap, Question};
use evidence_gate::score::Record;
use evidence_gate::words::{ObjectId, Verdict};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::working_copy::{Said, WorkingCopy, findings, message, vectors};

const POLICY: &str = "schema = 1\n[classes]\nproduct = [\"src/**\"]\n";

const RULES: [&str; 8] = [
    "freeze-overlap",
    "import-line-beside-hole",
    "freeze-without-coverage",
    "coverage-map-missing",
    "coverage-map-too-coarse",
    "deletion-only",
    "map-jitter",
    "unobserved-lines",
];

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|value| text(value).to_owned()).collect()
}

/// Two commits of a working copy, and what the operator gives beside them.
struct Case {
    copy: WorkingCopy,
    base: ObjectId,
    head: ObjectId,
}

impl Case {
    /// The last two commits, a ledger of schema 1 bound to the first of them, a map and a policy.
    fn new(copy: WorkingCopy, frozen: &Value, map: &Value, policy: &str) -> Self {
        let [base, head] = ["HEAD~1", "HEAD"].map(|rev| copy.git(&["rev-parse", rev]).parse().unwrap());
        let case = Self { copy, base, head };
        let bound = |entry: &Value| {
            let mut entry = entry.clone();
            if entry.get("bound_sha").is_some() {
                entry["bound_sha"] = json!(case.base.as_str());
            }
            entry
        };
        let frozen: Vec<Value> = frozen.as_array().unwrap().iter().map(bound).collect();
        case.beside("freeze.json", json!({"schema": 1, "frozen": frozen}).to_string());
        case.beside("map.json", map.to_string());
        case.beside("policy.toml", policy);
        case
    }

    fn beside(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.copy.beside(name), text).unwrap();
    }

    fn score(&self, more: &[&str]) -> Said {
        let given = ["--policy", "../policy.toml", "--freeze", "../freeze.json", "--map", "../map.json"];
        let shas = ["score", "--base", self.base.as_str(), "--head", self.head.as_str()];
        self.copy.run(&[shas.as_slice(), &given, more].concat())
    }

    fn record(&self) -> Record {
        let said = self.score(&["--format", "json"]);
        serde_json::from_slice(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
    }
}

fn blocking(record: &Record) -> Vec<String> {
    let blocking = record.findings.iter().filter(|finding| finding.verdict != Verdict::Review);
    blocking.map(|finding| finding.rule.clone()).collect()
}

#[test]
fn every_vector_has_its_verdict_its_rules_and_its_lines() {
    let vectors = vectors("surface.json");
    let cases = vectors.as_array().unwrap();
    assert_eq!(cases.len(), 17);
    for case in cases {
        let copy = WorkingCopy::new();
        let files = |side: &str| case[side].as_object().unwrap().clone();
        for (path, text) in files("base") {
            copy.write(&path, text.as_str().unwrap());
        }
        copy.commit();
        for path in files("base").keys().filter(|path| !files("head").contains_key(*path)) {
            copy.remove(path);
        }
        for (path, text) in files("head") {
            copy.write(&path, text.as_str().unwrap());
        }
        copy.commit();
        let judged = Case::new(copy, &case["frozen"], &case["map"], POLICY);
        let record = judged.record();
        let name = &case["case"];
        assert_eq!(json!(record.verdict.as_str()), case["verdict"], "{name}: {:#?}", record.findings);
        let mut wanted = texts(&case["rules"]);
        if wanted.iter().any(|rule| rule == "evidence-edited") {
            let found = blocking(&record);
            assert!(wanted.iter().all(|rule| found.contains(rule)), "{name}: {found:?}");
        } else {
            let mut found = blocking(&record);
            if record.findings.iter().any(|finding| finding.rule == "deletion-only") {
                // Deleted from the top to the bottom, so the lines that run at import go as well.
                found.retain(|rule| rule != "import-line-beside-hole");
            }
            found.sort();
            wanted.sort();
            assert_eq!(found, wanted, "{name}");
        }
        let reported: Vec<&String> = record.findings.iter().map(|finding| &finding.rule).collect();
        for rule in texts(&case["reported"]) {
            assert!(reported.contains(&&rule), "{name}: {reported:?}");
        }
        let lines: std::collections::BTreeSet<u32> = record.overlap.iter().filter_map(|row| row.old_line).collect();
        assert_eq!(json!(lines), case["overlap_parent_lines"], "{name}");
        assert!(record.digests.map.is_some(), "{name}");
        if let Some(verdict) = case["with_unobserved_unscored"].as_str() {
            judged.beside("policy.toml", format!("{POLICY}[surface]\nunobserved = \"unscored\"\n"));
            assert_eq!(judged.record().verdict.as_str(), verdict, "{name}");
        }
    }
}

fn attack(name: &str) -> (Case, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/classics").join(name);
    let read = |file: &str| -> Value { serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap() };
    let copy = WorkingCopy::new();
    copy_files(&folder.join("base"), &copy.dir());
    copy.commit();
    copy.git(&["apply", folder.join("patch.diff").to_str().unwrap()]);
    copy.commit();
    let ranges = |lines: &Value| -> Value {
        let of_file = |lines: &Value| lines.as_array().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        let files = lines.as_object().unwrap().iter();
        files
            .map(|(file, lines)| (file.clone(), json!(of_file(lines).join(","))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let tests: serde_json::Map<String, Value> = read("coverage_by_test.json")
        .as_object()
        .unwrap()
        .iter()
        .map(|(id, files)| (id.clone(), ranges(files)))
        .collect();
    let map = json!({
        "schema": 2, "tool": "coverage.py", "collected": [], "tests": tests, "import": ranges(&read("import_lines.json")),
    });
    let expected = read("expected.json");
    let unobserved = expected["policy"]["surface"]["unobserved"].as_str();
    let surface = unobserved.map_or(String::new(), |what| format!("[surface]\nunobserved = \"{what}\"\n"));
    (Case::new(copy, &read("freeze.json")["frozen"], &map, &format!("{POLICY}{surface}")), expected)
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_files(&path, &target);
        } else {
            std::fs::write(target, std::fs::read(&path).unwrap()).unwrap();
        }
    }
}

#[test]
fn the_attacks_under_frozen_tests_are_unscored_and_the_honest_fix_beside_them_is_not() {
    for name in ["27-frozen-hole-offset", "29-frozen-hole-delete", "31-unobserved-lines", "42-ctl-offset-false-alarm"] {
        let (case, expected) = attack(name);
        let record = case.record();
        assert_eq!(json!(record.verdict.as_str()), expected["verdict"], "{name}: {:#?}", record.findings);
        assert_eq!(blocking(&record), texts(&expected["rules"]), "{name}");
    }
    let (case, _) = attack("36-ctl-honest-fix");
    assert_eq!(case.record().verdict, Verdict::Review);
}

/// The text without what depends on every byte of the commits.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| matches!(word.len(), 40 | 64) && word.bytes().all(|b| b.is_ascii_hexdigit());
    let word = |word: &str| if is_id(word) { "[id]".to_owned() } else { word.to_owned() };
    let line = |line: &str| {
        line.split(' ')
            .map(|part| match part.strip_prefix('(').and_then(|p| p.strip_suffix(')')) {
                Some(inner) => format!("({})", word(inner)),
                None => word(part),
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_person_reads_at_once_what_is_the_matter_and_what_is_next() {
    let (case, _) = attack("27-frozen-hole-offset");
    let said = case.score(&[]);
    assert_eq!(said.code, 2, "{said:?}");
    assert_snapshot!(without_ids(&said.text()));
    let markdown = case.score(&["--format", "markdown"]).text();
    assert!(markdown.contains("### Lines that only frozen tests run"), "{markdown}");
    assert!(markdown.contains("| `src/tariff/core.py` | 30 | 21 | `tests/test_fee.py::test_spans` |"), "{markdown}");
}

const BEFORE: &str = "def live(a):\n    return a + 1\n\n\ndef frozen(a):\n    b = a + 2\n    return b\n";

fn ledger(ids: &[&str]) -> Value {
    ids.iter().map(|id| json!({"nodeid": id, "reason": "r", "bound_sha": ""})).collect()
}

fn map() -> Value {
    json!({"t.py::live": {"src/a.py": [2]}, "t.py::frozen[1]": {"src/a.py": [6, 7]}})
}

/// `src/a.py` before and after, under a map and a list of frozen tests.
fn change(before: &str, after: &str, frozen: &[&str], map: &Value, policy: &str) -> Record {
    case_of(before, after, frozen, map, policy).record()
}

fn case_of(before: &str, after: &str, frozen: &[&str], map: &Value, policy: &str) -> Case {
    let copy = WorkingCopy::new();
    copy.write("src/a.py", before).commit();
    copy.write("src/a.py", after).commit();
    Case::new(copy, &ledger(frozen), map, &format!("{POLICY}{policy}"))
}

#[test]
fn without_a_live_freeze_no_map_is_needed_and_one_that_is_there_still_reports() {
    let after = BEFORE.replace("a + 2", "a + 3");
    let none = json!({"t.py::live": {"src/a.py": [2]}});
    let record = change(BEFORE, &after, &[], &none, "");
    assert_eq!(findings(&record, &RULES), ["unobserved-lines: review"]);
    assert_eq!(record.verdict, Verdict::Review);
    assert!(record.not_observed.iter().all(|what| !what.contains("coverage map")), "{:?}", record.not_observed);
    let case = case_of(BEFORE, &after, &[], &none, "");
    let without = case.copy.run(&["score", "--base", case.base.as_str(), "--policy", "../policy.toml"]);
    assert_eq!(without.code, 0, "{without:?}");
}

#[test]
fn a_change_of_the_documentation_asks_for_no_map() {
    let copy = WorkingCopy::new();
    copy.write("README.md", "a\n").write("src/a.py", BEFORE).commit();
    copy.write("README.md", "b\n").commit();
    let case = Case::new(copy, &ledger(&["t.py::frozen"]), &map(), &format!("{POLICY}allowed = [\"*.md\"]\n"));
    let without = ["score", "--base", case.base.as_str(), "--policy", "../policy.toml", "--freeze", "../freeze.json"];
    assert_eq!(case.copy.run(&without).code, 0);
    case.copy.write("src/a.py", "x = 1\n").commit();
    let said = case.copy.run(&without);
    assert!(said.text().contains("unscored coverage-map-missing"), "{said:?}");
}

#[test]
fn a_frozen_test_that_the_map_does_not_know_blocks_only_lines_without_a_live_observer() {
    let live = BEFORE.replace("a + 1", "a + 3");
    let record = change(BEFORE, &live, &["t.py::gone"], &map(), "");
    assert_eq!(findings(&record, &RULES), ["freeze-without-coverage: review"]);
    let nobodys = format!("{BEFORE}\n\ndef new(a):\n    return a\n");
    let record = change(&nobodys, &nobodys.replace("return a\n", "return a + 0\n"), &["t.py::gone"], &map(), "");
    assert_eq!(findings(&record, &RULES), ["freeze-without-coverage: unscored", "unobserved-lines: review"]);
    assert_eq!(
        message(&record, "freeze-without-coverage"),
        "1 frozen test is not in the coverage map ../map.json, so nobody knows which lines lost an observer: t.py::gone"
    );
}

#[test]
fn a_freeze_reaches_no_further_than_the_policy_says() {
    let after = BEFORE.replace("a + 2", "a + 3");
    let record = change(BEFORE, &after, &["t.py"], &map(), "");
    assert_eq!(findings(&record, &RULES), ["freeze-without-coverage: review"]);
    let record = change(BEFORE, &after, &["t.py"], &map(), "[freeze]\nreach = \"file\"\n");
    assert_eq!(findings(&record, &RULES), ["freeze-overlap: unscored"]);
    let overlap = record.findings.iter().find(|finding| finding.rule == "freeze-overlap").unwrap();
    assert!(
        overlap.next.starts_with("Lift one freeze and these lines have a live observer again: t.py."),
        "{}",
        overlap.next
    );
}

#[test]
fn more_frozen_lines_than_the_policy_allows_are_over_budget() {
    let live = BEFORE.replace("a + 1", "a + 3");
    let rules = ["freeze-over-budget"];
    let record = change(BEFORE, &live, &["t.py::frozen"], &map(), "[freeze]\nmax_lines = 2\n");
    assert_eq!(findings(&record, &rules), [""; 0]);
    let record = change(BEFORE, &live, &["t.py::frozen"], &map(), "[freeze]\nmax_lines = 1\n");
    assert_eq!(findings(&record, &rules), ["freeze-over-budget: unscored"]);
    assert!(
        message(&record, "freeze-over-budget")
            .ends_with("leave 2 lines that only frozen tests run, and the policy allows 1")
    );
}

#[test]
fn a_deletion_is_a_hold_unscored_under_a_freeze_or_judged_as_the_policy_says() {
    let less = BEFORE.replace("    return a + 1\n", "");
    let with = |frozen: &[&str], policy: &str| findings(&change(BEFORE, &less, frozen, &map(), policy), &RULES);
    assert_eq!(with(&[], ""), ["deletion-only: hold"]);
    assert_eq!(with(&["t.py::frozen"], ""), ["deletion-only: unscored"]);
    assert_eq!(with(&["t.py::frozen"], "[surface]\ndeletion_only = \"score\"\n"), [""; 0]);
    let comment = BEFORE.replace("def live", "# note\ndef live");
    assert_eq!(findings(&change(&comment, BEFORE, &["t.py::frozen"], &map(), ""), &RULES), [""; 0]);
}

#[test]
fn an_incomplete_map_blocks_lines_without_a_live_observer() {
    let partial = json!({
        "schema": 2, "partial": true, "tests": {"t.py::live": {"src/a.py": "2"}, "t.py::frozen": {"src/b.py": "6-7"}},
    });
    let after = BEFORE.replace("a + 2", "a + 3");
    let record = change(BEFORE, &after, &["t.py::frozen"], &partial, "");
    assert_eq!(findings(&record, &RULES), ["coverage-map-too-coarse: unscored", "unobserved-lines: review"]);
}

#[test]
fn a_map_without_tests_is_too_coarse_and_a_broken_one_is_the_callers_fault() {
    let after = BEFORE.replace("a + 2", "a + 3");
    let case = case_of(BEFORE, &after, &["t.py::frozen"], &map(), "");
    case.beside("map.json", "{\"schema\": 2, \"collected\": [\"t.py::frozen\"], \"tests\": {}}");
    let said = case.score(&["--format", "json"]);
    let record: Record = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    assert_eq!(findings(&record, &RULES), ["coverage-map-too-coarse: unscored"]);
    case.beside("map.json", "{\"schema\": 2, \"tests\": {\"a\": {\"/abs.py\": \"0\"}}}");
    assert_eq!(case.score(&[]).code, 65);
    std::fs::remove_file(case.copy.beside("map.json")).unwrap();
    assert_eq!(case.score(&[]).code, 74);
}

/// A history of `src/a.py`, the map of its first commit, and a change on top of the last one.
fn aged(between: &[&str], after: &str, most: u32, give: impl Fn(&Case, &Value) -> Question) -> Record {
    let copy = WorkingCopy::new();
    let mapped = copy.write("src/a.py", BEFORE).commit();
    for text in between {
        copy.write("src/a.py", text).commit();
    }
    copy.write("src/a.py", after).commit();
    let map = json!({
        "schema": 2, "base_sha": mapped.as_str(),
        "tests": {"t.py::live": {"src/a.py": "2"}, "t.py::frozen": {"src/a.py": "6-7"}},
    });
    let case = Case::new(copy, &ledger(&["t.py::frozen"]), &map, &format!("{POLICY}[surface]\nmax_map_age = {most}\n"));
    let question = give(&case, &map);
    case.copy.ask(&question)
}

fn question(case: &Case) -> Question {
    let own = |name: &str| evidence_gate::pipeline::OperatorsFile {
        origin: name.to_owned(),
        bytes: std::fs::read(case.copy.beside(name)).unwrap().into(),
    };
    let text = std::fs::read_to_string(case.copy.beside("policy.toml")).unwrap();
    Question {
        policy: Some(evidence_gate::pipeline::OperatorsPolicy { origin: "policy.toml".to_owned(), text }),
        ledger: Some(own("freeze.json")),
        ..case.copy.question(&case.base, &case.head)
    }
}

fn own_map(case: &Case, _: &Value) -> Question {
    let map = OperatorsMap::read(&case.copy.beside("map.json")).unwrap();
    Question { map: Some(map), ..question(case) }
}

fn kept_map(case: &Case, map: &Value) -> Question {
    let commit = map["base_sha"].as_str().unwrap().parse().unwrap();
    let shelf = Shelf::below(&case.copy.beside("data"));
    let index = shelf.keep("it", read_map("it", map.to_string().as_bytes(), Limits::default()).unwrap()).unwrap();
    let maps = KnownMaps { shelf, by_commit: [(commit, index.digest())].into() };
    Question { maps: Some(maps), ..question(case) }
}

#[test]
fn an_older_map_speaks_in_the_numbers_of_the_merge_base() {
    let moved = format!("import os\n\n\n{BEFORE}");
    let changed = moved.replace("return b", "return b  ");
    let after = changed.replace("a + 2", "a + 3");
    for give in [own_map, kept_map] {
        let record = aged(&[&moved, &changed], &after, 2, give);
        assert_eq!(findings(&record, &RULES), ["freeze-overlap: unscored"], "{:#?}", record.findings);
        assert_eq!(record.overlap[0].old_line, Some(9));
        let record = aged(&[&moved, &changed], &after, 1, give);
        assert_eq!(findings(&record, &RULES), ["coverage-map-missing: unscored"]);
        // A line that changed since the map was made has no observer.
        let record = aged(&[&moved, &changed], &changed.replace("return b  ", "return b + 0"), 2, give);
        assert_eq!(findings(&record, &RULES), ["unobserved-lines: review"]);
    }
}

#[test]
fn a_map_of_another_commit_is_not_used_and_says_whose_it_is() {
    let after = BEFORE.replace("a + 2", "a + 3");
    let other = json!({"schema": 2, "base_sha": "1".repeat(40), "tests": {"t.py::frozen": {"src/a.py": "6-7"}}});
    let record = change(BEFORE, &after, &["t.py::frozen"], &other, "");
    assert_eq!(findings(&record, &RULES), ["coverage-map-missing: unscored"]);
    assert!(message(&record, "coverage-map-missing").contains("it is of 1111111111"), "{:#?}", record.findings);
}

#[test]
fn lines_are_marked_in_runs_at_head() {
    let after = format!("import os\n\n{}", BEFORE.replace("a + 2", "a + 3").replace("return b", "return b + 0"));
    let record = change(BEFORE, &after, &["t.py::frozen"], &map(), "");
    let overlap = record.findings.iter().find(|finding| finding.rule == "freeze-overlap").unwrap();
    let place = &overlap.locations[0];
    assert_eq!((place.line, place.end_line, overlap.locations.len()), (Some(8), Some(9), 1));
    assert_eq!(record.title, "UNSCORED: freeze overlap ratio=0.67, 2 of 3 lines");
}

#[test]
fn the_page_shows_both_sides_with_who_runs_each_line_and_takes_no_markup_from_them() {
    let after = BEFORE.replace("b = a + 2", "b = \"<script>alert(1)</script>\"");
    let case = case_of(BEFORE, &after, &["t.py::frozen"], &map(), "");
    let page = case.score(&["--format", "html"]).text();
    assert!(page.contains("<td class=\"m\">\u{2212}</td><td class=\"frozen\">    b = a + 2</td>"), "{page}");
    assert!(
        page.contains("<td class=\"frozen\">    b = &quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;</td>"),
        "{page}"
    );
    assert!(page.contains("<td class=\"live\">    return a + 1</td>"), "{page}");
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("<code>t.py::frozen[1]</code>"), "{page}");
}
