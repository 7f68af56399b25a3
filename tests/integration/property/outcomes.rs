//! Outcomes that are kept, and freezes.

use evidence_gate::evidence::ledger::{MessageDigest, Normaliser};
use evidence_gate::score::Record;
use evidence_gate::words::ObjectId;

use super::{POLICY, judged, repository, sandboxed, told};
use crate::working_copy::{WorkingCopy, findings, message};

const RIGHT: &str = "import os\ndef double(n):\n    return n + n\n";

/// The record of a worker that keeps outcomes.
fn asked(copy: &WorkingCopy, base: &ObjectId, head: &ObjectId) -> Record {
    let mut question = sandboxed(copy, base, head);
    question.running.outcomes = Some(copy.beside("outcomes"));
    copy.ask(&question)
}

/// A base, and a change that is right.
fn right(copy: &WorkingCopy) -> (ObjectId, ObjectId) {
    let base = copy.commit();
    copy.write("src/double.py", RIGHT);
    (base, copy.commit())
}

#[test]
fn a_better_outcome_does_not_replace_a_worse_one() {
    let copy = repository();
    let (base, head) = right(&copy);
    let first = asked(&copy, &base, &head);
    assert_eq!(told(&first), Vec::<String>::new());
    assert!(!kept_files(&copy).is_empty());
    assert_eq!(told(&asked(&copy, &base, &head)), Vec::<String>::new(), "equal outcomes are no news");

    let failing = repository();
    failing.write("src/double.py", "import os\n\ndef double(n):\n    return n + n\n");
    let base = failing.commit();
    let when = "import time\ndef double(n):\n    return n + n if int(time.time() // 4) % 2 else n + n + (n > 900)\n";
    failing.write("src/double.py", when);
    let head = failing.commit();
    let mut seen = Vec::new();
    for _ in 0..40 {
        let record = asked(&failing, &base, &head);
        let rules = findings(&record, &["property-failed", "flaky-outcome"]);
        if rules.len() == 2 {
            seen = rules;
            break;
        }
    }
    assert_eq!(seen, ["property-failed: reject", "flaky-outcome: hold"]);
    for _ in 0..3 {
        assert!(
            !findings(&asked(&failing, &base, &head), &["property-failed"]).is_empty(),
            "nobody retries into green"
        );
    }
}

fn kept_files(copy: &WorkingCopy) -> Vec<std::path::PathBuf> {
    let folders = std::fs::read_dir(copy.beside("outcomes")).unwrap();
    folders
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect()
}

#[test]
fn a_damaged_outcome_is_not_believed() {
    let copy = repository();
    let (base, head) = right(&copy);
    asked(&copy, &base, &head);
    for file in kept_files(&copy) {
        std::fs::write(file, b"{}").unwrap();
    }
    assert_eq!(told(&asked(&copy, &base, &head)), Vec::<String>::new());
}

/// The failure of a change, as `freeze add` would enter it.
fn ledger(signature: &str, expires: &str, record: &Record) -> String {
    let row = &record.properties[0];
    let message = row.message.as_ref().unwrap();
    let digest = MessageDigest::of(message, Normaliser::default(), &[], None);
    format!(
        r#"{{"schema": 2, "freezes": {{"{signature}": {{"nodeid": "property:double", "seed": 7, "exc_type": "AssertionError",
        "message_digest": "{digest}", "first_seen": "2026-09-15", "expires_on": "{expires}", "reason": "known",
        "citation": "https://ci.example/1", "bound_sha": "{}"}}}}}}"#,
        record.base
    )
}

/// A change that fails, judged under a freeze of exactly this failure.
fn frozen_until(expires: &str, product: &str) -> Record {
    let copy = repository();
    let wrong = "def double(n):\n    return n + n if n < 500 else n\n";
    let record = judged(&copy, wrong);
    let signature = record.properties[0].signature.clone().unwrap();
    let (base, text) = (record.base.parse::<ObjectId>().unwrap(), ledger(&signature, expires, &record));
    copy.git(&["checkout", "--quiet", "-b", "frozen", base.as_str()]);
    copy.write("src/double.py", product);
    let head = copy.commit();
    let mut question = sandboxed(&copy, &base, &head);
    question.ledger =
        Some(evidence_gate::pipeline::OperatorsFile { origin: "ours".to_owned(), bytes: text.into_bytes().into() });
    copy.ask(&question)
}

#[test]
fn a_frozen_failure_is_skipped_and_never_a_pass() {
    let wrong = "def double(n):\n    return n + n if n < 500 else n\n";
    let record = frozen_until("2026-09-30", wrong);
    assert_eq!(findings(&record, &["freeze-expired"]), ["freeze-expired: reject"], "{:#?}", told(&record));
    assert!(message(&record, "freeze-expired").contains("the freeze of this failure has ended"));
}

#[test]
fn the_policy_can_switch_properties_off() {
    let copy = repository();
    copy.write(".evidence-gate.toml", POLICY.replace("[classes]", "[require]\nproperties = \"off\"\n[classes]"));
    let record = judged(&copy, "def double(n):\n    return 0\n");
    assert!(record.properties.is_empty() && told(&record).is_empty(), "{:#?}", told(&record));
}
