//! C#: xUnit, `NUnit`, `MSTest`.

use super::{arguments, number};
use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{Walk, equality, exit_zero, framework_import, literal, squeezed};
use crate::evidence::markers::marker::{Condition, MarkerKind};
use crate::evidence::tests::c_sharp_attributes;

const FRAMEWORKS: &[&str] =
    &["Xunit", "NUnit", "Microsoft.VisualStudio.TestTools", "Moq", "NSubstitute", "FluentAssertions", "Shouldly"];
const THROWN: &[&str] =
    &["SkipException", "IgnoreException", "InconclusiveException", "AssertInconclusiveException", "SuccessException"];

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "class_declaration"
        | "method_declaration"
        | "property_declaration"
        | "struct_declaration"
        | "record_declaration" => {
            for (name, mark) in c_sharp_attributes(node, walk.names()) {
                attribute(walk, &name, mark);
            }
            equality(walk, node, &["Equals"]);
        }
        "operator_declaration" if node.text().contains("operator ==") || node.text().contains("operator==") => {
            equality_operator(walk, node);
        }
        "invocation_expression" => call(walk, node),
        "throw_statement" | "throw_expression" => {
            if let Some(word) = THROWN.iter().find(|t| node.text().contains(**t)) {
                let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
                walk.always(kind, node, format!("throws {word}"));
            }
        }
        "using_directive" => framework_import(walk, node, FRAMEWORKS),
        "preproc_if" | "if_directive" => {
            let dead =
                node.field("condition").or_else(|| node.named().next()).is_some_and(|c| literal(c) == Some(false));
            if dead && walk.in_test(node) {
                walk.always(MarkerKind::Skip, node, "#if false");
            }
        }
        _ => {}
    }
}

fn equality_operator(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let body = node.child(&["block", "arrow_expression_clause"]).map_or("", Node::text);
    let body: String = body.chars().filter(|c| c.is_alphanumeric()).collect();
    if matches!(body.as_str(), "returntrue" | "true") && !walk.in_test(node) {
        walk.always(MarkerKind::Equality, node, "`==` is always true");
    }
}

fn attribute(walk: &mut Walk<'_, '_>, name: &str, mark: Node<'_>) {
    let spelling = squeezed(mark);
    let named = |key: &str| {
        let argument = mark
            .descendants()
            .find(|n| n.kind() == "attribute_argument" && n.field("name").is_some_and(|k| k.text() == key));
        argument.and_then(|a| a.named().last())
    };
    match name {
        "Ignore" | "Explicit" | "Inconclusive" | "ActiveIssue" => {
            walk.always(MarkerKind::Skip, mark, format!("[{name}]"));
        }
        "ExcludeFromCodeCoverage" => walk.always(MarkerKind::Coverage, mark, spelling),
        "Retry" | "RetryFact" | "RetryTheory" | "Repeat" => {
            let amount = mark.descendants().find_map(number);
            walk.emit(MarkerKind::Retry, mark, Condition::Always, format!("[{name}]")).amount = amount.or(Some(1.0));
        }
        "Timeout" | "MaxTime" => {
            walk.emit(MarkerKind::Retry, mark, Condition::Always, format!("[{name}]")).amount =
                mark.descendants().find_map(number);
        }
        "ConditionalFact" | "ConditionalTheory" | "Platform" | "SkipOnPlatform" | "SkipOnCI" | "OSSkipCondition" => {
            walk.emit(MarkerKind::Skip, mark, Condition::When(spelling.clone()), spelling);
        }
        "ExpectedException" => {
            walk.emit(MarkerKind::Inverted, mark, Condition::Always, spelling);
        }
        _ => {
            let when = named("SkipWhen").or_else(|| named("SkipUnless"));
            if let Some(when) = when {
                walk.emit(MarkerKind::Skip, mark, Condition::When(squeezed(when)), spelling);
            } else if let Some(reason) = named("Skip").or_else(|| named("Ignore")).or_else(|| named("IgnoreReason"))
                && literal(reason) != Some(false)
            {
                walk.always(MarkerKind::Skip, mark, format!("[{name}(Skip)]"));
            } else if let Some(amount) = named("Timeout").and_then(number) {
                walk.emit(MarkerKind::Retry, mark, Condition::Always, "a time limit of its own").amount = Some(amount);
            }
        }
    }
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let Some(full) = node.field("function").and_then(|f| walk.names().name_of(f)) else { return };
    let first = arguments(node).first().and_then(|a| a.named().last());
    let short: Vec<&str> = full.rsplit('.').take(2).collect();
    let pair = match short.as_slice() {
        [method, class] => (*class, *method),
        _ => ("", full.as_str()),
    };
    match pair {
        ("Assert", "Ignore" | "Inconclusive" | "Skip" | "Pass") => {
            let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
            walk.always(kind, node, full);
        }
        ("Assert", "SkipWhen") | ("Skip", "If" | "When") => walk.skip_if(node, first, true, &full),
        ("Assert", "SkipUnless") | ("Skip", "IfNot" | "Unless") | ("Assume", "That") => {
            walk.skip_if(node, first, false, &full);
        }
        ("Environment", "Exit") if first.is_some_and(|a| a.text() == "0") => {
            let holder = node
                .ancestors()
                .find(|a| a.kind() == "method_declaration")
                .and_then(|m| m.field("name"))
                .map_or("", Node::text);
            exit_zero(walk, node, "Environment.Exit(0)", holder != "Main");
        }
        _ => {}
    }
}
