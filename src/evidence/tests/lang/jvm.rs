//! Java and Kotlin: JUnit 3 to 5, `TestNG`, Kotest.

use super::{Inside, Read, Shape, Suite, acts};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, dotted, unquoted};

const TESTS: &[&str] = &[
    "Test",
    "ParameterizedTest",
    "RepeatedTest",
    "TestFactory",
    "TestTemplate",
    "Property",
    "Example",
    "Theory",
    "Scenario",
];
const HOOKS: &[&str] = &[
    "Before",
    "After",
    "BeforeEach",
    "AfterEach",
    "BeforeAll",
    "AfterAll",
    "BeforeClass",
    "AfterClass",
    "BeforeMethod",
    "AfterMethod",
    "BeforeSuite",
    "AfterSuite",
    "BeforeTest",
    "AfterTest",
    "Rule",
    "ClassRule",
    "RegisterExtension",
    "TestBean",
    "TempDir_",
    "BeforeTry",
];
const HOOK_NAMES: &[&str] = &["setUp", "tearDown", "setup", "suite"];
const KOTEST_SUITES: &[&str] = &[
    "describe",
    "context",
    "given",
    "when",
    "xdescribe",
    "fdescribe",
    "xcontext",
    "fcontext",
    "Given",
    "When",
    "feature",
    "xgiven",
];
const KOTEST_TESTS: &[&str] = &[
    "test",
    "it",
    "should",
    "then",
    "expect",
    "scenario",
    "xtest",
    "xit",
    "ftest",
    "fit",
    "Then",
    "xshould",
    "xscenario",
    "xexpect",
    "xthen",
];
const KOTEST_HOOKS: &[&str] = &[
    "beforeTest",
    "afterTest",
    "beforeSpec",
    "afterSpec",
    "beforeEach",
    "afterEach",
    "beforeContainer",
    "afterContainer",
    "beforeAny",
    "extension",
    "extensions",
];

/// The annotations of a declaration, with their names without the package.
pub(in crate::evidence) fn annotations<'t>(node: Node<'t>, names: &Aliases) -> Vec<(String, Node<'t>)> {
    let Some(modifiers) = node.child(&["modifiers"]) else { return Vec::new() };
    let named = |n: Node<'t>| {
        let target = n.field("name").or_else(|| {
            let inner = n.child(&["constructor_invocation"]).unwrap_or(n);
            inner.child(&["user_type"])
        })?;
        let full = names.resolve(&dotted(target)?);
        Some((full.rsplit('.').next().unwrap_or("").to_owned(), n))
    };
    modifiers.children().filter(|n| n.kind().ends_with("annotation")).filter_map(named).collect()
}

fn any(list: &[(String, Node<'_>)], names: &[&str]) -> bool {
    list.iter().any(|(name, _)| names.contains(&name.as_str()))
}

pub(super) fn read_java<'t>(node: Node<'t>, inside: &Inside<'_>, names: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    match node.kind() {
        "package_declaration" => Shape::unnamed(Kind::Constant, node, "").item(),
        "import_declaration" => {
            let fixed = node.children().any(|n| n.kind() == "static");
            let last = node.text().trim_end_matches(';').trim().rsplit(['.', ' ']).next().unwrap_or("").to_owned();
            let binds = (last != "*").then_some(last.clone());
            if fixed
                && last == "*"
                && !node.text().contains("junit")
                && !node.text().contains("assertj")
                && !node.text().contains("ockito")
            {
                return acts(node, "imports every static name of a class");
            }
            Shape::unnamed(Kind::Import, node, "").binding(binds).item()
        }
        "class_declaration" => class(node, name, node.field("body"), names),
        "interface_declaration" | "enum_declaration" | "record_declaration" | "annotation_type_declaration" => {
            Shape::named(Kind::Helper, name, node.field("body")).item()
        }
        "method_declaration" => method(node, name, node.field("body"), inside, names),
        "constructor_declaration" | "compact_constructor_declaration" => {
            let mut shape = Shape::named(Kind::Hook, "constructor", node.field("body"))
                .because("a constructor that runs before each test");
            shape.binds.clear();
            shape.item()
        }
        "static_initializer" | "block" => acts(node, "runs when the class is loaded"),
        "field_declaration" => {
            let binds = node.fields("declarator").filter_map(|d| d.field("name")).map(|n| n.text().to_owned());
            field(node, binds.collect(), names)
        }
        _ => Read::Nothing,
    }
}

fn class<'t>(node: Node<'t>, name: &str, body: Option<Node<'t>>, names: &Aliases) -> Read<'t> {
    let member = |n: &Node<'t>| {
        let function = n.is(&["method_declaration", "function_declaration"]);
        function
            && (any(&annotations(*n, names), TESTS) || n.field("name").is_some_and(|n| n.text().starts_with("test")))
    };
    let tests = body.is_some_and(|b| b.descendants().any(|n| member(&n)))
        || body.is_some_and(|_| any(&annotations(node, names), &["Test", "Nested"]));
    Shape::named(if tests { Kind::Suite } else { Kind::Helper }, name, body).suite(Suite::Class).item()
}

fn method<'t>(node: Node<'t>, name: &str, body: Option<Node<'t>>, inside: &Inside<'_>, names: &Aliases) -> Read<'t> {
    let marks = annotations(node, names);
    let parameters = node.field("parameters").or_else(|| node.child(&["function_value_parameters"]));
    let mut shape = Shape::named(Kind::Helper, name, body);
    // JUnit 3 finds its tests by name in classes that extend TestCase.
    let junit3 = || {
        name.starts_with("test")
            && parameters.is_none_or(|p| p.named().next().is_none())
            && node
                .ancestors()
                .find(|a| a.kind() == "class_declaration")
                .is_some_and(|c| c.text().split('{').next().unwrap_or("").contains("TestCase"))
    };
    if any(&marks, TESTS) || (inside.suite.is_some() && junit3()) {
        shape.kind = Kind::Test;
    } else if any(&marks, HOOKS) || (HOOK_NAMES.contains(&name) && inside.suite.is_some()) {
        (shape.kind, shape.why) = (Kind::Hook, "a hook that the runner calls");
    }
    shape.item()
}

fn field<'t>(node: Node<'t>, binds: Vec<String>, names: &Aliases) -> Read<'t> {
    let marks = annotations(node, names);
    let modifiers = node.child(&["modifiers"]).map_or("", Node::text);
    let mut shape = Shape::new(Kind::Constant, binds.join(", ")).binding(binds);
    let calls = node.descendants().any(|n| {
        n.is(&["method_invocation", "call_expression"])
            && !n
                .ancestors()
                .take_while(|a| *a != node)
                .any(|a| a.kind().contains("lambda") || a.kind().ends_with("body"))
    });
    if any(&marks, HOOKS) {
        (shape.kind, shape.why) = (Kind::Hook, "a rule that the runner applies");
    } else if calls && modifiers.contains("static") {
        (shape.kind, shape.why) = (Kind::Acts, "calls code when the class is loaded");
    }
    shape.item()
}

pub(super) fn read_kotlin<'t>(node: Node<'t>, inside: &Inside<'_>, names: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    match node.kind() {
        "package_header" => Shape::unnamed(Kind::Constant, node, "").item(),
        "import" => {
            let last = node.text().trim().rsplit(['.', ' ']).next().unwrap_or("").to_owned();
            Shape::unnamed(Kind::Import, node, "").binding((last != "*").then_some(last.clone())).item()
        }
        "class_declaration" | "object_declaration" | "companion_object" => {
            let lambda = node.child(&["delegation_specifiers"]).and_then(|d| {
                d.descendants()
                    .find(|n| n.kind() == "lambda_literal" && n.parent().is_some_and(|p| p.kind() == "value_argument"))
            });
            if let Some(lambda) = lambda {
                return Shape::named(Kind::Suite, name, Some(lambda)).item();
            }
            let name = if name.is_empty() { node.kind() } else { name };
            class(node, name, node.child(&["class_body", "enum_class_body"]), names)
        }
        "function_declaration" => method(node, name, node.child(&["function_body"]), inside, names),
        "property_declaration" => {
            let binds = node
                .descendants()
                .filter(|n| n.kind() == "identifier" && n.parent().is_some_and(|p| p.kind() == "variable_declaration"));
            field(node, binds.map(|n| n.text().to_owned()).collect(), names)
        }
        "anonymous_initializer" => acts(node, "runs when the class is loaded"),
        "statements" | "block" => Read::Open(node),
        "call_expression" | "infix_expression" if inside.suite.is_some() => kotest(node),
        _ if inside.suite.is_some() && !node.kind().ends_with("modifiers") => {
            Shape::unnamed(Kind::Constant, node, "").item()
        }
        _ => Read::Nothing,
    }
}

fn kotest(node: Node<'_>) -> Read<'_> {
    let parts: Vec<_> = node.named().collect();
    let body = node.descendants().find(|n| n.kind() == "lambda_literal");
    let (function, title) = match parts.first() {
        Some(first) if first.kind() == "string_literal" => ("test", unquoted(*first)),
        Some(first) if first.kind() == "call_expression" => {
            let inner: Vec<_> = first.named().collect();
            let title = first.descendants().find(|n| n.kind() == "string_literal").map(unquoted).unwrap_or_default();
            (inner.first().map_or("", |n| n.text()), title)
        }
        Some(first) => (first.text(), String::new()),
        None => ("", String::new()),
    };
    let function = function.rsplit('.').next().unwrap_or(function);
    let mut shape = if KOTEST_SUITES.contains(&function) {
        Shape::new(Kind::Suite, title)
    } else if KOTEST_TESTS.contains(&function) && body.is_some() {
        Shape::new(Kind::Test, title)
    } else if KOTEST_HOOKS.contains(&function) {
        Shape::unnamed(Kind::Hook, node, "a hook that the runner calls")
    } else {
        Shape::unnamed(Kind::Constant, node, "")
    };
    shape.body = body;
    if shape.kind == Kind::Suite && body.is_none() {
        shape.kind = Kind::Constant;
    }
    shape.item()
}
