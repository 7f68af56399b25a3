//! PHP: `PHPUnit`, Pest.

use super::{Inside, Read, Shape, Suite, acts};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, unquoted};

const HOOKS: &[&str] = &[
    "setUp",
    "tearDown",
    "setUpBeforeClass",
    "tearDownAfterClass",
    "__construct",
    "__destruct",
    "runTest",
    "run",
    "__call",
];
const HOOK_MARKS: &[&str] = &["Before", "After", "BeforeClass", "AfterClass", "PreCondition", "PostCondition"];
const PEST_TESTS: &[&str] = &["it", "test", "todo", "arch"];
const PEST_HOOKS: &[&str] = &["beforeEach", "afterEach", "beforeAll", "afterAll", "uses", "pest"];

/// The names of the attributes of a declaration.
pub(in crate::evidence) fn attributes(node: Node<'_>) -> Vec<(&str, Node<'_>)> {
    let lists = node.children().filter(|n| n.kind() == "attribute_list");
    lists
        .flat_map(Node::descendants)
        .filter(|n| n.kind() == "attribute")
        .filter_map(|n| Some((n.named().next()?.text().rsplit('\\').next()?, n)))
        .collect()
}

/// The call at the root of a chain: `it(…)` of `it(…)->skip()`.
pub(in crate::evidence) fn chain_root(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    while at.is(&["member_call_expression", "member_access_expression"]) {
        let Some(object) = at.field("object") else { break };
        at = object;
    }
    at
}

pub(super) fn read<'t>(node: Node<'t>, inside: &Inside<'_>, _: &Aliases, lead: &[Node<'t>]) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    match node.kind() {
        "namespace_definition" => match node.field("body") {
            Some(body) => Read::Open(body),
            None => Shape::unnamed(Kind::Constant, node, "").item(),
        },
        "namespace_use_declaration" => {
            let clauses = node.descendants().filter(|n| n.kind() == "namespace_use_clause");
            let binds = clauses.map(|c| {
                let last = c.field("alias").or_else(|| c.named().last()).map_or("", Node::text);
                last.rsplit('\\').next().unwrap_or("").to_owned()
            });
            Shape::unnamed(Kind::Import, node, "").binding(binds.collect::<Vec<_>>()).item()
        }
        "class_declaration" | "trait_declaration" => {
            let body = node.field("body");
            let tests = body.is_some_and(|b| b.named().any(|n| is_test(n, &[])));
            Shape::named(if tests { Kind::Suite } else { Kind::Helper }, name, body).suite(Suite::Class).item()
        }
        "interface_declaration" | "enum_declaration" | "function_definition" => {
            Shape::named(Kind::Helper, name, node.field("body")).item()
        }
        "method_declaration" => {
            let mut shape = Shape::named(Kind::Helper, name, node.field("body"));
            if HOOKS.contains(&name) || attributes(node).iter().any(|(n, _)| HOOK_MARKS.contains(n)) {
                (shape.kind, shape.why) = (Kind::Hook, "a hook that the runner calls");
            } else if inside.suite.is_some() && is_test(node, lead) {
                shape.kind = Kind::Test;
            }
            shape.item()
        }
        "property_declaration" | "const_declaration" => Shape::unnamed(Kind::Constant, node, "").item(),
        "use_declaration" => Shape::unnamed(Kind::Hook, node, "brings a trait into the class").item(),
        "expression_statement" => expression(node),
        "php_tag" | "text" | "declare_statement" | "text_interpolation" => Read::Nothing,
        _ => acts(node, "runs when the file is loaded"),
    }
}

fn is_test(node: Node<'_>, lead: &[Node<'_>]) -> bool {
    node.kind() == "method_declaration"
        && (node.field("name").is_some_and(|n| n.text().starts_with("test"))
            || attributes(node).iter().any(|(name, _)| *name == "Test")
            || lead.iter().any(|n| n.is_comment() && n.text().contains("@test")))
}

fn expression(node: Node<'_>) -> Read<'_> {
    let Some(inner) = node.named().next() else { return Read::Nothing };
    let root = chain_root(inner);
    let function = root.field("function").map_or("", Node::text);
    if root.kind() != "function_call_expression" {
        let require = inner.kind().starts_with("require") || inner.kind().starts_with("include");
        return if require {
            Shape::unnamed(Kind::Import, node, "").item()
        } else {
            acts(node, "runs when the file is loaded")
        };
    }
    let arguments: Vec<_> = root.field("arguments").map(|a| a.named().collect()).unwrap_or_default();
    let title = arguments.first().and_then(|a| a.named().next()).map(unquoted).unwrap_or_default();
    let body = root
        .descendants()
        .find(|n| n.is(&["anonymous_function", "arrow_function", "anonymous_function_creation_expression"]));
    let body = body.and_then(|b| b.field("body"));
    if PEST_TESTS.contains(&function) {
        let mut shape = Shape::new(Kind::Test, title);
        shape.body = body;
        return shape.item();
    }
    if function == "describe" {
        let mut shape = Shape::new(Kind::Suite, title);
        shape.body = body;
        return shape.item();
    }
    let kind = if PEST_HOOKS.contains(&function) { Kind::Hook } else { Kind::Acts };
    Shape::unnamed(
        kind,
        node,
        if kind == Kind::Hook { "a hook that the runner calls" } else { "runs when the file is loaded" },
    )
    .item()
}
