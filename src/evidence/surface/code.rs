//! One side of a file -> its lines of code.
//!
//! With a grammar, blank lines, comments that direct nothing and documentation strings are no code, tests inside the file are no product,
//! and it is known which lines make one statement and what encloses what. Without one, every line that is not blank is code.

use std::ops::RangeInclusive;

use super::diff::lines;
use crate::evidence::grammar::{Language, Node, Outcome, Syntax, parse};
use crate::evidence::tests::{Inventory, Kind, Scope};

/// Lines, first and last, from 1.
pub(super) type Span = RangeInclusive<u32>;

/// What a line of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It begins a statement, or goes on with one that began on a line right before it.
    Statement,
    /// It only shapes what stands around it: `else:`, `}`.
    Structure,
}

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: u32,
    /// What it says, without comments and without layout that means nothing.
    text: Vec<u8>,
    pub(super) part: Part,
    /// The lines of one statement, or of the head of one, that it belongs to.
    pub(super) run: Span,
    /// The lines of the whole statement.
    pub(super) owner: Span,
}

/// The lines of code of one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) lines: Vec<Line>,
    /// The insides of functions and blocks, outer ones first; the whole file is none of them.
    blocks: Vec<Span>,
}

impl Code {
    /// What each line says.
    pub(super) fn texts(&self) -> Vec<&[u8]> {
        self.lines.iter().map(|line| line.text.as_slice()).collect()
    }

    /// The blocks around a line, the innermost first.
    pub(super) fn around(&self, line: u32) -> impl Iterator<Item = &Span> {
        self.blocks.iter().rev().filter(move |block| block.contains(&line))
    }
}

/// Both sides of a file in the same way, so that they can be compared.
pub(super) struct Sides {
    pub(super) old: Code,
    pub(super) new: Code,
    /// Why no grammar helped, where none did.
    pub(super) plain: Option<String>,
}

/// Reads both sides; an absent side has no line. Where one side cannot be read by its grammar, neither is.
pub(super) fn read(old: Option<(&str, &[u8])>, new: Option<(&str, &[u8])>) -> Sides {
    let outcomes = [old, new].map(|side| side.map(|(path, bytes)| (path, parse(path, bytes))));
    let why = outcomes.iter().flatten().find_map(|(_, outcome)| match outcome {
        Outcome::Unparsable(why) => Some(why.to_string()),
        Outcome::Parsed(syntax) => {
            syntax.broken_lines().first().map(|(line, _)| format!("the grammar cannot read line {line}"))
        }
    });
    if why.is_some() {
        let [old, new] = [old, new].map(|side| side.map_or_else(Code::default, |(_, bytes)| plain(bytes)));
        return Sides { old, new, plain: why };
    }
    let [old, new] = outcomes.map(|side| {
        side.and_then(|(path, outcome)| outcome.syntax().map(|syntax| parsed(syntax, path))).unwrap_or_default()
    });
    Sides { old, new, plain: None }
}

fn plain(bytes: &[u8]) -> Code {
    let numbered = (1_u32..).zip(lines(bytes));
    let code = numbered.filter(|(_, text)| !text.trim_ascii().is_empty());
    let line = |(number, text): (u32, &[u8])| Line {
        number,
        text: text.trim_ascii_end().to_vec(),
        part: Part::Statement,
        run: number..=number,
        owner: number..=number,
    };
    Code { lines: code.map(line).collect(), blocks: Vec::new() }
}

/// Directives that change what a tool of the team says, beside those that change what a test does.
const DIRECTIVES: &[&str] = &[
    "noqa",
    "type: ignore",
    "type:ignore",
    "pyright:",
    "mypy:",
    "pylint:",
    "fmt: off",
    "fmt: on",
    "isort:",
    "nosec",
    "-*- coding",
    "coding:",
    "#!",
    "eslint-",
    "@ts-",
    "tslint:",
    "prettier-ignore",
    "biome-ignore",
    "@flow",
    "@jsx",
    "@license",
    "webpack",
    "@vite-ignore",
    "#__PURE__",
    "@__PURE__",
    "sourceMappingURL",
    "/// <reference",
    "//go:",
    "nolint",
    "#cgo",
    "rubocop:",
    "typed:",
    "encoding:",
    "warn_indent",
    "shareable_constant_value",
    "phpcs:",
    "@phpstan-",
    "@psalm-",
    "NOLINT",
    "clang-format",
    "clang-tidy",
    "IWYU pragma",
    "fallthrough",
    "FALLTHROUGH",
    "noinspection",
    "ktlint-",
    "detekt:",
    "@formatter:",
    "CHECKSTYLE",
    "ReSharper",
    "dotcover",
    "swiftlint:",
    "shellcheck",
];

fn is_directive(comment: Node<'_>) -> bool {
    let text = comment.text();
    !comment.tokens().is_empty() || DIRECTIVES.iter().any(|word| text.contains(word))
}

/// A statement that is nothing but a text: Python's documentation strings.
fn is_documentation(node: Node<'_>) -> bool {
    if node.syntax().language() != Language::Python || node.kind() != "expression_statement" {
        return false;
    }
    let mut inner = node.named();
    let only = inner.next().filter(|n| n.is(&["string", "concatenated_string"]));
    inner.next().is_none() && only.is_some_and(|n| n.subtree().all(|n| n.kind() != "interpolation"))
}

/// What a parsed side looks like while it is read. Index 0 of each list is line 1.
struct Canvas {
    /// Whether code stands on the line.
    code: Vec<bool>,
    /// Whether a text of several lines runs through the line, so that its white space means something.
    text: Vec<bool>,
    /// The innermost statement, by its number in the syntax; `u32::MAX` for none.
    owner: Vec<u32>,
    /// Bytes that are no code.
    silent: Vec<(usize, usize)>,
}

fn parsed(syntax: &Syntax<'_>, path: &str) -> Code {
    let source = syntax.source().as_bytes();
    let raw = lines(source);
    let canvas = Canvas::of(syntax, raw.len());
    let tests = test_lines(syntax, path);
    let keeps_indent = syntax.language() == Language::Python;
    let mut found: Vec<(u32, Vec<u8>, u32)> = Vec::new();
    let (mut start, mut silent) = (0, canvas.silent.iter().peekable());
    for (number, line) in (1_u32..).zip(&raw) {
        let end = start + line.len();
        let mut text = Vec::with_capacity(line.len());
        let mut at = start;
        while let Some((from, to)) = silent.peek().filter(|(from, _)| *from < end) {
            text.extend_from_slice(&source[at..(*from).max(at)]);
            at = at.max((*to).min(end));
            if *to > end {
                break;
            }
            silent.next();
        }
        text.extend_from_slice(&source[at..end]);
        let index = number as usize - 1;
        if canvas.code[index] && !tests.iter().any(|test| test.contains(&number)) {
            let text = match (canvas.text[index], keeps_indent) {
                (true, _) => text,
                (false, true) => text.trim_ascii_end().to_vec(),
                (false, false) => text.trim_ascii().to_vec(),
            };
            found.push((number, text, canvas.owner[index]));
        }
        start = end + 1;
    }
    Code { lines: in_statements(syntax, found), blocks: blocks(syntax) }
}

/// Joins lines of code that follow each other in one statement.
fn in_statements(syntax: &Syntax<'_>, found: Vec<(u32, Vec<u8>, u32)>) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::with_capacity(found.len());
    let mut rest = found.into_iter().peekable();
    while let Some((number, text, owner)) = rest.next() {
        let mut group = vec![(number, text)];
        while owner != u32::MAX
            && let Some((number, text, _)) = rest.next_if(|next| next.2 == owner)
        {
            group.push((number, text));
        }
        let run = number..=group.last().map_or(number, |last| last.0);
        let (part, owner) = if owner == u32::MAX {
            (Part::Statement, run.clone())
        } else {
            let node = syntax.node(owner);
            let begins = run.contains(&node.line());
            let owner = node.line().min(number)..=node.end_line();
            (if begins { Part::Statement } else { Part::Structure }, owner)
        };
        out.extend(group.into_iter().map(|(number, text)| Line {
            number,
            text,
            part,
            run: run.clone(),
            owner: owner.clone(),
        }));
    }
    out
}

impl Canvas {
    fn of(syntax: &Syntax<'_>, lines: usize) -> Self {
        let mut canvas = Self {
            code: vec![false; lines],
            text: vec![false; lines],
            owner: vec![u32::MAX; lines],
            silent: Vec::new(),
        };
        for node in syntax.all() {
            canvas.add(node);
        }
        canvas
    }

    fn add(&mut self, node: Node<'_>) {
        if self.silent.last().is_some_and(|(_, end)| node.start() < *end) {
            return;
        }
        if node.is_comment() && !is_directive(node) || is_documentation(node) {
            self.silent.push((node.start(), node.end()));
            return;
        }
        if let Some(statement) = statement(node) {
            for owner in range(&mut self.owner, node) {
                *owner = statement;
            }
        }
        let whole = node.children().next().is_none() || node.is_comment();
        if !whole || node.text().trim().is_empty() {
            return;
        }
        let several = node.line() != node.end_line();
        if several && !node.is_comment() && is_text(node) {
            range(&mut self.text, node).fill(true);
        }
        if several && !is_text(node) {
            // Blank lines inside of something long, such as markup, are no code.
            let written = node.text().split('\n').map(|line| !line.trim().is_empty());
            for (code, written) in range(&mut self.code, node).iter_mut().zip(written) {
                *code |= written;
            }
        } else {
            range(&mut self.code, node).fill(true);
        }
    }
}

/// The part of a list by lines that a node covers.
fn range<'a, T>(list: &'a mut [T], node: Node<'_>) -> &'a mut [T] {
    let end = (node.end_line() as usize).min(list.len());
    let start = (node.line() as usize - 1).min(end);
    &mut list[start..end]
}

fn is_text(node: Node<'_>) -> bool {
    ["string", "heredoc", "template"].iter().any(|word| node.kind().contains(word))
}

/// Kinds whose members are statements, in all grammars.
const HOLDERS: &[&str] = &[
    "block",
    "statement_block",
    "compound_statement",
    "class_body",
    "declaration_list",
    "field_declaration_list",
    "enum_body",
    "enum_body_declarations",
    "interface_body",
    "object_type",
    "annotation_type_body",
    "constructor_body",
    "module",
    "program",
    "source_file",
    "translation_unit",
    "compilation_unit",
    "function_body",
    "statements",
    "statement_list",
    "body_statement",
    "do_block",
    "block_body",
    "then",
    "else",
    "begin",
    "ensure",
    "rescue",
    "do",
    "switch_body",
    "switch_block",
    "switch_block_statement_group",
    "switch_case",
    "switch_default",
    "switch_section",
    "switch_rule",
    "match_block",
    "case_statement",
    "default_statement",
    "expression_case",
    "default_case",
    "type_case",
    "communication_case",
    "enum_class_body",
    "class_member_declarations",
    "control_structure_body",
    "colon_block",
    "namespace_body",
];

/// The statement that a node is, by its number; an attribute is part of what it stands before.
fn statement(node: Node<'_>) -> Option<u32> {
    let held = node.parent().is_some_and(|parent| parent.is(HOLDERS));
    if !node.is_named() || node.is(HOLDERS) || !(held || node.kind().ends_with("_statement")) {
        return None;
    }
    if node.kind() == "attribute_item" {
        let siblings = node.parent()?.named().skip_while(|n| n.index() <= node.index());
        return siblings.into_iter().find(|n| n.kind() != "attribute_item").map(Node::index);
    }
    Some(node.index())
}

/// The inside of each function and block: without the lines of its braces, where nothing else stands on them.
fn blocks(syntax: &Syntax<'_>) -> Vec<Span> {
    let inside = |node: Node<'_>| {
        let opens = node.children().next().is_some_and(|child| !child.is_named());
        let closes = node.children().last().is_some_and(|child| !child.is_named() && child.is(&["}", "end"]));
        let (mut first, mut last) = (node.line(), node.end_line());
        let (head, foot) = (first, last);
        if opens && node.named().all(|child| child.line() != head) {
            first += 1;
        }
        if closes && node.named().all(|child| child.end_line() != foot) {
            last = last.saturating_sub(1);
        }
        (first <= last).then_some(first..=last)
    };
    syntax
        .all()
        .filter(|node| node.is_named() && node.parent().is_some() && node.is(HOLDERS))
        .filter_map(inside)
        .collect()
}

/// Lines that are tests by region: `mod tests`, and blocks of tests inside a script. Elsewhere a name alone says nothing.
fn test_lines(syntax: &Syntax<'_>, path: &str) -> Vec<Span> {
    if syntax.language() != Language::Rust && !syntax.language().is_script() {
        return Vec::new();
    }
    let inventory = Inventory::of(syntax, path, Scope::Regions);
    let tests = inventory.items.iter().filter(|item| matches!(item.kind, Kind::Test | Kind::Suite));
    tests.map(|item| item.line()..=item.end_line()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(path: &str, text: &str) -> Code {
        let sides = read(Some((path, text.as_bytes())), None);
        assert_eq!(sides.plain, None, "{path}");
        sides.old
    }

    /// Number, a letter for the part, and the run of each line of code.
    fn told(code: &Code) -> Vec<String> {
        let part = |line: &Line| if line.part == Part::Statement { "" } else { "~" };
        code.lines
            .iter()
            .map(|line| match (line.run.start(), line.run.end()) {
                (a, b) if a == b => format!("{}{}", line.number, part(line)),
                (a, b) => format!("{}{}({a}-{b})", line.number, part(line)),
            })
            .collect()
    }

    #[test]
    fn comments_blank_lines_and_documentation_are_no_code_but_directives_are() {
        let text = "\"\"\"Doc.\n\nMore.\n\"\"\"\n\n# note\nA = 1  # note\nB = 2  # noqa\n# type: ignore\n\ndef f(\n    a,\n):\n    '''Doc.'''\n    if a:\n        g()\n    else:\n        h(1,\n\n          2)\n";
        let code = side("a.py", text);
        assert_eq!(
            told(&code),
            ["7", "8", "9", "11(11-13)", "12(11-13)", "13(11-13)", "15", "16", "17~", "18(18-20)", "20(18-20)"]
        );
        assert_eq!(code.lines[0].text, b"A = 1");
        assert_eq!(code.lines[1].text, b"B = 2  # noqa");
    }

    #[test]
    fn blank_lines_inside_a_text_are_code() {
        assert_eq!(told(&side("a.py", "A = '''\n\nx'''\n")), ["1(1-3)", "2(1-3)", "3(1-3)"]);
    }

    #[test]
    fn braces_shape_and_blocks_have_insides() {
        let code =
            side("a.js", "function f(a) {\n  if (a) {\n    g();\n  } else {\n    h({\n      b: 1,\n    });\n  }\n}\n");
        assert_eq!(told(&code), ["1", "2", "3", "4~", "5(5-7)", "6(5-7)", "7(5-7)", "8~", "9~"]);
        let around = |line| code.around(line).cloned().collect::<Vec<_>>();
        assert_eq!(around(3), [3..=3, 2..=8]);
        assert_eq!(around(5), [5..=7, 2..=8]);
        assert_eq!(around(1), []);
    }

    #[test]
    fn tests_inside_a_rust_file_are_no_product_and_attributes_belong_to_what_follows() {
        let text = "#[inline]\npub fn f() {\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        f();\n    }\n}\n";
        assert_eq!(told(&side("src/lib.rs", text)), ["1(1-2)", "2(1-2)", "3", "4~"]);
    }

    #[test]
    fn without_a_grammar_every_line_that_is_not_blank_is_code_and_both_sides_are_read_so() {
        let sides = read(Some(("a.conf", b"# a\n\nb\n")), Some(("a.conf", b"b\n")));
        assert_eq!(sides.plain.as_deref(), Some("no grammar for a file of this name"));
        assert_eq!(told(&sides.old), ["1", "3"]);
        let broken = read(Some(("a.py", b"# a\nb = 1\n")), Some(("a.py", b"def (:\n")));
        assert_eq!(told(&broken.old), ["1", "2"]);
    }

    #[test]
    fn every_language_tells_statements_from_what_shapes_them() {
        for (path, text, expected) in [
            (
                "a.go",
                "package a\n\nfunc F(a int) {\n\tif a > 0 {\n\t\tg()\n\t} else {\n\t\th()\n\t}\n}\n",
                "1 3 4 5 6~ 7 8~ 9~",
            ),
            ("A.java", "class A {\n  void f() {\n    g(\n      1);\n  }\n}\n", "1 2 3(3-4) 4(3-4) 5~ 6~"),
            ("a.kt", "fun f(a: Int) {\n  g(\n    1)\n  h()\n}\n", "1 2(2-3) 3(2-3) 4 5~"),
            ("a.cs", "class A {\n  void F() {\n    G(\n      1);\n  }\n}\n", "1 2 3(3-4) 4(3-4) 5~ 6~"),
            ("a.rb", "def f(a)\n  g(\n    1)\n  h\nend\n", "1 2(2-3) 3(2-3) 4 5~"),
            ("a.php", "<?php\nfunction f($a) {\n  g(\n    1);\n}\n", "1 2 3(3-4) 4(3-4) 5~"),
            ("a.cpp", "int f(int a) {\n  g(\n    1);\n  return 2;\n}\n", "1 2(2-3) 3(2-3) 4 5~"),
            ("a.ts", "export function f(a: number) {\n  g(\n    1);\n}\n", "1 2(2-3) 3(2-3) 4~"),
            ("a.rs", "fn f(a: u8) -> u8 {\n    g(\n        1,\n    );\n    2\n}\n", "1 2(2-4) 3(2-4) 4(2-4) 5 6~"),
        ] {
            assert_eq!(told(&side(path, text)).join(" "), expected, "{path}");
        }
    }
}
