//! JavaScript and TypeScript: jest, vitest, mocha, jasmine, node:test, ava, playwright, Deno.

use super::{arguments, number};
use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{
    Walk, equality, exit_zero, framework_import, function_of, is_function, literal, squeezed,
};
use crate::evidence::markers::marker::{Condition, MarkerKind, Role};
use crate::evidence::tests::{dotted, script_path, unquoted};

const TESTS: &[&str] = &[
    "it",
    "test",
    "specify",
    "bench",
    "Deno",
    "QUnit",
    "describe",
    "context",
    "suite",
    "scenario",
    "step",
    "property",
    "experiment",
];
const X_WORDS: &[&str] = &["xit", "xtest", "xdescribe", "xcontext", "xspecify"];
const F_WORDS: &[&str] = &["fit", "ftest", "fdescribe", "fcontext", "fspecify", "iit", "ddescribe"];
const FRAMEWORKS: &[&str] = &[
    "jest",
    "@jest",
    "vitest",
    "mocha",
    "jasmine",
    "node:test",
    "ava",
    "@playwright/test",
    "chai",
    "sinon",
    "bun:test",
    "cypress",
    "@testing-library",
];

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "member_expression" | "subscript_expression" => {
            chain(walk, node);
            environment(walk, node);
        }
        "call_expression" => call(walk, node),
        "assignment_expression" => assignment(walk, node),
        "import_statement" => framework_import(walk, node, FRAMEWORKS),
        "method_definition" => equality(walk, node, &["equals", "isEqual", "asymmetricMatch", "eq", "equal"]),
        _ => {}
    }
}

fn is_test_code(walk: &Walk<'_, '_>, node: Node<'_>) -> bool {
    walk.in_test(node)
}

/// `it.skip`, `test.describe.only`, `it["skip"]`: called or only named.
fn chain(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let outer = node
        .parent()
        .is_some_and(|p| p.is(&["member_expression", "subscript_expression"]) && p.field("object") == Some(node));
    if outer || !is_test_code(walk, node) {
        return;
    }
    let Some(full) = script_path(node, walk.names()) else { return };
    let parts: Vec<&str> = full.split('.').collect();
    if parts.len() < 2 || !TESTS.contains(&parts[0]) {
        return;
    }
    let call = node
        .ancestors()
        .take(2)
        .find(|a| a.kind() == "call_expression" && a.field("function").is_some_and(|f| f == node));
    let first = call.and_then(|c| arguments(c).first().copied());
    for part in &parts[1..] {
        match *part {
            "only" => walk.always(MarkerKind::Focus, node, full.clone()),
            "skipIf" | "runIf" | "todoIf" | "if" => walk.skip_if(node, first, *part != "runIf" && *part != "if", &full),
            "skip" | "todo" | "failing" | "fails" | "fixme" | "fail" | "ignore" | "pending" | "xfail" => {
                // Playwright asks inside a test: `test.skip(browser === "x", "why")`.
                let condition = first.filter(|a| {
                    !a.is(&["string", "template_string", "arrow_function", "function_expression", "array"])
                });
                let inside = call.is_some_and(|c| {
                    arguments(c)
                        .iter()
                        .all(|a| !a.is(&["arrow_function", "function_expression"]) || condition.is_some())
                });
                match condition.filter(|_| inside && call.is_some_and(|c| arguments(c).len() <= 2 && !named_title(c))) {
                    Some(condition) => walk.skip_if(node, Some(condition), true, &full),
                    None => walk.always(MarkerKind::Skip, node, full.clone()),
                }
            }
            _ => continue,
        }
        return;
    }
}

/// Whether a call names its test by something other than a string: `it.skip(title, () => {})`.
fn named_title(call: Node<'_>) -> bool {
    arguments(call).iter().skip(1).any(|a| a.is(&["arrow_function", "function_expression", "identifier"]))
}

/// Variables by which a product can tell that a test runs.
fn environment(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    if walk.role == Role::Test || walk.in_test(node) {
        return;
    }
    let Some(name) = dotted(node) else { return };
    match name.as_str() {
        "process.env.JEST_WORKER_ID"
        | "process.env.VITEST"
        | "process.env.VITEST_WORKER_ID"
        | "process.env.CI"
        | "import.meta.vitest"
        | "process.env.GITHUB_ACTIONS"
        | "process.env.NODE_TEST_CONTEXT"
        | "process.env.PROPERTY_MODE"
        | "process.env.ORACLE_ROOT"
        | "process.env.TRIAL_LOG"
        | "process.env.PROPERTY_SEED" => walk.always(MarkerKind::Probe, node, name.clone()),
        "process.env.NODE_ENV" => {
            let test = node.parent().is_some_and(|p| {
                p.kind() == "binary_expression" && (p.text().contains("'test'") || p.text().contains("\"test\""))
            });
            if test {
                walk.always(MarkerKind::Probe, node, format!("{name} is `test`"));
            }
        }
        _ => {}
    }
    if name.starts_with("globalThis.") && matches!(name.rsplit('.').next(), Some("jest" | "vi" | "describe" | "expect"))
    {
        walk.always(MarkerKind::Probe, node, name);
    }
}

/// The first parameter's name of the test callback that holds a node: `t` of `test("x", t => …)`.
fn context_names<'t>(walk: &Walk<'_, '_>, node: Node<'t>) -> Vec<&'t str> {
    let callbacks = node.ancestors().filter(|a| is_function(*a)).filter(|f| {
        let call = f.ancestors().take(2).find(|a| a.kind() == "call_expression");
        call.and_then(|c| script_path(c.field("function")?, walk.names())).is_some_and(|name| {
            let head = name.split('.').next().unwrap_or("").to_owned();
            TESTS.contains(&head.as_str())
                || name.rsplit('.').next() == Some("test")
                || ["before", "after", "beforeEach", "afterEach"].contains(&head.as_str())
        })
    });
    callbacks
        .filter_map(|f| f.field("parameter").or_else(|| f.field("parameters").and_then(|p| p.named().next())))
        .map(|p| p.field("pattern").unwrap_or(p).text())
        .collect()
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let Some(function) = node.field("function") else { return };
    let arguments = arguments(node);
    let Some(full) = script_path(function, walk.names()) else { return };
    let parts: Vec<&str> = full.split('.').collect();
    let head = parts.first().copied().unwrap_or("");
    let last = parts.last().copied().unwrap_or("");
    let first = arguments.first().copied();
    let plain = function.kind() == "identifier";
    if head == "process" && last == "exit" && first.is_none_or(|a| literal(a) == Some(false)) {
        let handler = node.ancestors().any(|a| a.kind() == "call_expression" && a.text().starts_with("process.on"));
        exit_zero(walk, node, "process.exit(0)", function_of(node).is_none() || handler);
    }
    if full == "require" {
        framework_import(walk, node, FRAMEWORKS);
    }
    if !is_test_code(walk, node) {
        return;
    }
    if plain && X_WORDS.contains(&head) {
        walk.always(MarkerKind::Skip, node, full.clone());
    } else if plain && F_WORDS.contains(&head) {
        walk.always(MarkerKind::Focus, node, full.clone());
    } else if plain && full == "pending" {
        walk.always(MarkerKind::Skip, node, "pending()");
    } else if plain
        && matches!(head, "it" | "test" | "specify")
        && arguments.len() == 1
        && first.is_some_and(|a| a.kind().contains("string"))
    {
        walk.always(MarkerKind::Skip, node, "a test without a body");
    } else if matches!(
        full.as_str(),
        "jest.retryTimes" | "jest.setTimeout" | "vi.setConfig" | "jasmine.DEFAULT_TIMEOUT_INTERVAL"
    ) {
        walk.emit(MarkerKind::Retry, node, Condition::Always, full.clone()).amount = first.and_then(number);
    } else if (full == "each" || (TESTS.contains(&head) && last == "each"))
        && function.kind() != "call_expression"
        && first.is_some_and(|a| a.kind() == "array" && a.named().next().is_none())
    {
        walk.always(MarkerKind::Skip, node, "each without rows");
    }
    if TESTS.contains(&head) {
        for option in arguments.iter().filter(|a| a.kind() == "object").flat_map(|o| o.named()) {
            self::option(walk, node, option);
        }
        if let Some(limit) = arguments.get(2).and_then(|a| number(*a)) {
            walk.emit(MarkerKind::Retry, node, Condition::Always, "a time limit of its own").amount = Some(limit);
        }
    }
    if parts.len() >= 2 && matches!(last, "skip" | "todo" | "retries" | "timeout" | "fixme") {
        let own = head == "this" || context_names(walk, node).contains(&head);
        let destructured = false;
        if own || destructured {
            if matches!(last, "retries" | "timeout") {
                walk.emit(MarkerKind::Retry, node, Condition::Always, full).amount = first.and_then(number);
            } else {
                let condition = first.filter(|a| !a.kind().contains("string"));
                match condition {
                    Some(condition) if arguments.len() <= 2 && last == "skip" && parts.len() == 2 => {
                        walk.skip_if(node, Some(condition), true, &full);
                    }
                    _ => walk.always(MarkerKind::Skip, node, full),
                }
            }
        }
    }
}

fn option(walk: &mut Walk<'_, '_>, call: Node<'_>, pair: Node<'_>) {
    let (Some(key), Some(value)) = (pair.field("key"), pair.field("value")) else { return };
    let key = unquoted(key);
    match key.as_str() {
        "skip" | "todo" | "fails" | "failing" | "ignore" | "pending" => {
            if value.kind().contains("string") {
                walk.always(MarkerKind::Skip, call, format!("{{ {key} }}"));
            } else {
                walk.skip_if(call, Some(value), true, &format!("{{ {key} }}"));
            }
        }
        "only" if literal(value) == Some(true) => walk.always(MarkerKind::Focus, call, "{ only }"),
        "retry" | "retries" | "timeout" | "repeats" => {
            walk.emit(MarkerKind::Retry, call, Condition::Always, format!("{{ {key} }}")).amount = number(value);
        }
        _ => {}
    }
}

fn assignment(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let (Some(left), Some(right)) = (node.field("left"), node.field("right")) else { return };
    let Some(name) = dotted(left) else { return };
    if name == "process.exitCode" && right.text() == "0" {
        exit_zero(walk, node, "process.exitCode = 0", true);
    }
    let last = name.rsplit('.').next().unwrap_or("");
    let global = !name.contains('.')
        || name.starts_with("global.")
        || name.starts_with("globalThis.")
        || name.starts_with("window.");
    if global && matches!(last, "expect" | "it" | "test" | "describe" | "assert" | "jest" | "vi") {
        let kind = if walk.role == Role::Test { MarkerKind::Forced } else { MarkerKind::Touches };
        walk.always(kind, node, format!("sets {name}"));
    }
    if name.starts_with("expect.") || name.starts_with("assert.") || name.starts_with("Assertion.prototype") {
        walk.always(
            if walk.role == Role::Test { MarkerKind::Forced } else { MarkerKind::Touches },
            node,
            squeezed(left),
        );
    }
}
