//! Java and Kotlin: JUnit 4 and 5, `TestNG`, Kotest.

use super::{arguments, number};
use crate::evidence::grammar::{Language, Node};
use crate::evidence::markers::context::{Walk, equality, exit_zero, framework_import, literal, squeezed};
use crate::evidence::markers::marker::{Condition, MarkerKind, Role};
use crate::evidence::tests::{jvm_annotations, unquoted};

const FRAMEWORKS: &[&str] = &[
    "org.junit",
    "org.testng",
    "io.kotest",
    "org.mockito",
    "io.mockk",
    "junit.framework",
    "org.assertj",
    "org.hamcrest",
    "kotlin.test",
];
const THROWN: &[&str] = &[
    "SkipException",
    "AssumptionViolatedException",
    "TestAbortedException",
    "TestSkippedException",
    "TestAbortedError",
];
const X_WORDS: &[&str] = &[
    "xtest",
    "xit",
    "xdescribe",
    "xcontext",
    "xshould",
    "xscenario",
    "xexpect",
    "xgiven",
    "xwhen",
    "xthen",
    "xfeature",
];
const F_WORDS: &[&str] = &["ftest", "fit", "fdescribe", "fcontext", "ffeature", "fscenario"];

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "class_declaration"
        | "method_declaration"
        | "function_declaration"
        | "object_declaration"
        | "interface_declaration" => {
            for (name, mark) in jvm_annotations(node, walk.names()) {
                annotation(walk, &name, mark);
            }
            equality(walk, node, &["equals"]);
        }
        "method_invocation" | "call_expression" => call(walk, node),
        "throw_statement" | "throw_expression" => {
            if let Some(word) = THROWN.iter().find(|t| node.text().contains(**t)) {
                let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
                walk.always(kind, node, format!("throws {word}"));
            }
        }
        "import_declaration" | "import" => framework_import(walk, node, FRAMEWORKS),
        _ => {}
    }
}

/// The value of a named element of an annotation: `enabled` of `@Test(enabled = false)`.
fn element<'t>(mark: Node<'t>, key: &str) -> Option<Node<'t>> {
    let pair = mark.descendants().find(|n| {
        n.is(&["element_value_pair", "value_argument"])
            && n.named().next().is_some_and(|k| k.text() == key)
            && n.named().count() == 2
    })?;
    pair.named().nth(1)
}

fn annotation(walk: &mut Walk<'_, '_>, name: &str, mark: Node<'_>) {
    let spelling = squeezed(mark);
    match name {
        "Ignore" | "Disabled" | "PendingFeature" | "NotImplemented" => {
            walk.always(MarkerKind::Skip, mark, format!("@{name}"));
        }
        "RetryingTest" | "RepeatedIfExceptionsTest" | "Flaky" | "FlakyTest" | "RetryTest" => {
            let amount = mark.descendants().find_map(number);
            walk.emit(MarkerKind::Retry, mark, Condition::Always, format!("@{name}")).amount = amount.or(Some(1.0));
        }
        "Timeout" => {
            let amount = mark.descendants().find_map(number);
            walk.emit(MarkerKind::Retry, mark, Condition::Always, format!("@{name}")).amount = amount;
        }
        "Test" | "ParameterizedTest" => {
            if element(mark, "enabled").is_some_and(|v| literal(v) == Some(false)) {
                walk.always(MarkerKind::Skip, mark, "@Test(enabled = false)");
            }
            let expected = element(mark, "expected").or_else(|| element(mark, "expectedExceptions"));
            if expected.is_some_and(|v| {
                ["AssertionError", "Throwable", "Error.class", "ComparisonFailure"].iter().any(|e| v.text().contains(e))
            }) {
                walk.always(MarkerKind::Skip, mark, "expects its own assertion to fail");
            } else if expected.is_some() {
                walk.emit(MarkerKind::Inverted, mark, Condition::Always, spelling);
            }
            if element(mark, "retryAnalyzer").is_some() {
                walk.always(MarkerKind::Retry, mark, "retryAnalyzer");
            }
            if let Some(amount) = element(mark, "timeout").or_else(|| element(mark, "timeOut")).and_then(number) {
                walk.emit(MarkerKind::Retry, mark, Condition::Always, "a time limit of its own").amount = Some(amount);
            }
        }
        "Generated" | "ExcludeFromJacocoGeneratedReport" | "ExcludeFromCodeCoverage" if walk.role == Role::Product => {
            walk.always(MarkerKind::Coverage, mark, spelling);
        }
        _ if name.starts_with("DisabledO")
            || name.starts_with("EnabledO")
            || name.starts_with("DisabledIf")
            || name.starts_with("EnabledIf")
            || name.starts_with("DisabledFor")
            || name.starts_with("EnabledFor")
            || name.starts_with("DisabledIn")
            || name.starts_with("EnabledIn")
            || name.starts_with("DisabledU")
            || matches!(name, "IgnoreIf" | "Requires" | "RunIf" | "ConditionalIgnore") =>
        {
            walk.emit(MarkerKind::Skip, mark, Condition::When(spelling.clone()), spelling);
        }
        _ => {}
    }
}

/// The name of what is called, without what stands before it.
fn callee(node: Node<'_>) -> String {
    if let Some(name) = node.field("name") {
        return name.text().to_owned();
    }
    let first = node.named().next();
    first.map_or("", Node::text).rsplit('.').next().unwrap_or("").to_owned()
}

fn argument_value(node: Node<'_>) -> Node<'_> {
    if node.kind() == "value_argument" { node.named().last().unwrap_or(node) } else { node }
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let name = callee(node);
    let arguments = arguments(node);
    let last = arguments.last().map(|a| argument_value(*a));
    let first = arguments.first().map(|a| argument_value(*a));
    match name.as_str() {
        "assumeTrue" | "assumeFalse" | "assumeThat" | "assumingThat" | "assumeNotNull" | "assumeNoException"
            if walk.in_test(node) =>
        {
            let value = arguments.iter().map(|a| argument_value(*a)).find(|a| literal(*a).is_some()).or(first);
            let value = value.filter(|a| literal(*a).is_some() || name != "assumeThat").or(last);
            walk.skip_if(node, value, name == "assumeFalse", &name);
        }
        "abort" if node.text().contains("Assumptions") => walk.always(MarkerKind::Skip, node, "Assumptions.abort"),
        "exit" | "halt" | "exitProcess" => {
            let zero = first.is_some_and(|a| a.text() == "0");
            let system =
                node.text().starts_with("System.exit") || node.text().contains("halt") || name == "exitProcess";
            let holder = node
                .ancestors()
                .find(|a| a.is(&["method_declaration", "function_declaration"]))
                .and_then(|f| f.field("name"))
                .map_or("", Node::text);
            if zero && system {
                exit_zero(walk, node, &squeezed(node), holder != "main");
            }
        }
        _ => {}
    }
    if super::super::context::language(walk) == Language::Kotlin && walk.in_test(node) {
        kotest(walk, node, &name);
    }
}

fn kotest(walk: &mut Walk<'_, '_>, node: Node<'_>, name: &str) {
    let lambda = node.children().any(|n| n.is(&["annotated_lambda", "lambda_literal"]));
    let inner = node.named().next();
    let head = inner.filter(|n| n.kind() == "call_expression").and_then(|n| n.named().next()).map_or("", Node::text);
    let title = inner.map(|n| {
        if n.kind() == "string_literal" {
            n
        } else {
            n.descendants().find(|d| d.kind() == "string_literal").unwrap_or(n)
        }
    });
    let title = title.filter(|t| t.kind() == "string_literal").map(unquoted).unwrap_or_default();
    if lambda && X_WORDS.contains(&head) {
        walk.always(MarkerKind::Skip, node, head.to_owned());
    } else if lambda && F_WORDS.contains(&head) {
        walk.always(MarkerKind::Focus, node, head.to_owned());
    } else if lambda && title.starts_with('!') {
        walk.always(MarkerKind::Skip, node, "a title that begins with `!`");
    } else if lambda && title.starts_with("f:") {
        walk.always(MarkerKind::Focus, node, "a title that begins with `f:`");
    }
    if name == "config" || node.text().contains(".config(") {
        let enabled = node.descendants().find(|n| {
            n.kind() == "value_argument"
                && n.named().next().is_some_and(|k| k.text() == "enabled")
                && n.named().count() == 2
        });
        if name == "config" && enabled.and_then(|e| e.named().nth(1)).is_some_and(|v| literal(v) == Some(false)) {
            walk.always(MarkerKind::Skip, node, "config(enabled = false)");
        }
    }
}
