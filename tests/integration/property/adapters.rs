//! The adapters, each with the real library, and those of Python and JavaScript in the real sandbox. The libraries are installed by
//! `sh tests/adapters/install.sh`; without it these tests are ignored.

use std::path::{Path, PathBuf};

use evidence_gate::score::Record;

use super::{row, sandboxed, told};
use crate::working_copy::{WorkingCopy, findings};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn copied(from: &Path, into: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(into).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copied(&entry.path(), &into.join(entry.file_name()));
        }
    } else {
        std::fs::copy(from, into).unwrap();
    }
}

/// A team's repository with a property in its own library.
struct Team {
    copy: WorkingCopy,
    oracles: PathBuf,
    product: &'static str,
}

impl Team {
    fn new(product: &'static str, source: &str, command: &str, oracles: &[(&str, &str)]) -> Self {
        let copy = WorkingCopy::new();
        let policy = format!(
            "schema = 1\n[[property]]\nid = \"double\"\ncommand = {command}\nseed = 11\ntrials = 60\ntimeout = \"60s\"\n"
        );
        copy.write(".evidence-gate.toml", policy).write(product, source);
        let own = copy.beside("oracles");
        for (path, text) in oracles {
            let path = own.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { copy, oracles: own, product }
    }

    fn with(self, from: &str, into: &str) -> Self {
        copied(&root().join(from), &self.oracles.join(into));
        self
    }

    fn judged(&self, source: &str) -> Record {
        let base = self.copy.commit();
        self.copy.write(self.product, source);
        let head = self.copy.commit();
        let mut question = sandboxed(&self.copy, &base, &head);
        question.running.oracles = Some(self.oracles.clone());
        self.copy.ask(&question)
    }
}

/// What every adapter must do with a property of integers that holds, fails from 101 on, or meets no precondition.
fn holds_fails_and_minimises(team: &Team, sources: [&str; 2], exc_type: &str) {
    let [right, wrong] = sources;
    let record = team.judged(right);
    assert_eq!(told(&record), Vec::<String>::new());
    let right = row(&record);
    assert_eq!((right.seed, right.trials, right.hits), (Some(11), Some(60), Some(60)));
    assert_eq!((right.sample.as_deref(), right.known_bad.as_deref()), (Some("same"), Some("rejected")));

    let record = team.judged(wrong);
    assert_eq!(findings(&record, &["property-failed"]), ["property-failed: reject"], "{:#?}", told(&record));
    let failed = row(&record).clone();
    assert_eq!(failed.exc_type.as_deref(), Some(exc_type));
    assert!(failed.counterexample.as_ref().unwrap().to_string().contains("101"), "the smallest: {failed:#?}");
    assert_eq!(row(&team.judged(&format!("{wrong}\n"))).log, failed.log, "one seed makes one log");
}

#[test]
#[ignore = "needs sh tests/adapters/install.sh"]
fn a_hypothesis_test_is_a_property_without_a_line_of_ours() {
    let test = "from hypothesis import assume, given, strategies as st\nfrom double import double\n\n@given(st.integers())\ndef test_double(n):\n    assume(n != 3)\n    assert double(n) == n + n, f'double({n})'\n\ndef sample(n):\n    return double(n)\n\ndef known_bad(n, out):\n    assert out == n + n\n";
    let command = r#"["python3", "-I", "evidence_gate_hypothesis.py", "--path", "src", "--library", "python", "properties/test_double.py"]"#;
    let team = Team::new(
        "src/double.py",
        "def double(n):\n    return n * 2\n",
        command,
        &[
            ("properties/test_double.py", test),
            ("samples/double.json", r#"[{"input": {"n": 4}, "output": 8}]"#),
            ("known_bad/double.json", r#"[{"n": 4, "out": 9}]"#),
        ],
    )
    .with("tests/adapters/python", "python")
    .with("adapters/hypothesis/evidence_gate_hypothesis.py", "evidence_gate_hypothesis.py");
    let sources = ["def double(n):\n    return n + n\n", "def double(n):\n    return n + n if n <= 100 else 0\n"];
    holds_fails_and_minimises(&team, sources, "AssertionError");

    std::fs::write(team.oracles.join("properties/test_double.py"), test.replace("n != 3", "False")).unwrap();
    let record = team.judged("def double(n):\n    return n + n  # now\n");
    assert_eq!(
        told(&record),
        [
            "unscored property-incomplete: property double does not say enough: none of its 60 trials met the precondition"
        ]
    );
}

#[test]
#[ignore = "needs sh tests/adapters/install.sh"]
fn a_fast_check_file_is_a_property_without_a_line_of_ours() {
    let test = "import fc from 'fast-check';\nconst { double } = await import(process.env.REPO_ROOT + '/src/double.mjs');\nfc.assert(fc.property(fc.integer(), (n) => {\n  fc.pre(n !== 3);\n  if (double(n) !== 2 * n) throw new RangeError(`double(${n})`);\n}));\nexport const sample = (n) => double(n);\nexport function knownBad({ n, out }) {\n  if (out !== 2 * n) throw new RangeError('bad');\n}\n";
    let team = Team::new(
        "src/double.mjs",
        "export const double = (n) => n * 2;\n",
        r#"["node", "evidence_gate_fast_check.mjs", "properties/double.mjs"]"#,
        &[
            ("properties/double.mjs", test),
            ("samples/double.json", r#"[{"input": 4, "output": 8}]"#),
            ("known_bad/double.json", r#"[{"n": 4, "out": 9}]"#),
        ],
    )
    .with("tests/adapters/node_modules/fast-check", "node_modules/fast-check")
    .with("tests/adapters/node_modules/pure-rand", "node_modules/pure-rand")
    .with("adapters/fast-check/evidence_gate_fast_check.mjs", "evidence_gate_fast_check.mjs");
    let sources = ["export const double = (n) => n + n;\n", "export const double = (n) => (n <= 100 ? n + n : 0);\n"];
    holds_fails_and_minimises(&team, sources, "RangeError");
}

/// What the adapter for proptest logs of a test of `tests/adapters/proptest`, with this body of the product; or what it says instead.
#[expect(clippy::disallowed_methods, reason = "the adapter is a program, and this test is what starts it")]
fn proptest_says(name: &str, body: &str, trials: u32) -> Result<serde_json::Value, String> {
    let scratch = tempfile::tempdir().unwrap();
    // proptest remembers a failure beside the package; each call starts without such a memory, as in the sandbox.
    let package = scratch.path().join("properties/double");
    copied(&root().join("tests/adapters/proptest"), &package);
    let product = format!("pub fn double(n: i64) -> i64 {{\n    {body}\n}}\n");
    std::fs::write(package.join("double/src/lib.rs"), product).unwrap();
    let log = scratch.path().join("log");
    let run = std::process::Command::new("python3")
        .args(["-I", root().join("adapters/proptest/evidence_gate_proptest.py").to_str().unwrap()])
        .args(["--manifest", "Cargo.toml", "--test", "double", name])
        .current_dir(&package)
        .envs([("PROPERTY_ID", "double"), ("PROPERTY_SEED", "11"), ("PROPERTY_MODE", "trials")])
        .env("PROPERTY_TRIALS", trials.to_string())
        .env("TRIAL_LOG", &log)
        .env("CARGO_TARGET_DIR", root().join("target/adapters"))
        .env("CARGO_HOME", home_of_cargo())
        .output()
        .unwrap();
    match std::fs::read_to_string(&log) {
        Ok(text) if run.status.success() => Ok(serde_json::from_str(&text).unwrap()),
        _ => Err(String::from_utf8_lossy(&run.stderr).into_owned()),
    }
}

/// Where cargo keeps what it fetched.
#[expect(clippy::disallowed_methods, reason = "cargo tells it by its environment only")]
fn home_of_cargo() -> PathBuf {
    std::env::var_os("CARGO_HOME")
        .map_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cargo"), PathBuf::from)
}

#[test]
#[ignore = "needs sh tests/adapters/install.sh"]
fn a_proptest_test_is_a_property_without_a_line_of_ours() {
    let right = proptest_says("doubles", "n + n", 60).unwrap();
    assert_eq!(
        right,
        serde_json::json!({
            "property_id": "double", "seed": 11, "trials": 60, "hits": 60, "counterexample": null, "exc_type": null, "message": null
        })
    );

    let wrong = "if n <= 100 { n + n } else { 0 }";
    let failed = proptest_says("doubles", wrong, 60).unwrap();
    assert_eq!(failed["counterexample"], "n = 101", "the smallest: {failed}");
    assert_eq!(failed["exc_type"], "TestCaseError");
    assert!(failed["message"].as_str().unwrap().contains("assertion failed"), "{failed}");
    assert_eq!(proptest_says("doubles", wrong, 60).unwrap(), failed, "one seed makes one log");

    let idle = proptest_says("meets_nothing", "n + n", 60).unwrap();
    assert_eq!((&idle["trials"], &idle["hits"]), (&60.into(), &0.into()), "no case met the precondition: {idle}");

    let absent = proptest_says("no_such_test", "n + n", 60).unwrap_err();
    assert!(absent.contains("there is no proptest test `no_such_test` here"), "{absent}");
    let broken = proptest_says("doubles", "n +", 60).unwrap_err();
    assert!(broken.contains("do not build together"), "{broken}");
}
