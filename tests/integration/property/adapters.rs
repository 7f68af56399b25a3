//! The adapters, each with the real library in the real sandbox. The libraries are installed by `sh tests/adapters/install.sh`; without
//! it these tests are ignored.

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
