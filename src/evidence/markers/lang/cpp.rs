//! C++: googletest, Catch2, doctest, Boost.Test.

use super::arguments;
use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{Walk, equality, exit_zero, literal, squeezed};
use crate::evidence::markers::marker::{Condition, MarkerKind, Role};
use crate::evidence::tests::CPP_TESTS;

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "function_definition" => {
            let declarator = node.field("declarator").filter(|d| d.kind() == "function_declarator");
            if let Some(declarator) = declarator
                && declarator.field("declarator").is_some_and(|d| CPP_TESTS.contains(&d.text()))
            {
                let parts: Vec<_> = declarator.field("parameters").map(|p| p.named().collect()).unwrap_or_default();
                let disabled = parts.iter().any(|p| p.text().starts_with("DISABLED_"));
                if disabled {
                    walk.always(MarkerKind::Skip, node, "DISABLED_");
                }
            }
            equality_operator(walk, node);
        }
        "call_expression" => call(walk, node),
        "preproc_if" => {
            let dead = node.field("condition").is_some_and(|c| literal(c) == Some(false));
            let tests = node.descendants().any(|n| {
                n.kind() == "function_declarator"
                    && n.field("declarator").is_some_and(|d| CPP_TESTS.contains(&d.text()))
            }) || node.descendants().any(|n| {
                n.kind() == "call_expression" && n.field("function").is_some_and(|f| CPP_TESTS.contains(&f.text()))
            });
            if dead && tests {
                walk.always(MarkerKind::Skip, node, "#if 0");
            }
        }
        "preproc_include" if walk.role == Role::Product => {
            let path = node.field("path").map_or("", Node::text);
            if ["gtest/", "gmock/", "catch2/", "doctest", "boost/test"].iter().any(|f| path.contains(f)) {
                walk.always(MarkerKind::Touches, node, squeezed(node));
            }
        }
        _ => {}
    }
}

fn equality_operator(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let operator = node
        .descendants()
        .find(|n| n.kind() == "operator_name")
        .is_some_and(|n| n.text().replace(' ', "") == "operator==");
    let body: String = node.field("body").map_or("", Node::text).chars().filter(|c| c.is_alphanumeric()).collect();
    if operator && body == "returntrue" && walk.role == Role::Product && !walk.in_test(node) {
        walk.always(MarkerKind::Equality, node, "`operator==` is always true");
    }
    equality(walk, node, &["equals"]);
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let name = node.field("function").map_or("", Node::text);
    let arguments = arguments(node);
    let last = name.rsplit("::").next().unwrap_or(name);
    if matches!(last, "exit" | "_exit" | "_Exit" | "quick_exit")
        && arguments.first().is_some_and(|a| matches!(a.text(), "0" | "EXIT_SUCCESS"))
    {
        let main = node.ancestors().any(|a| {
            a.kind() == "function_definition"
                && a.descendants()
                    .find(|n| n.kind() == "function_declarator")
                    .and_then(|d| d.field("declarator"))
                    .is_some_and(|n| n.text() == "main")
        });
        exit_zero(walk, node, &squeezed(node), !main);
    }
    match last {
        "GTEST_SKIP" | "SKIP" => {
            let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
            walk.always(kind, node, last.to_owned());
        }
        "GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST" | "CHECK_NOFAIL" | "GTEST_SUCCEED_" | "SUCCEED_" => {
            walk.always(MarkerKind::Skip, node, last.to_owned());
        }
        _ if CPP_TESTS.contains(&last) => tags(walk, node, &arguments),
        _ => {}
    }
}

/// Catch2's tags and doctest's decorators.
fn tags(walk: &mut Walk<'_, '_>, node: Node<'_>, arguments: &[Node<'_>]) {
    for argument in arguments.iter().skip(1) {
        let text = argument.text();
        let hidden = text.contains("[.") || text.contains("[!hide]") || text.contains("[hide]");
        let may_fail = text.contains("[!mayfail]")
            || text.contains("[!shouldfail]")
            || text.contains("may_fail(")
            || text.contains("should_fail(")
            || text.contains("expected_failures(");
        if hidden || may_fail || text.contains("disabled()") {
            walk.always(MarkerKind::Skip, node, squeezed(*argument));
        }
    }
    let decorated =
        node.ancestors().take(3).any(|a| a.kind() == "binary_expression" && a.text().contains("doctest::skip"));
    if decorated || arguments.iter().any(|a| a.text().contains("doctest::skip")) {
        walk.emit(MarkerKind::Skip, node, Condition::Always, "doctest::skip");
    }
    if arguments.first().is_some_and(|a| a.text().contains("DISABLED_")) {
        walk.always(MarkerKind::Skip, node, "DISABLED_");
    }
}
