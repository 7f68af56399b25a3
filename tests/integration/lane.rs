//! The evidence lane: whether new evidence is sound, as `score --lane` says it.

use evidence_gate::change::Sha256;
use evidence_gate::evidence::ledger::{MessageDigest, Normaliser, Signature};
use evidence_gate::pipeline::{LaneAsked, OperatorsMap, Question};
use evidence_gate::report;
use evidence_gate::score::{FindingRow, Record};
use evidence_gate::words::{ObjectId, Verdict};
use serde_json::{Value, json};

use crate::working_copy::{WorkingCopy, findings, message};

mod properties;

const POLICY: &str = "schema = 1\n\n[classes]\nextends = [\"python\"]\n";

const USERS: &str = "[{\"name\": \"ada\"}]\n";

fn lock_of(files: &[(&str, &str)]) -> String {
    let lines: Vec<String> =
        files.iter().map(|(path, text)| format!("{}  {path}\n", Sha256::of(text.as_bytes()))).collect();
    lines.concat()
}

/// A base with a product, a test, a fixture and its lock.
pub fn base() -> (WorkingCopy, ObjectId) {
    let copy = WorkingCopy::new();
    copy.write(".evidence-gate.toml", POLICY)
        .write("src/retry.py", "def wait(n):\n    return n\n")
        .write("tests/test_retry.py", "def test_backoff():\n    pass\n\n\ndef test_cap():\n    pass\n")
        .write("tests/fixtures/users.json", USERS)
        .write("fixtures.lock", lock_of(&[("tests/fixtures/users.json", USERS)]));
    let base = copy.commit();
    (copy, base)
}

/// What is said of the working copy as it is now, if it asks for the lane.
pub fn in_lane(copy: &WorkingCopy, base: &ObjectId) -> Record {
    let head = copy.commit();
    copy.ask(&Question { lane: LaneAsked::Always, ..copy.question(base, &head) })
}

fn rules(record: &Record) -> Vec<&str> {
    record.findings.iter().map(|finding| finding.rule.as_str()).collect()
}

/// `path:line` of a finding's one place.
fn place(finding: &FindingRow) -> String {
    let [only] = finding.locations.as_slice() else { panic!("{finding:?}") };
    match only.line {
        Some(line) => format!("{}:{line}", only.path),
        None => only.path.clone(),
    }
}

#[test]
fn a_fixture_with_its_line_of_the_lock_is_sound_and_waits_for_somebody() {
    let (copy, base) = base();
    let text = "[{\"name\": \"bob\"}]\n";
    copy.write("tests/fixtures/users.json", text)
        .write("fixtures.lock", lock_of(&[("tests/fixtures/users.json", text)]));
    let record = in_lane(&copy, &base);
    assert_eq!((record.verdict, rules(&record)), (Verdict::Hold, vec!["lane-waits"]));
    assert!(message(&record, "lane-waits").contains("can only be seen on the forge"));
    let lane = record.lane.unwrap();
    assert_eq!((lane.label.as_str(), lane.approved_by, lane.sha), ("evidence-edit", None, None));
}

#[test]
fn without_asking_for_the_lane_evidence_is_as_closed_as_ever() {
    let (copy, base) = base();
    copy.write("tests/fixtures/users.json", "[]\n");
    let head = copy.commit();
    let record = copy.score(&base, &head);
    assert_eq!(rules(&record), ["evidence-edited", "fixture-mismatch"]);
    assert_eq!((record.verdict, record.lane), (Verdict::Reject, None));
}

#[test]
fn the_command_line_says_hold_for_sound_evidence_since_nobody_can_be_seen_to_let_it_in() {
    let (copy, base) = base();
    copy.write("tests/fixtures/users.json", "[]\n")
        .write("fixtures.lock", lock_of(&[("tests/fixtures/users.json", "[]\n")]));
    copy.commit();
    let said = copy.run(&["score", "--base", base.as_str(), "--lane"]);
    assert_eq!(said.code, 3, "{}", said.text());
    assert!(said.text().starts_with("HOLD: lane-waits"), "{}", said.text());
    assert_eq!(copy.run(&["score", "--base", base.as_str()]).code, 1);
}

#[test]
fn a_lock_that_was_not_written_anew_is_named_at_each_fixture() {
    let (copy, base) = base();
    copy.write("tests/fixtures/users.json", "[]\n").write("tests/fixtures/more.json", "{}\n");
    let record = in_lane(&copy, &base);
    assert_eq!(rules(&record), ["lock-not-regenerated", "lock-not-regenerated"]);
    let places: Vec<String> = record.findings.iter().map(place).collect();
    assert_eq!(places, ["tests/fixtures/more.json", "tests/fixtures/users.json"]);
    assert_eq!(record.verdict, Verdict::Reject);
}

#[test]
fn a_fixture_that_is_gone_is_named_at_its_line_of_the_lock() {
    let (copy, base) = base();
    let other = lock_of(&[("tests/fixtures/other.json", "1\n"), ("tests/fixtures/users.json", USERS)]);
    copy.write("tests/fixtures/other.json", "1\n").write("fixtures.lock", other);
    std::fs::remove_file(copy.path("tests/fixtures/users.json")).unwrap();
    let record = in_lane(&copy, &base);
    assert_eq!(record.findings.iter().map(place).collect::<Vec<_>>(), ["fixtures.lock:2"]);
}

#[test]
fn a_lock_that_is_taken_away_or_cannot_be_read_is_no_lock() {
    let (copy, base) = base();
    std::fs::remove_file(copy.path("fixtures.lock")).unwrap();
    assert_eq!(rules(&in_lane(&copy, &base)), ["lock-not-regenerated"]);
    copy.write("fixtures.lock", format!("{}\nnonsense\n", lock_of(&[("tests/fixtures/users.json", USERS)]).trim_end()));
    let record = in_lane(&copy, &base);
    assert_eq!(record.findings.iter().map(place).collect::<Vec<_>>(), ["fixtures.lock:2"]);
}

#[test]
fn the_lane_repairs_a_lock_that_the_base_does_not_fulfil() {
    let (copy, _) = base();
    copy.write("fixtures.lock", lock_of(&[("tests/fixtures/users.json", "long ago\n")]));
    let base = copy.commit();
    copy.write("fixtures.lock", lock_of(&[("tests/fixtures/users.json", USERS)]));
    assert_eq!(rules(&in_lane(&copy, &base)), ["lane-waits"]);
}

#[test]
fn a_ledger_of_its_own_says_nothing_about_a_lock_that_the_base_does_not_fulfil() {
    let (copy, _) = base();
    copy.write("fixtures.lock", lock_of(&[("tests/fixtures/users.json", "long ago\n")]));
    let base = copy.commit();
    copy.write("freeze_ledger.json", "{\"schema\": 2, \"freezes\": {}}\n");
    let record = in_lane(&copy, &base);
    assert_eq!(findings(&record, &["lock-stale-on-base", "lock-not-regenerated"]), ["lock-stale-on-base: unscored"]);
}

#[test]
fn evidence_beside_anything_else_is_mixed() {
    let (copy, base) = base();
    copy.write("tests/fixtures/users.json", "[]\n").write("src/retry.py", "def wait(n):\n    return 2\n");
    let record = in_lane(&copy, &base);
    assert_eq!(
        findings(&record, &["mixed-lane", "evidence-edited"]),
        ["evidence-edited: reject", "mixed-lane: reject"]
    );
    assert!(message(&record, "mixed-lane").contains("1 file besides evidence change: src/retry.py"));
}

#[test]
fn the_label_means_nothing_where_no_evidence_changes() {
    let (copy, base) = base();
    copy.write("src/retry.py", "def wait(n):\n    return 2\n");
    let record = in_lane(&copy, &base);
    assert_eq!(findings(&record, &["mixed-lane", "lane-waits"]), Vec::<String>::new());
    assert_eq!(record.lane, None);
}

#[test]
fn a_file_in_the_place_of_a_folder_of_evidence_is_no_edit() {
    let (copy, base) = base();
    std::fs::remove_dir_all(copy.path("tests/fixtures")).unwrap();
    copy.write("tests/fixtures", "flat\n").write("fixtures.lock", "");
    let record = in_lane(&copy, &base);
    assert!(rules(&record).contains(&"evidence-shadowed"), "{:?}", rules(&record));
    assert_eq!(record.verdict, Verdict::Reject);
}

#[test]
fn every_fault_of_a_new_policy_stands_on_its_line() {
    let (copy, base) = base();
    copy.write(".evidence-gate.toml", format!("{POLICY}\n[lane]\nlabell = \"x\"\nmin_role = \"owner\"\n"));
    let record = in_lane(&copy, &base);
    assert_eq!(rules(&record), ["policy-invalid", "policy-invalid"]);
    let places: Vec<String> = record.findings.iter().map(place).collect();
    assert_eq!(places, [".evidence-gate.toml:7", ".evidence-gate.toml:8"]);
    std::fs::remove_file(copy.path(".evidence-gate.toml")).unwrap();
    assert!(message(&in_lane(&copy, &base), "policy-invalid").contains("taken away"));
    copy.write(".evidence-gate.toml", format!("{POLICY}allowed = [\"notes/**\"]\n"));
    assert_eq!(rules(&in_lane(&copy, &base)), ["lane-waits"]);
}

// The ledger.

/// An entry without a fault, and its key.
fn entry(nodeid: &str, base: &ObjectId) -> (String, Value) {
    let digest = MessageDigest::of("total delay exceeded cap", Normaliser::Digits, &[], None);
    let key = Signature::of(nodeid, None, "AssertionError", &digest).to_string();
    let entry = json!({
        "nodeid": nodeid, "exc_type": "AssertionError", "message_digest": digest.as_str(), "first_seen": "2026-09-21",
        "expires_on": "2026-10-05", "reason": "the clock of the runner", "citation": "https://ci.example/1",
        "bound_sha": base.as_str(),
    });
    (key, entry)
}

/// One entry a line, the first on line 3.
fn ledger(entries: &[(String, Value)]) -> String {
    let lines: Vec<String> = entries.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    format!("{{\"schema\": 2, \"freezes\":\n{{\n{}\n}}}}\n", lines.join(",\n"))
}

fn changed(entry: &(String, Value), field: &str, value: Value) -> (String, Value) {
    let mut entry = entry.clone();
    entry.1[field] = value;
    entry
}

#[test]
fn each_bad_entry_of_the_ledger_is_marked_on_its_own_line() {
    let (copy, base) = base();
    let good = entry("tests/test_retry.py::test_backoff", &base);
    let of = |id: &str| entry(id, &base);
    let entries = [
        good.clone(),
        ("0".repeat(24), good.1.clone()),
        changed(&of("tests/test_retry.py::test_cap"), "reason", Value::Null),
        of("tests/test_new.py::test_it"),
        of("tests/test_retry.py::test_that_is_not_there"),
        changed(&of("tests/test_retry.py::test_cap[2]"), "expires_on", json!("2027-10-27")),
        of("property:nobody"),
        of("com.acme.RetryTest"),
        changed(&of("tests/test_retry.py::test_cap[3]"), "bound_sha", json!("0123456789abcdef")),
    ];
    copy.write("freeze_ledger.json", ledger(&entries));
    let record = in_lane(&copy, &base);
    let mut told: Vec<(String, &str)> =
        record.findings.iter().map(|found| (place(found), found.rule.as_str())).collect();
    told.sort();
    let invalid = "ledger-entry-invalid";
    let added = "freeze-for-added-test";
    let at = |line: u32| format!("freeze_ledger.json:{line}");
    assert_eq!(
        told,
        [
            (at(10), invalid),
            (at(11), invalid),
            (at(4), invalid),
            (at(5), invalid),
            (at(6), added),
            (at(7), added),
            (at(8), invalid),
            (at(9), invalid),
        ]
    );
    let said = |line: u32| &record.findings.iter().find(|found| place(found) == at(line)).unwrap().message;
    for (line, words) in [
        (4, "its key does not fit its fields"),
        (5, "lacks a reason"),
        (8, "lasts 401 days, and the policy allows 30"),
        (9, "the policy has no property:nobody"),
        (10, "names no file of the base"),
        (11, "on which the tip of the base branch does not stand"),
    ] {
        assert!(said(line).contains(words), "{line}: {}", said(line));
    }
    let marks = report::annotations(&record);
    assert_eq!(marks.iter().filter(|mark| mark.path == "freeze_ledger.json").count(), 8);
}

#[test]
fn a_ledger_that_is_none_is_one_fault() {
    let (copy, base) = base();
    copy.write("freeze_ledger.json", "{\"schema\": 2, \"freezes\": {}, \"more\": 1}\n");
    let record = in_lane(&copy, &base);
    assert!(message(&record, "ledger-entry-invalid").contains("the key `more` is not known"));
}

#[test]
fn the_lane_repairs_a_ledger_that_leaves_everything_unscored() {
    let (copy, _) = base();
    copy.write("freeze_ledger.json", "{");
    let base = copy.commit();
    copy.write("freeze_ledger.json", ledger(&[]));
    assert_eq!(rules(&in_lane(&copy, &base)), ["lane-waits"]);
}

#[test]
fn an_entry_that_stays_as_it_was_is_not_judged_again() {
    let (copy, old) = base();
    let unbound = changed(&entry("tests/test_retry.py::test_cap", &old), "bound_sha", Value::Null);
    copy.write("freeze_ledger.json", ledger(std::slice::from_ref(&unbound)));
    let base = copy.commit();
    copy.write("freeze_ledger.json", ledger(&[unbound, entry("tests/test_retry.py::test_backoff", &base)]));
    assert_eq!(rules(&in_lane(&copy, &base)), ["lane-waits"]);
}

#[test]
fn the_report_shows_what_becomes_of_each_freeze_and_what_it_costs() {
    let (copy, old) = base();
    let of = |id: &str| entry(&format!("tests/test_retry.py::{id}"), &old);
    copy.write("freeze_ledger.json", ledger(&[of("test_backoff"), of("test_cap"), of("test_cap[2]")]));
    let base = copy.commit();
    let later = changed(&of("test_cap"), "expires_on", json!("2026-10-15"));
    let sooner = changed(&of("test_cap[2]"), "expires_on", json!("2026-10-02"));
    copy.write("freeze_ledger.json", ledger(&[later, sooner, of("test_new")])).write("map.json", map(&base));
    copy.git(&["add", "freeze_ledger.json"]);
    copy.git(&["commit", "--quiet", "--message", "ledger"]);
    let head: ObjectId = copy.git(&["rev-parse", "HEAD"]).parse().unwrap();
    let map = Some(OperatorsMap::read(&copy.path("map.json")).unwrap());
    let record = copy.ask(&Question { lane: LaneAsked::Always, map, ..copy.question(&base, &head) });
    assert_eq!(rules(&record), ["lane-waits"]);
    let shown = report::markdown(&record, report::RULES_PAGE);
    let from = shown.find("### The freeze ledger's change").unwrap();
    let table: Vec<&str> = shown[from..].lines().take_while(|line| !line.starts_with("### Paths")).collect();
    insta::assert_snapshot!(table.join("\n"), @"
    ### The freeze ledger's change

    | | test | last day | price | reason |
    |---|---|---|---|---|
    | added | `tests/test_retry.py::test_new` | until 2026-10-05 | 2 lines without an observer | `the clock of the runner` |
    | extended | `tests/test_retry.py::test_cap` | until 2026-10-05, now 2026-10-15 | 7 lines without an observer | `the clock of the runner` |
    | shortened | `tests/test_retry.py::test_cap[2]` | until 2026-10-05, now 2026-10-02 | nothing | `the clock of the runner` |
    | removed | `tests/test_retry.py::test_backoff` | was until 2026-10-05 | nothing | `the clock of the runner` |

    A live test runs 11 lines before these freezes, and 2 with them (18.2 %).
    ");
    let text = copy.run(&["score", "--base", base.as_str(), "--lane", "--map", "map.json"]).text();
    assert!(text.contains("  extended tests/test_retry.py::test_cap\n"), "{text}");
    let page = report::html(&record, &evidence_gate::evidence::surface::Picture::default(), report::RULES_PAGE);
    assert!(page.contains("<td>removed</td>"), "{page}");
}

fn map(base: &ObjectId) -> String {
    let of = |lines: &str| json!({ "src/retry.py": lines });
    let tests = json!({
        "tests/test_retry.py::test_backoff": of("1-2"), "tests/test_retry.py::test_cap": of("1-9"),
        "tests/test_retry.py::test_cap[2]": of("1-4"), "tests/test_retry.py::test_new": of("20-21"),
    });
    let ids: Vec<&String> = tests.as_object().unwrap().keys().collect();
    json!({
        "schema": 2, "base_sha": base.as_str(), "tool": "coverage.py", "root": ".", "collected": ids, "tests": tests,
        "import": {}, "executable": {}, "partial": false,
    })
    .to_string()
}
