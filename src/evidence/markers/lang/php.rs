//! PHP: `PHPUnit`, Pest.

use super::arguments;
use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{Walk, equality, exit_zero, framework_import, is_function, squeezed};
use crate::evidence::markers::marker::{Condition, MarkerKind, Role};
use crate::evidence::tests::{php_attributes, php_chain_root};

const FRAMEWORKS: &[&str] = &["PHPUnit", "Pest", "Mockery"];

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "method_declaration" | "class_declaration" => {
            for (name, mark) in php_attributes(node) {
                if name.starts_with("Requires") {
                    let spelling = squeezed(mark);
                    walk.emit(MarkerKind::Skip, mark, Condition::When(spelling.clone()), spelling);
                }
                if matches!(name, "CodeCoverageIgnore" | "CoversNothing") && walk.role == Role::Product {
                    walk.always(MarkerKind::Coverage, mark, squeezed(mark));
                }
            }
            equality(walk, node, &["equals", "isEqual", "__equals"]);
        }
        "member_call_expression" | "scoped_call_expression" => call(walk, node),
        "function_call_expression"
            if node.field("function").is_some_and(|f| f.text() == "todo") && walk.in_test(node) =>
        {
            walk.always(MarkerKind::Skip, node, "todo()");
        }
        "exit_statement" => {
            let value = node.named().next();
            let zero = value.is_none_or(|v| v.text() == "0");
            let inside = node.ancestors().any(is_function);
            if zero {
                exit_zero(walk, node, &squeezed(node), inside);
            }
        }
        "throw_expression" if (node.text().contains("SkippedTest") || node.text().contains("IncompleteTest")) => {
            let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
            walk.always(kind, node, squeezed(node));
        }
        "namespace_use_declaration" => framework_import(walk, node, FRAMEWORKS),
        _ => {}
    }
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let name = node.field("name").map_or("", Node::text);
    let own = node.field("object").or_else(|| node.field("scope")).map_or("", Node::text);
    if matches!(name, "markTestSkipped" | "markTestIncomplete") && matches!(own, "$this" | "self" | "static" | "parent")
    {
        let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
        walk.always(kind, node, name.to_owned());
        return;
    }
    let root = php_chain_root(node);
    let pest = root.kind() == "function_call_expression"
        && root.field("function").is_some_and(|f| matches!(f.text(), "it" | "test" | "describe" | "todo"));
    if !pest || !walk.in_test(node) || node.field("object").is_none() {
        return;
    }
    let first = arguments(node).first().and_then(|a| a.named().last());
    match name {
        "skip" => {
            let condition = first.filter(|a| !a.kind().contains("string"));
            walk.skip_if(node, condition, true, "->skip()");
        }
        "todo" | "fails" | "throwsUnless_" => walk.always(MarkerKind::Skip, node, format!("->{name}()")),
        "only" => walk.always(MarkerKind::Focus, node, "->only()"),
        _ if name.starts_with("skipOn") || name.starts_with("onlyOn") || name == "skipLocally" => {
            walk.emit(MarkerKind::Skip, node, Condition::When(name.to_owned()), format!("->{name}()"));
        }
        "repeat" => walk.always(MarkerKind::Retry, node, "->repeat()"),
        _ => {}
    }
}

/// Annotations in documentation comments: `@requires`.
pub(super) fn comment(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    if !node.text().starts_with("/**") {
        return;
    }
    for line in node.text().lines() {
        let line = line.trim().trim_start_matches(['/', '*', ' ']);
        if let Some(what) = line.strip_prefix("@requires ") {
            let what = what.trim_end_matches(['*', '/', ' ']);
            let marker =
                walk.emit(MarkerKind::Skip, node, Condition::When(format!("not {what}")), format!("@requires {what}"));
            marker.line = node.line();
        }
    }
}
