//! The assertions of a test: what each asks about, what it asks for, and how strictly.

use crate::evidence::grammar::{Language, Node};
use crate::evidence::tests::inventory::Item;
use crate::evidence::tests::names::dotted;

/// How strictly an assertion asks. The order is the order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strictness {
    /// It asks for nothing that could fail, or only that something is there.
    Presence,
    /// It asks whether something is true.
    Truth,
    /// It asks for a bound, a part, or a type.
    Bound,
    /// It asks for a value within a tolerance.
    Near,
    /// It asks for a value.
    Exact,
}

/// One assertion.
pub(super) struct Assertion<'t> {
    pub(super) node: Node<'t>,
    pub(super) strictness: Strictness,
    /// What it asks about.
    pub(super) subject: String,
    /// What it asks for.
    pub(super) expected: String,
    /// The tolerance, where it has one.
    pub(super) tolerance: Option<f64>,
}

const EXACT: &[&str] = &[
    "assertEqual",
    "assertEquals",
    "assert_equal",
    "assertIs",
    "toBe",
    "toEqual",
    "toStrictEqual",
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "equal",
    "equals",
    "assert_eq",
    "assertSame",
    "AreEqual",
    "Equal",
    "EXPECT_EQ",
    "ASSERT_EQ",
    "EXPECT_STREQ",
    "ASSERT_STREQ",
    "eq",
    "eql",
    "is",
    "AreSame",
    "assertArrayEquals",
    "assertIterableEquals",
    "assertDictEqual",
    "assertListEqual",
    "assertCountEqual",
    "toHaveBeenCalledWith",
    "toHaveLength",
    "toThrowError",
    "isEqualTo",
    "shouldBe",
    "be",
    "same",
    "EqualValues",
    "JSONEq",
    "assertContentEquals",
    "assertExactly",
    "toMatchSnapshot",
    "assert_same",
    "assertIdentical",
    "REQUIRE_EQ",
    "CHECK_EQ",
    "BOOST_CHECK_EQUAL",
    "BOOST_REQUIRE_EQUAL",
    "assertStringEqualsFile",
    "IsEqual",
    "assert_snapshot",
];
const NEAR: &[&str] = &[
    "assertAlmostEqual",
    "toBeCloseTo",
    "approx",
    "assert_in_delta",
    "EXPECT_NEAR",
    "ASSERT_NEAR",
    "InDelta",
    "InEpsilon",
    "assert_relative_eq",
    "assert_abs_diff_eq",
    "be_within",
    "EXPECT_DOUBLE_EQ",
    "EXPECT_FLOAT_EQ",
    "assertEqualsWithDelta",
    "closeTo",
    "isCloseTo",
    "assert_allclose",
];
const BOUND: &[&str] = &[
    "assertGreater",
    "assertLess",
    "assertIn",
    "assertIsInstance",
    "toBeGreaterThan",
    "toBeLessThan",
    "toBeGreaterThanOrEqual",
    "toBeLessThanOrEqual",
    "toContain",
    "toMatch",
    "toMatchObject",
    "assertContains",
    "assert_includes",
    "Contains",
    "EXPECT_GT",
    "EXPECT_LT",
    "EXPECT_GE",
    "EXPECT_LE",
    "assert_match",
    "assertRegex",
    "toHaveProperty",
    "contains",
    "includes",
    "hasSize",
    "startsWith",
    "assertStringContainsString",
    "match",
    "include",
    "assertLessEqual",
    "assertGreaterEqual",
    "IsType",
    "IsAssignableFrom",
    "Greater",
    "Less",
    "LessOrEqual",
    "GreaterOrEqual",
    "Subset",
    "ElementsMatch",
    "assert_ne",
    "assertNotEqual",
    "EXPECT_NE",
    "NotEqual",
    "assert_matches",
    "toBeInstanceOf",
    "objectContaining",
    "assertThat",
    "assertInstanceOf",
    "assertNotEquals",
    "assertNotSame",
    "Len",
    "Regexp",
];
const TRUTH: &[&str] = &[
    "assertTrue",
    "assertFalse",
    "toBeTruthy",
    "toBeFalsy",
    "ok",
    "assert",
    "True",
    "False",
    "EXPECT_TRUE",
    "EXPECT_FALSE",
    "ASSERT_TRUE",
    "ASSERT_FALSE",
    "REQUIRE",
    "CHECK",
    "isTrue",
    "isFalse",
    "be_truthy",
    "be_falsey",
    "IsTrue",
    "IsFalse",
    "BOOST_CHECK",
    "BOOST_TEST",
];
const PRESENCE: &[&str] = &[
    "assertIsNotNone",
    "assertIsNone",
    "toBeDefined",
    "toBeNull",
    "toBeUndefined",
    "assertNotNull",
    "assertNull",
    "NotNil",
    "Nil",
    "NotNull",
    "Null",
    "refute_nil",
    "assert_nil",
    "not_to",
    "isNotNull",
    "toHaveBeenCalled",
    "NoError",
    "notThrow",
    "doesNotThrow",
    "assertDoesNotThrow",
    "is_ok",
    "NotEmpty",
    "isDefined",
    "anything",
    "SUCCEED",
    "WARN",
    "pass",
    "be_present",
];
pub(super) fn assertions<'t>(item: &Item<'t>) -> Vec<Assertion<'t>> {
    let body = item.tail.or(item.body).unwrap_or(item.node);
    let mut found: Vec<Assertion<'t>> = Vec::new();
    for node in body.subtree() {
        // An assertion inside another belongs to it.
        if found.iter().any(|a| a.node.holds(node) && a.node != node) {
            continue;
        }
        found.extend(assertion(node));
    }
    found
}

fn assertion(node: Node<'_>) -> Option<Assertion<'_>> {
    match node.kind() {
        "assert_statement" => {
            let condition = node.named().next()?;
            Some(by_condition(node, condition))
        }
        "macro_invocation" => {
            let name = node.field("macro")?.text();
            let last = name.rsplit("::").next().unwrap_or(name);
            let strictness = strictness(last)?;
            let tree = node.child(&["token_tree"])?.text();
            let (subject, expected) = split_arguments(tree);
            Some(Assertion { node, strictness, tolerance: tolerance(tree), subject, expected })
        }
        "if_statement" if node.syntax().language() == Language::Go => {
            let fails = node.field("consequence")?.text();
            let fatal = ["t.Fatal", "t.Error", "t.Fail", "b.Fatal"].iter().any(|f| fails.contains(f));
            fatal.then(|| by_condition(node, node.field("condition").unwrap_or(node)))
        }
        "call_expression"
        | "call"
        | "method_invocation"
        | "invocation_expression"
        | "member_call_expression"
        | "scoped_call_expression"
        | "infix_expression" => call(node),
        _ => None,
    }
}

/// `assert a == b`, and what Go writes as `if a != b { t.Fatal() }`.
fn by_condition<'t>(node: Node<'t>, condition: Node<'t>) -> Assertion<'t> {
    let parts: Vec<Node<'t>> = condition.named().collect();
    let sign = condition
        .children()
        .find(|c| matches!(c.text(), "==" | "!=" | "is" | "in" | "<" | ">" | "<=" | ">=" | "is not" | "not in"))
        .map(Node::text);
    let text = condition.text();
    let near = NEAR.iter().any(|word| text.contains(word)) || text.contains("isclose");
    let constant = matches!(text, "True" | "true" | "1") || (condition.kind() == "tuple" && parts.len() > 1);
    let strictness = match sign {
        _ if constant => Strictness::Presence,
        _ if near => Strictness::Near,
        Some("==" | "is") => Strictness::Exact,
        Some("!=") if node.kind() == "if_statement" => Strictness::Exact,
        Some(_) if text.contains("None") || text.contains("nil") => Strictness::Presence,
        Some(_) => Strictness::Bound,
        None if condition.kind() == "boolean_operator" => Strictness::Bound,
        None => Strictness::Truth,
    };
    let of = |at: usize| parts.get(at).map(|n| short(n.text())).unwrap_or_default();
    let (subject, expected) = if sign.is_some() { (of(0), of(1)) } else { (short(text), String::new()) };
    let subject = if strictness == Strictness::Truth { subject.trim_start_matches("not ").to_owned() } else { subject };
    Assertion { node, strictness, subject, expected, tolerance: tolerance(text) }
}

/// `RSpec`'s `expect(a).to eq(b)`: the matcher is the argument.
fn matcher(node: Node<'_>) -> Option<Assertion<'_>> {
    let method = node.field("method")?.text();
    let receiver = node.field("receiver")?;
    if !matches!(method, "to" | "not_to" | "to_not" | "should") || !receiver.text().starts_with("expect") {
        return None;
    }
    let matcher = node.field("arguments")?.named().next()?;
    let name = matcher.field("method").unwrap_or(matcher).text();
    let strict = if method == "to" || method == "should" { strictness(name)? } else { Strictness::Presence };
    let expected = matcher.field("arguments").map(|a| short(a.text())).unwrap_or_default();
    Some(Assertion {
        node,
        strictness: strict,
        subject: short(receiver.text()),
        expected,
        tolerance: tolerance(node.text()),
    })
}

fn call(node: Node<'_>) -> Option<Assertion<'_>> {
    if let Some(found) = matcher(node) {
        return Some(found);
    }
    let name = callee(node)?;
    let last = name.rsplit('.').next().unwrap_or(&name);
    let strict = strictness(last)?;
    let arguments: Vec<Node<'_>> = node
        .field("arguments")
        .or_else(|| node.child(&["value_arguments", "argument_list", "arguments"]))
        .map(|a| a.named().collect())
        .unwrap_or_default();
    let of = |at: usize| arguments.get(at).map(|n| short(n.text())).unwrap_or_default();
    // `expect(a).toBe(b)`: what is asked about stands before.
    let receiver = node
        .field("function")
        .and_then(|f| f.field("object"))
        .or_else(|| node.field("receiver"))
        .or_else(|| node.field("object"));
    let chained = receiver.filter(|r| r.text().contains('('));
    let (subject, expected) = match chained {
        Some(receiver) => (short(receiver.text()).trim_end_matches(".not").to_owned(), of(0)),
        None => (of(0), of(1)),
    };
    let about_tests = chained.is_some_and(|c| {
        c.text().starts_with("expect") || c.text().starts_with("assert") || c.text().contains("should")
    }) || chained.is_none() && is_assertion_name(&name);
    about_tests.then(|| Assertion { node, strictness: strict, subject, expected, tolerance: tolerance(node.text()) })
}

fn is_assertion_name(name: &str) -> bool {
    let low = name.to_ascii_lowercase();
    low.starts_with("assert")
        || low.contains(".assert")
        || low.starts_with("expect")
        || low.starts_with("require")
        || low.starts_with("check")
        || low.starts_with("t.")
        || low.starts_with("boost_")
        || low.starts_with("refute")
        || low.starts_with("self.assert")
}

pub(super) fn callee(node: Node<'_>) -> Option<String> {
    if let Some(function) = node.field("function") {
        return dotted(function).or_else(|| function.field("property").map(|p| p.text().to_owned()));
    }
    if let Some(name) = node.field("name").or_else(|| node.field("method")) {
        let object =
            node.field("object").or_else(|| node.field("receiver")).or_else(|| node.field("scope")).and_then(dotted);
        return Some(object.map_or_else(|| name.text().to_owned(), |object| format!("{object}.{}", name.text())));
    }
    node.named().next().and_then(dotted)
}

fn strictness(name: &str) -> Option<Strictness> {
    let name = name.trim_end_matches('!');
    [
        (EXACT, Strictness::Exact),
        (NEAR, Strictness::Near),
        (BOUND, Strictness::Bound),
        (TRUTH, Strictness::Truth),
        (PRESENCE, Strictness::Presence),
    ]
    .iter()
    .find(|(names, _)| names.contains(&name))
    .map(|(_, strictness)| *strictness)
}

/// The first two arguments of a macro, cut at commas outside brackets.
fn split_arguments(tree: &str) -> (String, String) {
    let inner = tree.trim().trim_start_matches(['(', '[', '{']).trim_end_matches([')', ']', '}']);
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for c in inner.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is always one part").push(c);
    }
    let of = |at: usize| parts.get(at).map(|p| short(p)).unwrap_or_default();
    (of(0), of(1))
}

/// The widest tolerance that a text names: a relative or absolute one, an epsilon, or places of decimals.
fn tolerance(text: &str) -> Option<f64> {
    let number = |rest: &str| -> Option<f64> {
        let rest = rest.trim_start_matches([' ', '=', ':', '(']);
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+')))
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    let named =
        ["rel=", "abs=", "delta=", "epsilon", "max_relative", "rtol=", "atol=", "abs_tol=", "rel_tol=", "tolerance"];
    let mut widest = named
        .iter()
        .filter_map(|word| text.find(word).and_then(|at| number(&text[at + word.len()..])))
        .fold(None, |most: Option<f64>, n| Some(most.map_or(n, |m| m.max(n))));
    if let Some(places) = text.find("places=").and_then(|at| number(&text[at + 7..])) {
        widest = Some(10_f64.powf(-places));
    }
    for call in [
        "toBeCloseTo(",
        "assert_in_delta",
        "EXPECT_NEAR(",
        "ASSERT_NEAR(",
        "InDelta(",
        "assertEqualsWithDelta(",
        "be_within(",
    ] {
        if let Some(at) = text.find(call) {
            let inside = text[at + call.len()..].split(')').next().unwrap_or("");
            let last = inside.rsplit(',').find_map(|part| part.trim().parse::<f64>().ok());
            widest = if call.starts_with("toBeCloseTo") {
                inside
                    .split(',')
                    .nth(1)
                    .and_then(|p| p.trim().parse::<f64>().ok())
                    .map(|digits| 10_f64.powf(-digits))
                    .or(widest)
            } else {
                last.or(widest)
            };
        }
    }
    widest
}

/// The text on one line, cut at 80 characters.
pub(super) fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
