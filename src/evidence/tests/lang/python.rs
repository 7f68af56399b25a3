//! Python: pytest, unittest, nose.

use super::{Inside, Read, Shape, Suite, acts, squeezed};
use crate::evidence::grammar::Node;
use crate::evidence::tests::inventory::Kind;
use crate::evidence::tests::names::{Aliases, dotted};

/// Names that a runner calls or reads by itself.
const HOOKS: &[&str] = &[
    "setup_module",
    "teardown_module",
    "setup_function",
    "teardown_function",
    "setUpModule",
    "tearDownModule",
    "load_tests",
    "setUp",
    "tearDown",
    "setUpClass",
    "tearDownClass",
    "asyncSetUp",
    "asyncTearDown",
    "setup_method",
    "teardown_method",
    "setup_class",
    "teardown_class",
    "setup",
    "teardown",
    "pytestmark",
    "pytest_plugins",
    "collect_ignore",
    "collect_ignore_glob",
    "__test__",
    "__unittest_skip__",
    "__getattr__",
    "__eq__",
    "runTest",
    "run",
    "__new__",
    "__init_subclass__",
];

/// Callees that a constant may call without acting on anything.
const PURE: &[&str] = &[
    "Path",
    "PurePath",
    "dict",
    "list",
    "set",
    "tuple",
    "frozenset",
    "int",
    "float",
    "str",
    "bytes",
    "bool",
    "len",
    "range",
    "sorted",
    "object",
    "min",
    "max",
    "sum",
    "zip",
    "map",
    "enumerate",
    "getLogger",
    "compile",
    "namedtuple",
    "TypeVar",
    "NewType",
    "Decimal",
    "Fraction",
    "datetime",
    "timedelta",
    "date",
    "timezone",
    "UUID",
    "join",
    "dirname",
    "abspath",
    "resolve",
    "joinpath",
    "dedent",
    "encode",
    "decode",
    "format",
    "strip",
    "split",
    "lower",
    "upper",
    "replace",
    "with_suffix",
    "loads",
    "dumps",
    "read_text",
    "read_bytes",
    "OrderedDict",
    "defaultdict",
    "Counter",
    "partial",
    "param",
    "parametrize",
    "raises",
    "approx",
    "get",
    "items",
    "keys",
    "values",
    "super",
    "type",
    "id",
    "cast",
    "skipif",
    "skip",
    "xfail",
    "usefixtures",
    "fixture",
    "given",
    "settings",
    "patch",
    "mark",
    "product",
    "array",
];

pub(super) fn read<'t>(node: Node<'t>, inside: &Inside<'_>, names: &Aliases, _: &[Node<'t>]) -> Read<'t> {
    match node.kind() {
        "block" | "else_clause" | "elif_clause" | "finally_clause" | "except_clause" => Read::Open(node),
        "import_statement" | "import_from_statement" | "future_import_statement" => import(node),
        "function_definition" => function(node, node, inside, names),
        "class_definition" => class(node, node),
        "decorated_definition" => decorated(node, inside, names),
        "expression_statement" => expression(node, names),
        "if_statement" | "try_statement" | "with_statement" => compound(node, inside),
        "delete_statement" => acts(node, "deletes a name").binding_of(node),
        "pass_statement" | "type_alias_statement" => Read::Nothing,
        // Parts of a compound statement that are no blocks.
        _ if inside.suite.is_some() && !node.kind().ends_with("statement") => Read::Nothing,
        _ => acts(node, "runs at import"),
    }
}

impl Read<'_> {
    fn binding_of(mut self, node: Node<'_>) -> Self {
        if let Self::Item(shape) = &mut self {
            shape.binds =
                node.descendants().filter(|n| n.kind() == "identifier").map(|n| n.text().to_owned()).collect();
        }
        self
    }
}

fn import(node: Node<'_>) -> Read<'_> {
    let star = node.child(&["wildcard_import"]).is_some();
    let binds = node.fields("name").map(|part| {
        let name = part.field("alias").or_else(|| part.field("name")).unwrap_or(part).text();
        name.split('.').next().unwrap_or(name).to_owned()
    });
    let mut shape = Shape::unnamed(Kind::Import, node, "").binding(binds);
    if star {
        shape = shape.because("imports every name of a module");
        shape.kind = Kind::Acts;
    }
    shape.item()
}

fn function<'t>(node: Node<'t>, whole: Node<'t>, inside: &Inside<'_>, names: &Aliases) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    let body = node.field("body");
    let in_class = inside.suite == Some(Suite::NamedClass);
    let decorators: Vec<_> = whole.children().filter(|c| c.kind() == "decorator").collect();
    let called = |d: &Node<'_>| {
        let inner = d.named().next();
        let callee = inner.map(|n| n.field("function").unwrap_or(n));
        callee.and_then(|c| names.name_of(c)).unwrap_or_default()
    };
    let fixture = decorators.iter().any(|d| called(d).ends_with("fixture"));
    let autouse = decorators.iter().any(|d| called(d).ends_with("fixture") && squeezed(*d).contains("autouse"));
    let mut shape = Shape::named(Kind::Helper, name, body);
    if autouse {
        (shape.kind, shape.why) = (Kind::Hook, "an autouse fixture");
    } else if HOOKS.contains(&name) || name.starts_with("pytest_") {
        (shape.kind, shape.why) = (Kind::Hook, "a hook that the runner calls");
    } else if decorators.iter().any(|d| called(d).starts_with("atexit.")) {
        (shape.kind, shape.why) = (Kind::Acts, "registers itself to run at exit");
    } else if name.starts_with("test") && !fixture && (in_class || inside.suite != Some(Suite::NamedClass)) {
        shape.kind = Kind::Test;
    }
    let defaults = node.field("parameters").into_iter().flat_map(Node::descendants);
    if shape.kind != Kind::Hook && defaults.filter(|n| n.kind() == "call").any(|call| !pure_call(call)) {
        (shape.kind, shape.why) = (Kind::Acts, "calls code at import, in a default value");
    }
    shape.node = Some(whole);
    shape.item()
}

fn class<'t>(node: Node<'t>, whole: Node<'t>) -> Read<'t> {
    let name = node.field("name").map_or("", Node::text);
    let bases = node.field("superclasses").map_or("", Node::text);
    let body = node.field("body");
    let member = |n: &Node<'_>| {
        n.kind() == "function_definition" && n.field("name").is_some_and(|n| n.text().starts_with("test"))
    };
    let tests = body.is_some_and(|b| b.descendants().any(|n| member(&n)));
    let suite =
        tests && (name.starts_with("Test") || bases.contains("Test") || !bases.is_empty() || name.ends_with("Test"));
    let kind = if suite { Kind::Suite } else { Kind::Helper };
    let mut shape = Shape::named(kind, name, body).suite(Suite::NamedClass);
    shape.node = Some(whole);
    if bases.contains("metaclass") && !suite {
        (shape.kind, shape.why) = (Kind::Acts, "brings a metaclass");
    }
    shape.item()
}

fn decorated<'t>(node: Node<'t>, inside: &Inside<'_>, names: &Aliases) -> Read<'t> {
    match node.field("definition") {
        Some(definition) if definition.kind() == "class_definition" => class(definition, node),
        Some(definition) => function(definition, node, inside, names),
        None => acts(node, "runs at import"),
    }
}

fn expression<'t>(node: Node<'t>, names: &Aliases) -> Read<'t> {
    let Some(inner) = node.named().next() else { return Read::Nothing };
    match inner.kind() {
        "string" | "concatenated_string" | "ellipsis" => Read::Nothing,
        "assignment" => {
            let Some(left) = inner.field("left") else { return acts(node, "runs at import") };
            let binds: Vec<String> =
                left.subtree().filter(|n| n.kind() == "identifier").map(|n| n.text().to_owned()).collect();
            if left.subtree().any(|n| n.is(&["attribute", "subscript"])) {
                return acts(node, "sets a part of something else at import");
            }
            if let [name] = binds.as_slice()
                && HOOKS.contains(&name.as_str())
            {
                return Shape::named(Kind::Hook, name, None).because("a name that the runner reads").item();
            }
            let right = inner.field("right");
            let calls = right.into_iter().flat_map(Node::subtree).filter(|n| n.is(&["call", "await", "yield"]));
            let mut shape = Shape::new(Kind::Constant, binds.join(", ")).binding(binds);
            if calls.into_iter().any(|call| !pure_call(call)) {
                (shape.kind, shape.why) = (Kind::Acts, "calls code at import");
            }
            let _ = names;
            shape.item()
        }
        _ => acts(node, "runs at import"),
    }
}

fn pure_call(call: Node<'_>) -> bool {
    let Some(function) = call.field("function") else { return false };
    let name = dotted(function).or_else(|| function.field("attribute").map(|n| n.text().to_owned()));
    name.is_some_and(|name| PURE.contains(&name.rsplit('.').next().unwrap_or("")))
}

fn compound<'t>(node: Node<'t>, inside: &Inside<'_>) -> Read<'t> {
    let condition = node.field("condition").map_or("", Node::text);
    if condition.contains("__name__") && inside.suite.is_none() {
        return Shape::new(Kind::Constant, "if __name__").item();
    }
    let statements = || {
        node.descendants().filter(|n| {
            n.parent()
                .is_some_and(|p| p.kind() == "block" && p.ancestors().take_while(|a| *a != node).all(|a| !is_scope(a)))
        })
    };
    if statements().any(|n| is_scope(n) || n.kind() == "decorated_definition") {
        let head = node.kind().trim_end_matches("_statement");
        let mut shape = Shape::new(Kind::Suite, format!("{head} {condition}").trim().to_owned());
        shape.body = Some(node);
        return shape.item();
    }
    if node.kind() != "with_statement" && statements().all(|n| n.kind().starts_with("import") || is_plain(n)) {
        let binds = statements().flat_map(|n| match read(n, inside, &Aliases::default(), &[]) {
            Read::Item(shape) => shape.binds,
            _ => Vec::new(),
        });
        return Shape::unnamed(Kind::Import, node, "").binding(binds.collect::<Vec<_>>()).item();
    }
    acts(node, "runs at import")
}

fn is_scope(node: Node<'_>) -> bool {
    node.is(&["function_definition", "class_definition"])
}

fn is_plain(node: Node<'_>) -> bool {
    node.is(&["pass_statement"]) || {
        let assignment = node.named().next().filter(|n| n.kind() == "assignment");
        assignment.is_some_and(|a| {
            a.field("left").is_some_and(|l| l.kind() == "identifier") && a.subtree().all(|n| n.kind() != "call")
        })
    }
}
