//! Live tests of the merged tree, in the real sandbox.

use evidence_gate::score::Record;
use evidence_gate::words::Verdict;

use super::{sandboxed, told};
use crate::working_copy::{WorkingCopy, findings, message};

const POLICY: &str = r#"schema = 1
[classes]
extends = ["python"]
[tree_tests]
command = ["python3", "run.py"]
report = "reports/junit.xml"
timeout = "20s"
deselect = ["--deselect", "{nodeid}"]
"#;

/// A test runner in a few lines: every function of `tests/test_double.py`, and JUnit XML of what came.
const RUNNER: &str = r#"
import os, sys
from xml.sax.saxutils import quoteattr
sys.path[:0] = ["src", "tests"]
os.makedirs("reports", exist_ok=True)
import test_double
cases = []
left_out = [sys.argv[at + 1].split("::")[-1] for at, word in enumerate(sys.argv) if word == "--deselect"]
for name, test in sorted(vars(test_double).items()):
    if not name.startswith("test_") or name in left_out: continue
    inner = ""
    try: test()
    except Exception as error:
        inner = "<failure type=%s message=%s/>" % (quoteattr(type(error).__name__), quoteattr(str(error)))
    cases.append('<testcase classname="tests.test_double" name="%s">%s</testcase>' % (name, inner))
open("reports/junit.xml", "w").write("<testsuite>" + "".join(cases) + "</testsuite>")
"#;

const TESTS: &str = "from double import double\ndef test_two():\n    if double(2) != 4: raise ValueError('not four')\ndef test_zero():\n    if double(0) != 0: raise ValueError('not zero')\n";

fn repository() -> WorkingCopy {
    let copy = WorkingCopy::new();
    copy.write(".evidence-gate.toml", POLICY)
        .write("src/double.py", super::PRODUCT)
        .write("tests/test_double.py", TESTS)
        .write("run.py", RUNNER);
    copy
}

fn judged(copy: &WorkingCopy, changes: &[(&str, &str)]) -> Record {
    let base = copy.commit();
    for (path, text) in changes {
        copy.write(path, text);
    }
    let head = copy.commit();
    copy.ask(&sandboxed(copy, &base, &head))
}

#[test]
fn tests_are_counted_by_name() {
    let record = judged(&repository(), &[("src/double.py", "def double(n):\n    return 2 * n\n")]);
    assert_eq!(told(&record), Vec::<String>::new());
    let tests = record.tests.unwrap();
    assert_eq!(tests.reported, ["tests.test_double::test_two", "tests.test_double::test_zero"]);
    assert!(tests.failed.is_empty() && tests.missing.is_empty());
}

#[test]
fn a_failing_test_is_a_reject_whatever_the_process_ends_with() {
    let wrong = "import atexit, os\natexit.register(lambda: os._exit(0))\ndef double(n):\n    return n\n";
    let record = judged(&repository(), &[("src/double.py", wrong)]);
    assert_eq!(
        message(&record, "tree-test-failed"),
        "the live test tests.test_double::test_two fails, and passes on the base: ValueError: not four"
    );
    assert_eq!(record.tests.unwrap().failed, ["tests.test_double::test_two"]);
}

#[test]
fn a_failure_that_the_base_has_too_is_a_hold() {
    let copy = repository();
    copy.write("src/double.py", "def double(n):\n    return n\n");
    let record = judged(&copy, &[("src/double.py", "def double(n):\n    return 1 * n\n")]);
    assert_eq!(findings(&record, &["tree-test-failed-on-base"]), ["tree-test-failed-on-base: hold"]);
    assert_eq!(record.verdict, Verdict::Hold);
}

#[test]
fn a_fake_report_that_names_no_test_of_the_base_makes_its_tests_vanish() {
    let fake = "import os\nos.makedirs('reports', exist_ok=True)\nopen('reports/junit.xml', 'w').write('<testsuite><testcase name=\"all_is_well\"/></testsuite>')\nos._exit(0)\n";
    let record = judged(&repository(), &[("src/double.py", fake)]);
    assert_eq!(
        message(&record, "tests-vanished"),
        "2 live tests that ran on the base do not run on the merged tree: tests.test_double::test_two, tests.test_double::test_zero"
    );
    assert_eq!(record.verdict, Verdict::Unscored);
}

#[test]
fn a_report_that_is_printed_or_comes_with_the_tree_is_none() {
    let printed = "import os\nprint('<testsuite><testcase name=\"x\"/></testsuite>')\nos._exit(0)\n";
    let record = judged(&repository(), &[("src/double.py", printed)]);
    assert_eq!(
        message(&record, "tree-report-missing"),
        "the live tests left no report on the merged tree: nothing was written to `reports/junit.xml`"
    );

    let report = "<testsuite><testcase classname=\"tests.test_double\" name=\"test_two\"/><testcase classname=\"tests.test_double\" name=\"test_zero\"/></testsuite>";
    let changes = [("src/double.py", "import os\nos._exit(0)\n"), ("reports/junit.xml", report)];
    let record = judged(&repository(), &changes);
    assert_eq!(findings(&record, &["tree-report-missing"]), ["tree-report-missing: unscored"]);
}

#[test]
fn a_report_with_entities_or_behind_a_link_is_refused() {
    let bomb = "import os\nos.makedirs('reports', exist_ok=True)\nopen('reports/junit.xml', 'w').write('<!DOCTYPE x [<!ENTITY a \"b\">]><testsuite><testcase name=\"&a;\"/></testsuite>')\nos._exit(0)\n";
    let record = judged(&repository(), &[("src/double.py", bomb)]);
    assert!(message(&record, "tree-report-missing").contains("document type"), "{:#?}", told(&record));
    let link = "import os\nos.makedirs('reports', exist_ok=True)\nos.symlink('/etc/passwd', 'reports/junit.xml')\nos._exit(0)\n";
    let record = judged(&repository(), &[("src/double.py", link)]);
    assert!(message(&record, "tree-report-missing").contains("is no file"), "{:#?}", told(&record));
}

#[test]
fn added_tests_are_intent_and_not_counted() {
    let added = TESTS.to_owned() + "def test_three():\n    raise ValueError('never')\n";
    let record = judged(&repository(), &[("tests/test_double.py", &added)]);
    assert_eq!(findings(&record, &["tree-test-failed"]), Vec::<String>::new());
    assert_eq!(record.tests.unwrap().failed, ["tests.test_double::test_three"]);
}

fn under_ledger(expires: &str, policy: &str) -> Record {
    let copy = repository();
    copy.write(".evidence-gate.toml", policy);
    let first = copy.commit();
    let ledger = format!(
        r#"{{"schema": 1, "frozen": [{{"nodeid": "tests/test_double.py::test_two", "reason": "{expires}", "bound_sha": "{first}"}}]}}"#
    );
    copy.write("freeze_ledger.json", ledger);
    judged(&copy, &[("src/double.py", "def double(n):\n    return n\n")])
}

#[test]
fn without_a_map_a_freeze_stops_the_runs_before_they_start() {
    let record = under_ledger("known", POLICY);
    assert_eq!(findings(&record, &["coverage-map-missing"]), ["coverage-map-missing: unscored"]);
    assert!(record.tests.is_none());
}
