//! Go: the testing package, testify, ginkgo.

use super::arguments;
use crate::evidence::grammar::Node;
use crate::evidence::markers::context::{Walk, equality, exit_zero, framework_import, literal, squeezed};
use crate::evidence::markers::marker::{Condition, MarkerKind, Role};

const GINKGO_SKIP: &[&str] = &[
    "PIt",
    "XIt",
    "PDescribe",
    "XDescribe",
    "PContext",
    "XContext",
    "PSpecify",
    "XSpecify",
    "PWhen",
    "PEntry",
    "XEntry",
    "PDescribeTable",
    "XDescribeTable",
];
const GINKGO_FOCUS: &[&str] = &["FIt", "FDescribe", "FContext", "FSpecify", "FWhen", "FEntry", "FDescribeTable"];
const FRAMEWORKS: &[&str] = &[
    "testing",
    "github.com/stretchr/testify",
    "github.com/onsi/ginkgo",
    "github.com/onsi/gomega",
    "github.com/golang/mock",
];
const SYSTEMS: &[&str] = &[
    "windows",
    "darwin",
    "linux",
    "freebsd",
    "netbsd",
    "openbsd",
    "solaris",
    "plan9",
    "aix",
    "js",
    "wasip1",
    "android",
    "ios",
    "dragonfly",
    "illumos",
    "amd64",
    "arm64",
    "arm",
    "386",
    "wasm",
    "ppc64",
    "ppc64le",
    "mips",
    "mipsle",
    "mips64",
    "mips64le",
    "riscv64",
    "s390x",
    "loong64",
];

pub(super) fn visit(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match node.kind() {
        "call_expression" => call(walk, node),
        "function_declaration" if node.field("name").is_some_and(|n| n.text() == "TestMain") => {
            test_main(walk, node);
        }
        "method_declaration" => equality(walk, node, &["Equal", "Equals", "Is"]),
        "import_spec" => {
            let test_helper = walk.path.contains("testutil") || walk.path.contains("testing/");
            if !test_helper {
                framework_import(walk, node, FRAMEWORKS);
            }
        }
        _ => {}
    }
}

fn is_handle(node: Node<'_>, name: &str) -> bool {
    let typed = node.ancestors().any(|a| {
        a.field("parameters").or_else(|| a.field("receiver")).is_some_and(|p| {
            p.descendants().any(|d| {
                d.kind() == "parameter_declaration"
                    && d.fields("name").any(|n| n.text() == name)
                    && d.field("type").is_some_and(|t| {
                        t.text().contains("testing.")
                            || t.text().rsplit('.').next() == Some("C")
                            || t.text().contains("TB")
                    })
            })
        })
    });
    typed || matches!(name, "t" | "b" | "f" | "tb")
}

fn call(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let Some(function) = node.field("function") else { return };
    let first = arguments(node).first().copied();
    let text = function.text();
    if function.kind() == "selector_expression" {
        let (Some(operand), Some(field)) = (function.field("operand"), function.field("field")) else { return };
        let handle = match operand.kind() {
            "identifier" => is_handle(node, operand.text()),
            "call_expression" => operand.text().ends_with(".T()"),
            _ => false,
        };
        if matches!(field.text(), "Skip" | "SkipNow" | "Skipf") && handle {
            let kind = if walk.in_test(node) { MarkerKind::Skip } else { MarkerKind::SkipInProduct };
            let guarded = matches!(super::super::context::around(node), Condition::When(_));
            let marker = walk.emit(kind, node, Condition::Always, text.to_owned());
            if !guarded && first.is_some_and(|a| a.text().contains("testing.Short")) {
                marker.condition = Condition::When("testing.Short()".to_owned());
            }
        }
        if text == "os.Exit" && first.is_some_and(|a| literal(a) == Some(false)) {
            let holder = node
                .ancestors()
                .find(|a| a.kind() == "function_declaration")
                .and_then(|f| f.field("name"))
                .map_or("", Node::text);
            if holder != "TestMain" {
                exit_zero(walk, node, "os.Exit(0)", holder != "main");
            }
        }
        let probe = (text == "testing.Testing"
            || (text == "flag.Lookup" && first.is_some_and(|a| a.text().contains("test."))))
            || (text.starts_with("strings.") && node.text().contains("os.Args") && node.text().contains(".test"));
        if probe && walk.role == Role::Product && !walk.in_test(node) {
            walk.always(MarkerKind::Probe, node, squeezed(node));
        }
        return;
    }
    if !walk.in_test(node) || !walk.imports.contains("onsi/ginkgo") && !GINKGO_FOCUS.contains(&text) {
        return;
    }
    if GINKGO_FOCUS.contains(&text) || text == "Focus" {
        walk.always(MarkerKind::Focus, node, text.to_owned());
    } else if GINKGO_SKIP.contains(&text) || text == "Skip" {
        walk.always(MarkerKind::Skip, node, text.to_owned());
    }
}

/// A `TestMain` that does not end with what the tests said.
fn test_main(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let runs = node
        .descendants()
        .any(|n| n.kind() == "call_expression" && n.field("function").is_some_and(|f| f.text().ends_with(".Run")));
    let exits_zero = node.descendants().any(|n| {
        n.kind() == "call_expression"
            && n.field("function").is_some_and(|f| f.text() == "os.Exit")
            && arguments(n).first().is_some_and(|a| literal(*a) == Some(false))
    });
    let helper = node.descendants().any(|n| n.kind() == "call_expression" && n.text().contains("VerifyTestMain"));
    if exits_zero {
        walk.emit(MarkerKind::Forced, node, Condition::Always, "TestMain ends with success whatever the tests say");
    } else if !runs && !helper {
        walk.emit(MarkerKind::Forced, node, Condition::Always, "TestMain does not run the tests");
    }
}

/// `//go:build integration` before the package clause.
pub(super) fn comment(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    let text = node.text();
    let condition = text.strip_prefix("//go:build ").or_else(|| text.strip_prefix("// +build "));
    let Some(condition) = condition.map(str::trim) else { return };
    let package = walk.inventory.syntax.root().child(&["package_clause"]);
    if package.is_some_and(|p| p.start() < node.start()) || !walk.path.ends_with("_test.go") {
        return;
    }
    if matches!(condition, "ignore" | "never" | "none" | "exclude" | "disabled" | "false" | "skip") {
        walk.always(MarkerKind::Skip, node, text.to_owned());
    } else {
        walk.emit(MarkerKind::Skip, node, Condition::When(format!("not {condition}")), text.to_owned());
    }
}

/// A file whose name keeps it out of the build.
pub(super) fn whole_file(walk: &mut Walk<'_, '_>) {
    let name = walk.path.rsplit('/').next().unwrap_or("");
    let Some(stem) = name.strip_suffix("_test.go") else { return };
    let root = walk.inventory.syntax.root();
    let last = stem.rsplit_once('_').map_or("", |(_, last)| last);
    if name.starts_with(['_', '.']) {
        walk.always(MarkerKind::Skip, root, format!("the go tool leaves out a file named `{name}`"));
    } else if SYSTEMS.contains(&last) {
        walk.emit(
            MarkerKind::Skip,
            root,
            Condition::When(format!("not {last}")),
            format!("a file named `{name}` is built for {last} only"),
        );
    }
}
