//! `evidence-gate replay`.

use evidence_gate::report;

use super::{PROPERTY, judged, repository};

#[test]
fn a_record_replays_bit_for_bit_apart_from_times() {
    let copy = repository();
    let record = judged(&copy, "def double(n):\n    return n + n if n < 500 else n\n");
    std::fs::write(copy.beside("record.json"), report::json(&record)).unwrap();
    let said = copy.run(&["replay", "../record.json"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{}", said.text());
    assert!(said.text().starts_with("the same: REJECT: "), "{}", said.text());
}

#[test]
fn a_record_that_comes_out_otherwise_shows_where_and_exits_with_1() {
    let copy = repository();
    let mut record = judged(&copy, "def double(n):\n    return 2 * n\n");
    record.properties[0].hits = Some(49);
    std::fs::write(copy.beside("record.json"), report::json(&record)).unwrap();
    let said = copy.run(&["replay", "../record.json"]);
    assert_eq!(said.code, 1);
    assert_eq!(
        said.text(),
        "1 differ between the record and its replay:\nproperties[0].hits: 49 in the record, 50 now\n"
    );

    std::fs::create_dir_all(copy.beside("own/properties")).unwrap();
    std::fs::write(copy.beside("own/properties/double.py"), PROPERTY.replace("n * 2:", "n * 3:")).unwrap();
    let said = copy.run(&["replay", "../record.json", "--oracles", "../own"]);
    assert_eq!(said.code, 1);
    assert!(said.text().contains("verdict: \"review\" in the record, \"hold\" now"), "{}", said.text());
}

#[test]
fn what_is_no_record_or_not_here_is_told_apart() {
    let copy = repository();
    let mut record = judged(&copy, "def double(n):\n    return 2 * n\n");
    std::fs::write(copy.beside("no.json"), "{\"schema\": 1}").unwrap();
    let said = copy.run(&["replay", "../no.json"]);
    assert_eq!(said.code, 65);
    assert!(said.stderr.contains("no.json is no record: missing field"), "{}", said.stderr);
    record.head = "1".repeat(40);
    std::fs::write(copy.beside("record.json"), report::json(&record)).unwrap();
    let said = copy.run(&["replay", "../record.json"]);
    assert_eq!(said.code, 64);
    assert!(said.stderr.contains("does not hold the record's head"), "{}", said.stderr);
    assert_eq!(copy.run(&["replay", "../nothing.json"]).code, 74);
}
