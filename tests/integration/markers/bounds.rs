//! Bad input ends, within bounds, in a finding that says what was done.

use std::time::{Duration, Instant};

use super::{Tree, findings, rule_ids, tree};

/// Longer than anything here may take on a slow machine without optimisation.
const PATIENCE: Duration = Duration::from_mins(1);

fn judged(path: &str, bytes: Vec<u8>) -> Vec<evidence_gate::evidence::Finding> {
    let begin = Instant::now();
    let base = tree(&[(path, "")]);
    let found = findings(&base, &Tree::from([(path.to_owned(), bytes)]));
    assert!(begin.elapsed() < PATIENCE, "{path} took {:?}", begin.elapsed());
    found
}

#[test]
fn a_file_that_is_too_large_to_parse_is_read_as_text() {
    let mut bytes = b"import pytest\n@pytest.mark.skip\ndef test_x():\n    pass\n".to_vec();
    bytes.resize(9 << 20, b'\n');
    let found = judged("tests/test_a.py", bytes);
    let skip = found.iter().find(|f| f.rule.id == "skip-marker-added").unwrap();
    assert!(skip.message.contains("read as text: the file is larger than 2 MiB"), "{}", skip.message);
    assert!(rule_ids(&found).contains("test-rewritten"));
}

#[test]
fn one_long_line_ends() {
    let found = judged("tests/a.test.js", [b"it.only('x', () => {});".to_vec(), b"f();".repeat(5 << 18)].concat());
    assert!(rule_ids(&found).contains("focus-marker-added"), "{:?}", rule_ids(&found));
}

#[test]
fn bytes_that_are_no_text_are_read_as_text_all_the_same() {
    let found =
        judged("tests/test_a.py", b"# \xff\nimport pytest\n@pytest.mark.skip\ndef test_x():\n    pass\n".to_vec());
    let skip = found.iter().find(|f| f.rule.id == "skip-marker-added").unwrap();
    assert!(skip.message.contains("the file is not UTF-8"), "{}", skip.message);
}

#[test]
fn deep_nesting_ends_in_every_language() {
    for path in [
        "tests/test_a.py",
        "tests/a.test.ts",
        "tests/a.test.tsx",
        "tests/a.rs",
        "a_test.go",
        "src/test/java/ATest.java",
        "src/test/kotlin/ATest.kt",
        "tests/ATests.cs",
        "spec/a_spec.rb",
        "tests/ATest.php",
        "tests/a_test.cc",
    ] {
        for (open, close) in [("(", ")"), ("!", "")] {
            let found = judged(path, format!("x = {}1{}", open.repeat(10_000), close.repeat(10_000)).into_bytes());
            assert!(
                rule_ids(&found).contains("test-rewritten") || rule_ids(&found).contains("test-extended"),
                "{path} {open}: {:?}",
                rule_ids(&found)
            );
        }
    }
}

#[test]
fn lines_that_do_not_parse_are_read_as_text_and_say_so() {
    let old = "import pytest\n\ndef test_x():\n    assert f()\n";
    let new = "import pytest\n\ndef (((:\n@pytest.mark.skip\ndef test_x():\n    assert f()\n";
    let found = findings(&tree(&[("tests/test_a.py", old)]), &tree(&[("tests/test_a.py", new)]));
    assert!(rule_ids(&found).contains("skip-marker-added"), "{found:?}");
    assert!(rule_ids(&found).contains("test-rewritten"));
}

#[test]
fn a_configuration_that_is_none_is_named() {
    let found = findings(
        &tree(&[("tests/test_a.py", "")]),
        &tree(&[("tests/test_a.py", "x = 1\n"), ("pyproject.toml", "[tool.pytest\n")]),
    );
    let unread = found.iter().find(|f| f.rule.id == "unread-file").unwrap();
    assert!(unread.message.contains("pyproject.toml") && unread.message.contains("TOML"), "{}", unread.message);
}

#[test]
fn equal_changes_have_equal_answers() {
    let base = tree(&[("tests/test_a.py", "def test_a():\n    assert 1\n\ndef test_b():\n    assert 2\n")]);
    let head = tree(&[("tests/test_a.py", "import pytest\n@pytest.mark.skip\ndef test_b():\n    assert 2\n")]);
    assert_eq!(findings(&base, &head), findings(&base, &head));
}
