//! Rust: the built-in harness and its kin.

use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{Walk, equality, exit_zero, framework_import, literal, squeezed};
use crate::evidence::markers::marker::{Condition, Marker, MarkerKind, Role};
use crate::evidence::tests::rust_attribute;

const FRAMEWORKS: &[&str] = &["proptest", "quickcheck", "rstest", "mockall", "insta", "libtest_mimic"];

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "attribute_item" | "inner_attribute_item" => attribute(walk, node),
        "macro_invocation" => {
            let text = squeezed(node);
            if text.starts_with("cfg!") && text.contains("test") && walk.role == Role::Product && !walk.in_test(node) {
                walk.always(MarkerKind::Probe, node, text);
            }
        }
        "call_expression" => {
            let function = node.field("function").map_or("", Node::text);
            let zero =
                node.field("arguments").and_then(|a| a.named().next()).is_some_and(|a| literal(a) == Some(false));
            let last = function.rsplit("::").next().unwrap_or("");
            if zero
                && matches!(last, "exit" | "_exit" | "quick_exit")
                && (function.contains("process::") || function == "exit" || function.contains("libc::"))
            {
                let inside = node.ancestors().find(|a| a.kind() == "function_item");
                let main = inside.and_then(|f| f.field("name")).is_some_and(|n| n.text() == "main");
                exit_zero(walk, node, &format!("{function}(0)"), !main);
            }
        }
        "function_item" => {
            let of_eq = node
                .ancestors()
                .find(|a| a.kind() == "impl_item")
                .and_then(|i| i.field("trait"))
                .is_some_and(|t| t.text().contains("PartialEq"));
            if of_eq {
                equality(walk, node, &["eq"]);
            }
        }
        "use_declaration" if walk.role == Role::Product => {
            let gated =
                node.previous_named().is_some_and(|p| p.kind() == "attribute_item" && p.text().contains("test"));
            if !gated {
                framework_import(walk, node, FRAMEWORKS);
            }
        }
        _ => {}
    }
}

/// The item that an attribute is about, and whether it holds tests.
fn target(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() == "inner_attribute_item" {
        return node.parent();
    }
    let mut next = node.next_named();
    while let Some(item) = next.filter(|n| n.kind() == "attribute_item") {
        next = item.next_named();
    }
    next
}

fn has_tests(walk: &Walk<'_, '_>, item: Node<'_>) -> bool {
    let test = |n: Node<'_>| {
        n.kind() == "attribute_item"
            && rust_attribute(n).rsplit("::").next().is_some_and(|last| last.contains("test") && last != "cfg_test")
    };
    let attributes = std::iter::successors(item.previous_named(), |n| n.previous_named())
        .take_while(|n| n.kind() == "attribute_item");
    item.descendants().any(test)
        || attributes.into_iter().any(test)
        || (walk.role == Role::Test && item.kind() == "source_file")
}

fn attribute(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let path = rust_attribute(node);
    let text: String = node.text().split_whitespace().collect::<Vec<_>>().join("");
    let inside = text.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches([')', ']']));
    let spelling = squeezed(node);
    match path {
        "ignore" => walk.always(MarkerKind::Skip, node, "#[ignore]"),
        "should_panic" => walk.always(MarkerKind::Inverted, node, "#[should_panic]"),
        "coverage" if text.contains("(off)") => walk.always(MarkerKind::Coverage, node, spelling),
        "no_coverage" | "tarpaulin::skip" => walk.always(MarkerKind::Coverage, node, spelling),
        "cfg_attr" => {
            let (condition, rest) = split_condition(inside);
            if rest.starts_with("ignore") {
                match holds(condition) {
                    Some(true) => walk.always(MarkerKind::Skip, node, spelling),
                    Some(false) => {}
                    None => {
                        walk.emit(MarkerKind::Skip, node, Condition::When(condition.to_owned()), spelling);
                    }
                }
            } else if rest.contains("should_panic") {
                walk.always(MarkerKind::Inverted, node, spelling);
            } else if rest.contains("coverage(off)") {
                walk.always(MarkerKind::Coverage, node, spelling);
            }
        }
        "cfg" => cfg(walk, node, inside, spelling),
        _ => {}
    }
}

fn cfg(walk: &mut Walk<'_, '_>, node: Node<'_>, condition: &str, spelling: String) {
    let Some(item) = target(node) else { return };
    if condition.contains("tarpaulin_include") || condition.contains("coverage") {
        walk.always(MarkerKind::Coverage, node, spelling);
        return;
    }
    let asks_test = condition == "test" || condition.starts_with("not(test");
    if asks_test {
        let helper = item.is(&[
            "function_item",
            "const_item",
            "static_item",
            "type_item",
            "block",
            "let_declaration",
            "expression_statement",
            "match_arm",
            "struct_expression",
        ]);
        let holds_test = item.kind() == "function_item" && has_tests(walk, item);
        if walk.role == Role::Product
            && !walk.in_test(node)
            && !holds_test
            && (helper || condition.starts_with("not("))
            && !item.is(&["use_declaration", "attribute_item"])
        {
            walk.always(MarkerKind::Probe, node, spelling);
        }
        return;
    }
    let dead = item.kind() == "mod_item" && walk.role == Role::Product;
    let dead_tests = dead && holds(condition) == Some(false) && item.text().contains("#[test]");
    if !has_tests(walk, item) && !dead_tests {
        return;
    }
    match holds(condition) {
        Some(false) => walk.always(MarkerKind::Skip, node, spelling),
        Some(true) => {}
        None if condition.contains("test")
            && !condition.contains("feature")
            && !condition.contains("target")
            && !condition.contains("unix")
            && !condition.contains("windows")
            && !condition.contains("not(") => {}
        None => {
            walk.emit(MarkerKind::Skip, node, Condition::When(format!("not {condition}")), spelling);
        }
    }
}

/// `a, b` of `cfg_attr(a, b)`: the first part ends at the comma outside brackets.
fn split_condition(text: &str) -> (&str, &str) {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return (&text[..at], text[at + 1..].trim_start()),
            _ => {}
        }
    }
    (text, "")
}

/// The truth of a condition that depends on nothing.
fn holds(condition: &str) -> Option<bool> {
    let condition: String = condition.split_whitespace().collect();
    match condition.trim_end_matches(',') {
        "any(" | "any()" | "false" | "not(all()" | "not(all())" | "not(true)" | "FALSE" => Some(false),
        "all(" | "all()" | "true" | "not(any()" | "not(any())" | "not(false)" => Some(true),
        _ => None,
    }
}

/// Documentation examples that are compiled at most.
pub(super) fn whole_file(walk: &mut Walk<'_, '_>) {
    for example in &walk.inventory.examples {
        let head = example.code.lines().next().unwrap_or("").trim_start_matches('`');
        let words: Vec<&str> = head.split([',', ' ']).map(str::trim).collect();
        let word = words
            .iter()
            .find(|w| matches!(**w, "ignore" | "no_run" | "compile_fail" | "should_panic") || w.starts_with("ignore-"));
        if let Some(word) = word {
            let mut marker = Marker::new(MarkerKind::Skip, format!("```{word}"), example.line);
            // An example that never ran hides nothing.
            marker.only_existing = true;
            marker.scope.clone_from(&example.name);
            marker.body = Some(example.code.lines().skip(1).collect::<Vec<_>>().join("\n").into_bytes());
            if let Some(where_) = word.strip_prefix("ignore-") {
                marker.condition = Condition::When(where_.to_owned());
            }
            marker.tests = vec![example.name.clone()];
            walk.markers.push(marker);
        }
    }
}
