//! Rust: the built-in harness, rstest, tokio and their kin.

use super::{Inside, Read, Shape, acts, squeezed};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::{Kind, Scope};
use crate::evidence::tests::names::{Aliases, rust_uses};

/// Attributes that make a function a test, by the last part of their path.
const TESTS: &[&str] =
    &["test", "rstest", "test_case", "wasm_bindgen_test", "quickcheck", "proptest", "bench", "apply", "parameterized"];
/// Attributes that make the program do something of its own accord.
const ACTS: &[&str] =
    &["ctor", "dtor", "global_allocator", "panic_handler", "no_mangle", "distributed_slice", "used", "export_name"];

/// The path of an attribute: `tokio::test` of `#[tokio::test(flavor = "x")]`.
pub(in crate::evidence) fn attribute_path(item: Node<'_>) -> &str {
    item.child(&["attribute"]).and_then(|a| a.named().next()).map_or("", Node::text)
}

fn any_attribute(lead: &[Node<'_>], names: &[&str]) -> bool {
    lead.iter()
        .filter(|n| n.kind() == "attribute_item")
        .any(|n| names.contains(&attribute_path(*n).rsplit("::").next().unwrap_or("")))
}

fn for_tests(lead: &[Node<'_>]) -> bool {
    lead.iter().any(|n| {
        let text = squeezed(*n);
        attribute_path(*n) == "cfg"
            && (text.contains("(test)") || text.contains("(test,") || text.contains(", test") || text.contains("any()"))
    })
}

pub(super) fn read<'t>(node: Node<'t>, inside: &Inside<'_>, _: &Aliases, lead: &[Node<'t>]) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    let acting = any_attribute(lead, ACTS);
    match node.kind() {
        "attribute_item" => Read::Lead,
        "inner_attribute_item" => Shape::unnamed(Kind::Hook, node, "an attribute of the whole file").item(),
        "use_declaration" | "extern_crate_declaration" => import(node),
        _ if acting => acts(node, "an attribute makes it run by itself"),
        "function_item" => {
            let test = any_attribute(lead, TESTS);
            let kind = if test { Kind::Test } else { Kind::Helper };
            let mut shape = Shape::named(kind, name, node.field("body"));
            if name == "main" && inside.suite.is_none() {
                (shape.kind, shape.why) = (Kind::Hook, "the main function of the file");
            }
            shape.item()
        }
        "mod_item" => {
            let Some(body) = node.field("body") else { return Shape::named(Kind::Helper, name, None).item() };
            let tests = body.descendants().any(|n| {
                n.kind() == "attribute_item" && TESTS.contains(&attribute_path(n).rsplit("::").next().unwrap_or(""))
            });
            if inside.scope == Scope::Regions && !for_tests(lead) {
                return if tests { Read::Open(body) } else { Read::Nothing };
            }
            Shape::named(if tests || for_tests(lead) { Kind::Suite } else { Kind::Helper }, name, Some(body)).item()
        }
        "impl_item" => {
            let on = node.field("type").map_or("", Node::text);
            let of = node.field("trait").map_or("", Node::text);
            let mut shape = Shape::new(Kind::Helper, format!("impl {of} for {on}"));
            shape.body = node.field("body");
            let own = on.split(['<', ' ']).next().unwrap_or(on);
            let here = node.parent().is_some_and(|p| {
                p.named().any(|n| {
                    n.is(&["struct_item", "enum_item", "union_item"])
                        && n.field("name").is_some_and(|n| n.text() == own)
                })
            });
            if !here {
                (shape.kind, shape.why) = (Kind::Acts, "gives a type of the product new behaviour");
            }
            shape.item()
        }
        "struct_item" | "enum_item" | "union_item" | "trait_item" | "type_item" | "macro_definition" | "const_item"
        | "static_item" => Shape::named(Kind::Helper, name, None).item(),
        "macro_invocation" | "expression_statement" => {
            let path = node.text().split('!').next().unwrap_or("").trim().to_owned();
            let kind = if matches!(
                path.rsplit("::").next(),
                Some("proptest" | "quickcheck" | "test_case" | "rstest" | "test_each")
            ) {
                Kind::Test
            } else {
                Kind::Constant
            };
            let mut shape = Shape::unnamed(kind, node, "");
            shape.body = Some(node);
            shape.item()
        }
        _ => Read::Nothing,
    }
}

fn import(node: Node<'_>) -> Read<'_> {
    let mut shape = Shape::unnamed(Kind::Import, node, "");
    if let Some(argument) = node.field("argument") {
        let uses = rust_uses(argument, "");
        if uses.iter().any(|(local, full)| local == "*" && !full.starts_with("super") && !full.ends_with("prelude.*")) {
            (shape.kind, shape.why) = (Kind::Acts, "imports every name of a module");
        }
        shape.binds = uses.into_iter().map(|(local, _)| local).filter(|local| local != "*" && local != "_").collect();
    }
    shape.item()
}
