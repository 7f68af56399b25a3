//! Every case that was run against a real framework.

use std::collections::BTreeMap;

use super::{BY_PATH, Tree, findings, rule_ids};

/// Cases that no parser sees, and what does see them.
pub(crate) const NOT_SEEN: &[(&str, &str)] = &[
    (
        "pytest/getattr(pytest.mark,\"sk\"+\"ip\")",
        "the name is put together at run time; the inventory of the tree tests (4.8) misses the test",
    ),
    (
        "pytest/local module shadows stdlib/test helper",
        "a helper of the project's own that checks nothing; module-shadowing sees names of the standard library and of frameworks",
    ),
    (
        "jest/async not awaited",
        "whether a promise is awaited in time shows only when it runs; a property sees the product's fault",
    ),
    (
        "bats1.8/! cmd not last line (set -e ignores)",
        "the shell's own rule about `set -e`; no grammar for bats, and no marker stands there",
    ),
    ("bats1.8/run without status check", "a command whose outcome nobody asks for"),
    (
        "gtest/EXPECT_NONFATAL_FAILURE",
        "an assertion that is always true by its own logic; on an existing test it is test-rewritten",
    ),
    ("testthat/empty test", "a test without content; no grammar for R"),
    ("testthat/expect tolerance", "a tolerance inside an assertion; no grammar for R"),
];

/// Cases that show only against what was there before: the words to put back, so that the base is the honest file.
const AGAINST_BASE: &[(&str, &str, &str, &str)] = &[
    ("pytest/rename test_ -> _test_", "_test_x", "test_x", "test-removed"),
    ("pytest/def shadowed by later def", "def test_x():\n    assert 1\n", "", "test-rewritten"),
    (
        "pytest/assert in try/except",
        "    try:\n        assert 0\n    except AssertionError:\n        pass\n",
        "    assert 0\n",
        "test-rewritten",
    ),
    ("pytest/assert tuple", "(0 == 1, \"x\")", "0 == 1, \"x\"", "test-rewritten"),
    ("go/rename TestX->testX", "testX", "TestX", "test-removed"),
    ("go/rename Testx (lower after Test)", "Testx", "TestX", "test-removed"),
    ("go/defer recover", "defer func() { recover() }(); ", "", "test-rewritten"),
    ("rust/#[test] removed", "#[allow(dead_code)]", "#[test]", "test-removed"),
    ("junit4/@Test removed", "A {  public", "A { @Test public", "test-removed"),
    ("minitest/rename", "xtest_x", "test_x", "test-removed"),
    ("phpunit9/rename testX->xtestX", "xtestX", "testX", "test-removed"),
    ("jest/jest.mock of unit", "jest.spyOn(f,'a').mockReturnValue(2);", "", "test-rewritten"),
    ("catch2/WARN instead", "WARN(\"bad\")", "REQUIRE(1==2)", "test-rewritten"),
    ("rust/#[should_panic]", "#[should_panic]\n", "", "skip-marker-added"),
    ("rust/doctest ```ignore", "```ignore", "```", "skip-marker-added"),
    ("rust/doctest ```no_run", "```no_run", "```", "skip-marker-added"),
    ("bats1.8/renamed @test", "x() {", "@test \"x\" {", "test-rewritten"),
];

/// The configuration of cases that give only the test: what the runner was told.
const CONFIGURED: &[(&str, &str, &str)] = &[
    ("jest-config/testPathIgnorePatterns", "package.json", "{\"jest\": {\"testPathIgnorePatterns\": [\"a.test\"]}}"),
    (
        "jest-config/modulePathIgnorePatterns",
        "package.json",
        "{\"jest\": {\"modulePathIgnorePatterns\": [\"a.test\"]}}",
    ),
    ("jest-config/roots", "jest.config.js", "module.exports = { roots: ['<rootDir>/other'] };\n"),
    (
        "jest-config/setupFiles overriding expect",
        "tests/setup.js",
        "global.expect = () => new Proxy({}, { get: () => () => {} });\n",
    ),
    ("jest-config/passWithNoTests", "jest.config.ts", "export default { passWithNoTests: true };\n"),
    ("jest-config/testNamePattern not allowed in cfg", "package.json", "{\"jest\": {\"testNamePattern\": \"zz\"}}"),
    (
        "vitest-config/passWithNoTests",
        "vitest.config.ts",
        "export default defineConfig({ test: { passWithNoTests: true } });\n",
    ),
    (
        "vitest-config/testNamePattern",
        "vitest.config.ts",
        "export default defineConfig({ test: { testNamePattern: /zz/ } });\n",
    ),
    (
        "vitest-config/update:true + snapshot",
        "vitest.config.ts",
        "export default defineConfig({ test: { update: true } });\n",
    ),
    ("mocha-config/.mocharc grep", ".mocharc.json", "{\"grep\": \"zz\"}"),
    ("mocha-config/.mocharc ignore+spec", ".mocharc.yml", "ignore:\n  - a.test.js\n"),
    ("mocha-config/.mocharc invert", ".mocharc.js", "module.exports = { grep: 'x', invert: true };\n"),
    (
        "mocha-config/.mocharc require hack",
        "tests/hack.js",
        "const assert = require('assert');\nassert.equal = () => {};\n",
    ),
];

struct Case {
    id: String,
    hides: bool,
    head: Tree,
}

/// Where the files of a case stand in a repository. Product files go below `src/`.
fn place(name: &str) -> String {
    let product = matches!(name, "prod.py" | "zz.py" | "helpers.py" | "sitecustomize.py");
    match name {
        "A.java" => "src/test/java/ATest.java".to_owned(),
        "t.rb" => "test/t_test.rb".to_owned(),
        "t.exs" => "test/t_test.exs".to_owned(),
        "a.cc" => "tests/a_test.cc".to_owned(),
        "a.t" => "t/a.t".to_owned(),
        "a.bats" => "test/a.bats".to_owned(),
        "spec_helper.rb" => "spec/spec_helper.rb".to_owned(),
        "a_spec.rb" => "spec/a_spec.rb".to_owned(),
        "test-a.R" => "tests/testthat/test-a.R".to_owned(),
        "a.go" => "src/a.go".to_owned(),
        _ if product => format!("src/{name}"),
        "ATest.php" | "BTest.php" => format!("tests/{name}"),
        _ => name.to_owned(),
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir("tests/vectors/markers").unwrap() {
        let path = entry.unwrap().path();
        let runner = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if runner == "catalogue" {
            continue;
        }
        let list: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for case in list.as_array().unwrap() {
            let id = format!("{runner}/{}", case["marker"].as_str().unwrap());
            let mut head = Tree::new();
            if let Some(code) = case["code"].as_str() {
                head.insert("tests/a.test.js".to_owned(), code.as_bytes().to_vec());
            }
            for (name, text) in case["files"].as_object().into_iter().flatten() {
                // The program that ran the case is no part of it.
                if name != "R.java" {
                    head.insert(place(name), text.as_str().unwrap().as_bytes().to_vec());
                }
            }
            if let Some((_, name, text)) = CONFIGURED.iter().find(|(i, _, _)| *i == id) {
                head.insert((*name).to_owned(), text.as_bytes().to_vec());
            }
            cases.push(Case { hides: case["hides_a_failing_test"].as_bool().unwrap(), id, head });
        }
    }
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    cases
}

/// The base of a case: nothing, or the honest file where the case says how it differs.
fn base_of(case: &Case) -> Tree {
    if let Some((_, hidden, honest, _)) = AGAINST_BASE.iter().find(|(id, ..)| *id == case.id) {
        let swap = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(hidden, honest).into_bytes();
        return case.head.iter().map(|(path, bytes)| (path.clone(), swap(bytes))).collect();
    }
    if case.id.starts_with("phpunit9/testsuite file removed") {
        let mut base = case.head.clone();
        base.insert("phpunit.xml".to_owned(), b"<phpunit><testsuites><testsuite name=\"d\"><file>ATest.php</file><file>BTest.php</file></testsuite></testsuites></phpunit>".to_vec());
        return base;
    }
    // A condition matters on a test that the base has: the base is the file without the marker's line or attribute.
    Tree::new()
}

/// Words that a condition is written with; taken out they leave the honest test.
fn without_condition(case: &Case) -> Tree {
    let words = [
        "@pytest.mark.skipif(\"sys.version_info > (3,0)\", reason=\"r\")\n",
        "pytest.importorskip(\"no_such_mod_zz\")\n",
        "if testing.Short() { t.Skip() }; ",
        "if os.Getenv(\"E2E\") == \"\" { t.Skip() }; ",
        "#[cfg(feature=\"slow\")]\n",
        "#[cfg(target_os=\"windows\")]\n",
        "@DisabledOnOs(OS.LINUX) ",
        "@EnabledOnOs(OS.WINDOWS) ",
        "@EnabledIfEnvironmentVariable(named=\"NOPE\",matches=\"1\") ",
        "@DisabledIfSystemProperty(named=\"java.version\",matches=\".*\") ",
        "@EnabledIf(\"m\") ",
        "/** @requires PHP >= 99 */ ",
        "skip_if(TRUE);",
        "skip_if_not(FALSE);",
        "skip_on_cran();",
        "skip_on_ci();",
        "skip_on_os(\"linux\");",
        "skip_if_not_installed(\"zzz\");",
        "@DisabledForJreRange(min=JRE.JAVA_8) ",
    ];
    let strip = |bytes: &[u8]| {
        let mut text = String::from_utf8(bytes.to_vec()).unwrap();
        for word in words {
            text = text.replace(word, "");
        }
        text.into_bytes()
    };
    let mut base: Tree = case.head.iter().map(|(path, bytes)| (path.clone(), strip(bytes))).collect();
    if let Some(bytes) = base.remove("b_windows_test.go") {
        base.insert("b_test.go".to_owned(), bytes);
    }
    base
}

#[test]
fn every_way_to_hide_a_failing_test_that_a_parser_can_see_is_found() {
    let mut missed = Vec::new();
    let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases().iter().filter(|case| case.hides) {
        let base = base_of(case);
        let found = findings(&base, &case.head);
        let mut rules = rule_ids(&found);
        let wanted = AGAINST_BASE.iter().find(|(id, ..)| *id == case.id).map(|(.., rule)| *rule);
        if wanted.is_none() && base.is_empty() {
            let honest = without_condition(case);
            if honest != case.head {
                rules.extend(rule_ids(&findings(&honest, &case.head)));
            }
        }
        let hit = match wanted {
            Some(rule) => rules.contains(rule),
            None => rules.iter().any(|rule| {
                !BY_PATH.contains(rule)
                    && !rule.starts_with("unobserved")
                    && !rule.starts_with("property")
                    && !rule.starts_with("sandbox")
            }),
        };
        let listed = NOT_SEEN.iter().any(|(id, _)| *id == case.id);
        if hit == listed {
            missed.push(format!("{} (listed as not seen: {listed}) {rules:?}", case.id));
        }
        for rule in rules {
            *by_rule.entry(rule).or_default() += 1;
        }
    }
    assert!(missed.is_empty(), "{}\n{by_rule:?}", missed.join("\n"));
}

#[test]
fn unmarked_controls_have_no_marker() {
    let controls: Vec<Case> =
        cases().into_iter().filter(|case| case.id.contains("CONTROL") || case.id.contains("benign")).collect();
    assert!(controls.len() >= 4, "the vectors hold controls");
    for case in controls {
        let found = findings(&Tree::new(), &case.head);
        let rules: Vec<_> = rule_ids(&found)
            .into_iter()
            .filter(|rule| {
                rule.contains("marker")
                    || rule.contains("disabled")
                    || rule.contains("forced")
                    || rule.contains("retries")
            })
            .collect();
        assert!(rules.is_empty(), "{}: {rules:?}", case.id);
    }
}

#[test]
fn what_is_not_seen_is_a_case_of_the_vectors() {
    let ids: Vec<String> = cases().into_iter().map(|case| case.id).collect();
    for (id, why) in NOT_SEEN {
        assert!(ids.iter().any(|known| known == id) && !why.is_empty(), "{id} is no case");
    }
}
