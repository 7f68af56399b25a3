//! What one side of a file holds.

use std::collections::BTreeSet;

use super::lang::{Inside, Read, dialect};
use super::names::Aliases;
use crate::evidence::grammar::{Node, Syntax};

/// Suites stand in each other at most this deep; what lies deeper belongs to the test or suite around it.
const MAX_SUITES: usize = 24;

/// What a piece of a test file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A test function or case.
    Test,
    /// A class, block or module that holds tests.
    Suite,
    /// A function, class, macro or type that tests use.
    Helper,
    /// An import.
    Import,
    /// A name bound to something that calls nothing.
    Constant,
    /// Code that the runner calls around tests or in place of them.
    Hook,
    /// Code that runs when the file is imported.
    Acts,
}

/// One piece.
#[derive(Clone, Debug)]
pub struct Item<'t> {
    /// What it is.
    pub kind: Kind,
    /// Its own name; for imports and statements their tokens stand for it.
    pub name: String,
    /// Its name with those of the suites around it, joined by `::`.
    pub path: String,
    /// Where it stands.
    pub node: Node<'t>,
    /// Attributes and directive comments before it.
    pub lead: Vec<Node<'t>>,
    /// A second node that belongs to it: the block behind `TEST_CASE("x")`.
    pub tail: Option<Node<'t>>,
    /// What it runs; of a suite, what it holds.
    pub body: Option<Node<'t>>,
    /// Names that it binds where it stands.
    pub binds: Vec<String>,
    /// For hooks and statements: what they do, for people.
    pub why: &'static str,
    /// The suite that holds it.
    pub parent: Option<usize>,
}

impl<'t> Item<'t> {
    /// Its first line.
    pub fn line(&self) -> u32 {
        self.lead.first().unwrap_or(&self.node).line()
    }

    /// Its last line.
    pub fn end_line(&self) -> u32 {
        self.tail.unwrap_or(self.node).end_line()
    }

    /// Its tokens; of a suite, those of its head alone.
    pub fn tokens(&self) -> Vec<u8> {
        let mut tokens = self.head_tokens();
        if self.kind != Kind::Suite {
            tokens = self.lead.iter().flat_map(|n| n.tokens()).chain(self.node.tokens()).copied().collect();
            tokens.extend(self.tail.into_iter().flat_map(Node::tokens));
        }
        tokens
    }

    fn head_tokens(&self) -> Vec<u8> {
        let mut tokens: Vec<u8> = self.lead.iter().flat_map(|n| n.tokens()).copied().collect();
        if self.kind == Kind::Suite
            && let Some(body) = self.body
        {
            // What stands before and behind the body, level by level.
            let mut level = body;
            let mut parts: Vec<&[u8]> = Vec::new();
            while level != self.node {
                let Some(parent) = level.parent() else { break };
                parts.extend(parent.children().filter(|child| *child != level).map(Node::tokens));
                level = parent;
            }
            tokens.extend(parts.concat());
        }
        tokens
    }

    /// The tokens of what it runs: equal for a test that was only renamed or moved.
    pub fn body_tokens(&self) -> &'t [u8] {
        self.tail.or(self.body).unwrap_or(self.node).tokens()
    }

    /// Whether a node lies within it.
    pub fn holds(&self, node: Node<'_>) -> bool {
        let start = self.lead.first().unwrap_or(&self.node).start();
        let end = self.tail.unwrap_or(self.node).end();
        (start..end.max(start + 1)).contains(&node.start())
    }
}

/// How much of a file is test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    Whole,
    /// Only tests inside it: `mod tests`, documentation examples.
    Regions,
}

/// All pieces of one side of a file, in order.
pub struct Inventory<'t> {
    /// The file's syntax.
    pub syntax: &'t Syntax<'t>,
    /// What its names mean.
    pub aliases: Aliases,
    /// How much of the file is test.
    pub scope: Scope,
    /// The pieces.
    pub items: Vec<Item<'t>>,
    /// Examples in documentation: name, line, and lines of code without layout.
    pub examples: Vec<Example>,
}

/// An example in documentation that a runner runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// What it documents, and its number there.
    pub name: String,
    /// Its first line.
    pub line: u32,
    /// What it says.
    pub code: String,
}

impl<'t> Inventory<'t> {
    /// Reads one side of a file. `path` is the file's, since some runners look at it.
    pub fn of(syntax: &'t Syntax<'t>, path: &str, scope: Scope) -> Self {
        let aliases = Aliases::of(syntax);
        let mut items = Vec::new();
        let inside = Inside { path, scope, suite: None, depth: 0 };
        read(syntax.root(), &inside, &aliases, None, "", &mut items);
        let examples = super::lang::examples(syntax);
        Self { syntax, aliases, scope, items, examples }
    }

    /// The test or suite that holds a node most closely, with its place in the list.
    pub fn around(&self, node: Node<'_>) -> Option<(usize, &Item<'t>)> {
        let mut best: Option<(usize, &Item<'t>)> = None;
        for (at, item) in self.items.iter().enumerate() {
            if item.holds(node) && best.is_none_or(|(_, b)| item.node.start() >= b.node.start()) {
                best = Some((at, item));
            }
        }
        best
    }

    /// The tests of the file.
    pub fn tests(&self) -> impl Iterator<Item = &Item<'t>> {
        self.items.iter().filter(|item| item.kind == Kind::Test)
    }

    /// The tests below a piece, or the piece itself where it is a test.
    pub fn tests_of(&self, at: usize) -> impl Iterator<Item = &Item<'t>> {
        let item = &self.items[at];
        self.tests().filter(move |test| std::ptr::eq(*test, item) || item.holds(test.node))
    }

    /// Names that the code of the file uses, those behind a dot left out unless `members`.
    pub fn used(&self, members: bool) -> BTreeSet<&'t str> {
        let leaf = |n: &Node<'_>| n.is_named() && n.children().next().is_none();
        let member = |n: &Node<'_>| {
            matches!(n.kind(), "property_identifier" | "field_identifier")
                || (n.field_name() == "attribute" && n.parent().is_some_and(|p| p.kind() == "attribute"))
        };
        self.syntax
            .all()
            .filter(leaf)
            .filter(|n| n.kind().contains("identifier") || matches!(n.kind(), "constant" | "name"))
            .filter(|n| members || !member(n))
            .map(Node::text)
            .collect()
    }
}

fn read<'t>(
    holder: Node<'t>,
    inside: &Inside<'_>,
    aliases: &Aliases,
    parent: Option<usize>,
    prefix: &str,
    items: &mut Vec<Item<'t>>,
) {
    let dialect = dialect(holder.syntax().language());
    let mut lead: Vec<Node<'t>> = Vec::new();
    let mut taken: Option<Node<'t>> = None;
    for node in holder.children() {
        if taken.is_some_and(|t| t == node) {
            continue;
        }
        if node.is_comment() {
            if !node.tokens().is_empty() {
                lead.push(node);
            }
            continue;
        }
        if !node.is_named() {
            continue;
        }
        match dialect(node, inside, aliases, &lead) {
            Read::Lead => {
                lead.push(node);
                continue;
            }
            Read::Nothing => {}
            Read::Open(inner) => read(inner, inside, aliases, parent, prefix, items),
            Read::Item(shape) if inside.scope == Scope::Regions && !matches!(shape.kind, Kind::Test | Kind::Suite) => {}
            Read::Item(shape) => {
                let path = if prefix.is_empty() { shape.name.clone() } else { format!("{prefix}::{}", shape.name) };
                taken = shape.tail;
                let at = items.len();
                let deeper = shape.kind == Kind::Suite && inside.depth < MAX_SUITES;
                let body = shape.body;
                items.push(Item {
                    kind: shape.kind,
                    name: shape.name,
                    path: path.clone(),
                    node: shape.node.unwrap_or(node),
                    lead: std::mem::take(&mut lead),
                    tail: shape.tail,
                    body,
                    binds: shape.binds,
                    why: shape.why,
                    parent,
                });
                if let Some(body) = body.filter(|_| deeper) {
                    let next = Inside {
                        path: inside.path,
                        scope: Scope::Whole,
                        suite: Some(shape.suite),
                        depth: inside.depth + 1,
                    };
                    read(body, &next, aliases, Some(at), &path, items);
                }
            }
        }
        lead.clear();
    }
}
