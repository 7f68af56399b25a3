//! C#: xUnit, `NUnit`, `MSTest`.

use super::{Inside, Read, Shape, Suite, acts};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, dotted};

const TESTS: &[&str] = &[
    "Fact",
    "Theory",
    "Test",
    "TestCase",
    "TestCaseSource",
    "TestMethod",
    "DataTestMethod",
    "SkippableFact",
    "SkippableTheory",
    "ConditionalFact",
    "ConditionalTheory",
    "Property",
    "UIFact",
    "WpfFact",
    "StaFact",
    "AvaloniaFact",
];
const HOOKS: &[&str] = &[
    "SetUp",
    "TearDown",
    "OneTimeSetUp",
    "OneTimeTearDown",
    "TestInitialize",
    "TestCleanup",
    "ClassInitialize",
    "ClassCleanup",
    "AssemblyInitialize",
    "AssemblyCleanup",
    "ModuleInitializer",
];

/// The attributes of a declaration, with their names without namespace and without the suffix.
pub(in crate::evidence) fn attributes<'t>(node: Node<'t>, names: &Aliases) -> Vec<(String, Node<'t>)> {
    let lists = node.children().filter(|n| n.kind() == "attribute_list");
    lists
        .flat_map(|list| list.named().filter(|n| n.kind() == "attribute"))
        .filter_map(|n| {
            let full = names.resolve(&dotted(n.field("name")?)?);
            let last = full.rsplit('.').next().unwrap_or("");
            Some((last.strip_suffix("Attribute").unwrap_or(last).to_owned(), n))
        })
        .collect()
}

fn any(list: &[(String, Node<'_>)], names: &[&str]) -> bool {
    list.iter().any(|(name, _)| names.contains(&name.as_str()))
}

pub(super) fn read<'t>(node: Node<'t>, _: &Inside<'_>, names: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    match node.kind() {
        "using_directive" => {
            let binds = node.field("name").map(|n| n.text().to_owned());
            Shape::unnamed(Kind::Import, node, "").binding(binds).item()
        }
        "namespace_declaration" => node.field("body").map_or(Read::Nothing, Read::Open),
        "file_scoped_namespace_declaration" => {
            // Its declarations stand behind it or in it, as the grammar likes.
            if node.named().any(|n| n.kind().ends_with("_declaration")) {
                Read::Open(node)
            } else {
                Shape::unnamed(Kind::Constant, node, "").item()
            }
        }
        "declaration_list" => Read::Open(node),
        "class_declaration" | "record_declaration" | "struct_declaration" => {
            let body = node.field("body");
            let tests = body.is_some_and(|b| {
                b.descendants().any(|n| n.kind() == "method_declaration" && any(&attributes(n, names), TESTS))
            });
            Shape::named(if tests { Kind::Suite } else { Kind::Helper }, name, body).suite(Suite::Class).item()
        }
        "interface_declaration" | "enum_declaration" | "delegate_declaration" => {
            Shape::named(Kind::Helper, name, None).item()
        }
        "method_declaration" => {
            let marks = attributes(node, names);
            let mut shape = Shape::named(Kind::Helper, name, node.field("body"));
            if any(&marks, TESTS) {
                shape.kind = Kind::Test;
            } else if any(&marks, HOOKS) || matches!(name, "Dispose" | "DisposeAsync" | "InitializeAsync") {
                (shape.kind, shape.why) = (Kind::Hook, "a hook that the runner calls");
            }
            shape.item()
        }
        "constructor_declaration" => {
            let mut shape = Shape::named(Kind::Hook, "constructor", node.field("body"))
                .because("a constructor that runs before each test");
            shape.binds.clear();
            shape.item()
        }
        "field_declaration" | "property_declaration" | "event_field_declaration" => {
            let declarators =
                node.descendants().filter(|n| n.kind() == "variable_declarator").filter_map(|n| n.field("name"));
            let binds: Vec<String> = declarators.chain(node.field("name")).map(|n| n.text().to_owned()).collect();
            let fixed = node.children().any(|n| n.kind() == "modifier" && n.text() == "static");
            let calls = node.descendants().any(|n| {
                n.kind() == "invocation_expression"
                    && !n.ancestors().take_while(|a| *a != node).any(|a| a.kind().contains("lambda"))
            });
            let mut shape = Shape::new(Kind::Constant, binds.join(", ")).binding(binds);
            if fixed && calls && node.kind() == "field_declaration" {
                (shape.kind, shape.why) = (Kind::Acts, "calls code when the class is loaded");
            }
            shape.item()
        }
        "operator_declaration" | "conversion_operator_declaration" | "indexer_declaration" => {
            Shape::unnamed(Kind::Helper, node, "").item()
        }
        "global_statement" => acts(node, "runs when the program starts"),
        "global_attribute" => Shape::unnamed(Kind::Hook, node, "an attribute of the whole assembly").item(),
        _ => Read::Nothing,
    }
}
