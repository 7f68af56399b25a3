//! JUnit reports of every dialect in use.

use evidence_gate::evidence::junit::{Case, read};

/// A report, the id by which people call its failing test, and what failed.
const DIALECTS: [(&str, &str, &str, &str, &str); 8] = [
    (
        "pytest",
        r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" tests="2"><testcase classname="tests.test_retry.TestBackoff" name="test_cap[a/b::c]" time="0.1"><failure message="AssertionError: total delay exceeded cap 1000&#10;assert 3 == 4">def test(): ...</failure></testcase><testcase classname="tests.test_retry" name="test_fine" time="0.1" /></testsuite></testsuites>"#,
        "tests/test_retry.py::TestBackoff::test_cap[a/b::c]",
        "AssertionError",
        "total delay exceeded cap 1000\nassert 3 == 4",
    ),
    (
        "pytest with files",
        r#"<testsuites><testsuite name="pytest"><testcase classname="tests.test_retry" name="test_cap" file="tests/test_retry.py" line="4"><failure message="assert 1 == 2">...</failure></testcase></testsuite></testsuites>"#,
        "tests/test_retry.py::test_cap",
        "AssertionError",
        "assert 1 == 2",
    ),
    (
        "surefire",
        r#"<testsuite name="com.acme.RetryTest" tests="1"><properties><property name="java.version" value="21"/></properties><testcase name="cap" classname="com.acme.RetryTest" time="0.01"><rerunFailure message="cap 5 exceeded" type="java.lang.IllegalStateException"><stackTrace><![CDATA[java.lang.IllegalStateException: cap 5 exceeded]]></stackTrace></rerunFailure></testcase></testsuite>"#,
        "com.acme.RetryTest#cap",
        "java.lang.IllegalStateException",
        "cap 5 exceeded",
    ),
    (
        "nextest",
        r#"<testsuites name="nextest-run"><testsuite name="retry" tests="1"><testcase name="tests::cap" classname="retry" timestamp="2026-10-01T00:00:00Z" time="0.006"><failure message="thread 'tests::cap' panicked at src/lib.rs:7:9" type="test failure with exit code 101">thread 'tests::cap' panicked at src/lib.rs:7:9:
cap exceeded</failure><system-out>running 1 test</system-out></testcase></testsuite></testsuites>"#,
        "retry::tests::cap",
        "test failure with exit code 101",
        "thread 'tests::cap' panicked at src/lib.rs:7:9",
    ),
    (
        "jest-junit",
        r#"<testsuites name="jest tests"><testsuite name="retry" tests="1"><testcase classname="retry caps the delay" name="retry caps the delay" time="0.01"><failure>TypeError: cap is not a function
    at Object.&lt;anonymous&gt; (retry.test.js:3:5)</failure></testcase></testsuite></testsuites>"#,
        "retry caps the delay",
        "TypeError",
        "cap is not a function\n    at Object.<anonymous> (retry.test.js:3:5)",
    ),
    (
        "gotestsum",
        r#"<testsuites><testsuite tests="1" failures="1" name="example.org/retry"><properties><property name="go.version" value="go1.24"></property></properties><testcase classname="example.org/retry" name="TestCap/zero" time="0.000000"><failure message="Failed" type="">=== RUN   TestCap/zero&#xA;    retry_test.go:9: cap exceeded&#xA;--- FAIL: TestCap/zero (0.00s)&#xA;</failure></testcase></testsuite></testsuites>"#,
        "example.org/retry.TestCap/zero",
        "failure",
        "=== RUN   TestCap/zero\n    retry_test.go:9: cap exceeded\n--- FAIL: TestCap/zero (0.00s)\n",
    ),
    (
        "PHPUnit",
        r#"<testsuites><testsuite name="" tests="1"><testsuite name="Tests\RetryTest" file="/build/tests/RetryTest.php"><testcase name="testCap with data set #0" class="Tests\RetryTest" classname="Tests.RetryTest" file="/build/tests/RetryTest.php" line="8"><failure type="PHPUnit\Framework\ExpectationFailedException">Failed asserting that 5 matches expected 4.</failure></testcase></testsuite></testsuite></testsuites>"#,
        r"Tests\RetryTest::testCap with data set #0",
        r"PHPUnit\Framework\ExpectationFailedException",
        "Failed asserting that 5 matches expected 4.",
    ),
    (
        "RSpec",
        r#"<testsuite name="rspec" tests="1"><testcase classname="spec.retry_spec" name="Retry caps the delay" file="./spec/retry_spec.rb" time="0.002"><failure message="expected: 4&#10;     got: 5" type="RSpec::Expectations::ExpectationNotMetError">Failure/Error: expect(cap).to eq 4</failure></testcase></testsuite>"#,
        "./spec/retry_spec.rb::Retry caps the delay",
        "RSpec::Expectations::ExpectationNotMetError",
        "expected: 4\n     got: 5",
    ),
];

#[test]
fn each_dialect_names_its_test_its_type_and_its_message() {
    for (dialect, report, nodeid, exc_type, message) in DIALECTS {
        let cases = read(report.as_bytes()).unwrap_or_else(|error| panic!("{dialect}: {error}"));
        let called: Vec<&Case> = cases.iter().filter(|case| case.is_called(nodeid)).collect();
        assert_eq!(called.len(), 1, "{dialect}: {cases:#?}");
        let failures: Vec<_> =
            called[0].failures.iter().map(|failure| (failure.exc_type.as_str(), failure.message.as_str())).collect();
        assert_eq!(failures, [(exc_type, message)], "{dialect}");
        assert!(called[0].is_called(&called[0].id()), "{dialect}");
        assert!(!called[0].is_called("tests/other.py::test_cap"), "{dialect}");
    }
}

#[test]
fn a_report_that_is_none_is_refused_with_its_line() {
    let deep = format!("<testsuites>{}", "<testsuite>".repeat(300));
    for (text, expected) in [
        ("", "line 1: it has no test case"),
        ("<html>\n</html>", "line 1: it begins with `html`"),
        ("<testsuites>\n<testsuite>", "line 2: it ends inside `testsuite`"),
        ("<testsuites>\n</testsuite>", "line 2: it is no XML"),
        ("<testsuites></testsuites>", "line 1: it has no test case"),
        ("<testsuite>\n<testcase classname=\"a\"/></testsuite>", "line 2: a test case has no `name`"),
        ("<testsuite><testcase name=\"a\"><testcase name=\"b\"/>", "line 1: a test case stands inside another"),
        ("<!DOCTYPE x [<!ENTITY a \"b\">]><testsuites/>", "line 1: it has a document type"),
        ("<testsuite><testcase name=\"a\"><failure>&lol;", "line 1: the entity `lol` is not known"),
        ("<testsuite><testcase name=\"&lol;\">", "line 1: an attribute cannot be read"),
        (deep.as_str(), "line 1: elements nest more than 256 deep"),
    ] {
        let error = read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:.60}: {error}");
    }
    assert_eq!(read(b"<testsuite>\n\xff").unwrap_err().to_string(), "line 2: it is no UTF-8");
}
