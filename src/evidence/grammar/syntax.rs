//! A tree that can be walked up as cheaply as down.

use super::language::Names;
use super::{Canon, Language};

/// One node, flat.
#[derive(Clone, Copy)]
pub(super) struct Info {
    pub(super) kind: u16,
    pub(super) field: u16,
    pub(super) named: bool,
    pub(super) broken: bool,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) parent: u32,
    pub(super) past: u32,
}

/// The syntax of one side of one file.
pub struct Syntax<'s> {
    language: Language,
    source: &'s str,
    pub(super) nodes: Vec<Info>,
    names: &'static Names,
    lines: Vec<u32>,
    broken: Vec<(u32, u32)>,
    pub(super) canon: Canon,
}

/// A node of a [`Syntax`].
#[derive(Clone, Copy)]
pub struct Node<'t> {
    syntax: &'t Syntax<'t>,
    index: u32,
}

impl<'s> Syntax<'s> {
    pub(super) fn new(language: Language, source: &'s str, nodes: Vec<Info>, names: &'static Names) -> Self {
        let breaks = source.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let lines = std::iter::once(0)
            .chain(breaks.map(|(at, _)| u32::try_from(at + 1).expect("a parsed file is smaller than 4 GiB")))
            .collect();
        let mut syntax = Self { language, source, nodes, names, lines, broken: Vec::new(), canon: Canon::default() };
        syntax.broken = syntax.all().filter(|n| n.is_broken()).map(|n| (n.line(), n.end_line())).collect::<Vec<_>>();
        syntax
    }

    /// The language it was parsed as.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The text.
    pub fn source(&self) -> &'s str {
        self.source
    }

    /// The whole file.
    pub fn root(&self) -> Node<'_> {
        self.node(0)
    }

    /// A node by its number in order of appearance.
    pub fn node(&self, index: u32) -> Node<'_> {
        Node { syntax: self, index }
    }

    /// Every node in order of appearance.
    pub fn all(&self) -> impl Iterator<Item = Node<'_>> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(|index| self.node(index))
    }

    /// Lines, first and last, that the grammar could not read. Empty for a file that parses.
    pub fn broken_lines(&self) -> &[(u32, u32)] {
        &self.broken
    }

    /// The line of a byte, from 1.
    pub fn line_of(&self, byte: usize) -> u32 {
        let after = self.lines.partition_point(|start| *start as usize <= byte);
        u32::try_from(after).unwrap_or(u32::MAX)
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{:?}", self.line(), self.kind(), self.text())
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && std::ptr::eq(self.syntax, other.syntax)
    }
}

impl Eq for Node<'_> {}

impl<'t> Node<'t> {
    fn info(self) -> &'t Info {
        &self.syntax.nodes[self.index as usize]
    }

    /// Whether the grammar could not read it. A macro of C++ that opens a block lacks a semicolon for the grammar only.
    fn is_broken(self) -> bool {
        let macro_block = self.syntax.language == Language::Cpp && self.kind() == ";";
        self.info().broken && !macro_block
    }

    /// Its number in order of appearance.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The syntax it belongs to.
    pub fn syntax(self) -> &'t Syntax<'t> {
        self.syntax
    }

    /// The grammar's word for it.
    pub fn kind(self) -> &'static str {
        self.syntax.names.kinds.get(self.info().kind as usize).map_or("ERROR", String::as_str)
    }

    /// Whether its kind is one of these.
    pub fn is(self, kinds: &[&str]) -> bool {
        kinds.contains(&self.kind())
    }

    /// Whether the grammar gives it a name; keywords and signs have none.
    pub fn is_named(self) -> bool {
        self.info().named
    }

    /// Whether it is a comment.
    pub fn is_comment(self) -> bool {
        self.kind().ends_with("comment")
    }

    /// The name of the field in which its parent holds it; empty for none.
    pub fn field_name(self) -> &'static str {
        self.syntax.names.fields.get(self.info().field as usize).map_or("", String::as_str)
    }

    /// Its text.
    pub fn text(self) -> &'t str {
        self.syntax.source.get(self.start()..self.end()).unwrap_or("")
    }

    /// Its first byte.
    pub fn start(self) -> usize {
        self.info().start as usize
    }

    /// The byte behind its last.
    pub fn end(self) -> usize {
        self.info().end as usize
    }

    /// Its first line, from 1.
    pub fn line(self) -> u32 {
        self.syntax.line_of(self.start())
    }

    /// Its last line.
    pub fn end_line(self) -> u32 {
        self.syntax.line_of(self.end().max(self.start() + 1) - 1)
    }

    /// The node that holds it.
    pub fn parent(self) -> Option<Self> {
        let parent = self.info().parent;
        (parent != u32::MAX).then(|| self.syntax.node(parent))
    }

    /// Its parent, that one's parent, and so on.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), |node| node.parent())
    }

    /// What it holds, signs and comments included.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let past = self.info().past;
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            (next < past).then(|| {
                let child = self.syntax.node(next);
                next = child.info().past;
                child
            })
        })
    }

    /// What it holds that has a name and is no comment.
    pub fn named(self) -> impl Iterator<Item = Self> {
        self.children().filter(|child| child.is_named() && !child.is_comment())
    }

    /// The first child of one of these kinds.
    pub fn child(self, kinds: &[&str]) -> Option<Self> {
        self.children().find(|child| child.is(kinds))
    }

    /// The first child in a field.
    pub fn field(self, name: &str) -> Option<Self> {
        self.children().find(|child| child.field_name() == name)
    }

    /// Every child in a field.
    pub fn fields(self, name: &'static str) -> impl Iterator<Item = Self> {
        self.children().filter(move |child| child.field_name() == name)
    }

    /// Everything below it, in order of appearance.
    pub fn descendants(self) -> impl Iterator<Item = Self> {
        (self.index + 1..self.info().past).map(|index| self.syntax.node(index))
    }

    /// Itself and everything below it.
    pub fn subtree(self) -> impl Iterator<Item = Self> {
        (self.index..self.info().past).map(|index| self.syntax.node(index))
    }

    /// Whether another node is this one or lies within it.
    pub fn holds(self, other: Self) -> bool {
        (self.index..self.info().past).contains(&other.index)
    }

    /// Whether the next child of its parent that has a name, comments left out.
    pub fn next_named(self) -> Option<Self> {
        self.parent()?.named().find(|node| node.index > self.index)
    }

    /// The child of its parent before it that has a name, comments left out.
    pub fn previous_named(self) -> Option<Self> {
        self.parent()?.named().take_while(|node| node.index < self.index).last()
    }

    /// Its tokens, without what is only formatting: two nodes with equal tokens mean the same.
    pub fn tokens(self) -> &'t [u8] {
        self.syntax.canon.of_node(self.index)
    }
}
