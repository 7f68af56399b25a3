//! Ruby: `RSpec`, minitest, test-unit, Rails' `test "x" do`.

use super::{Inside, Read, Shape, Suite, acts};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, unquoted};

const SUITES: &[&str] = &[
    "describe",
    "context",
    "xdescribe",
    "xcontext",
    "fdescribe",
    "fcontext",
    "feature",
    "example_group",
    "shared_examples",
    "shared_context",
    "shared_examples_for",
];
const TESTS: &[&str] = &[
    "it", "specify", "example", "xit", "xspecify", "xexample", "fit", "fspecify", "fexample", "scenario", "test",
    "should", "its", "pending", "skip",
];
const HOOKS: &[&str] =
    &["before", "after", "around", "setup", "teardown", "prepend_before", "append_after", "before_all", "after_all"];
const METHOD_HOOKS: &[&str] = &[
    "setup",
    "teardown",
    "before_setup",
    "after_teardown",
    "before_teardown",
    "after_setup",
    "startup",
    "shutdown",
    "run",
    "method_missing",
];
const QUIET: &[&str] = &["require", "require_relative", "load"];

/// The method, title, and body of a call with a block.
pub(in crate::evidence) fn call_parts(node: Node<'_>) -> Option<(&str, Option<Node<'_>>, Option<Node<'_>>)> {
    if node.kind() != "call" {
        return None;
    }
    let receiver = node.field("receiver").map_or("", Node::text);
    if !matches!(receiver, "" | "RSpec" | "self" | "Minitest") {
        return None;
    }
    let method = node.field("method")?.text();
    let title = node.field("arguments").and_then(|a| a.named().next());
    let block = node.field("block").map(|b| b.field("body").unwrap_or(b));
    Some((method, title, block))
}

pub(super) fn read<'t>(node: Node<'t>, inside: &Inside<'_>, _: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    match node.kind() {
        "class" | "module" => {
            let body = node.field("body");
            let tests = node.descendants().any(|n| {
                (n.kind() == "method" && n.field("name").is_some_and(|n| n.text().starts_with("test")))
                    || call_parts(n).is_some_and(|(method, _, block)| TESTS.contains(&method) && block.is_some())
            });
            let mut shape =
                Shape::named(if tests { Kind::Suite } else { Kind::Helper }, name, body).suite(Suite::NamedClass);
            let reopened =
                node.field("superclass").is_none() && node.kind() == "class" && inside.suite.is_none() && !tests;
            if reopened {
                (shape.kind, shape.why) = (Kind::Acts, "may reopen a class of the product");
            }
            shape.item()
        }
        "method" | "singleton_method" => {
            let mut shape = Shape::named(Kind::Helper, name, node.field("body"));
            if METHOD_HOOKS.contains(&name) && inside.suite.is_some() {
                (shape.kind, shape.why) = (Kind::Hook, "a hook that the runner calls");
            } else if name.starts_with("test") && inside.suite == Some(Suite::NamedClass) {
                shape.kind = Kind::Test;
            }
            shape.item()
        }
        "call" => call(node),
        "assignment" => {
            let left = node.field("left");
            let plain = left.is_some_and(|l| l.is(&["identifier", "constant", "instance_variable"]));
            let calls = node.field("right").is_some_and(|r| r.subtree().any(|n| n.kind() == "call"));
            let binds = left.map(|l| l.text().to_owned());
            let mut shape = Shape::new(Kind::Constant, binds.clone().unwrap_or_default()).binding(binds);
            if !plain || calls {
                (shape.kind, shape.why) = (Kind::Acts, "runs when the file is loaded");
            }
            shape.item()
        }
        "superclass" | "constant" | "argument_list" | "block_parameters" | "scope_resolution" => Read::Nothing,
        "body_statement" | "block_body" => Read::Open(node),
        "identifier" if matches!(node.text(), "private" | "protected" | "public") => {
            Shape::unnamed(Kind::Constant, node, "").item()
        }
        _ => acts(node, "runs when the file is loaded"),
    }
}

fn call(node: Node<'_>) -> Read<'_> {
    let Some((method, title, block)) = call_parts(node) else { return acts(node, "runs when the file is loaded") };
    let words = title.map(|t| unquoted(t)).unwrap_or_default();
    let mut shape = if QUIET.contains(&method) {
        Shape::unnamed(Kind::Import, node, "")
    } else if SUITES.contains(&method) && block.is_some() {
        Shape::new(Kind::Suite, words)
    } else if HOOKS.contains(&method) {
        Shape::unnamed(Kind::Hook, node, "a hook that the runner calls")
    } else if TESTS.contains(&method) {
        Shape::new(Kind::Test, words)
    } else if matches!(method, "let" | "subject" | "let!" | "subject!") {
        let name = words.trim_start_matches(':').to_owned();
        let name = if name.is_empty() { "subject".to_owned() } else { name };
        Shape::new(Kind::Helper, format!("{method} {name}")).binding([name])
    } else if matches!(
        method,
        "include" | "extend" | "include_context" | "include_examples" | "it_behaves_like" | "attr_reader"
    ) {
        Shape::unnamed(Kind::Hook, node, "brings code of another module")
    } else {
        Shape::unnamed(Kind::Acts, node, "runs when the file is loaded")
    };
    shape.body = block;
    shape.item()
}
