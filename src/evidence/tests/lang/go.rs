//! Go: the testing package, testify suites, ginkgo.

use super::{Inside, Read, Shape, Suite, acts};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, unquoted};

const GINKGO_SUITES: &[&str] = &[
    "Describe",
    "Context",
    "When",
    "FDescribe",
    "FContext",
    "FWhen",
    "PDescribe",
    "PContext",
    "XDescribe",
    "XContext",
    "DescribeTable",
    "FDescribeTable",
    "PDescribeTable",
];
const GINKGO_TESTS: &[&str] =
    &["It", "Specify", "FIt", "PIt", "XIt", "FSpecify", "PSpecify", "XSpecify", "Entry", "FEntry", "PEntry"];
const GINKGO_HOOKS: &[&str] = &[
    "BeforeEach",
    "AfterEach",
    "BeforeSuite",
    "AfterSuite",
    "JustBeforeEach",
    "JustAfterEach",
    "BeforeAll",
    "AfterAll",
    "DeferCleanup",
];
const SUITE_HOOKS: &[&str] = &[
    "SetupTest",
    "TearDownTest",
    "SetupSuite",
    "TearDownSuite",
    "BeforeTest",
    "AfterTest",
    "SetupSubTest",
    "TearDownSubTest",
];

/// Whether the go tool runs a function of this name: the letter behind the word is no lower-case one.
fn is_test(name: &str) -> bool {
    ["Test", "Benchmark", "Fuzz", "Example"]
        .iter()
        .any(|word| name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_lowercase)))
}

pub(super) fn read<'t>(node: Node<'t>, inside: &Inside<'_>, names: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    let file = inside.path.rsplit('/').next().unwrap_or("");
    let run = !file.starts_with(['_', '.']);
    match node.kind() {
        "package_clause" => Shape::unnamed(Kind::Constant, node, "").item(),
        "import_declaration" | "import_spec_list" | "const_declaration" | "type_declaration" | "var_declaration"
        | "var_spec_list" => Read::Open(node),
        "import_spec" => import(node),
        "function_declaration" => {
            let mut shape = Shape::named(Kind::Helper, name, node.field("body"));
            match name {
                "init" => (shape.kind, shape.why) = (Kind::Acts, "runs before any test"),
                "TestMain" => (shape.kind, shape.why) = (Kind::Hook, "takes the place of the test runner"),
                _ if is_test(name) && run => shape.kind = Kind::Test,
                _ => {}
            }
            shape.item()
        }
        "method_declaration" => {
            let receiver = node.field("receiver").map_or("", Node::text);
            let receiver = receiver.trim_matches(['(', ')']).rsplit([' ', '*']).next().unwrap_or("").to_owned();
            let mut shape = Shape::named(Kind::Helper, name, node.field("body"));
            shape.name = format!("{receiver}.{name}");
            shape.binds = vec![shape.name.clone()];
            let root = node.syntax().root();
            let own = root
                .descendants()
                .any(|n| n.kind() == "type_spec" && n.field("name").is_some_and(|n| n.text() == receiver));
            if SUITE_HOOKS.contains(&name) {
                (shape.kind, shape.why) = (Kind::Hook, "a hook that the suite calls");
            } else if is_test(name) && run {
                shape.kind = Kind::Test;
            } else if !own {
                (shape.kind, shape.why) = (Kind::Acts, "gives a type of the product new behaviour");
            }
            shape.item()
        }
        "type_spec" | "type_alias" | "const_spec" => Shape::named(Kind::Helper, name, None).item(),
        "var_spec" => variable(node),
        "expression_statement" | "statement_list" | "block" if inside.suite.is_some() => ginkgo(node, names),
        _ if inside.suite.is_some() => Shape::unnamed(Kind::Constant, node, "").item(),
        _ => Read::Nothing,
    }
}

fn import(node: Node<'_>) -> Read<'_> {
    let local = node.field("name").map(Node::text);
    match local {
        Some("_") => return acts(node, "loads a package for what it does"),
        Some(".") => {
            let path = node.field("path").map(unquoted).unwrap_or_default();
            if !path.contains("onsi/") {
                return acts(node, "imports every name of a package");
            }
        }
        _ => {}
    }
    let path = node.field("path").map(unquoted).unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or("").to_owned();
    Shape::unnamed(Kind::Import, node, "").binding([local.map_or(last, str::to_owned)]).item()
}

fn variable(node: Node<'_>) -> Read<'_> {
    let binds: Vec<String> = node.fields("name").map(|n| n.text().to_owned()).filter(|n| n != "_").collect();
    let call = node.field("value").and_then(|v| v.named().next()).filter(|v| v.kind() == "call_expression");
    if let Some(call) = call
        && let Some(suite) = ginkgo_call(call, node)
    {
        return suite.item();
    }
    let literal = |n: Node<'_>| n.ancestors().take_while(|a| *a != node).any(|a| a.kind() == "func_literal");
    let calls = node.field("value").into_iter().flat_map(Node::descendants).any(|n| {
        n.kind() == "call_expression"
            && !literal(n)
            && !n.field("function").is_some_and(|f| {
                let text = f.text();
                [
                    "make",
                    "new",
                    "errors.New",
                    "fmt.Errorf",
                    "flag.",
                    "regexp.MustCompile",
                    "[]byte",
                    "time.",
                    "big.",
                    "string",
                ]
                .iter()
                .any(|p| text.starts_with(p))
            })
    });
    let mut shape = Shape::new(Kind::Constant, binds.join(", ")).binding(binds);
    if shape.name.is_empty() {
        shape.name = super::squeezed(node);
    }
    if calls {
        (shape.kind, shape.why) = (Kind::Acts, "calls code before any test");
    }
    shape.item()
}

fn ginkgo<'t>(node: Node<'t>, _: &Aliases) -> Read<'t> {
    if node.is(&["statement_list", "block"]) {
        return Read::Open(node);
    }
    let call = node.named().next().filter(|n| n.kind() == "call_expression");
    match call.and_then(|call| ginkgo_call(call, node)) {
        Some(shape) => shape.item(),
        None => Shape::unnamed(Kind::Constant, node, "").item(),
    }
}

fn ginkgo_call<'t>(call: Node<'t>, whole: Node<'t>) -> Option<Shape<'t>> {
    let function = call.field("function")?.text();
    let function = function.rsplit('.').next().unwrap_or(function);
    let arguments: Vec<Node<'t>> = call.field("arguments")?.named().collect();
    let title = arguments.first().map(|a| unquoted(*a)).unwrap_or_default();
    let body = arguments.iter().rev().find(|a| a.kind() == "func_literal").and_then(|f| f.field("body"));
    let mut shape = if GINKGO_SUITES.contains(&function) {
        Shape::new(Kind::Suite, title).suite(Suite::Block)
    } else if GINKGO_TESTS.contains(&function) {
        Shape::new(Kind::Test, title)
    } else if GINKGO_HOOKS.contains(&function) {
        Shape::unnamed(Kind::Hook, whole, "a hook that the runner calls")
    } else {
        return None;
    };
    shape.body = body;
    shape.node = Some(whole);
    if shape.kind == Kind::Suite && body.is_none() {
        shape.kind = Kind::Constant;
    }
    Some(shape)
}
