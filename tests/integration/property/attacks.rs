//! Code under test that does not want to be observed. Each test says which rule fires; what none can catch stands in
//! docs/properties.md.

use evidence_gate::words::Verdict;

use crate::working_copy::message;

use super::{apart, judged, repository, told};

/// The worst verdict and the first rule of a product.
fn outcome(product: &str) -> (Verdict, String) {
    let record = judged(&repository(), product);
    let first = record.findings.first().map_or_else(String::new, |finding| finding.rule.clone());
    (record.verdict, first)
}

fn rejects(product: &str) {
    assert_eq!(outcome(product), (Verdict::Reject, "property-failed".to_owned()), "{product}");
}

fn observes_nothing(product: &str) {
    assert_eq!(outcome(product), (Verdict::Unscored, "property-incomplete".to_owned()), "{product}");
}

const WRONG: &str = "def double(n):\n    return n\n";

#[test]
fn code_that_ends_the_process_with_0_observes_nothing() {
    observes_nothing("import os\nos._exit(0)\n");
    observes_nothing("import sys\nsys.exit(0)\n");
    observes_nothing("def double(n):\n    import os\n    os._exit(0)\n");
    let in_thread = "import os, threading, time\nthreading.Thread(target=lambda: os._exit(0)).start()\ntime.sleep(5)\n";
    observes_nothing(in_thread);
    let in_handler = "import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(0))\nsignal.alarm(1)\ntime.sleep(9)\n";
    observes_nothing(in_handler);
}

#[test]
fn an_exit_code_of_0_does_not_hide_what_the_log_says() {
    rejects(&format!("import atexit, os\natexit.register(lambda: os._exit(0))\n{WRONG}"));
}

#[test]
fn a_trial_log_that_is_forged_beside_the_propertys_own_is_no_log() {
    let forged = r#"{"property_id":"double","seed":7,"trials":50,"hits":50,"counterexample":null}"#;
    observes_nothing(&format!("import os\nos.write(3, b'{forged}\\n')\n{WRONG}"));
    observes_nothing(&format!("print('{forged}')\nimport os\nos._exit(0)\n"));
    observes_nothing("import os\nos.write(3, b'{\"property_id\":\"other\"}\\n')\nos._exit(0)\n");
    observes_nothing("import os\nos.write(3, b'{\"property_id\":\"double\",\"seed\":\"7\"')\nos._exit(0)\n");
}

#[test]
fn the_oracles_cannot_be_written_to() {
    let product = "import os\nroot = os.environ['ORACLE_ROOT']\nfor name in ['/samples/double.json', '/new', '/properties/double.py']:\n    try:\n        open(root + name, 'w')\n        os.write(3, b'written')\n    except OSError:\n        pass\ndef double(n):\n    return 2 * n\n";
    let record = judged(&repository(), product);
    assert_eq!(told(&record).iter().filter(|line| line.contains("property")).count(), 0, "{:#?}", told(&record));
}

#[test]
fn time_and_output_without_end_are_failures() {
    let copy = repository();
    copy.write(".evidence-gate.toml", super::POLICY.replace("20s", "2s"));
    let record = judged(&copy, "import time\ntime.sleep(1000)\n");
    assert!(message(&record, "property-failed").contains("Timeout: the time ran out"), "{:#?}", told(&record));
    rejects("import sys\nwhile True:\n    sys.stdout.write('x' * 65536)\n");
}

#[test]
fn a_known_bad_input_tells_of_equality_that_is_always_true() {
    let product = "class Any(int):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    __hash__ = int.__hash__\ndef double(n):\n    return Any(0)\n";
    // Every trial holds; what comes out is compared on the scoring host, as JSON.
    assert_eq!(outcome(product), (Verdict::Reject, "sample-stale".to_owned()));
}

#[test]
fn a_property_module_that_is_patched_at_import_gives_itself_away_by_its_sample() {
    let product = "import random, sys\nrandom.Random.randrange = lambda *_: 0\ndef double(n):\n    return 0\n";
    assert_eq!(outcome(product), (Verdict::Reject, "sample-stale".to_owned()));
    let patched =
        "import sys\nmain = sys.modules['__main__']\nmain.log = lambda **_: None\ndef double(n):\n    return 0\n";
    observes_nothing(patched);
}

#[test]
fn code_under_test_in_its_own_sandbox_finds_neither_mode_nor_log() {
    let forged = r#"{"property_id":"double","seed":7,"trials":50,"hits":50,"counterexample":null}"#;
    let product = format!(
        "import os, sys\nassert not [name for name in os.environ if name.startswith('PROPERTY') or name == 'TRIAL_LOG']\n\
         assert not os.path.exists(os.environ['ORACLE_ROOT'] + '/samples')\n\
         for fd in range(3, 20):\n    try: os.write(fd, b'{forged}\\n')\n    except OSError: pass\n\
         class Any(int):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n\
         sys.modules['random'] = None\ndef double(n):\n    return Any(0)\n"
    );
    let record = judged(&apart(), &product);
    assert_eq!(record.verdict, Verdict::Reject, "{:#?}", told(&record));
    assert!(message(&record, "property-failed").contains("AssertionError: double("), "{:#?}", told(&record));
    let counterexample = record.properties[0].counterexample.as_ref();
    assert!(counterexample.is_some(), "the driver's own log came: {:#?}", record.properties);
}
