//! The freeze ledger: signatures, the strict reader, its rules, and the commands that keep it.

mod commands;
mod reports;

use evidence_gate::evidence::ledger::{
    Failure, Ledger, Match, MessageDigest, Normaliser, Shape, Signature, parse, sound, too_general,
};
use evidence_gate::pipeline::{OperatorsFile, Question};
use evidence_gate::policy::Policy;
use evidence_gate::words::{ObjectId, Verdict};
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::working_copy::{WorkingCopy, findings, message, vectors};

const RULES: [&str; 5] =
    ["ledger-unreadable", "freeze-unbound", "freeze-incomplete", "freeze-over-budget", "coverage-map-missing"];

const NODE: &str = "tests/test_retry.py::test_backoff";
const MESSAGE: &str = "total delay exceeded cap 1000";

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// An entry without a fault, and its key.
fn entry(nodeid: &str, message: &str) -> (String, Value) {
    let digest = MessageDigest::of(message, Normaliser::Digits, &[], None);
    let key = Signature::of(nodeid, Some(20_260_921), "AssertionError", &digest).to_string();
    let entry = json!({
        "nodeid": nodeid, "seed": 20_260_921, "exc_type": "AssertionError", "message_digest": digest.as_str(),
        "first_seen": "2026-09-21", "expires_on": "2026-10-05", "reason": "the clock of the runner", "citation": "https://ci.example/1",
        "bound_sha": "0123456789abcdef0123456789abcdef01234567",
    });
    (key, entry)
}

fn ledger_of(entries: impl IntoIterator<Item = (String, Value)>) -> Vec<u8> {
    let entries: serde_json::Map<String, Value> = entries.into_iter().collect();
    serde_json::to_vec(&json!({"schema": 2, "freezes": entries})).unwrap()
}

/// The ledger of one entry in which a field has another value; it is left out for null.
fn with(field: &str, value: Value) -> Vec<u8> {
    let (key, mut entry) = entry(NODE, MESSAGE);
    entry[field] = value;
    ledger_of([(key, entry)])
}

fn refusal(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

#[test]
fn every_message_of_the_vectors_has_its_digest_and_signatures() {
    let vectors = vectors("signature.json");
    let rows = vectors["messages"].as_array().unwrap();
    assert_eq!(rows.len(), 22);
    for row in rows {
        let message = match text(&row["message"]) {
            // The vectors show its beginning alone.
            short if short.contains("(5001 chars)") => "a".repeat(5_000) + "1",
            whole => whole.to_owned(),
        };
        let normalised = Normaliser::Digits.normalise(&message, &[]);
        let shown: String = normalised.chars().take(120).collect();
        assert_eq!(shown, text(&row["normalised"]), "{message:.60?}");
        let digest = MessageDigest::of(&message, Normaliser::Digits, &[], None);
        assert_eq!(digest.as_str(), text(&row["digest"]), "{message:.60?}");
        let (nodeid, seed) = (text(&vectors["nodeid"]), vectors["seed"].as_i64());
        assert_eq!(Signature::of(nodeid, seed, "AssertionError", &digest).as_str(), text(&row["signature"]));
        let without = Signature::of(nodeid, None, "AssertionError", &digest);
        assert_eq!(without.as_str(), text(&row["signature_seed_none"]));
    }
    for group in vectors["digest_collisions"].as_array().unwrap() {
        let digest = |message: &Value| MessageDigest::of(text(message), Normaliser::Digits, &[], None);
        let digests: Vec<_> = group.as_array().unwrap().iter().map(digest).collect();
        assert!(digests.windows(2).all(|pair| pair[0] == pair[1]), "{group}");
    }
}

/// Rows whose seed is a text show that texts collide; a ledger takes no such seed.
#[test]
fn every_signature_of_the_vectors_is_made_or_its_seed_is_refused() {
    let vectors = vectors("signature.json");
    let rows = vectors["signatures"].as_array().unwrap();
    assert_eq!(rows.len(), 11);
    let mut made = Vec::new();
    for row in rows {
        let [nodeid, seed, exc_type, message] = row["args"].as_array().unwrap().as_slice() else { panic!("{row}") };
        let digest = MessageDigest::of(text(message), Normaliser::Digits, &[], None);
        let signature = |seed| Signature::of(text(nodeid), seed, text(exc_type), &digest).to_string();
        if seed.is_i64() || seed.is_null() {
            assert_eq!(signature(seed.as_i64()), text(&row["signature"]), "{}", row["note"]);
            made.push(text(&row["signature"]));
        } else {
            let refused = refusal(&with("seed", seed.clone()));
            assert!(
                refused.contains("`seed` is ") && refused.contains("a whole number of 64 bits or null"),
                "{refused}"
            );
        }
    }
    assert_eq!(made.len(), 7);
}

/// What a row of `freeze_applies` comes to: whether the freeze applies, or that the entry is invalid.
fn applies(row: &Value) -> Value {
    let Some(today) = row["today"].as_str() else {
        let (key, mut entry) = entry(NODE, MESSAGE);
        entry["exc_type"] = json!("TimeoutError");
        assert!(refusal(&ledger_of([(key, entry)])).contains("its key does not fit its fields"));
        return json!("invalid entry");
    };
    let invalid = json!("invalid entry");
    let Ok(ledger) = parse(&with("expires_on", row["expires_on"].clone())) else { return invalid };
    let policy = Policy::default();
    let sound = sound("it", &ledger, &bound_to_itself(&ledger), &policy, day(today));
    if sound.iter().any(|finding| finding.rule.id == "freeze-incomplete") {
        return invalid;
    }
    let failure = Failure {
        nodeid: text(&row["nodeid"]),
        seed: row["seed"].as_i64(),
        exc_type: text(&row["exc_type"]),
        message: text(&row["message"]),
        error_code: None,
    };
    json!(matches!(ledger.matching(&failure, day(today)), Match::Live(_)))
}

fn bound_to_itself(ledger: &Ledger) -> std::collections::BTreeMap<String, evidence_gate::evidence::ledger::Bound> {
    let shas = ledger.freezes.iter().filter_map(|freeze| freeze.bound_sha.clone());
    shas.filter(|sha| sha.len() == 40)
        .map(|sha| (sha.clone(), evidence_gate::evidence::ledger::Bound::Ancestor(sha.parse().unwrap())))
        .collect()
}

#[test]
fn every_freeze_of_the_vectors_applies_as_it_should() {
    let vectors = vectors("signature.json");
    let rows = vectors["freeze_applies"].as_array().unwrap();
    assert_eq!(rows.len(), 16);
    for row in rows {
        assert_eq!(applies(row), row["applies"], "{}", row["note"]);
    }
}

#[test]
fn an_ended_freeze_is_known_as_ended() {
    let ledger = parse(&ledger_of([entry(NODE, MESSAGE)])).unwrap();
    let failure = Failure {
        nodeid: NODE,
        seed: Some(20_260_921),
        exc_type: "AssertionError",
        message: MESSAGE,
        error_code: None,
    };
    assert!(matches!(ledger.matching(&failure, day("2026-10-06")), Match::Expired(_)));
    assert_eq!(ledger.matching(&Failure { error_code: Some("E7"), ..failure }, day("2026-10-01")), Match::None);
    assert_eq!(ledger.matching(&Failure { seed: None, ..failure }, day("2026-10-01")), Match::None);
}

#[test]
fn an_entrys_own_normaliser_and_kept_parts_decide_what_it_matches() {
    let keep = ["HTTP \\d{3}"].map(|text| evidence_gate::policy::Keep::new(text).unwrap());
    let digest = MessageDigest::of("HTTP 404 for 0x7f00", Normaliser::Addresses, &keep, Some("E7"));
    let key = Signature::of(NODE, None, "HttpError", &digest).to_string();
    let (_, mut entry) = entry(NODE, MESSAGE);
    for (field, value) in [
        ("seed", Value::Null),
        ("exc_type", json!("HttpError")),
        ("message_digest", json!(digest.as_str())),
        ("error_code", json!("E7")),
        ("normaliser", json!(2)),
        ("keep", json!(["HTTP \\d{3}"])),
    ] {
        entry[field] = value;
    }
    let ledger = parse(&ledger_of([(key, entry)])).unwrap();
    let failure =
        |message| Failure { nodeid: NODE, seed: None, exc_type: "HttpError", message, error_code: Some("E7") };
    let live = |message| matches!(ledger.matching(&failure(message), day("2026-10-01")), Match::Live(_));
    assert!(live("HTTP 404 for 0xabcd"));
    assert!(!live("HTTP 500 for 0xabcd"));
}

#[test]
fn the_older_shapes_are_read() {
    let first =
        parse(br#"{"schema": 1, "frozen": [{"nodeid": "a", "reason": "r", "bound_sha": "0123456789ab"}]}"#).unwrap();
    assert_eq!((first.shape, first.freezes.len()), (Shape::First, 1));
    assert_eq!(first.freezes[0].failure, None);
    let (key, mut entry) = entry(NODE, MESSAGE);
    entry.as_object_mut().unwrap().remove("bound_sha");
    let article = serde_json::to_vec(&json!({"freezes": {key: entry}})).unwrap();
    assert_eq!(parse(&article).unwrap().shape, Shape::Signatures);
    let ids = parse(br#"{"source": "nightly", "nodeids": ["a", "b"]}"#).unwrap();
    assert_eq!((ids.shape, ids.freezes.len(), ids.freezes[0].bound_sha.clone()), (Shape::NodeIds, 2, None));
    assert_eq!(parse(br#"{"schema": 1, "frozen": []}"#).unwrap().freezes, []);
}

#[test]
fn each_bad_ledger_is_refused_by_entry_and_field() {
    let (key, _) = entry(NODE, MESSAGE);
    let twice = format!("{{\"schema\": 2, \"freezes\": {{\"{key}\": {{}}, \"{key}\": {{}}}}}}");
    let field_twice = "{\"schema\": 2, \"freezes\": {\"k\": {\"nodeid\": \"a\",\n\"nodeid\": \"b\"}}}";
    let empty = MessageDigest::of("", Normaliser::Digits, &[], None);
    let entry_is = |why: &str| format!("entry {key}: {why}");
    for (bytes, expected) in [
        (b"nonsense".to_vec(), "it is no JSON: ".to_owned()),
        (b"".to_vec(), "it is no JSON: ".to_owned()),
        (b"[]".to_vec(), "a ledger is a JSON object".to_owned()),
        (b"\xef\xbb\xbf{}".to_vec(), "it begins with a byte order mark: save it as UTF-8 without one".to_owned()),
        (b"{\"schema\": 2, \"freezes\": {\"\xff\": 1}}".to_vec(), "it is no JSON: invalid unicode".to_owned()),
        (b"{}".to_vec(), "it has neither `schema` and `freezes`".to_owned()),
        (br#"{"schema": 3, "freezes": {}}"#.to_vec(), "schema 3 is not known: 2 is, and 1".to_owned()),
        (br#"{"schema": "2", "freezes": {}}"#.to_vec(), "`schema` is a text, and 2 is wanted".to_owned()),
        (br#"{"schema": 2, "frozen": []}"#.to_vec(), "a ledger of schema 2 has `freezes`, an object".to_owned()),
        (br#"{"schema": 2, "freezes": {}, "x": 1}"#.to_vec(), "the key `x` is not known".to_owned()),
        (twice.into_bytes(), format!("the key `{key}` stands twice at line 1")),
        (field_twice.into(), "the key `nodeid` stands twice at line 2".to_owned()),
        (
            br#"{"schema": 2, "freezes": {"k": 5}}"#.to_vec(),
            "entry k: it is a whole number, and an object is wanted".to_owned(),
        ),
        (with("nodeid", json!(5)), entry_is("`nodeid` is a whole number, and a text is wanted")),
        (with("reason", json!(5)), entry_is("`reason` is a whole number, and a text is wanted")),
        (with("error_code", json!(5)), entry_is("`error_code` is a whole number, and a text is wanted")),
        (with("nodeid", Value::Null), entry_is("`nodeid` is missing")),
        (with("seed", json!(1.5)), entry_is("`seed` is a number, and a whole number of 64 bits or null is wanted")),
        (
            with("seed", json!(u64::MAX)),
            entry_is("`seed` is a number, and a whole number of 64 bits or null is wanted"),
        ),
        (with("seed", json!(1)), entry_is("its key does not fit its fields, which make ")),
        (with("message_digest", json!("abc")), entry_is("`message_digest` is \"abc\": 16 lower-case hexadecimal")),
        (with("normaliser", json!(3)), entry_is("`normaliser` is neither 1 nor 2")),
        (with("keep", json!(["("])), entry_is("`keep` cannot be used: ")),
        (with("keep", json!("a")), entry_is("`keep` is a text, and a list of regular expressions is wanted")),
        (
            with("expires_on", json!("2026-9-30")),
            entry_is("`expires_on` is \"2026-9-30\", and a day is written YYYY-MM-DD"),
        ),
        (with("expires_on", json!("2026-02-30")), entry_is("`expires_on` is \"2026-02-30\"")),
        (with("expires_on", json!("+026-10-01")), entry_is("`expires_on` is \"+026-10-01\"")),
        (with("expires_on", json!("2026-09-20")), entry_is("`expires_on` is before `first_seen`")),
        (with("first_seen", json!("2026-09-21T00:00:00Z")), entry_is("`first_seen` is \"2026-09-21T00:00:00Z\"")),
        (with("bound_sha", json!("HEAD")), entry_is("`bound_sha` is \"HEAD\", and a commit is written in lower-case")),
        (with("note", json!("x")), entry_is("the field `note` is not known: fields are nodeid, seed")),
        (with("message_digest", json!(empty.as_str())), entry_is("its key does not fit its fields")),
    ] {
        let refused = refusal(&bytes);
        assert!(refused.starts_with(&expected), "{refused}\nwanted {expected}");
    }
}

#[test]
fn a_message_without_a_word_is_refused_by_its_digest() {
    for message in ["", "  ", "17", "1.5", "-3", "1 == 2"] {
        let refused = refusal(&ledger_of([entry(NODE, message)]));
        assert!(refused.contains("`message_digest` is that of a message without a word"), "{message}: {refused}");
        assert!(too_general(&Normaliser::Digits.normalise(message, &[]), None).is_some());
    }
    assert!(parse(&ledger_of([entry(NODE, "assert 1 == 2")])).is_ok());
}

#[test]
fn fifty_thousand_entries_are_read_and_one_fault_in_them_is_found() {
    let mut entries: Vec<_> = (0..50_000).map(|number| entry(&format!("t.py::test_{number}"), MESSAGE)).collect();
    assert_eq!(parse(&ledger_of(entries.clone())).unwrap().freezes.len(), 50_000);
    entries[49_999].1["reason"] = json!(5);
    let refused = refusal(&ledger_of(entries.clone()));
    assert!(refused.starts_with(&format!("entry {}: `reason` is a whole number", entries[49_999].0)), "{refused}");
    for (_, entry) in &mut entries {
        entry["reason"] = json!(5);
    }
    assert!(refusal(&ledger_of(entries)).ends_with("(and at least 99 more faults)"));
}

/// A base with this ledger, bound to the commit before it, and a change of the product on top.
fn judged(policy: &str, ledger: impl FnOnce(&ObjectId) -> Vec<u8>) -> (WorkingCopy, evidence_gate::score::Record) {
    let copy = WorkingCopy::new();
    copy.write(".evidence-gate.toml", format!("schema = 1\n{policy}")).write("src/a.py", "1\n");
    let bound = copy.commit();
    let base = copy.write("freeze_ledger.json", ledger(&bound)).commit();
    let head = copy.write("src/a.py", "2\n").commit();
    let record = copy.score(&base, &head);
    (copy, record)
}

fn bound_to(sha: &str) -> Vec<u8> {
    with("bound_sha", json!(sha))
}

#[test]
fn a_live_freeze_without_a_map_is_unscored_and_an_ended_one_is_none() {
    let (copy, record) = judged("", |bound| bound_to(bound.as_str()));
    assert_eq!(findings(&record, &RULES), ["coverage-map-missing: unscored"]);
    assert_eq!(record.verdict, Verdict::Unscored);
    let bytes = std::fs::read(copy.path("freeze_ledger.json")).unwrap();
    assert_eq!(record.digests.ledger, Some(evidence_gate::change::Sha256::of(&bytes).to_string()));
    let (_, record) = judged("", |bound| {
        let ended = String::from_utf8(bound_to(bound.as_str())).unwrap().replace("2026-10-05", "2026-09-30");
        ended.into_bytes()
    });
    assert_eq!(findings(&record, &RULES), [""; 0]);
}

#[test]
fn a_freeze_is_bound_to_a_commit_that_the_base_stands_on() {
    let unbound = ["freeze-unbound: unscored", "coverage-map-missing: unscored"];
    for digits in [40, 12, 8] {
        let (_, record) = judged("", |bound| bound_to(&bound.as_str()[..digits]));
        assert_eq!(findings(&record, &RULES), ["coverage-map-missing: unscored"], "{digits} digits");
    }
    let (_, record) = judged("", |bound| bound_to(&bound.as_str()[..7]));
    assert_eq!(findings(&record, &RULES), unbound);
    assert!(message(&record, "freeze-unbound").contains("at least 8 digits of a commit are wanted"));
    let (_, record) = judged("", |_| bound_to(&"1".repeat(40)));
    assert!(message(&record, "freeze-unbound").contains("on which the tip of the base branch does not stand"));
    let (_, record) = judged("", |_| with("bound_sha", Value::Null));
    assert!(message(&record, "freeze-unbound").contains("is bound to no commit"));
}

#[test]
fn a_commit_of_the_head_binds_nothing() {
    let copy = WorkingCopy::new();
    copy.write("src/a.py", "1\n").commit();
    copy.git(&["checkout", "--quiet", "-b", "topic"]);
    let head = copy.write("src/a.py", "2\n").commit();
    copy.git(&["checkout", "--quiet", "main"]);
    let base = copy.write("freeze_ledger.json", bound_to(head.as_str())).commit();
    let record = copy.score(&base, &head);
    assert!(message(&record, "freeze-unbound").contains("does not stand"), "{record:#?}");
}

#[test]
fn history_that_is_cut_off_is_named_as_the_reason() {
    let (copy, _) = judged("", |bound| bound_to(bound.as_str()));
    copy.git(&["clone", "--quiet", "--bare", "--depth=2", &format!("file://{}", copy.dir().display()), "../shallow"]);
    let git = evidence_gate::change::Git::open(&copy.beside("shallow")).unwrap();
    let (base, head) = (git.resolve("HEAD~1").unwrap(), git.resolve("HEAD").unwrap());
    let record = evidence_gate::pipeline::score(&git, &copy.question(&base, &head)).unwrap();
    assert!(message(&record, "freeze-unbound").contains("run `git fetch --unshallow`"), "{record:#?}");
}

#[test]
fn an_entry_that_lacks_something_is_incomplete() {
    for (field, value, expected) in [
        ("reason", Value::Null, "lacks a reason"),
        ("reason", json!("  "), "lacks a reason"),
        ("citation", Value::Null, "lacks a citation"),
        ("expires_on", Value::Null, "lacks a last day"),
        ("first_seen", Value::Null, "lacks the day it was first seen"),
        ("expires_on", json!("2026-10-22"), "lasts 31 days, and the policy allows 30"),
        ("first_seen", json!("2026-10-02"), "was first seen on 2026-10-02, and today is 2026-10-01"),
    ] {
        let (_, record) = judged("", |bound| {
            let (key, mut entry) = entry(NODE, MESSAGE);
            entry["bound_sha"] = json!(bound.as_str());
            entry[field] = value;
            ledger_of([(key, entry)])
        });
        let text = message(&record, "freeze-incomplete");
        assert!(text.ends_with(expected), "{text}");
    }
    let (_, record) = judged("", |bound| {
        serde_json::to_vec(
            &json!({"schema": 1, "frozen": [{"nodeid": "a", "reason": "r", "bound_sha": bound.as_str()}]}),
        )
        .unwrap()
    });
    assert_eq!(findings(&record, &RULES), ["coverage-map-missing: unscored"], "schema 1 has no dates and no citation");
}

#[test]
fn more_entries_than_the_policy_allows_are_over_budget() {
    let two = |bound: &ObjectId| {
        let entries = ["a", "b"].map(|nodeid| {
            let (key, mut entry) = entry(nodeid, MESSAGE);
            entry["bound_sha"] = json!(bound.as_str());
            (key, entry)
        });
        ledger_of(entries)
    };
    let (_, record) = judged("[freeze]\nmax_entries = 2\n", two);
    assert_eq!(findings(&record, &RULES), ["coverage-map-missing: unscored"]);
    let (_, record) = judged("[freeze]\nmax_entries = 1\n", two);
    assert!(message(&record, "freeze-over-budget").ends_with("has 2 entries, and the policy allows 1"));
}

#[test]
fn a_ledger_that_cannot_be_read_is_unscored_and_says_where() {
    let (_, record) = judged("", |_| with("seed", json!("None")));
    assert_eq!(findings(&record, &RULES), ["ledger-unreadable: unscored"]);
    let text = message(&record, "ledger-unreadable");
    assert!(text.contains("freeze_ledger.json at main") && text.contains("`seed` is a text"), "{text}");
}

#[test]
fn the_operators_own_ledger_wins() {
    let (copy, _) = judged("", |bound| bound_to(bound.as_str()));
    let [base, head] = ["HEAD~1", "HEAD"].map(|rev| copy.git(&["rev-parse", rev]).parse().unwrap());
    let bytes: std::sync::Arc<[u8]> = br#"{"schema": 2, "freezes": {}}"#.as_slice().into();
    let own = OperatorsFile { origin: "own.json".to_owned(), bytes };
    let record = copy.ask(&Question { ledger: Some(own), ..copy.question(&base, &head) });
    assert_eq!(findings(&record, &RULES), [""; 0]);
    std::fs::write(copy.beside("own.json"), r#"{"schema": 2, "freezes": {}}"#).unwrap();
    let args = ["score", "--base", base.as_str(), "--freeze", "../own.json", "--format", "json"];
    assert!(!copy.run(&args).text().contains("coverage-map-missing"));
    std::fs::write(copy.beside("own.json"), "{}").unwrap();
    assert_eq!(copy.run(&args).code, 65);
}
