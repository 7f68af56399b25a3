//! Every spelling of the catalogue, in a file of its kind, and everything that only looks alike.

use super::{Tree, findings, rule_ids, tree};

/// Spellings that are seen where they do something, or that hide nothing by themselves.
const LEFT: &[(&str, &str, &str)] = &[
    ("py.alias", "from pytest import skip", "an import alone hides nothing; its use is seen"),
    ("py.alias", "from unittest import SkipTest", "an import alone hides nothing; its use is seen"),
    (
        "py.hooks",
        "def pytest_runtest_makereport(item, call):",
        "the hook is seen when it sets an outcome; by itself it is test-config-edited",
    ),
    ("go.skip", "if testing.Short() {", "the condition of a skip; the skip inside it is seen"),
    ("rust.ignore", "#[should_panic]", "on a new test it is how panics are tested; on an existing one it is seen"),
    ("rust.doctest", "/// ```ignore", "an example that never ran hides nothing; on an existing one it is seen"),
    ("rust.doctest", "/// ```no_run", "an example that never ran hides nothing; on an existing one it is seen"),
    ("php.phpunit", "/** @group slow */", "a group alone hides nothing; its exclusion is seen"),
    (
        "js.cfg",
        "setupFilesAfterEnv: [\"<rootDir>/s.js\"],",
        "it loads a file; what that file sets is seen, and the configuration is a hold",
    ),
];

/// A file in which a spelling of the catalogue stands where it would.
fn around(id: &str, line: &str) -> (&'static str, String) {
    let trimmed = line.trim();
    match id {
        "py.mark" | "py.deco" | "py.retry" | "py.unittest" if trimmed.starts_with('@') => (
            "tests/test_a.py",
            format!("import pytest, unittest\nfrom pytest import mark\n{trimmed}\ndef test_x():\n    assert f()\n"),
        ),
        "py.mark" => (
            "tests/test_a.py",
            format!(
                "import pytest\nm = 1\nv = [\n{}\n]\ndef test_x():\n    assert f()\n",
                trimmed.trim_start_matches("m = ")
            ),
        ),
        "py.doctest" => ("src/a.py", format!("def f():\n    \"\"\"Say.\n\n    {trimmed}\n    1\n    \"\"\"\n")),
        "py.call" | "py.self" if line.starts_with(' ') => {
            ("tests/test_a.py", format!("import pytest, unittest\ndef test_x(self):\n    {trimmed}\n    assert f()\n"))
        }
        "py.call" | "py.deco" | "py.unittest" | "py.nocollect" | "py.exit" | "py.alias" | "py.self" => {
            ("tests/conftest.py", format!("import os, sys, pytest, unittest\n{trimmed}\n"))
        }
        "py.retry" => ("tests/conftest.py", format!("{trimmed}\n")),
        "py.hooks" => {
            ("tests/conftest.py", format!("{trimmed}{}\n", if trimmed.ends_with(':') { " pass" } else { "" }))
        }
        "py.cfg.addopts" | "py.cfg.keys" => ("pytest.ini", format!("[pytest]\n{}\n", trimmed.replace('"', ""))),
        "js.this" => {
            ("tests/a.test.js", format!("it('x', function () {{\n  {trimmed}\n  expect(f()).toBe(1);\n}});\n"))
        }
        "js.dotskip" if trimmed.starts_with("ctx") => {
            ("tests/a.test.js", format!("test('x', (ctx) => {{\n  {trimmed}\n  expect(f()).toBe(1);\n}});\n"))
        }
        "js.cfg" => (
            "jest.config.js",
            format!("module.exports = {{ test: {{\n{trimmed}\n}} }};\n")
                .replace("{ test: {\n\"", "{\n\"")
                .replace("],\n} }", "],\n}")
                .replace("\"1.0.0\"\n} }", "\"1.0.0\"\n}"),
        ),
        "js.script" => ("package.json", format!("{{\"scripts\": {{\n{}\n}}}}\n", trimmed.trim_end_matches(','))),
        "js.retry" if trimmed.starts_with("testTimeout") => {
            ("jest.config.js", format!("module.exports = {{ {trimmed} }};\n"))
        }
        "js.opts" if trimmed.starts_with("const") => ("tests/a.test.js", format!("{trimmed}\n")),
        _ if id.starts_with("js.") => ("tests/a.test.js", format!("{trimmed}\n")),
        "java.build" if trimmed.starts_with('<') => (
            "pom.xml",
            format!(
                "<project><build><plugins><plugin><configuration>{trimmed}</configuration></plugin></plugins></build></project>"
            ),
        ),
        "java.build" => ("build.gradle", format!("test {{\n  {trimmed}\n}}\n")),
        "java.kotest" | "java.kotest.bang" => {
            ("src/test/kotlin/ATest.kt", format!("class ATest : FunSpec({{\n  {}\n}})\n", closed(trimmed)))
        }
        "java.spock" => ("src/test/groovy/ATest.groovy", format!("class A {{\n  {trimmed}\n  def x() {{}}\n}}\n")),
        "java.scalatest" => ("src/test/scala/ATest.scala", format!("class A {{\n  {trimmed}\n}}\n")),
        "java.assume" => (
            "src/test/java/ATest.java",
            format!("class ATest {{\n  @Test void x() {{ {trimmed} assertEquals(1, f()); }}\n}}\n"),
        ),
        _ if id.starts_with("java.") && trimmed.contains("class") => {
            ("src/test/java/ATest.java", format!("{trimmed} @Test void x() {{}} }}\n"))
        }
        _ if id.starts_with("java.") && trimmed.starts_with('@') => (
            "src/test/java/ATest.java",
            format!("class ATest {{\n  {trimmed}\n  void x() {{ assertEquals(1, f()); }}\n  @Test void y() {{}}\n}}\n"),
        ),
        _ if id.starts_with("java.") => {
            ("src/test/java/ATest.java", format!("class ATest {{\n  @Test void x() {{ {trimmed} }}\n}}\n"))
        }
        "go.build" => {
            ("a_test.go", format!("{trimmed}\n\npackage a\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {{}}\n"))
        }
        "go.testmain" => ("a_test.go", format!("package a\n\nimport \"testing\"\n\n{trimmed} }}\n")),
        "go.exit" if trimmed.starts_with("func") => ("src/a.go", format!("package a\n\n{trimmed}\n")),
        _ if id.starts_with("go.") => (
            "a_test.go",
            format!(
                "package a\n\nimport \"testing\"\n\nfunc TestX(t *testing.T, b *testing.B) {{\n\t{}\n}}\n",
                closed(trimmed)
            ),
        ),
        "rust.cfgtest" | "rust.exit" => ("src/a.rs", closed_item(trimmed)),
        "rust.doctest" => ("src/a.rs", format!("{trimmed}\n/// f();\n/// ```\npub fn g() {{}}\n")),
        "rust.cfg" if trimmed.contains("not(test)") => ("src/a.rs", format!("{trimmed}\n")),
        "rust.cfg" | "rust.ignore" if trimmed.starts_with("#!") => {
            ("tests/a.rs", format!("{trimmed}\n#[test]\nfn x() {{ assert!(f()); }}\n"))
        }
        "rust.cfg" | "rust.ignore" => (
            "tests/a.rs",
            format!("#[test]\n{trimmed}\nfn x() {{ assert!(f()); }}\n").replace("let ignore = 1;\nfn", "fn"),
        ),
        "rust.manifest" => (
            "Cargo.toml",
            if trimmed == "harness = false" {
                format!("[[test]]\nname = \"a\"\n{trimmed}\n")
            } else if trimmed.contains("doctest") || trimmed.starts_with("test") {
                format!("[lib]\n{trimmed}\n")
            } else {
                format!("[package]\n{trimmed}\n")
            },
        ),
        "rust.nextest" => (".config/nextest.toml", format!("[profile.default]\n{trimmed}\n")),
        "rb.rspec.cfg" if trimmed.starts_with("--") => (".rspec", format!("{trimmed}\n")),
        "rb.rspec.cfg" => ("spec/spec_helper.rb", format!("RSpec.configure do |c|\n  {trimmed}\nend\n")),
        "rb.rspec" | "rb.focus" => {
            let inside = matches!(
                trimmed,
                "pending(\"w\")" | "skip \"w\"" | "exit 1" | "records.skip(1)" | "skip_before_action :a" | "benefit"
            );
            let block = if trimmed.ends_with(" do") {
                format!("{trimmed}\n end")
            } else if trimmed.ends_with('{') {
                format!("{trimmed} }}")
            } else {
                trimmed.to_owned()
            };
            (
                "spec/a_spec.rb",
                if inside {
                    format!("RSpec.describe(\"d\") {{ it(\"x\") {{ {trimmed}\n expect(f).to eq(1) }} }}\n")
                } else {
                    format!("RSpec.describe(\"d\") do\n  {block}\nend\n")
                },
            )
        }
        "rb.minitest" => (
            "test/a_test.rb",
            format!("class T < Minitest::Test\n  def test_x\n    {trimmed}\n    assert f\n  end\nend\n"),
        ),
        "php.pest" => (
            "tests/ATest.php",
            if trimmed.starts_with("})") {
                format!("<?php\nit('x', function () {{\n{trimmed}\n")
            } else {
                format!("<?php\n{trimmed}\n")
            },
        ),
        "php.cfg" if trimmed.starts_with("failOn") => ("phpunit.xml", format!("<phpunit {trimmed}></phpunit>")),
        "php.cfg" => ("phpunit.xml", format!("<phpunit><groups>{trimmed}</groups></phpunit>")),
        "php.phpunit" => (
            "tests/ATest.php",
            if trimmed.starts_with('$') {
                format!("<?php\nclass ATest extends TestCase {{\n public function testX() {{ {trimmed} }}\n}}\n")
            } else {
                format!("<?php\nclass ATest extends TestCase {{\n {trimmed}\n public function testX() {{}}\n}}\n")
            },
        ),
        "ex.tags" => ("test/a_test.exs", format!("{trimmed}\ntest \"x\" do assert f() end\n")),
        "pl.more" => ("t/a.t", format!("{trimmed}\n\n")),
        "sh.bats" => ("test/a.bats", format!("@test \"x\" {{\n{line}\n}}\n")),
        "cc.gtest" | "cc.catch2" if trimmed.starts_with("TEST") => ("tests/a_test.cc", format!("{trimmed} }}\n")),
        "cc.gtest" => ("tests/a_test.cc", format!("TEST(A, x) {{\n {trimmed}\n}}\n")),
        "cc.catch2" => ("tests/a_test.cc", format!("TEST_CASE(\"x\") {{ {trimmed} }}\n")),
        "r.testthat" => {
            ("tests/testthat/test-a.R", format!("test_that(\"x\", {{\n{trimmed}\nexpect_equal(f(), 1)\n}})\n"))
        }
        "cs.all" if trimmed.starts_with('[') => (
            "tests/ATests.cs",
            format!(
                "public class ATests {{\n  {trimmed}\n  public void X() {{ }}\n  [Fact] public void Y() {{ }}\n}}\n"
            ),
        ),
        "cs.all" => {
            ("tests/ATests.cs", format!("public class ATests {{\n  [Fact] public void X() {{\n {trimmed}\n }}\n}}\n"))
        }
        "swift.all" => ("Tests/ATests.swift", format!("{trimmed}\n")),
        "ci.yaml" => {
            let step = match trimmed {
                "run: pytest || true" => "      - run: pytest || true\n".to_owned(),
                "- run: pytest" => "      - run: pytest\n".to_owned(),
                "allow_failure: true" => {
                    return (".gitlab-ci.yml", "unit:\n  script: pytest\n  allow_failure: true\n".to_owned());
                }
                _ => format!("      - run: pytest\n        {trimmed}\n"),
            };
            (".github/workflows/ci.yml", format!("jobs:\n  unit:\n    steps:\n{step}"))
        }
        "snap.update" => (".github/workflows/ci.yml", format!("jobs:\n  unit:\n    steps:\n      - run: {trimmed}\n")),
        "make" => ("Makefile", format!("check:\n\t{}\n", line.trim_start_matches("\\t").trim())),
        _ => panic!("the catalogue has a new kind: {id}"),
    }
}

fn closed(line: &str) -> String {
    if line.ends_with('{') { format!("{line} }}") } else { line.to_owned() }
}

fn closed_item(line: &str) -> String {
    if line.starts_with("#[cfg(test)] mod") {
        format!("{line}\n    #[test]\n    fn x() {{}}\n}}\n")
    } else if line.starts_with('#') {
        format!("{line}\n")
    } else {
        format!("pub fn f() -> u32 {{\n    {line}\n}}\n")
    }
}

/// A base that has a little of everything a condition needs: the same file without the spelling's line.
fn base_of(path: &str, text: &str, line: &str) -> Tree {
    let plain = match line.trim() {
        "test.skipIf(process.env.CI)(\"x\", f)" | "(hasDb ? it : it.skip)(\"x\", f)" => "test(\"x\", f)",
        "})->skipOnCi();" => "});",
        "\"test\": \"vitest run --passWithNoTests\"," => "\"test\": \"vitest run\"",
        _ => "",
    };
    let honest: String = text.replace(line.trim().trim_end_matches(','), plain);
    tree(&[(path, honest.as_str())])
}

fn hidden(rules: &std::collections::BTreeSet<&'static str>) -> bool {
    rules.iter().any(|rule| {
        [
            "skip-",
            "focus-",
            "tests-disabled",
            "test-outcome",
            "ci-failure",
            "snapshot-update",
            "retries-",
            "coverage-",
            "test-environment",
            "exit-zero",
            "equality",
            "product-touches",
        ]
        .iter()
        .any(|p| rule.starts_with(p))
    })
}

fn entries() -> Vec<serde_json::Value> {
    serde_json::from_slice(&std::fs::read("tests/vectors/markers/catalogue.json").unwrap()).unwrap()
}

fn spellings(entry: &serde_json::Value, key: &str) -> Vec<String> {
    entry[key].as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_spelling_of_the_catalogue_is_a_marker() {
    let mut missed = Vec::new();
    for entry in entries() {
        let id = entry["id"].as_str().unwrap().to_owned();
        for line in spellings(&entry, "are_markers") {
            let (path, text) = around(&id, &line);
            let head = tree(&[(path, text.as_str())]);
            let found = hidden(&rule_ids(&findings(&Tree::new(), &head)))
                || hidden(&rule_ids(&findings(&base_of(path, &text, &line), &head)));
            let left = LEFT.iter().any(|(i, l, _)| *i == id && *l == line);
            if !found && !left {
                missed.push(format!("{id}: {line:?} in {path}: {text:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn what_only_looks_like_a_marker_is_none() {
    let mut wrong = Vec::new();
    for entry in entries() {
        let id = entry["id"].as_str().unwrap().to_owned();
        for line in spellings(&entry, "are_not") {
            let (path, text) = around(&id, &line);
            let head = tree(&[(path, text.as_str())]);
            let found: Vec<_> = findings(&Tree::new(), &head);
            if hidden(&rule_ids(&found)) {
                wrong.push(format!("{id}: {line:?} {:?}", found.iter().map(|f| &f.message).collect::<Vec<_>>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
