//! Keys and commands, each in the format of its file.

use super::{Tree, findings, rule_ids, tree};

fn rules(path: &str, old: &str, new: &str) -> Vec<&'static str> {
    let by_path = ["test-config-edited", "build-edited", "unclassified-path"];
    rule_ids(&findings(&tree(&[(path, old)]), &tree(&[(path, new)])))
        .into_iter()
        .filter(|rule| !by_path.contains(rule))
        .collect()
}

const WORKFLOW: &str = "name: ci\non: push\njobs:\n  unit:\n    timeout-minutes: 10\n    steps:\n      - uses: actions/checkout@v4\n      - name: tests\n        run: |\n          pip install pytest\n          pytest -q\n      - run: ruff check .\n";

#[test]
fn a_test_step_that_cannot_fail_is_found_and_another_step_is_not() {
    for (old, new) in [
        ("pytest -q", "pytest -q || true"),
        ("pytest -q", "pytest -q; true"),
        ("pytest -q", "set +e\n          pytest -q"),
        ("      - name: tests\n", "      - name: tests\n        continue-on-error: true\n"),
        ("    timeout-minutes: 10\n", "    timeout-minutes: 10\n    continue-on-error: true\n"),
        ("pytest -q", "pytest -q || echo failed"),
    ] {
        assert_eq!(
            rules(".github/workflows/ci.yml", WORKFLOW, &WORKFLOW.replace(old, new)),
            ["ci-failure-masked"],
            "{new}"
        );
    }
    for (old, new) in [
        ("ruff check .", "ruff check . || true"),
        ("pytest -q", "pytest -q || exit 1"),
        ("name: ci", "name: CI || true"),
        ("pytest -q", "pytest -vv"),
    ] {
        assert_eq!(
            rules(".github/workflows/ci.yml", WORKFLOW, &WORKFLOW.replace(old, new)),
            Vec::<&str>::new(),
            "{new}"
        );
    }
    assert_eq!(
        rules(".github/workflows/ci.yml", WORKFLOW, &WORKFLOW.replace("timeout-minutes: 10", "timeout-minutes: 90")),
        ["retries-raised"]
    );
    assert_eq!(
        rules(".github/workflows/ci.yml", WORKFLOW, &WORKFLOW.replace("pytest -q", "pytest -q -k 'not slow'")),
        ["tests-disabled-by-config"]
    );
    assert_eq!(
        rules(".github/workflows/ci.yml", WORKFLOW, &WORKFLOW.replace("pytest -q", "pytest -q --snapshot-update")),
        ["snapshot-update-enabled"]
    );
    assert_eq!(
        rules(".github/workflows/ci.yml", WORKFLOW, &WORKFLOW.replace("    steps:\n", "    if: false\n    steps:\n")),
        ["tests-disabled-by-config"]
    );
}

#[test]
fn the_line_of_a_masked_command_is_the_line_in_the_file() {
    let head = WORKFLOW.replace("pytest -q", "pytest -q || true");
    let found = findings(
        &tree(&[(".github/workflows/ci.yml", WORKFLOW)]),
        &tree(&[(".github/workflows/ci.yml", head.as_str())]),
    );
    let masked = found.iter().find(|f| f.rule.id == "ci-failure-masked").unwrap();
    assert_eq!(masked.locations[0].line, Some(11));
}

#[test]
fn an_alias_in_yaml_is_read_and_a_bomb_of_aliases_ends() {
    let old = ".d: &d\n  script: pytest\nunit:\n  <<: *d\n";
    assert_eq!(
        rules(".gitlab-ci.yml", old, &old.replace("script: pytest\n", "script: pytest\n  allow_failure: true\n")),
        ["ci-failure-masked"]
    );
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (before, name) in "abcdefghijklm".chars().zip("bcdefghijklmn".chars()) {
        let members = vec![format!("*{before}"); 8].join(", ");
        bomb.extend([format!("{name}: &{name} [{members}]\n")]);
    }
    let found = findings(&Tree::new(), &tree(&[(".github/workflows/ci.yml", bomb.as_str())]));
    assert!(rule_ids(&found).contains("test-config-edited"));
}

#[test]
fn keys_that_leave_tests_out_are_found_in_their_own_format() {
    let cases = [
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = \"-q\"\n",
            "[tool.pytest.ini_options]\naddopts = \"-q --deselect tests/t.py::x\"\n",
        ),
        ("setup.cfg", "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts =\n    -q\n    --ignore=tests/net\n"),
        ("tox.ini", "[pytest]\ntestpaths = tests\n", "[pytest]\ntestpaths = tests/unit\n"),
        (
            "package.json",
            "{\"jest\": {\"preset\": \"x\"}}",
            "{\"jest\": {\"preset\": \"x\", \"testPathIgnorePatterns\": [\"fee\"]}}",
        ),
        ("jest.config.js", "module.exports = { roots: ['src', 'tests'] };\n", "module.exports = { roots: ['src'] };\n"),
        (
            "vitest.config.ts",
            "export default defineConfig({ test: {} });\n",
            "export default defineConfig({ test: { exclude: ['src/fee.test.ts'] } });\n",
        ),
        (".mocharc.json", "{}", "{\"grep\": \"fee\", \"invert\": true}"),
        (".config/nextest.toml", "[profile.default]\n", "[profile.default]\ndefault-filter = \"not test(fee)\"\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n[lib]\ntest = false\n"),
        (
            "pom.xml",
            "<project><properties></properties></project>",
            "<project><properties><skipTests>true</skipTests></properties></project>",
        ),
        ("build.gradle", "test {\n}\n", "test {\n  exclude '**/FeeTest.class'\n}\n"),
        (
            "phpunit.xml",
            "<phpunit><testsuites><testsuite name=\"a\"><directory>tests</directory></testsuite></testsuites></phpunit>",
            "<phpunit><testsuites><testsuite name=\"a\"><directory>tests</directory><exclude>tests/FeeTest.php</exclude></testsuite></testsuites></phpunit>",
        ),
        (".rspec", "--color\n", "--color\n--tag ~slow\n"),
        (
            "package.json",
            "{\"scripts\": {\"test\": \"jest\"}}",
            "{\"scripts\": {\"test\": \"jest --testPathIgnorePatterns fee\"}}",
        ),
    ];
    for (path, old, new) in cases {
        assert_eq!(rules(path, old, new), ["tests-disabled-by-config"], "{path}: {new}");
        assert_eq!(rules(path, new, old), Vec::<&str>::new(), "{path}: taken back");
    }
}

#[test]
fn what_a_key_says_in_another_place_is_nothing() {
    for (path, old, new) in [
        ("pyproject.toml", "[tool.ruff]\n", "[tool.ruff]\nignore = [\"E501\"]\naddopts = \"--deselect x\"\n"),
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\n",
            "[package]\nname = \"a\"\n[[bench]]\nname = \"b\"\nharness = false\n",
        ),
        (
            "vitest.config.ts",
            "export default {}\n",
            "export default { optimizeDeps: { exclude: ['x'] }, test: { exclude: ['**/node_modules/**'] } }\n",
        ),
        (
            "package.json",
            "{\"name\": \"a\"}",
            "{\"name\": \"a\", \"description\": \"jest || true\", \"scripts\": {\"build\": \"tsc || true\"}}",
        ),
        (
            "pom.xml",
            "<project></project>",
            "<project><!-- <skipTests>true</skipTests> --><version>1</version></project>",
        ),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n"),
    ] {
        assert_eq!(rules(path, old, new), Vec::<&str>::new(), "{path}: {new}");
    }
}

#[test]
fn retries_and_thresholds_are_compared_as_numbers() {
    assert_eq!(
        rules(".config/nextest.toml", "[profile.default]\nretries = 5\n", "[profile.default]\nretries = 2\n"),
        Vec::<&str>::new()
    );
    assert_eq!(
        rules(".config/nextest.toml", "[profile.default]\nretries = 2\n", "[profile.default]\nretries = 5\n"),
        ["retries-raised"]
    );
    let coverage = |n: u32| format!("[tool.coverage.report]\nfail_under = {n}\n");
    assert_eq!(rules("pyproject.toml", &coverage(90), &coverage(80)), ["retries-raised"]);
    assert_eq!(rules("pyproject.toml", &coverage(80), &coverage(90)), Vec::<&str>::new());
}

#[test]
fn what_a_coverage_program_leaves_out_is_not_measured_and_still_runs() {
    let script = |command: &str| format!("{{\n  \"scripts\": {{\n    \"test\": \"{command}\"\n  }}\n}}\n");
    for (old, new, wanted) in [
        ("nyc npm test", "nyc --exclude examples --exclude test npm test", "coverage-exclusion-added"),
        ("c8 mocha", "c8 --exclude=lib/fee.js mocha", "coverage-exclusion-added"),
        ("nyc vitest run", "nyc vitest run --exclude fee.test.js", "tests-disabled-by-config"),
    ] {
        assert_eq!(rules("package.json", &script(old), &script(new)), [wanted], "{new}");
    }
}
