//! The example repository in tests/example, and changes of it.

use std::path::Path;

use evidence_gate::score::Record;
use evidence_gate::words::Verdict;

use super::{sandboxed, told};
use crate::working_copy::{WorkingCopy, message};

fn add(copy: &WorkingCopy, folder: &Path, below: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            add(copy, &entry.path(), &format!("{name}/"));
        } else {
            copy.write(&name, std::fs::read(entry.path()).unwrap());
        }
    }
}

fn judged(path: &str, from: &str, to: &str) -> Record {
    let copy = WorkingCopy::new();
    add(&copy, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/example"), "");
    let base = copy.commit();
    let text = std::fs::read_to_string(copy.path(path)).unwrap();
    assert!(text.contains(from), "{path} has no {from:?}");
    copy.write(path, text.replace(from, to));
    let head = copy.commit();
    copy.ask(&sandboxed(&copy, &base, &head))
}

#[test]
fn a_change_that_keeps_what_the_product_does_is_a_review() {
    let record = judged(
        "src/till/money.py",
        "share, rest = divmod(amount, parts)",
        "share, rest = amount // parts, amount % parts",
    );
    assert_eq!(told(&record), Vec::<String>::new());
    assert_eq!(record.verdict, Verdict::Review);
    let isolation: Vec<_> = record.properties.iter().map(|row| (row.id.as_str(), row.isolation.as_str())).collect();
    assert_eq!(isolation, [("split", "two-sandboxes"), ("format", "in-process")]);
    assert!(
        record
            .properties
            .iter()
            .all(|row| row.sample.as_deref() == Some("same") && row.known_bad.as_deref() == Some("rejected"))
    );
    assert_eq!(record.tests.unwrap().reported.len(), 2);
}

#[test]
fn a_cent_that_is_lost_is_found_by_the_property_and_by_the_tests() {
    let record = judged("src/till/money.py", "[share + 1] * rest + [share] * (parts - rest)", "[share] * parts");
    assert_eq!(record.verdict, Verdict::Reject);
    assert!(message(&record, "property-failed").contains("counterexample [1,"), "{:#?}", told(&record));
    assert!(
        message(&record, "tree-test-failed").contains("tests.test_money::test_recorded_bills"),
        "{:#?}",
        told(&record)
    );
}

#[test]
fn a_digit_that_is_lost_is_found_in_the_other_language() {
    let record = judged("web/format.mjs", ".padStart(2, \"0\")", "");
    assert_eq!(record.verdict, Verdict::Reject);
    assert!(message(&record, "property-failed").contains("Unreadable: "), "{:#?}", told(&record));
}
