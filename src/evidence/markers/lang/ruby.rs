//! Ruby: `RSpec`, minitest, test-unit.

use super::{arguments, number};
use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{Walk, equality, exit_zero, function_of, literal, squeezed};
use crate::evidence::markers::marker::{Condition, MarkerKind, Role};
use crate::evidence::tests::{Kind, ruby_call};

const X_WORDS: &[&str] = &["xit", "xspecify", "xexample", "xdescribe", "xcontext", "xscenario", "xfeature"];
const F_WORDS: &[&str] = &["fit", "fspecify", "fexample", "fdescribe", "fcontext", "fscenario", "ffeature"];
const BLOCKS: &[&str] =
    &["it", "specify", "example", "describe", "context", "feature", "scenario", "test", "xit", "fit"];
const SKIPS: &[&str] =
    &["skip", "pending", "skip_until", "omit", "pend", "skip_if", "skip_unless", "omit_if", "omit_unless"];

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "call" => call(walk, node),
        "identifier" => bare(walk, node),
        "assignment" => assignment(walk, node),
        "method" => equality(walk, node, &["==", "eql?", "equal?", "==="]),
        _ => {}
    }
}

fn is_statement(node: Node<'_>) -> bool {
    node.parent().is_some_and(|p| {
        p.is(&["body_statement", "block_body", "then", "else", "program", "block", "do_block", "begin"])
            || (p.is(&["if_modifier", "unless_modifier"]) && node.field_name() == "body")
    })
}

fn in_example(walk: &Walk<'_, '_>, node: Node<'_>) -> bool {
    walk.in_test(node)
        && walk.inventory.around(node).is_none_or(|(_, i)| i.kind != Kind::Suite || function_of(node).is_some())
}

/// `skip` without arguments is only a name for the grammar.
fn bare(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    if matches!(node.text(), "skip" | "pending" | "omit") && is_statement(node) && in_example(walk, node) {
        walk.always(MarkerKind::Skip, node, node.text().to_owned());
    }
    if matches!(node.text(), "exit" | "exit!") && is_statement(node) {
        exit_zero(walk, node, node.text(), function_of(node).is_none());
    }
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let method = node.field("method").map_or("", Node::text);
    let receiver = node.field("receiver").map_or("", Node::text);
    let arguments = arguments(node);
    let first = arguments.first().copied();
    if matches!(method, "exit!" | "exit") && matches!(receiver, "" | "Kernel" | "Process") {
        let zero = first.is_none_or(|a| matches!(a.text(), "0" | "true"));
        let handler = node
            .ancestors()
            .any(|a| a.kind() == "call" && a.field("method").is_some_and(|m| matches!(m.text(), "at_exit" | "trap")));
        if zero {
            exit_zero(walk, node, &squeezed(node), function_of(node).is_none() || handler || method == "exit!");
        }
    }
    if matches!(
        method,
        "filter_run_excluding" | "filter_run" | "exclusion_filter" | "filter_run_including" | "inclusion_filter"
    ) && !receiver.is_empty()
    {
        let focus = first.is_some_and(|a| a.text().contains("focus"));
        if !focus {
            walk.always(MarkerKind::Disabled, node, squeezed(node));
        }
    }
    if walk.role == Role::Product
        && method == "raise"
        && node.text().contains("Skip")
        && (node.text().contains("Minitest") || node.text().contains("RSpec"))
    {
        walk.always(MarkerKind::SkipInProduct, node, squeezed(node));
    }
    if walk.role == Role::Product && matches!(method, "require" | "require_relative") && !walk.in_test(node) {
        let framework = first.is_some_and(|a| {
            ["minitest", "rspec", "test/unit", "mocha", "spec_helper", "test_helper"]
                .iter()
                .any(|f| a.text().contains(f))
        });
        if framework {
            walk.always(MarkerKind::Touches, node, squeezed(node));
        }
    }
    if !walk.in_test(node) {
        return;
    }
    let Some((word, title, block)) = ruby_call(node) else { return };
    if X_WORDS.contains(&word) {
        walk.always(MarkerKind::Skip, node, word.to_owned());
    } else if F_WORDS.contains(&word) {
        walk.always(MarkerKind::Focus, node, word.to_owned());
    } else if SKIPS.contains(&word) && (block.is_none() || word == "pending") && receiver.is_empty() {
        let inside = in_example(walk, node) || block.is_some();
        if inside {
            match word {
                "skip_if" | "omit_if" => walk.skip_if(node, first, true, word),
                "skip_unless" | "omit_unless" => walk.skip_if(node, first, false, word),
                _ => walk.always(MarkerKind::Skip, node, word.to_owned()),
            }
        }
    } else if matches!(word, "it" | "specify" | "example" | "scenario" | "test")
        && block.is_none()
        && title.is_some_and(|t| t.kind() == "string")
        && !arguments.iter().any(|a| a.kind() == "block_argument")
    {
        walk.always(MarkerKind::Skip, node, "a test without a body");
    }
    if BLOCKS.contains(&word) {
        metadata(walk, node, &arguments);
    }
}

fn metadata(walk: &mut Walk<'_, '_>, node: Node<'_>, arguments: &[Node<'_>]) {
    let pairs = arguments.iter().flat_map(|a| if a.kind() == "hash" { a.named().collect() } else { vec![*a] });
    for argument in pairs {
        match (argument.kind(), argument.text()) {
            ("simple_symbol", word @ (":skip" | ":pending" | ":broken")) => {
                walk.always(MarkerKind::Skip, node, word.to_owned());
            }
            ("simple_symbol", ":focus") => walk.always(MarkerKind::Focus, node, ":focus"),
            ("pair", _) => {
                let key = argument.field("key").map_or("", Node::text).trim_matches(':');
                let Some(value) = argument.field("value") else { continue };
                match key {
                    "skip" | "pending" => {
                        if value.kind() == "string" {
                            walk.always(MarkerKind::Skip, node, format!("{key}:"));
                        } else {
                            walk.skip_if(node, Some(value), true, &format!("{key}:"));
                        }
                    }
                    "focus" if literal(value) == Some(true) => walk.always(MarkerKind::Focus, node, "focus:"),
                    "if" => walk.skip_if(node, Some(value), false, "if:"),
                    "unless" => walk.skip_if(node, Some(value), true, "unless:"),
                    "retry" | "retries" => {
                        walk.emit(MarkerKind::Retry, node, Condition::Always, "retry:").amount = number(value);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn assignment(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let (Some(left), Some(right)) = (node.field("left"), node.field("right")) else { return };
    if left.text().ends_with("failure_exit_code") && right.text() == "0" {
        walk.always(MarkerKind::Forced, node, squeezed(node));
    }
    if left.text().ends_with("dry_run") && right.text() == "true" {
        walk.always(MarkerKind::Disabled, node, squeezed(node));
    }
    if left.text().ends_with("default_retry_count") || left.text().ends_with("default_sleep_interval") {
        walk.emit(MarkerKind::Retry, node, Condition::Always, left.text().to_owned()).amount = number(right);
    }
}
