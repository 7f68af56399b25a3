//! `coverage convert`, `coverage inspect` and `freeze price` as a person runs them.
#![expect(clippy::disallowed_methods, reason = "the shipped program is started here")]

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

use super::sample;

/// Exit code, standard output, standard error.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_evidence-gate")).current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::copy(sample("samples/lcov-TN-gcov.info"), folder.path().join("gcov.info")).unwrap();
    folder
}

#[test]
fn a_map_is_converted_inspected_and_priced() {
    let folder = folder();
    let sha = "b".repeat(40);
    let arguments = ["coverage", "convert", "gcov.info", "--root", "/build/c", "--no-tree", "--base-sha", &sha];
    let (code, plain, told) = run(folder.path(), &arguments);
    assert_eq!((code, told.as_str()), (0, ""));
    for name in ["map.json.gz", "map.json.zst", "map.json"] {
        let (code, nothing, told) = run(folder.path(), &[&arguments[..], &["--output", name]].concat());
        assert_eq!((code, nothing.as_str(), told.as_str()), (0, "", ""));
        let (code, inspected, told) = run(folder.path(), &["coverage", "inspect", name, "--format", "json"]);
        assert_eq!((code, told.as_str()), (0, ""));
        let mut inspected: Value = serde_json::from_str(&inspected).unwrap();
        assert_eq!(inspected["base_sha"], sha);
        inspected["sha256"] = Value::Null;
        assert_eq!(inspected["lines"]["one_observer"], 6);
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("map.json")).unwrap(), plain);

    let ledger = r#"{"schema": 1, "frozen": [{"nodeid": "ring_prev_1", "reason": "slow host", "bound_sha": "0123456789abcdef"}]}"#;
    std::fs::write(folder.path().join("flaky.json"), ledger).unwrap();
    let (code, text, told) = run(folder.path(), &["coverage", "inspect", "map.json", "--freeze", "flaky.json"]);
    assert_eq!((code, told.as_str()), (0, ""));
    let text = text.replace(text.lines().nth(2).unwrap(), "sha256      [digest]");
    assert_snapshot!(text, @r#"
commit      bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
tool        lcov
sha256      [digest]
tests       3
files       2
lines       13 that tests run
            6 with one observer
            0 that run at import
            2 that nothing runs

    lines  one observer  at import  file
        8             5          0  ring.c
        5             1          0  t.c

ring_prev_1: 1 test frozen, 4 lines and 0 files lose their only observer
  ring.c: 9-10,12
  t.c: 7
observed lines: 13 before, 9 after, 69.23 percent are left
"#);

    let (code, text, told) = run(folder.path(), &["freeze", "price", "flaky.json", "--map", "map.json.gz"]);
    assert_eq!((code, told.as_str()), (0, ""));
    assert_snapshot!(text, @r#"
ring_prev_1: 1 test frozen, 4 lines and 0 files lose their only observer
  ring.c: 9-10,12
  t.c: 7
observed lines: 13 before, 9 after, 69.23 percent are left
"#);
    let (code, text, told) = run(
        folder.path(),
        &["freeze", "price", "flaky.json", "--map", "map.json", "--nodeid", "ring_step_1", "--json"],
    );
    assert_eq!((code, told.as_str()), (0, ""));
    let priced: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(priced["each"][0]["line_count"], 2);
    let (code, text, _) = run(folder.path(), &["freeze", "price", "--map", "map.json", "--nodeid", "nobody"]);
    assert_eq!(code, 0);
    assert_snapshot!(text, @r#"
nobody: 0 tests frozen, 0 lines and 0 files lose their only observer, not in the map: its lines are not known
observed lines: 13 before, 13 after, 100.00 percent are left
"#);
}

#[test]
fn what_cannot_be_converted_ends_with_65_and_says_what_to_do() {
    let folder = folder();
    std::fs::copy(sample("samples/lcov-jest.info"), folder.path().join("lcov.info")).unwrap();
    let (code, out, told) = run(folder.path(), &["coverage", "convert", "lcov.info"]);
    assert_eq!((code, out.as_str()), (65, ""));
    assert_snapshot!(told, @"evidence-gate: lcov.info is LCOV without test names, as Jest, c8, nyc, vitest and node write it: it counts the lines of all tests together; write istanbul's counters after each test, one file per test, and convert the folder (docs/coverage.md, JavaScript)");
    let (code, _, told) = run(folder.path(), &["coverage", "convert", "gcov.info", "--root", "/build/c"]);
    assert_eq!(code, 65);
    assert_snapshot!(told, @r#"evidence-gate: gcov.info: none of its files is in ., "ring.c" for one; name with --root what its paths begin with, with --source the folder of sources, or with --tree the working copy"#);
    let (code, _, told) = run(folder.path(), &["coverage", "convert", "none.info"]);
    assert_eq!(code, 74);
    assert_snapshot!(told, @"evidence-gate: cannot read none.info: No such file or directory (os error 2)");
}

#[test]
fn a_freeze_reaches_as_far_as_the_policy_lets_it() {
    let folder = folder();
    let map = r#"{"t.py::A::one": {"a.py": [1]}, "t.py::A::two": {"a.py": [2]}, "t.py::b": {"a.py": [3]}}"#;
    std::fs::write(folder.path().join("map.json"), map).unwrap();
    let ledger =
        r#"{"schema": 1, "frozen": [{"nodeid": "t.py::A", "reason": "slow host", "bound_sha": "0123456789abcdef"}]}"#;
    std::fs::write(folder.path().join("flaky.json"), ledger).unwrap();
    let inspect = ["coverage", "inspect", "map.json", "--freeze", "flaky.json"];
    let price = ["freeze", "price", "flaky.json", "--map", "map.json"];
    let unsaid = ["freeze", "price", "--map", "map.json", "--nodeid", "t.py::A"];
    let last = |arguments: &[&str]| {
        let (code, text, told) = run(folder.path(), arguments);
        assert_eq!((code, told.as_str()), (0, ""));
        text.lines().last().unwrap().to_owned()
    };
    for arguments in [&inspect[..], &price, &unsaid] {
        assert_eq!(last(arguments), "observed lines: 3 before, 3 after, 100.00 percent are left", "{arguments:?}");
    }
    std::fs::write(folder.path().join(".evidence-gate.toml"), "schema = 1\n[freeze]\nreach = \"class\"\n").unwrap();
    for arguments in [&inspect[..], &price, &unsaid] {
        assert_eq!(last(arguments), "observed lines: 3 before, 1 after, 33.33 percent are left", "{arguments:?}");
    }
    std::fs::write(folder.path().join("narrow.toml"), "schema = 1\n").unwrap();
    let narrow = [&inspect[..], &["--policy", "narrow.toml"]].concat();
    assert_eq!(last(&narrow), "observed lines: 3 before, 3 after, 100.00 percent are left");
}
