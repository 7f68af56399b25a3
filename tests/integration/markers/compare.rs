//! Added, extended, rewritten, moved, removed: by what the file says.

use evidence_gate::evidence::ledger::LedgerFacts;
use evidence_gate::words::Verdict;

use super::{Tree, analysis, findings, rule_ids, tree};

fn rules(path: &str, old: &str, new: &str) -> Vec<&'static str> {
    let found = findings(&tree(&[(path, old)]), &tree(&[(path, new)]));
    let tests = ["test-removed", "test-rewritten", "test-extended", "added-test", "added-test-acts"];
    rule_ids(&found).into_iter().filter(|rule| tests.contains(rule)).collect()
}

fn check(path: &str, old: &str, new: &str, wanted: &[&str]) {
    assert_eq!(rules(path, old, new), wanted, "{path}\n--- old\n{old}\n--- new\n{new}");
}

const PY: &str = "import pytest\n\nfrom app import fee\n\n\ndef helper(n):\n    return n\n\n\ndef test_a():\n    assert fee(1) == 1\n\n\nclass TestB:\n    def test_c(self):\n        assert fee(2) == 2\n";

#[test]
fn layout_alone_changes_nothing() {
    check("tests/test_a.py", PY, &PY.replace("assert fee(1) == 1", "assert fee( 1 )  ==  1  # the same"), &[]);
    check(
        "tests/test_a.py",
        "def test_a():\n    assert f('x', [1, 2])\n",
        "def test_a():\n    assert f(\n        \"x\",\n        [1, 2,],\n    )\n",
        &[],
    );
    check(
        "src/a.test.ts",
        "it('x', () => { expect(f(1)).toBe(2) })\n",
        "it(\"x\", () => {\n  expect(f(1)).toBe(2);\n});\n",
        &[],
    );
    check(
        "tests/a.rs",
        "#[test]\nfn x() { assert_eq!(f(1), 2); }\n",
        "#[test]\nfn x() {\n    // Why.\n    assert_eq!(f(1), 2,);\n}\n",
        &[],
    );
    check(
        "a_test.go",
        "package a\n\nfunc TestX(t *testing.T) { f(1) }\n",
        "package a\n\nfunc TestX(t *testing.T) {\n\tf(1) // one\n}\n",
        &[],
    );
}

#[test]
fn indentation_that_means_something_is_a_change() {
    check(
        "tests/test_a.py",
        "def test_a():\n    if x:\n        f()\n    assert g()\n",
        "def test_a():\n    if x:\n        f()\n        assert g()\n",
        &["test-rewritten"],
    );
}

#[test]
fn new_tests_under_new_names_extend() {
    check("tests/test_a.py", PY, &format!("{PY}\n\ndef test_new():\n    assert fee(3) == 3\n"), &["test-extended"]);
    check(
        "tests/test_a.py",
        PY,
        &PY.replace("from app import fee\n", "from app import fee, spans\n"),
        &["test-extended"],
    );
    let js = "const { f } = require('./f');\ndescribe('d', () => {\n  it('a', () => { expect(f()).toBe(1); });\n});\n";
    check(
        "src/a.test.js",
        js,
        &js.replace("});\n});", "});\n  it('b', () => { expect(f()).toBe(1); });\n});"),
        &["test-extended"],
    );
    let rust = "pub fn f() -> u32 { 1 }\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn a() { assert_eq!(f(), 1); }\n}\n";
    check(
        "src/lib.rs",
        rust,
        &rust.replace(
            "    #[test]\n    fn a()",
            "    #[test]\n    fn b() { assert_eq!(f(), 1); }\n    #[test]\n    fn a()",
        ),
        &["test-extended"],
    );
    let go = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Log(1) }\n";
    check("a_test.go", go, &format!("{go}\nfunc TestB(t *testing.T) {{ t.Log(2) }}\n"), &["test-extended"]);
    let java = "class ATest {\n  @Test void a() { assertEquals(1, f()); }\n}\n";
    check(
        "src/test/java/ATest.java",
        java,
        &java.replace("f()); }\n", "f()); }\n  @Test void b() { assertEquals(2, f()); }\n"),
        &["test-extended"],
    );
    let kotlin = "class ATest {\n  @Test fun a() { assertEquals(1, f()) }\n}\n";
    check(
        "src/test/kotlin/ATest.kt",
        kotlin,
        &kotlin.replace("f()) }\n", "f()) }\n  @Test fun b() { assertEquals(2, f()) }\n"),
        &["test-extended"],
    );
    let cs = "public class ATests {\n  [Fact] public void A() { Assert.Equal(1, F()); }\n}\n";
    check(
        "tests/ATests.cs",
        cs,
        &cs.replace("F()); }\n", "F()); }\n  [Fact] public void B() { Assert.Equal(2, F()); }\n"),
        &["test-extended"],
    );
    let ruby = "RSpec.describe \"d\" do\n  it(\"a\") { expect(f).to eq(1) }\nend\n";
    check(
        "spec/a_spec.rb",
        ruby,
        &ruby.replace("eq(1) }\n", "eq(1) }\n  it(\"b\") { expect(f).to eq(2) }\n"),
        &["test-extended"],
    );
    let php = "<?php\nclass ATest extends TestCase {\n  public function testA() { $this->assertSame(1, f()); }\n}\n";
    check(
        "tests/ATest.php",
        php,
        &php.replace("f()); }\n", "f()); }\n  public function testB() { $this->assertSame(2, f()); }\n"),
        &["test-extended"],
    );
    let cpp = "#include <gtest/gtest.h>\nTEST(A, a) { EXPECT_EQ(1, f()); }\n";
    check("tests/a_test.cc", cpp, &format!("{cpp}TEST(A, b) {{ EXPECT_EQ(2, f()); }}\n"), &["test-extended"]);
}

#[test]
fn what_reaches_beyond_itself_rewrites() {
    let grown = |text: &str| format!("{PY}{text}");
    for text in [
        "\n\ndef fee(n):\n    return n\n",
        "\n\ndef test_a():\n    pass\n",
        "\n\nfee = helper\n",
        "\n\n@pytest.fixture(autouse=True)\ndef calm(monkeypatch):\n    monkeypatch.setattr('app.fee', helper)\n",
        "\n\nimport app\napp.fee = helper\n",
        "\n\ndel TestB\n",
        "\n\nhelper(1)\n",
        "\n\nfrom other import *\n",
        "\n\ndef setup_module():\n    pass\n",
        "\n\nfrom other import fee\n",
        "\n\ndef evil(f):\n    return f\n\n\n@evil\ndef test_new():\n    pass\n",
        "\n\ndef isinstance_(x):\n    pass\n\n\nx = [helper(1)]\n",
    ] {
        check("tests/test_a.py", PY, &grown(text), &["test-rewritten"]);
    }
    let js = "import { f } from './f';\nit('a', () => { expect(f()).toBe(1); });\n";
    for text in [
        "jest.mock('./f');\n",
        "function expect() { return { toBe() {} }; }\n",
        "beforeEach(() => {});\n",
        "import './evil';\n",
        "globalThis.x = 1;\n",
        "export * from './evil';\n",
    ] {
        check("src/a.test.js", js, &format!("{js}{text}"), &["test-rewritten"]);
    }
    let rust = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn a() { assert_eq!(f(), N(1)); }\n}\n";
    for text in [
        "    macro_rules! assert_eq { ($($t:tt)*) => {} }\n",
        "    impl PartialEq for super::N { fn eq(&self, _: &super::N) -> bool { true } }\n",
        "    use other::f;\n",
        "    #[ctor::ctor]\n    fn begin() {}\n",
    ] {
        check(
            "src/lib.rs",
            rust,
            &rust.replace("    use super::*;\n", &format!("    use super::*;\n{text}")),
            &["test-rewritten"],
        );
    }
    let go = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Log(1) }\n";
    for text in [
        "func init() {}\n",
        "func TestMain(m *testing.M) { m.Run() }\n",
        "func (m Money) Equal(o Money) bool { return m == o }\n",
        "var x = f()\n",
    ] {
        check("a_test.go", go, &format!("{go}\n{text}"), &["test-rewritten"]);
    }
    let java = "class ATest {\n  @Test void a() { assertEquals(1, f()); }\n}\n";
    for text in [
        "  void assertEquals(int a, int b) {}\n",
        "  @BeforeEach void before() {}\n",
        "  static { f(); }\n",
        "  @RegisterExtension Ext ext = new Ext();\n",
    ] {
        check(
            "src/test/java/ATest.java",
            java,
            &java.replace("  @Test", &format!("{text}  @Test")),
            &["test-rewritten"],
        );
    }
}

#[test]
fn a_test_that_disappears_is_removed_and_one_that_moves_is_not() {
    check("tests/test_a.py", PY, &PY.replace("def test_a():\n    assert fee(1) == 1\n\n\n", ""), &["test-removed"]);
    check("tests/test_a.py", PY, &PY.replace("test_a", "test_first"), &["test-rewritten"]);
    check("tests/test_a.py", PY, &PY.replace("test_a", "check_a"), &["test-removed"]);
    let base = tree(&[("tests/test_a.py", PY), ("tests/test_b.py", "def test_z():\n    assert 1\n")]);
    let moved = PY.replace("def test_a():\n    assert fee(1) == 1\n\n\n", "");
    let head = tree(&[
        ("tests/test_a.py", moved.as_str()),
        (
            "tests/test_b.py",
            "from app import fee\n\n\ndef test_z():\n    assert 1\n\n\ndef test_a():\n    assert fee(1) == 1\n",
        ),
    ]);
    let found = findings(&base, &head);
    assert!(!rule_ids(&found).contains("test-removed"), "{found:?}");
    let message = &found.iter().find(|f| f.message.contains("changed: tests/test_b.py")).unwrap().message;
    assert!(message.contains("`test_a` is moved, with the same body"), "{message}");
}

#[test]
fn a_deleted_file_whose_tests_are_elsewhere_is_rewritten() {
    let base = tree(&[("tests/test_a.py", PY)]);
    let head = tree(&[("tests/unit/test_fee.py", format!("{PY}\n\ndef test_more():\n    assert 1\n").as_str())]);
    let found = findings(&base, &head);
    assert!(rule_ids(&found).contains("test-rewritten") && !rule_ids(&found).contains("test-removed"), "{found:?}");
    let gone = findings(&base, &Tree::new());
    assert!(rule_ids(&gone).contains("test-removed"));
}

#[test]
fn a_test_moved_to_where_no_runner_looks_is_removed() {
    let found = findings(&tree(&[("tests/test_a.py", PY)]), &tree(&[("tests/old.txt", PY)]));
    assert!(rule_ids(&found).contains("test-removed"), "{found:?}");
}

#[test]
fn tests_inside_product_files_are_tests() {
    let rust = "/// Says one.\n///\n/// ```\n/// assert_eq!(a::f(), 1);\n/// ```\npub fn f() -> u32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::f(), 1); }\n}\n";
    check("src/lib.rs", rust, &rust.replace("{ 1 }", "{ 2 - 1 }"), &[]);
    check("src/lib.rs", rust, &rust.replace("super::f(), 1", "super::f(), 2"), &["test-rewritten"]);
    check("src/lib.rs", rust, &rust.replace("a::f(), 1", "a::f(), 2"), &["test-rewritten"]);
    check("src/lib.rs", rust, &rust.replace("/// ```\n/// assert_eq!(a::f(), 1);\n/// ```\n", ""), &["test-removed"]);
    check("src/lib.rs", rust, "pub fn f() -> u32 { 1 }\n", &["test-removed", "test-rewritten"]);
    let python = "def f():\n    \"\"\"Say one.\n\n    >>> f()\n    1\n    \"\"\"\n    return 1\n";
    check("src/a.py", python, &python.replace("return 1", "return 2 - 1"), &[]);
    check("src/a.py", python, &python.replace("    1\n", "    2\n"), &["test-rewritten"]);
    let go = "package a\n\nimport \"fmt\"\n\nfunc ExampleF() {\n\tfmt.Println(1)\n\t// Output: 1\n}\n";
    check("a_test.go", go, &go.replace("Output: 1", "Output: 2"), &["test-rewritten"]);
}

#[test]
fn an_added_test_file_that_acts_at_import_says_so_whatever_the_policy_records() {
    let policy = evidence_gate::policy::parse(
        "schema = 1\nadded_tests = \"record\"\n[classes]\nproduct = [\"src/**\"]\n",
        "policy",
    )
    .unwrap();
    let head = tree(&[(
        "tests/test_new.py",
        "import app\n\napp.fee = lambda n: n\n\n\ndef test_new():\n    assert app.fee(1) == 1\n",
    )]);
    let found = super::findings_with(&policy, &Tree::new(), &head);
    let acts = found.iter().find(|f| f.rule.id == "added-test-acts").unwrap();
    assert_eq!(acts.verdict, Verdict::Hold);
    assert_eq!(acts.locations[0].line, Some(3));
    let quiet = super::findings_with(&policy, &Tree::new(), &tree(&[("tests/test_new.py", PY)]));
    assert!(quiet.iter().filter(|f| f.rule.id.starts_with("added-test")).all(|f| f.verdict == Verdict::Review));
}

#[test]
fn what_became_weaker_is_named() {
    let cases = [
        (
            "tests/test_a.py",
            "assert fee(31) == 240",
            "assert fee(31) == 120",
            "an expected value changes from `240` to `120`",
        ),
        ("tests/test_a.py", "assert fee(31) == 240", "assert fee(31) >= 0", "asks for less now"),
        ("tests/test_a.py", "assert fee(31) == 240", "assert fee(31)", "asks for less now"),
        ("tests/test_a.py", "assert fee(31) == 240", "pass", "an assertion is gone: `assert fee(31) == 240`"),
        (
            "tests/test_a.py",
            "assert fee(1) == approx(2, rel=1e-9)",
            "assert fee(1) == approx(2, rel=1e-1)",
            "a tolerance widens",
        ),
        (
            "tests/test_a.py",
            "assert fee(31) == 240",
            "try:\n        assert fee(31) == 240\n    except AssertionError:\n        pass",
            "an exception is swallowed",
        ),
        (
            "tests/test_a.py",
            "assert fee(31) == 240",
            "monkeypatch.setattr(app, 'fee', lambda n: 240)\n    assert fee(31) == 240",
            "a stand-in comes in",
        ),
    ];
    for (path, old, new, wanted) in cases {
        let file = |body: &str| format!("def test_a():\n    {body}\n");
        let found = analysis(&tree(&[(path, file(old).as_str())]), &tree(&[(path, file(new).as_str())]));
        let notes: Vec<_> = found.files[0].judgement.weakened.iter().map(|n| n.text.clone()).collect();
        assert!(notes.iter().any(|n| n.contains(wanted)), "{old} -> {new}: {notes:?}");
    }
    let scripts = [
        (
            "src/a.test.js",
            "it('a', () => { OLD });\n",
            "expect(f()).toBe(1)",
            "expect(f()).toBeDefined()",
            "asks for less now",
        ),
        (
            "src/a.test.js",
            "it('a', () => { OLD });\n",
            "expect(f()).toBeCloseTo(1, 5)",
            "expect(f()).toBeCloseTo(1, 1)",
            "a tolerance widens",
        ),
        ("tests/a.rs", "#[test]\nfn a() { OLD }\n", "assert_eq!(f(), 1);", "assert!(f() > 0);", "asks for less now"),
        (
            "a_test.go",
            "package a\n\nfunc TestA(t *testing.T) { OLD }\n",
            "if f() != 1 { t.Fatal() }",
            "if f() == 0 { t.Fatal() }",
            "expected value changes",
        ),
        (
            "src/test/java/ATest.java",
            "class ATest { @Test void a() { OLD } }\n",
            "assertEquals(1, f());",
            "assertNotNull(f());",
            "asks for less now",
        ),
        (
            "tests/ATests.cs",
            "public class ATests { [Fact] public void A() { OLD } }\n",
            "Assert.Equal(1, F());",
            "Assert.NotNull(F());",
            "asks for less now",
        ),
        (
            "spec/a_spec.rb",
            "RSpec.describe(\"d\") { it(\"a\") { OLD } }\n",
            "expect(f).to eq(1)",
            "expect(f).to be_truthy",
            "asks for less now",
        ),
        (
            "tests/ATest.php",
            "<?php\nclass ATest extends TestCase { public function testA() { OLD } }\n",
            "$this->assertSame(1, f());",
            "$this->assertTrue(true);",
            "asks",
        ),
        ("tests/a_test.cc", "TEST(A, a) { OLD }\n", "EXPECT_EQ(f(), 1);", "EXPECT_TRUE(f());", "asks for less now"),
    ];
    let mut wrong = Vec::new();
    for (path, frame, old, new, wanted) in scripts {
        let (old, new) = (frame.replace("OLD", old), frame.replace("OLD", new));
        let found = analysis(&tree(&[(path, old.as_str())]), &tree(&[(path, new.as_str())]));
        let notes: Vec<_> =
            found.files.iter().flat_map(|f| f.judgement.weakened.iter().map(|n| n.text.clone())).collect();
        if !notes.iter().any(|n| n.contains(wanted)) {
            wrong.push(format!("{path}: {old} -> {new}: {notes:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_marker_that_moves_or_goes_is_no_finding_and_one_that_changes_its_test_is() {
    let skipped = PY.replace("def test_a", "@pytest.mark.skip\ndef test_a");
    let hidden = |old: &str, new: &str| {
        rule_ids(&findings(&tree(&[("tests/test_a.py", old)]), &tree(&[("tests/test_a.py", new)])))
            .contains("skip-marker-added")
    };
    assert!(hidden(PY, &skipped));
    assert!(!hidden(&skipped, PY));
    assert!(!hidden(&skipped, &skipped.replace("test_a", "test_first")), "renamed with its marker");
    assert!(!hidden(&skipped, &format!("# one line more\n{skipped}")), "moved down");
    let other = PY.replace("    def test_c", "    @pytest.mark.skip\n    def test_c");
    assert!(hidden(&skipped, &other), "from one test to another");
    let whole = PY.replace("class TestB", "@pytest.mark.skip\nclass TestB");
    assert!(
        hidden(&other, &skipped) && !hidden(&whole, &other),
        "what was hidden by its class may be hidden by itself"
    );
    let base = tree(&[("tests/test_a.py", skipped.as_str())]);
    let head = tree(&[("tests/unit/test_a.py", skipped.as_str())]);
    assert!(!rule_ids(&findings(&base, &head)).contains("skip-marker-added"), "moved with its file");
}

#[test]
fn a_marker_on_a_test_that_the_base_freezes_waits_for_a_person() {
    let entry = |nodeid: &str| {
        format!(
            r#"{{"schema":1,"frozen":[{{"nodeid":"{nodeid}","reason":"flaky","bound_sha":"{}"}}]}}"#,
            "a".repeat(40)
        )
    };
    let skipped = PY.replace("def test_a", "@pytest.mark.skip\ndef test_a");
    let (base, head) = (tree(&[("tests/test_a.py", PY)]), tree(&[("tests/test_a.py", skipped.as_str())]));
    for (nodeid, wanted) in [("tests/test_a.py::test_a", Verdict::Hold), ("tests/test_a.py::test_b", Verdict::Reject)] {
        let ledger = evidence_gate::evidence::ledger::parse(entry(nodeid).as_bytes()).unwrap();
        let facts = LedgerFacts::Read { origin: "a test".to_owned(), ledger, bound: std::collections::BTreeMap::new() };
        let found = super::findings_with_ledger(&base, &head, &facts);
        let skip = found.iter().find(|f| f.rule.id == "skip-marker-added").unwrap();
        assert_eq!(skip.verdict, wanted, "{nodeid}");
    }
}
