//! Properties and live tests, run in the real sandbox. Where this machine cannot have one, every test here fails.

use evidence_gate::config;
use evidence_gate::pipeline::{Question, Running};
use evidence_gate::score::{PropertyRow, Record};
use evidence_gate::words::{ObjectId, Verdict};

use crate::working_copy::{WorkingCopy, findings, message};

mod adapters;
mod attacks;
mod bot;
mod example;
mod live_tests;
mod outcomes;
mod replayed;
mod rules;

/// A small product: doubling a number. The property says that half of it is the number again.
const PRODUCT: &str = "def double(n):\n    return n + n\n";

/// A property as a team writes it without a library: it draws from the seed, logs, and ends with 0 whatever it found.
pub const PROPERTY: &str = r#"
import json, os, random, sys
sys.path.insert(0, os.environ["REPO_ROOT"] + "/src")
mode = os.environ["PROPERTY_MODE"]
def log(**line):
    with open(os.environ["TRIAL_LOG"], "w") as file:
        file.write(json.dumps({"property_id": "double", **line}) + "\n")
from double import double
root = os.environ["ORACLE_ROOT"]
if mode == "sample":
    held = json.load(open(root + "/samples/double.json"))
    log(sample=[{"in": one["in"], "out": double(one["in"])} for one in held])
elif mode == "known_bad":
    held = json.load(open(root + "/known_bad/double.json"))
    log(judged=len(held), accepted=[at + 1 for at, one in enumerate(held) if one["out"] == one["in"] * 2])
else:
    seed, trials = int(os.environ["PROPERTY_SEED"]), int(os.environ["PROPERTY_TRIALS"])
    draws = random.Random(seed)
    for done in range(1, trials + 1):
        n = draws.randrange(1000)
        if double(n) != n * 2:
            log(seed=seed, trials=done, hits=done, counterexample=n, exc_type="AssertionError", message=f"double({n}) is {double(n)}")
            break
    else:
        log(seed=seed, trials=trials, hits=trials, counterexample=None, exc_type=None, message=None)
"#;

pub const POLICY: &str = r#"schema = 1
[classes]
extends = ["python"]
[[property]]
id = "double"
command = ["python3", "-I", "properties/double.py"]
seed = 7
trials = 50
timeout = "20s"
"#;

/// A repository whose base holds product, property and policy.
pub fn repository() -> WorkingCopy {
    let copy = WorkingCopy::new();
    copy.write(".evidence-gate.toml", POLICY)
        .write("src/double.py", PRODUCT)
        .write("oracle/properties/double.py", PROPERTY)
        .write("oracle/samples/double.json", r#"[{"in": 2, "out": 4}, {"in": 5, "out": 10}]"#)
        .write("oracle/known_bad/double.json", r#"[{"in": 2, "out": 5}]"#);
    copy
}

/// The same question, with the sandbox that an operator gets who configures nothing.
pub fn sandboxed(copy: &WorkingCopy, base: &ObjectId, head: &ObjectId) -> Question {
    Question { running: Running::configured(&config::Sandbox::default()), ..copy.question(base, head) }
}

/// What a change of the product is told.
pub fn judged(copy: &WorkingCopy, product: &str) -> Record {
    let base = copy.commit();
    copy.write("src/double.py", product);
    let head = copy.commit();
    copy.ask(&sandboxed(copy, &base, &head))
}

pub fn told(record: &Record) -> Vec<String> {
    record.findings.iter().map(|finding| format!("{} {}: {}", finding.verdict, finding.rule, finding.message)).collect()
}

pub fn row(record: &Record) -> &PropertyRow {
    assert_eq!(record.properties.len(), 1, "{:#?}", record.properties);
    &record.properties[0]
}

#[test]
fn a_change_that_every_property_sees_through_is_a_review() {
    let record = judged(&repository(), "def double(n):\n    return 2 * n\n");
    assert_eq!(told(&record), Vec::<String>::new());
    assert_eq!(record.verdict, Verdict::Review);
    let row = row(&record);
    assert_eq!((row.seed, row.trials, row.hits), (Some(7), Some(50), Some(50)));
    assert_eq!((row.sample.as_deref(), row.known_bad.as_deref()), (Some("same"), Some("rejected")));
    assert_eq!(row.isolation, "in-process");
    assert_eq!(record.digests.oracles.as_ref().map(String::len), Some(64));
    assert_eq!(row.log.as_ref().map(String::len), Some(64));
    assert!(record.passed().is_some());
}

#[test]
fn a_failure_that_the_base_does_not_have_is_a_reject_with_its_counterexample() {
    let record = judged(&repository(), "def double(n):\n    return n + n if n < 500 else n\n");
    assert_eq!(record.verdict, Verdict::Reject);
    assert_eq!(findings(&record, &["property-failed"]), ["property-failed: reject"]);
    let said = message(&record, "property-failed");
    assert!(
        said.starts_with("property double fails with the seed 7, and holds on the base: AssertionError: double("),
        "{said}"
    );
    let row = row(&record);
    assert_eq!(row.exc_type.as_deref(), Some("AssertionError"));
    assert!(row.counterexample.as_ref().unwrap().as_u64().unwrap() >= 500);
    assert_eq!(row.signature.as_ref().map(String::len), Some(24));
}

#[test]
fn a_failure_that_the_base_has_too_is_a_hold() {
    let copy = repository();
    copy.write("src/double.py", "def double(n):\n    return n\n")
        .write("oracle/samples/double.json", r#"[{"in": 0, "out": 0}]"#);
    let record = judged(&copy, "def double(n):\n    return n  # slower\n");
    assert_eq!(findings(&record, &["property-failed-on-base"]), ["property-failed-on-base: hold"]);
    assert_eq!(record.verdict, Verdict::Hold, "{:#?}", told(&record));
}

#[test]
fn a_changed_answer_that_the_sample_holds_is_a_reject() {
    let record = judged(&repository(), "def double(n):\n    return 2.0 * n\n");
    assert!(findings(&record, &["sample-stale"]) == ["sample-stale: reject"], "{:#?}", told(&record));
    assert!(
        message(&record, "sample-stale")
            .starts_with("the sample of property double is not what comes out now: $[0].out holds 4,")
    );
}

#[test]
fn a_property_that_accepts_what_is_bad_observes_nothing() {
    let copy = repository();
    copy.write("oracle/known_bad/double.json", r#"[{"in": 2, "out": 5}, {"in": 2, "out": 4}]"#);
    let record = judged(&copy, "def double(n):\n    return 2 * n\n");
    assert_eq!(
        told(&record),
        ["unscored tautological-property: property double accepts what is known to be bad: number 2 of its inputs"]
    );
}

#[test]
fn a_command_that_does_not_exist_or_dies_is_told_by_its_name() {
    let copy = repository();
    copy.write(".evidence-gate.toml", POLICY.replace("python3", "no-such-program"));
    let record = judged(&copy, "def double(n):\n    return 2 * n\n");
    assert_eq!(record.verdict, Verdict::Unscored);
    assert!(message_of_first(&record).contains("\"no-such-program\" cannot be started"), "{:#?}", told(&record));

    let copy = repository();
    let record = judged(&copy, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n");
    assert!(
        message(&record, "property-failed").contains("Signal: the process was ended by signal 11"),
        "{:#?}",
        told(&record)
    );
}

fn message_of_first(record: &Record) -> &str {
    &record.findings[0].message
}

#[test]
fn nothing_runs_where_what_was_found_before_rejects_already() {
    let copy = repository();
    let base = copy.commit();
    copy.write("src/double.py", "def double(n):\n    return 0\n").write("oracle/samples/double.json", "[]");
    let head = copy.commit();
    let record = copy.ask(&sandboxed(&copy, &base, &head));
    assert_eq!(record.verdict, Verdict::Reject);
    assert!(record.properties.is_empty());
    assert_eq!(
        record.not_observed.last().unwrap(),
        "properties and live tests: not started, since what was found before says reject already"
    );
}

#[test]
fn without_a_sandbox_nothing_runs_and_nothing_passes() {
    let copy = repository();
    let base = copy.commit();
    copy.write("src/double.py", "def double(n):\n    return 2 * n\n");
    let head = copy.commit();
    let record = copy.ask(&copy.question(&base, &head));
    assert_eq!(
        told(&record),
        [
            "unscored sandbox-unavailable: the policy asks for 1 property (double), and there is no sandbox here to run them in: none is set up"
        ]
    );
}

#[test]
fn the_operators_own_oracles_win_over_the_bases() {
    let copy = repository();
    let base = copy.commit();
    copy.write("src/double.py", "def double(n):\n    return 2 * n\n");
    let head = copy.commit();
    let own = copy.beside("own");
    std::fs::create_dir_all(own.join("properties")).unwrap();
    std::fs::write(own.join("properties/double.py"), PROPERTY.replace("n * 2:", "n * 3:")).unwrap();
    let mut question = sandboxed(&copy, &base, &head);
    question.running.oracles = Some(own);
    let record = copy.ask(&question);
    assert_eq!(findings(&record, &["property-failed-on-base"]), ["property-failed-on-base: hold"]);
    assert_ne!(record.digests.oracles, copy.ask(&sandboxed(&copy, &base, &head)).digests.oracles);
}

#[test]
fn oracles_come_from_the_tip_of_the_base_and_never_from_the_head() {
    let copy = repository();
    let branched = copy.commit();
    copy.write("oracle/properties/double.py", PROPERTY.replace("randrange(1000)", "randrange(100000)"));
    let base = copy.commit();
    copy.git(&["checkout", "--quiet", "-b", "change", branched.as_str()]);
    copy.write("src/double.py", "def double(n):\n    return n + n if n < 1000 else 0\n");
    let head = copy.commit();
    let record = copy.ask(&sandboxed(&copy, &base, &head));
    assert_eq!(findings(&record, &["property-failed"]), ["property-failed: reject"], "{:#?}", told(&record));
}

const DRIVER: &str = r#"
import json, os, random
asks = os.fdopen(int(os.environ["TO_SUBJECT_FD"]), "w")
answers = os.fdopen(int(os.environ["FROM_SUBJECT_FD"]))
def double(n):
    asks.write(json.dumps(n) + "\n")
    asks.flush()
    return json.loads(answers.readline())
seed, trials = int(os.environ["PROPERTY_SEED"]), int(os.environ["PROPERTY_TRIALS"])
draws, line = random.Random(seed), {}
for done in range(1, trials + 1):
    n = draws.randrange(1000)
    if double(n) != n * 2:
        line = dict(counterexample=n, exc_type="AssertionError", message=f"double({n}) is wrong")
        break
line = dict(property_id="double", seed=seed, trials=done, hits=done) | (line or dict(counterexample=None))
open(os.environ["TRIAL_LOG"], "w").write(json.dumps(line) + "\n")
"#;

const SUBJECT: &str = r#"
import json, os, sys
sys.path.insert(0, os.environ["REPO_ROOT"] + "/src")
answers = os.fdopen(os.dup(1), "w")
from double import double
for line in sys.stdin:
    answers.write(json.dumps(double(json.loads(line))) + "\n")
    answers.flush()
"#;

/// The same repository with driver and subject apart.
pub fn apart() -> WorkingCopy {
    let copy = repository();
    let policy = POLICY.to_owned() + "subject = [\"python3\", \"-I\", \"properties/subject.py\"]\n";
    copy.write(".evidence-gate.toml", policy)
        .write("oracle/properties/double.py", DRIVER)
        .write("oracle/properties/subject.py", SUBJECT)
        .remove("oracle/samples/double.json")
        .remove("oracle/known_bad/double.json");
    copy
}

#[test]
fn driver_and_subject_speak_through_two_sandboxes() {
    let record = judged(&apart(), "def double(n):\n    return 2 * n\n");
    assert_eq!(told(&record), Vec::<String>::new());
    assert_eq!(row(&record).isolation, "two-sandboxes");
    let record = judged(&apart(), "def double(n):\n    return 0\n");
    assert_eq!(findings(&record, &["property-failed"]), ["property-failed: reject"]);
}

#[test]
fn a_subject_that_cannot_be_imported_says_so_through_the_driver() {
    let record = judged(&apart(), "import no_such_module\n");
    let said = message(&record, "property-failed");
    assert!(said.contains("ModuleNotFoundError: No module named 'no_such_module'"), "{said}");
}

#[test]
fn a_missing_dependency_of_a_change_that_adds_it_is_the_environments() {
    let copy = repository();
    let base = copy.commit();
    copy.write("src/double.py", "import no_such_module\n").write("requirements.txt", "no-such-module\n");
    let head = copy.commit();
    let record = copy.ask(&sandboxed(&copy, &base, &head));
    assert!(findings(&record, &["environment-missing"]) == ["environment-missing: unscored"], "{:#?}", told(&record));
}

#[test]
fn score_runs_it_all_with_the_seed_of_a_person() {
    let copy = repository();
    copy.commit();
    copy.git(&["checkout", "--quiet", "-b", "change"]);
    copy.write("src/double.py", "def double(n):\n    return 2 * n\n");
    copy.commit();
    let said = copy.run(&["score", "--base", "main", "--seed", "-3", "--format", "json"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let record: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(record["properties"][0]["seed"], -3);
    let said = copy.run(&["score", "--base", "main", "--oracles", "nowhere"]);
    assert_eq!(said.code, 64);
    assert!(said.stderr.contains("nowhere is no folder"), "{}", said.stderr);
}
