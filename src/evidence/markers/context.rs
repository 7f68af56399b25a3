//! One walk over one side of a file.

use super::marker::{Condition, Marker, MarkerKind, Role};
use super::{lang, text};
use crate::evidence::grammar::{Language, Node, Syntax};
use crate::evidence::tests::{Aliases, Inventory, Kind};

/// What scanning one side of a file gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scanned {
    /// The markers, in order of their lines.
    pub markers: Vec<Marker>,
    /// Why lines were read as text and not by a grammar; `None` when all were parsed.
    pub as_text: Option<String>,
}

/// Lists the markers of one side of a file.
pub fn scan(inventory: &Inventory<'_>, path: &str, role: Role, extra: &[(String, MarkerKind)]) -> Scanned {
    let syntax = inventory.syntax;
    let mut walk = Walk { inventory, path, role, markers: Vec::new(), imports: imports_of(syntax) };
    let visit = lang::visitor(syntax.language());
    for node in syntax.all().filter(|n| n.is_named()) {
        if node.is_comment() {
            walk.comment(node);
        } else {
            visit(&mut walk, node);
            walk.anywhere(node);
        }
    }
    lang::whole_file(&mut walk);
    let mut markers = walk.markers;
    let mut as_text = None;
    if !syntax.broken_lines().is_empty() {
        as_text = Some("some lines do not parse and were read as text".to_owned());
        let broken = |line: u32| syntax.broken_lines().iter().any(|(first, last)| (*first..=*last).contains(&line));
        let known = |line: u32| markers.iter().any(|m| m.line == line);
        let found: Vec<_> =
            text::scan(syntax.source(), path, &[]).into_iter().filter(|m| broken(m.line) && !known(m.line)).collect();
        markers.extend(found);
    }
    markers.extend(text::extra(syntax, extra));
    markers.sort_by(|a, b| (a.line, a.kind, &a.spelling).cmp(&(b.line, b.kind, &b.spelling)));
    markers.dedup_by(|a, b| {
        (a.line, a.kind, &a.scope, &a.condition) == (b.line, b.kind, &b.scope, &b.condition) && a.spelling == b.spelling
    });
    Scanned { markers, as_text }
}

impl Scanned {
    /// Lists the markers of a side that no grammar could read.
    pub fn of_text(bytes: &[u8], path: &str, why: &dyn std::fmt::Display, extra: &[(String, MarkerKind)]) -> Self {
        let markers = text::scan(&String::from_utf8_lossy(bytes), path, extra);
        Self { markers, as_text: Some(format!("read as text: {why}")) }
    }
}

fn imports_of(syntax: &Syntax<'_>) -> String {
    let import = |n: &Node<'_>| {
        n.is(&[
            "import_statement",
            "import_from_statement",
            "import_declaration",
            "import",
            "use_declaration",
            "using_directive",
            "namespace_use_declaration",
            "preproc_include",
        ]) || (n.kind() == "call_expression" && n.text().starts_with("require("))
    };
    syntax.all().filter(import).map(Node::text).collect::<Vec<_>>().join("\n")
}

/// The state of one walk.
pub(super) struct Walk<'w, 't> {
    pub(super) inventory: &'w Inventory<'t>,
    pub(super) path: &'w str,
    pub(super) role: Role,
    pub(super) markers: Vec<Marker>,
    /// The text of all imports.
    pub(super) imports: String,
}

/// Words by which a product can tell that a test or the gate itself runs, wherever they stand as a string.
const PROBES: &[&str] = &[
    "PYTEST_CURRENT_TEST",
    "PYTEST_XDIST_WORKER",
    "PYTEST_VERSION",
    "JEST_WORKER_ID",
    "VITEST",
    "VITEST_WORKER_ID",
    "MOCHA_COLORS",
    "NEXTEST",
    "NEXTEST_RUN_ID",
    "CARGO_TARGET_TMPDIR",
    "PROPERTY_MODE",
    "PROPERTY_SEED",
    "PROPERTY_TRIALS",
    "TRIAL_LOG",
    "ORACLE_ROOT",
    "test.v",
    "test.run",
    "surefire.test.class.path",
    "surefire.real.class.path",
    "PHPUNIT_COMPOSER_INSTALL",
    "TEST_ENV_NUMBER",
    "GTEST_OUTPUT",
    "_called_from_test",
];
/// Variables that a build machine sets; they count where a product reads the environment.
const CI_VARIABLES: &[&str] = &[
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "TRAVIS",
    "CIRCLECI",
    "BUILDKITE",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "REPO_ROOT",
];
/// Places where evidence lives.
const EVIDENCE: &[&str] = &[
    "tests/fixtures/",
    "testdata/",
    "__snapshots__",
    "fixtures.lock",
    "freeze_ledger.json",
    ".evidence-gate.toml",
    "test/fixtures/",
    "spec/fixtures/",
];
/// Words in comments that keep lines out of the coverage.
const COVERAGE: &[&str] = &[
    "pragma: no cover",
    "pragma: no branch",
    "pragma:no cover",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "node:coverage",
    "LCOV_EXCL",
    "GCOV_EXCL",
    "GCOVR_EXCL",
    ":nocov:",
    "coverage:ignore",
    "@codeCoverageIgnore",
    "nocoverage",
    "kcov-ignore",
    "coverage: ignore",
    "grcov-excl",
    "BULLSEYE",
];

impl Walk<'_, '_> {
    /// What names mean.
    pub(super) fn names(&self) -> &Aliases {
        &self.inventory.aliases
    }

    /// Whether a node is test code: the file is, or it lies in a test inside a product.
    pub(super) fn in_test(&self, node: Node<'_>) -> bool {
        self.role == Role::Test || self.inventory.around(node).is_some()
    }

    /// Notes a marker with the conditions that stand around it.
    pub(super) fn emit(
        &mut self,
        kind: MarkerKind,
        node: Node<'_>,
        own: Condition,
        spelling: impl Into<String>,
    ) -> &mut Marker {
        let condition = match own {
            Condition::Always => around(node),
            own @ Condition::When(_) => own,
        };
        let mut marker = Marker::new(kind, spelling, node.line());
        marker.condition = condition;
        if let Some((at, item)) = self.inventory.around(node) {
            marker.scope.clone_from(&item.path);
            // A hook, a value or a statement of a suite reaches every test of it; a helper's reach is not known.
            let reach = match item.kind {
                Kind::Test | Kind::Suite | Kind::Helper => Some(at),
                _ => item.parent,
            };
            let tests: Vec<String> = match reach {
                Some(at) => self.inventory.tests_of(at).map(|t| t.path.clone()).collect(),
                None if self.role == Role::Test => self.inventory.tests().map(|t| t.path.clone()).collect(),
                None => Vec::new(),
            };
            marker.tests = tests;
            if item.kind == Kind::Test {
                marker.body = Some(item.body_tokens().to_vec());
            }
        } else if self.role == Role::Test {
            marker.tests = self.inventory.tests().map(|t| t.path.clone()).collect();
        }
        self.markers.push(marker);
        self.markers.last_mut().expect("a marker was just pushed")
    }

    /// Notes a marker that always holds, but for what stands around it.
    pub(super) fn always(&mut self, kind: MarkerKind, node: Node<'_>, spelling: impl Into<String>) {
        self.emit(kind, node, Condition::Always, spelling);
    }

    /// Notes a skip that depends on an argument: skipped when it is `when`.
    pub(super) fn skip_if(&mut self, node: Node<'_>, argument: Option<Node<'_>>, when: bool, spelling: &str) {
        match argument.map(|a| (literal(a), a)) {
            None => self.always(MarkerKind::Skip, node, spelling),
            Some((Some(value), _)) if value == when => self.always(MarkerKind::Skip, node, spelling),
            Some((Some(_), _)) => {}
            Some((None, a)) => {
                self.emit(MarkerKind::Skip, node, Condition::When(squeezed(a)), spelling);
            }
        }
    }

    fn comment(&mut self, node: Node<'_>) {
        let text = node.text();
        if let Some(word) = COVERAGE.iter().find(|word| text.contains(**word)) {
            self.emit(MarkerKind::Coverage, node, Condition::Always, *word).condition = Condition::Always;
        }
        lang::comment(self, node);
    }

    /// What looks the same in every language: words of the environment, paths of evidence.
    fn anywhere(&mut self, node: Node<'_>) {
        if self.role == Role::Test
            || !node.kind().contains("string")
            || node.named().next().is_some_and(|n| {
                n.kind().contains("string")
                    && !n.kind().contains("content")
                    && !n.kind().contains("fragment")
                    && !n.kind().contains("start")
            })
        {
            return;
        }
        if node.parent().is_some_and(|p| p.kind().contains("string") && p.kind() != "concatenated_string")
            || self.in_test(node)
        {
            return;
        }
        let text = node.text();
        let text = text.trim_matches(['"', '\'', '`', 'b', 'r', 'f', 'u', '#', '@']);
        let statement = || {
            node.ancestors().take(6).map(Node::text).find(|t| t.to_ascii_lowercase().contains("env") && t.len() < 400)
        };
        let asks_machine = CI_VARIABLES.contains(&text) && statement().is_some();
        if PROBES.contains(&text) || text.starts_with("-test.") || asks_machine {
            self.always(MarkerKind::Probe, node, text.to_owned());
        } else if EVIDENCE.iter().any(|place| text.contains(place))
            && node.ancestors().take(4).any(|a| {
                a.kind().contains("call")
                    || a.kind().contains("argument")
                    || a.kind().contains("invocation")
                    || a.kind().contains("macro")
            })
        {
            self.always(MarkerKind::Touches, node, text.to_owned());
        }
    }
}

/// The text on one line, at most 160 characters.
pub(super) fn squeezed(node: Node<'_>) -> String {
    node.text().split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect()
}

/// The truth of a literal; `None` where it is none.
pub(super) fn literal(node: Node<'_>) -> Option<bool> {
    match node.text().trim_matches(['(', ')', ' ']) {
        "True" | "true" | "1" | "not False" | "!false" => Some(true),
        "False" | "false" | "0" | "None" | "null" | "nil" | "undefined" | "not True" | "!true" | "\"\"" | "''" => {
            Some(false)
        }
        _ => None,
    }
}

/// The condition under which a node runs, looking no further out than the function that holds it.
pub(super) fn around(node: Node<'_>) -> Condition {
    let mut inner = node;
    for outer in node.ancestors() {
        let kind = outer.kind();
        let condition = outer.field("condition");
        match kind {
            "if_statement"
            | "if_expression"
            | "if_modifier"
            | "unless_modifier"
            | "unless"
            | "if"
            | "elif_clause"
            | "elsif"
            | "conditional_expression"
            | "ternary_expression"
            | "conditional"
            | "while_statement"
            | "case_statement"
            | "guard_statement"
            | "if_let_expression" => {
                let test = condition.or_else(|| {
                    // Python's ternary has no field: its middle child is the condition.
                    let parts: Vec<_> = outer.named().collect();
                    parts.get(usize::from(kind == "conditional_expression")).copied()
                });
                let Some(test) = test else { return Condition::When(String::new()) };
                if test.holds(inner) {
                    inner = outer;
                    continue;
                }
                let otherwise = outer.field("alternative").is_some_and(|a| a.holds(node));
                match literal(test) {
                    Some(truth) if truth != otherwise => {}
                    // A branch that never runs: nothing depends on what stands there.
                    Some(_) if kind != "ternary_expression" => {}
                    Some(_) => {}
                    None => {
                        let text = squeezed(test);
                        return Condition::When(if otherwise { format!("not ({text})") } else { text });
                    }
                }
            }
            "except_clause"
            | "catch_clause"
            | "rescue"
            | "switch_case"
            | "match_arm"
            | "when_entry"
            | "expression_case"
            | "case_clause"
            | "switch_section"
            | "when"
            | "catch_block"
            | "switch_block_statement_group"
            | "match_expression"
            | "switch_default"
            | "type_case" => {
                return Condition::When(squeezed(outer.named().next().unwrap_or(outer)));
            }
            "boolean_operator"
            | "binary_expression"
            | "binary"
            | "conjunction_expression"
            | "disjunction_expression" => {
                let left = outer.field("left").or_else(|| outer.named().next());
                let sign = outer.children().find(|c| matches!(c.text(), "&&" | "||" | "and" | "or" | "??"));
                if sign.is_some() && left.is_some_and(|l| l.index() != inner.index()) {
                    return Condition::When(left.map(squeezed).unwrap_or_default());
                }
            }
            _ if is_function(outer) => break,
            _ => {}
        }
        inner = outer;
    }
    Condition::Always
}

/// Whether a node is a function of any kind.
pub(super) fn is_function(node: Node<'_>) -> bool {
    node.is(&[
        "function_definition",
        "function_declaration",
        "method_declaration",
        "function_item",
        "method",
        "singleton_method",
        "arrow_function",
        "function_expression",
        "method_definition",
        "func_literal",
        "lambda_literal",
        "anonymous_function",
        "closure_expression",
        "constructor_declaration",
        "lambda_expression",
        "lambda",
        "generator_function_declaration",
        "local_function_statement",
        "do_block",
        "block_",
    ])
}

/// The function that holds a node most closely.
pub(super) fn function_of(node: Node<'_>) -> Option<Node<'_>> {
    node.ancestors().find(|a| is_function(*a))
}

/// The statements that a body runs, one by one.
pub(super) fn statements(body: Node<'_>) -> Vec<Node<'_>> {
    let inner: Vec<Node<'_>> = body.named().collect();
    match inner.as_slice() {
        [one]
            if one.is(&[
                "block",
                "statements",
                "statement_list",
                "body_statement",
                "block_body",
                "statement_block",
                "compound_statement",
            ]) =>
        {
            statements(*one)
        }
        _ => inner,
    }
}

/// Notes a return at the top of a test's body with statements behind it.
pub(super) fn early_return(walk: &mut Walk<'_, '_>) {
    let items: Vec<_> = walk.inventory.tests().filter_map(|t| t.tail.or(t.body)).collect();
    for body in items {
        let list = statements(body);
        let back = list.iter().position(|n| {
            let returning = |n: Node<'_>| {
                n.is(&["return_statement", "return_expression", "return", "jump_expression"])
                    && n.text().starts_with("return")
            };
            returning(*n) || (n.kind() == "expression_statement" && n.named().next().is_some_and(returning))
        });
        if let Some(at) = back
            && list[at + 1..]
                .iter()
                .any(|n| !n.is(&["pass_statement", "empty_statement"]) && !n.kind().ends_with("declaration"))
        {
            walk.always(MarkerKind::Skip, list[at], "return before the end of the test");
        }
    }
}

/// Notes a method that says that everything is equal.
pub(super) fn equality(walk: &mut Walk<'_, '_>, node: Node<'_>, names: &[&str]) {
    let name = node.field("name").or_else(|| node.field("declarator")).map_or("", Node::text);
    if walk.role == Role::Test
        || !names.iter().any(|n| name == *n || (n.starts_with("operator") && name.contains(n)))
        || walk.in_test(node)
    {
        return;
    }
    let body = node.field("body").or_else(|| node.child(&["function_body", "arrow_expression_clause"]));
    let Some(body) = body else { return };
    let list = statements(body);
    let Some(only) = list.last().filter(|_| list.len() == 1) else { return };
    let value = only.text().trim_end_matches(';').trim();
    let value = value.strip_prefix("return").unwrap_or(value).trim().trim_start_matches("=>").trim();
    if matches!(value, "True" | "true") {
        walk.always(MarkerKind::Equality, node, format!("`{name}` is always true"));
    }
}

/// Notes an end of the process with success: in test code it sets the outcome, in a product it counts where `exposed`.
pub(super) fn exit_zero(walk: &mut Walk<'_, '_>, node: Node<'_>, spelling: &str, exposed: bool) {
    if walk.in_test(node) {
        walk.always(MarkerKind::Forced, node, spelling.to_owned());
    } else if exposed {
        walk.always(MarkerKind::ExitZero, node, spelling.to_owned());
    }
}

/// Notes a product's import of a test framework.
pub(super) fn framework_import(walk: &mut Walk<'_, '_>, node: Node<'_>, frameworks: &[&str]) {
    if walk.role == Role::Test || walk.in_test(node) {
        return;
    }
    let text = node.text();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && !"_-@/.".contains(c)).collect();
    let hit = frameworks.iter().find(|f| {
        words.iter().any(|w| w == *f || w.strip_prefix(**f).is_some_and(|rest| rest.starts_with(['.', '/'])))
    });
    if let Some(framework) = hit {
        walk.always(MarkerKind::Touches, node, format!("import of {framework}"));
    }
}

/// Whether a language's tests can be left out by a name that begins otherwise.
pub(super) fn language(walk: &Walk<'_, '_>) -> Language {
    walk.inventory.syntax.language()
}
