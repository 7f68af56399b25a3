//! JavaScript and TypeScript: jest, vitest, mocha, jasmine, node:test, ava, playwright.

use super::{Inside, Read, Shape, acts};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, dotted, unquoted};

const SUITES: &[&str] =
    &["describe", "context", "suite", "xdescribe", "fdescribe", "xcontext", "fcontext", "ddescribe"];
const TESTS: &[&str] = &[
    "it", "test", "specify", "xit", "fit", "xtest", "ftest", "xspecify", "fspecify", "iit", "bench", "Deno", "suite",
    "property", "scenario",
];
const HOOKS: &[&str] = &[
    "before",
    "after",
    "beforeEach",
    "afterEach",
    "beforeAll",
    "afterAll",
    "setup",
    "teardown",
    "suiteSetup",
    "suiteTeardown",
    "onTestFailed",
    "onTestFinished",
];
const PURE: &[&str] = &[
    "fn",
    "resolve",
    "join",
    "dirname",
    "fileURLToPath",
    "Symbol",
    "parse",
    "stringify",
    "freeze",
    "keys",
    "entries",
    "values",
    "from",
    "raw",
    "fill",
    "repeat",
    "map",
    "String",
    "Number",
    "BigInt",
    "Array",
    "Object",
    "require",
    "import",
    "promisify",
    "dedent",
    "gql",
    "spyOn_",
    "toString",
    "trim",
    "split",
    "slice",
    "concat",
    "createRequire",
    "readFileSync",
];

/// The name of what a call calls, through `.each(table)` and such: `it.only.each`.
pub(in crate::evidence) fn path_of(function: Node<'_>, names: &Aliases) -> Option<String> {
    match function.kind() {
        "call_expression" => path_of(function.field("function")?, names),
        "parenthesized_expression" | "non_null_expression" => path_of(function.named().next()?, names),
        "ternary_expression" => path_of(function.field("consequence")?, names),
        "member_expression" if function.field("object").is_some_and(|o| o.kind() == "call_expression") => {
            let object = path_of(function.field("object")?, names)?;
            Some(format!("{object}.{}", function.field("property")?.text()))
        }
        _ => names.name_of(function),
    }
}

pub(super) fn read<'t>(node: Node<'t>, inside: &Inside<'_>, names: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    match node.kind() {
        "export_statement" | "statement_block" | "ambient_declaration" => {
            if node.field("source").is_some() {
                acts(node, "exports what another module brings")
            } else {
                Read::Open(node)
            }
        }
        "import_statement" => import(node),
        "function_declaration"
        | "generator_function_declaration"
        | "class_declaration"
        | "abstract_class_declaration" => {
            Shape::named(Kind::Helper, node.field("name").map_or("", Node::text), node.field("body")).item()
        }
        "interface_declaration"
        | "type_alias_declaration"
        | "enum_declaration"
        | "function_signature"
        | "internal_module"
        | "module" => Shape::named(Kind::Helper, node.field("name").map_or("", Node::text), None).item(),
        "lexical_declaration" | "variable_declaration" => {
            if node.named().filter(|n| n.kind() == "variable_declarator").count() == 1 {
                variable(node, names)
            } else {
                Read::Open(node)
            }
        }
        "variable_declarator" => declarator(node, node, names),
        "expression_statement" => expression(node, inside, names),
        "arrow_function" | "function_expression" | "call_expression" | "object" | "class" if inside.suite.is_none() => {
            acts(node, "is what the file exports")
        }
        "empty_statement" | "comment" | "hash_bang_line" | "string" => Read::Nothing,
        "if_statement" | "for_statement" | "for_in_statement" | "try_statement" if holds_tests(node, names) => {
            let mut shape = Shape::unnamed(Kind::Suite, node, "");
            shape.name = node.text().split('{').next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
            shape.body = node.field("consequence").or_else(|| node.field("body"));
            shape.item()
        }
        _ if node.kind().ends_with("identifier") => Read::Nothing,
        _ => acts(node, "runs when the file is loaded"),
    }
}

fn holds_tests(node: Node<'_>, names: &Aliases) -> bool {
    let calls = node.descendants().filter(|n| n.kind() == "call_expression");
    calls.filter_map(|c| path_of(c.field("function")?, names)).any(|name| {
        let head = name.split('.').next().unwrap_or("");
        TESTS.contains(&head) || SUITES.contains(&head)
    })
}

fn import(node: Node<'_>) -> Read<'_> {
    let Some(clause) = node.child(&["import_clause"]) else { return acts(node, "loads a module for what it does") };
    let binds = clause.descendants().filter(|n| {
        n.kind() == "identifier"
            && (n.field_name() == "alias" || n.parent().is_some_and(|p| p.field("alias").is_none()))
    });
    Shape::unnamed(Kind::Import, node, "").binding(binds.map(|n| n.text().to_owned())).item()
}

fn variable<'t>(node: Node<'t>, names: &Aliases) -> Read<'t> {
    match node.child(&["variable_declarator"]) {
        Some(inner) => declarator(inner, node, names),
        None => acts(node, "runs when the file is loaded"),
    }
}

fn declarator<'t>(node: Node<'t>, whole: Node<'t>, names: &Aliases) -> Read<'t> {
    let Some(left) = node.field("name") else { return Read::Nothing };
    let binds: Vec<String> = left
        .subtree()
        .filter(|n| n.is(&["identifier", "shorthand_property_identifier_pattern"]))
        .map(|n| n.text().to_owned())
        .collect();
    let value = node.field("value");
    let text = value.map_or("", Node::text);
    let kind = match value.map(Node::kind) {
        _ if text.starts_with("require(") || text.starts_with("await import(") => Kind::Import,
        Some("arrow_function" | "function_expression" | "class" | "generator_function") => Kind::Helper,
        _ => Kind::Constant,
    };
    let mut shape = Shape::new(kind, binds.join(", ")).binding(binds);
    shape.node = Some(whole);
    shape.body = value.and_then(|v| v.field("body"));
    if kind == Kind::Import {
        shape.name = super::squeezed(whole);
    } else if kind == Kind::Constant
        && value
            .into_iter()
            .flat_map(outside_functions)
            .any(|n| n.is(&["call_expression", "await_expression"]) && !pure(n, names))
    {
        (shape.kind, shape.why) = (Kind::Acts, "calls code when the file is loaded");
    }
    shape.item()
}

/// The nodes of an expression that run when it is evaluated.
fn outside_functions<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    let function = |n: Node<'t>| n.is(&["arrow_function", "function_expression", "method_definition", "class_body"]);
    node.subtree().filter(move |n| !n.ancestors().take_while(|a| node.holds(*a)).any(function))
}

fn pure(call: Node<'_>, names: &Aliases) -> bool {
    if call.kind() == "await_expression" {
        return call.named().next().is_some_and(|n| n.kind() == "call_expression");
    }
    let Some(function) = call.field("function") else { return false };
    let name = path_of(function, names).or_else(|| function.field("property").map(|p| p.text().to_owned()));
    name.is_some_and(|name| PURE.contains(&name.rsplit('.').next().unwrap_or("")))
}

fn expression<'t>(node: Node<'t>, inside: &Inside<'_>, names: &Aliases) -> Read<'t> {
    let Some(mut call) = node.named().next() else { return Read::Nothing };
    if call.kind() == "string" {
        return Read::Nothing;
    }
    if call.kind() == "internal_module" {
        return Read::Open(node);
    }
    if call.kind() == "await_expression" {
        call = call.named().next().unwrap_or(call);
    }
    if call.kind() == "assignment_expression" {
        let left = call.field("left").and_then(dotted).unwrap_or_default();
        let module = left.starts_with("module.exports") || left.starts_with("exports.");
        return if module && inside.suite.is_none() {
            Shape::unnamed(Kind::Constant, node, "").item()
        } else {
            acts(node, "sets something when the file is loaded")
        };
    }
    let name = call.field("function").and_then(|f| path_of(f, names));
    let (Some(name), "call_expression") = (name, call.kind()) else {
        return acts(node, "runs when the file is loaded");
    };
    let parts: Vec<&str> = name.split('.').collect();
    let arguments: Vec<Node<'t>> = call.field("arguments").map(|a| a.named().collect()).unwrap_or_default();
    let title = arguments.first().map(|a| unquoted(*a)).unwrap_or_default();
    let callback = arguments.iter().rev().find(|a| a.is(&["arrow_function", "function_expression"])).copied();
    let body = callback.and_then(|c| c.field("body"));
    let block = body.filter(|b| b.kind() == "statement_block");
    let head = parts.first().copied().unwrap_or("");
    let hook = |name: &str| HOOKS.contains(&name);
    let mut shape =
        if hook(head) || (parts.len() > 1 && TESTS.contains(&head) && parts.iter().any(|p| hook(p) || *p == "use")) {
            Shape::unnamed(Kind::Hook, node, "a hook that the runner calls")
        } else if SUITES.contains(&head) || (TESTS.contains(&head) && parts.iter().any(|p| SUITES.contains(p))) {
            let mut shape = Shape::new(Kind::Suite, title);
            shape.body = block;
            if block.is_none() {
                shape.kind = Kind::Test;
            }
            shape
        } else if TESTS.contains(&head) && !title.is_empty() && !arguments.is_empty() {
            let mut shape = Shape::new(Kind::Test, title);
            shape.body = body;
            shape
        } else {
            Shape::unnamed(Kind::Acts, node, "runs when the file is loaded")
        };
    shape.node = Some(node);
    shape.item()
}
