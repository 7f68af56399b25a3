//! Python: pytest, unittest, nose.

use super::{arguments, number};
use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{
    Walk, equality, framework_import, function_of, is_function, literal, squeezed,
};
use crate::evidence::markers::marker::{Condition, MarkerKind, Role};
use crate::evidence::tests::{Kind, dotted};

const FRAMEWORKS: &[&str] = &["pytest", "_pytest", "unittest", "nose", "hypothesis", "conftest", "tests", "test"];

/// The positional or keyword argument of a call.
fn argument<'t>(call: Node<'t>, at: usize, keyword: &str) -> Option<Node<'t>> {
    let arguments = arguments(call);
    let named = arguments
        .iter()
        .find(|a| a.kind() == "keyword_argument" && a.field("name").is_some_and(|n| n.text() == keyword));
    named
        .and_then(|a| a.field("value"))
        .or_else(|| arguments.iter().filter(|a| a.kind() != "keyword_argument").nth(at).copied())
}

fn called(node: Node<'_>) -> Option<Node<'_>> {
    node.parent().filter(|p| p.kind() == "call" && p.field("function") == Some(node))
}

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "attribute" | "identifier" => name(walk, node),
        "decorator" => bare_decorator(walk, node),
        "call" => call(walk, node),
        "assignment" => assignment(walk, node),
        "function_definition" => function(walk, node),
        "if_statement" => dead_code(walk, node),
        "import_statement" | "import_from_statement" if !node.text().contains("unittest.mock") => {
            framework_import(walk, node, FRAMEWORKS);
        }
        "comparison_operator" if walk.role == Role::Product => {
            let text = node.text();
            let framework = ["\"pytest\"", "'pytest'", "\"unittest\"", "'unittest'"].iter().any(|f| text.contains(f));
            if framework && (text.contains("sys.modules") || text.contains("sys.argv")) && !walk.in_test(node) {
                walk.always(MarkerKind::Probe, node, squeezed(node));
            }
        }
        _ => {}
    }
}

/// A name that stands for something of a framework, wherever it is used.
fn name(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let Some(parent) = node.parent() else { return };
    let inner = parent.kind() == "attribute" && node.field_name() == "object";
    let definition = parent.is(&[
        "import_statement",
        "import_from_statement",
        "aliased_import",
        "dotted_name",
        "parameters",
        "keyword_argument_",
        "as_pattern_target",
    ]) || (node.field_name() == "attribute")
        || (node.field_name() == "name"
            && parent.is(&["keyword_argument", "function_definition", "class_definition", "default_parameter"]))
        || (node.field_name() == "left" && parent.kind() == "assignment");
    if inner || definition {
        return;
    }
    if node.kind() == "identifier" && walk.names().get(node.text()).is_none() && node.text() != "SkipTest" {
        return;
    }
    // A renaming is not yet a use; its uses are resolved through it.
    let renaming = parent.kind() == "assignment"
        && node.field_name() == "right"
        && parent.field("left").is_some_and(|l| l.kind() == "identifier" && l.text() != "pytestmark");
    let Some(full) = walk.names().name_of(node) else { return };
    let call = called(node);
    let raised = node.ancestors().take(3).any(|a| a.kind() == "raise_statement");
    match full.as_str() {
        "pytest.mark.skip"
        | "unittest.skip"
        | "unittest.case.skip"
        | "unittest.expectedFailure"
        | "nose.tools.nottest"
        | "nose.tools.istest_"
            if !(renaming && node.kind() == "identifier") =>
        {
            walk.always(MarkerKind::Skip, node, full);
        }
        "pytest.mark.skipif" | "unittest.skipIf" | "unittest.case.skipIf" => {
            if let Some(call) = call {
                walk.skip_if(node, argument(call, 0, "condition"), true, &full);
            }
        }
        "unittest.skipUnless" | "unittest.case.skipUnless" => {
            if let Some(call) = call {
                walk.skip_if(node, argument(call, 0, "condition"), false, &full);
            }
        }
        "pytest.mark.xfail" => {
            let condition = call
                .and_then(|call| argument(call, 0, "condition"))
                .filter(|a| a.kind() != "string" || literal(*a).is_some());
            walk.skip_if(node, condition, true, &full);
        }
        "pytest.skip" | "pytest.xfail" | "_pytest.outcomes.skip" | "_pytest.outcomes.xfail" if call.is_some() => {
            raise_skip(walk, node, &full);
        }
        "pytest.importorskip" => {
            if let Some(call) = call {
                let module = arguments(call).first().map(|a| squeezed(*a)).unwrap_or_default();
                if walk.in_test(node) {
                    walk.emit(MarkerKind::Skip, node, Condition::When(format!("{module} cannot be imported")), full);
                } else {
                    walk.always(MarkerKind::SkipInProduct, node, full);
                }
            }
        }
        "unittest.SkipTest"
        | "unittest.case.SkipTest"
        | "nose.SkipTest"
        | "nose.plugins.skip.SkipTest"
        | "SkipTest"
        | "_pytest.outcomes.Skipped"
        | "pytest.skip.Exception"
        | "_pytest.outcomes.XFailed"
        | "unittest.case._ShouldStop"
            if raised =>
        {
            raise_skip(walk, node, &full);
        }
        "pytest.mark.flaky" | "flaky.flaky" | "flaky" | "pytest.mark.repeat" => {
            let amount = call
                .and_then(|call| argument(call, 0, "reruns").or_else(|| argument(call, 0, "max_runs")))
                .and_then(number);
            walk.emit(MarkerKind::Retry, node, Condition::Always, full).amount = amount.or(Some(1.0));
        }
        "pytest.mark.timeout" => {
            let amount = call.and_then(|call| argument(call, 0, "timeout")).and_then(number);
            walk.emit(MarkerKind::Retry, node, Condition::Always, full).amount = amount;
        }
        "pytest.mark.no_cover" => walk.always(MarkerKind::Coverage, node, full),
        _ => {}
    }
}

fn raise_skip(walk: &mut Walk<'_, '_>, node: Node<'_>, full: &str) {
    let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
    walk.always(kind, node, full.to_owned());
}

/// `@skip` without an import that says what it is.
fn bare_decorator(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let Some(inner) = node.named().next() else { return };
    let call = (inner.kind() == "call").then_some(inner);
    let target = inner.field("function").unwrap_or(inner);
    if target.kind() != "identifier" || walk.names().get(target.text()).is_some() || !walk.in_test(node) {
        return;
    }
    match target.text() {
        "skip" | "expectedFailure" | "nottest" | "xfail" => {
            walk.always(MarkerKind::Skip, node, target.text().to_owned());
        }
        word @ ("skipIf" | "skipif") => walk.skip_if(node, call.and_then(|c| argument(c, 0, "condition")), true, word),
        word @ "skipUnless" => walk.skip_if(node, call.and_then(|c| argument(c, 0, "condition")), false, word),
        "flaky" => {
            let amount = call.and_then(|c| argument(c, 0, "max_runs")).and_then(number);
            walk.emit(MarkerKind::Retry, node, Condition::Always, "flaky").amount = amount.or(Some(1.0));
        }
        _ => {}
    }
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let Some(function) = node.field("function") else { return };
    let Some(full) = walk.names().name_of(function) else { return };
    let last = full.rsplit('.').next().unwrap_or("");
    let first = arguments(node).first().copied();
    match full.as_str() {
        "pytest.mark.parametrize" => {
            let values = argument(node, 1, "argvalues");
            if values.is_some_and(|v| v.is(&["list", "tuple"]) && v.named().next().is_none()) {
                walk.always(MarkerKind::Skip, node, "parametrize without values");
            }
        }
        "os._exit" if first.is_some_and(|a| literal(a) == Some(false)) => {
            super::super::context::exit_zero(walk, node, "os._exit(0)", true);
        }
        "sys.exit" | "exit" | "quit" => {
            let success = first.is_none_or(|a| literal(a) == Some(false));
            let at_import = function_of(node).is_none();
            let main = node.ancestors().any(|a| {
                a.kind() == "if_statement" && a.field("condition").is_some_and(|c| c.text().contains("__name__"))
            });
            let handler = node.ancestors().take_while(|a| !is_function(*a)).any(|a| a.kind() == "except_clause");
            if success && !main && (at_import || (handler && walk.role == Role::Product)) {
                super::super::context::exit_zero(walk, node, &format!("{full}(0)"), true);
            }
        }
        "atexit.register" | "signal.signal" => {
            let text = node.text();
            if text.contains("_exit") && !text.contains('1') {
                super::super::context::exit_zero(walk, node, "an exit with success is registered", true);
            }
        }
        "setattr" => {
            let target = first.and_then(|a| walk.names().name_of(a)).unwrap_or_default();
            patch(walk, node, &target);
        }
        _ if last == "skipTest" => raise_skip(walk, node, &full),
        _ if last == "deselect" || last == "force_result" || last == "force_exception" => {
            let hook = node.ancestors().any(|a| {
                a.kind() == "function_definition" && a.field("name").is_some_and(|n| n.text().starts_with("pytest_"))
            });
            if hook {
                walk.always(MarkerKind::Forced, node, full.clone());
            }
        }
        _ => {}
    }
}

fn patch(walk: &mut Walk<'_, '_>, node: Node<'_>, target: &str) {
    let root = target.split('.').next().unwrap_or("");
    if !matches!(root, "_pytest" | "pytest" | "unittest" | "nose" | "pluggy" | "hypothesis") {
        return;
    }
    let kind = if walk.in_test(node) { MarkerKind::Forced } else { MarkerKind::Touches };
    walk.emit(kind, node, Condition::Always, format!("sets {target}")).condition = Condition::Always;
}

fn assignment(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let (Some(left), Some(right)) = (node.field("left"), node.field("right")) else { return };
    let name = left.field("attribute").unwrap_or(left).text();
    let value = literal(right);
    match name {
        "__test__" if value == Some(false) => walk.always(MarkerKind::Skip, node, "__test__ = False"),
        "__unittest_skip__" | "__unittest_expecting_failure__" if value == Some(true) => {
            walk.always(MarkerKind::Skip, node, name.to_owned());
        }
        "collect_ignore" | "collect_ignore_glob" if right.named().next().is_some() && function_of(node).is_none() => {
            walk.emit(MarkerKind::Disabled, node, Condition::Always, squeezed(node)).tests.clear();
        }
        _ => {}
    }
    let hook = |names: &[&str]| {
        node.ancestors()
            .find(|a| a.kind() == "function_definition")
            .and_then(|f| f.field("name"))
            .is_some_and(|n| names.contains(&n.text()))
    };
    let forced = match (left.kind(), name) {
        ("attribute", "outcome" | "wasxfail" | "longrepr") => {
            hook(&["pytest_runtest_makereport", "pytest_runtest_logreport", "pytest_report_teststatus"])
        }
        ("attribute", "exitstatus") => hook(&["pytest_sessionfinish", "pytest_unconfigure", "pytest_terminal_summary"]),
        ("attribute", "failures" | "errors" | "testsfailed") => right.text() == "0" || right.text() == "[]",
        _ => false,
    };
    if forced {
        walk.emit(MarkerKind::Forced, node, Condition::Always, squeezed(node)).condition = Condition::Always;
    }
    if left.kind() == "subscript" && left.text().starts_with("items[:]") && hook(&["pytest_collection_modifyitems"]) {
        walk.always(MarkerKind::Disabled, node, squeezed(node));
    }
    if left.kind() == "attribute"
        && let Some(target) = walk.names().name_of(left)
    {
        patch(walk, node, &target);
    }
}

fn function(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let name = node.field("name").map_or("", Node::text);
    let Some(body) = node.field("body") else { return };
    let returns = |truth: bool| {
        body.descendants().any(|n| n.kind() == "return_statement" && n.named().next().and_then(literal) == Some(truth))
    };
    match name {
        "pytest_ignore_collect" if returns(true) => {
            walk.emit(MarkerKind::Disabled, node, Condition::Always, name.to_owned());
        }
        "pytest_pyfunc_call" | "pytest_runtest_protocol" if returns(true) => {
            walk.emit(MarkerKind::Forced, node, Condition::Always, name.to_owned());
        }
        "pytest_runtest_call" | "pytest_runtest_makereport" | "pytest_runtest_setup" => {
            let swallows = body.descendants().any(|n| n.kind() == "except_clause" && n.text().contains("pass"))
                && name == "pytest_runtest_call";
            if swallows {
                walk.emit(MarkerKind::Forced, node, Condition::Always, name.to_owned());
            }
        }
        _ => {}
    }
    equality(walk, node, &["__eq__"]);
}

/// Tests under a condition that is never true.
fn dead_code(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let dead = node.field("condition").is_some_and(|c| literal(c) == Some(false));
    let tests = node.field("consequence").is_some_and(|body| {
        body.descendants()
            .any(|n| n.kind() == "function_definition" && n.field("name").is_some_and(|n| n.text().starts_with("test")))
    });
    if dead && tests && walk.in_test(node) {
        walk.emit(MarkerKind::Skip, node, Condition::Always, "tests under a condition that is never true").condition =
            Condition::Always;
    }
}

/// Documentation examples that are skipped, and names of tests that are deleted.
pub(super) fn whole_file(walk: &mut Walk<'_, '_>) {
    for example in &walk.inventory.examples {
        for (line, text) in (example.line..).zip(example.code.lines()) {
            if text.contains("doctest:") && text.contains("+SKIP") {
                let mut marker = super::super::marker::Marker::new(MarkerKind::Skip, "doctest: +SKIP", line);
                marker.scope.clone_from(&example.name);
                walk.markers.push(marker);
            }
        }
    }
    let tests: Vec<String> = walk.inventory.tests().map(|t| t.name.clone()).collect();
    let deletions: Vec<Node<'_>> = walk
        .inventory
        .items
        .iter()
        .filter(|i| i.kind == Kind::Acts && i.why == "deletes a name")
        .map(|i| i.node)
        .collect();
    for node in deletions {
        let hit = node.descendants().filter_map(dotted).find(|name| tests.contains(name));
        if let Some(name) = hit {
            let marker = walk.emit(MarkerKind::Skip, node, Condition::Always, format!("del {name}"));
            marker.tests = vec![name];
        }
    }
}
