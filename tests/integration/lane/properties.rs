//! A change of a property, its sample or its known-bad inputs is run before it judges anybody.

use evidence_gate::pipeline::{LaneAsked, Question};
use evidence_gate::score::Record;
use evidence_gate::words::{ObjectId, Verdict};

use super::rules;
use crate::property::{repository, sandboxed};
use crate::working_copy::{WorkingCopy, message};

fn base() -> (WorkingCopy, ObjectId) {
    let copy = repository();
    let base = copy.commit();
    (copy, base)
}

fn run(copy: &WorkingCopy, base: &ObjectId) -> Record {
    let head = copy.commit();
    copy.ask(&Question { lane: LaneAsked::Always, ..sandboxed(copy, base, &head) })
}

#[test]
fn a_sample_that_fits_the_product_is_sound_and_one_that_does_not_is_refused() {
    let (copy, base) = base();
    copy.write("oracle/samples/double.json", r#"[{"in": 3, "out": 6}]"#);
    let record = run(&copy, &base);
    assert_eq!((record.verdict, rules(&record)), (Verdict::Hold, vec!["lane-waits"]));
    assert_eq!(record.properties.len(), 1, "it was run");
    copy.write("oracle/samples/double.json", r#"[{"in": 3, "out": 7}]"#);
    let record = run(&copy, &base);
    assert_eq!((record.verdict, rules(&record)), (Verdict::Reject, vec!["property-invalid"]));
    assert!(message(&record, "property-invalid").contains("has a sample that is not what comes out"));
}

#[test]
fn a_property_that_fails_on_the_product_or_knows_no_bad_input_is_refused() {
    let (copy, base) = base();
    copy.write("oracle/known_bad/double.json", r#"[{"in": 2, "out": 4}]"#);
    assert!(message(&run(&copy, &base), "property-invalid").contains("accepts what is known to be bad: number 1"));
    let broken = crate::property::PROPERTY.replace("!= n * 2", "!= n * 3");
    copy.write("oracle/known_bad/double.json", r#"[{"in": 2, "out": 5}]"#).write("oracle/properties/double.py", broken);
    assert!(message(&run(&copy, &base), "property-invalid").contains("fails on the merged tree"));
}

#[test]
fn a_property_that_the_new_policy_brings_is_run_and_the_others_are_not() {
    let (copy, base) = base();
    let more = "[[property]]\nid = \"twice\"\ncommand = [\"python3\", \"-I\", \"properties/none.py\"]\n";
    copy.write(".evidence-gate.toml", format!("{}{more}", crate::property::POLICY));
    let record = run(&copy, &base);
    assert_eq!(rules(&record), ["property-invalid"]);
    let ids: Vec<&str> = record.properties.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["twice"]);
}

#[test]
fn without_a_sandbox_a_change_of_a_property_is_unscored() {
    let (copy, base) = base();
    copy.write("oracle/samples/double.json", r#"[{"in": 3, "out": 6}]"#);
    let record = super::in_lane(&copy, &base);
    assert_eq!(record.verdict, Verdict::Unscored);
    assert!(rules(&record).contains(&"sandbox-unavailable"), "{:?}", rules(&record));
}
