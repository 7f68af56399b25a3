//! C++: googletest, Catch2, doctest, Boost.Test.

use super::{Inside, Read, Shape, acts};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, dotted, unquoted};

/// Macros that open a test.
pub(in crate::evidence) const TESTS: &[&str] = &[
    "TEST",
    "TEST_F",
    "TEST_P",
    "TYPED_TEST",
    "TYPED_TEST_P",
    "TEST_CASE",
    "TEST_CASE_METHOD",
    "SCENARIO",
    "TEMPLATE_TEST_CASE",
    "BOOST_AUTO_TEST_CASE",
    "BOOST_FIXTURE_TEST_CASE",
    "BOOST_DATA_TEST_CASE",
    "BOOST_AUTO_TEST_CASE_TEMPLATE",
    "DOCTEST_TEST_CASE",
    "TEST_CASE_FIXTURE",
    "METHOD_AS_TEST_CASE",
    "BENCHMARK",
];
const HOOKS: &[&str] =
    &["SetUp", "TearDown", "SetUpTestSuite", "TearDownTestSuite", "SetUpTestCase", "TearDownTestCase", "main"];

pub(super) fn read<'t>(node: Node<'t>, inside: &Inside<'_>, _: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    match node.kind() {
        "preproc_include" | "using_declaration" | "alias_declaration" | "namespace_alias_definition" => {
            Shape::unnamed(Kind::Import, node, "").item()
        }
        "preproc_def" | "preproc_function_def" => {
            Shape::named(Kind::Helper, node.field("name").map_or("", Node::text), None).item()
        }
        "preproc_ifdef"
        | "preproc_if"
        | "preproc_else"
        | "preproc_elif"
        | "linkage_specification"
        | "declaration_list" => Read::Open(node),
        "namespace_definition" => node.field("body").map_or(Read::Nothing, Read::Open),
        "function_definition" | "template_declaration" => function(node, inside),
        "expression_statement" => macro_call(node),
        "compound_statement" => acts(node, "runs before any test"),
        "struct_specifier" | "class_specifier" | "enum_specifier" | "type_definition" | "union_specifier" => {
            let name = node.field("name").or_else(|| node.field("declarator")).map_or("", Node::text);
            Shape::named(Kind::Helper, name, node.field("body")).item()
        }
        "declaration" => {
            let calls = node.descendants().any(|n| n.kind() == "call_expression");
            let declarators = node.fields("declarator");
            let binds: Vec<String> =
                declarators.map(|d| d.field("declarator").unwrap_or(d).text().to_owned()).collect();
            let mut shape = Shape::new(Kind::Constant, binds.join(", ")).binding(binds);
            if calls {
                (shape.kind, shape.why) = (Kind::Acts, "calls code before any test");
            }
            shape.item()
        }
        _ => Read::Nothing,
    }
}

fn function<'t>(node: Node<'t>, _: &Inside<'_>) -> Read<'t> {
    let declarator = node.descendants().find(|n| n.kind() == "function_declarator");
    let Some(declarator) = declarator else { return Shape::unnamed(Kind::Helper, node, "").item() };
    let name =
        declarator.field("declarator").map_or(String::new(), |d| dotted(d).unwrap_or_else(|| d.text().to_owned()));
    let body = node.field("body");
    if TESTS.contains(&name.as_str()) {
        let parts = declarator
            .field("parameters")
            .map(|p| p.named().map(Node::text).collect::<Vec<_>>().join("."))
            .unwrap_or_default();
        let mut shape = Shape::new(Kind::Test, parts);
        shape.body = body;
        return shape.item();
    }
    let mut shape = Shape::named(Kind::Helper, &name, body);
    if HOOKS.contains(&name.rsplit('.').next().unwrap_or("")) {
        (shape.kind, shape.why) = (Kind::Hook, "a hook that the runner calls");
    } else if name.contains("operator==") {
        (shape.kind, shape.why) = (Kind::Acts, "says what equals what");
    }
    shape.item()
}

fn macro_call(node: Node<'_>) -> Read<'_> {
    let call = node.named().next().filter(|n| n.kind() == "call_expression");
    let Some(call) = call else { return acts(node, "runs before any test") };
    let name = call.field("function").map_or("", Node::text);
    if !TESTS.contains(&name) {
        let kind = if name.contains("INSTANTIATE")
            || name.contains("REGISTER")
            || name.contains("TYPED_TEST_SUITE")
            || name.contains("BOOST_")
        {
            Kind::Constant
        } else {
            Kind::Acts
        };
        return Shape::unnamed(kind, node, "runs before any test").item();
    }
    let words: Vec<String> = call.field("arguments").map(|a| a.named().map(unquoted).collect()).unwrap_or_default();
    let mut shape = Shape::new(Kind::Test, words.first().cloned().unwrap_or_default());
    shape.tail =
        node.parent().and_then(|p| p.children().find(|n| n.start() >= node.end() && n.is_named() && !n.is_comment()));
    shape.tail = shape.tail.filter(|t| t.kind() == "compound_statement");
    shape.body = Some(node);
    shape.item()
}
