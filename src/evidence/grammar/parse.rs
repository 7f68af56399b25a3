//! Bytes -> syntax, within bounds.

use std::cell::RefCell;
use std::ops::ControlFlow;

use super::syntax::{Info, Syntax};
use super::{Canon, Language};

/// A larger file is not parsed. In bytes.
const MAX_BYTES: usize = 2 << 20;
/// A parse that takes more steps is given up. The parser asks every hundred operations; honest files need far fewer than 40
/// times their length.
const MAX_ASKS: usize = 1 << 20;
/// A deeper tree is not judged. In nodes from the root.
const MAX_DEPTH: u32 = 1_200;

/// What parsing gave.
pub enum Outcome<'s> {
    /// A tree. It may hold places that did not parse: [`Syntax::broken_lines`].
    Parsed(Box<Syntax<'s>>),
    /// No tree.
    Unparsable(Unparsable),
}

impl<'s> Outcome<'s> {
    /// The syntax, if there is one.
    pub fn syntax(&self) -> Option<&Syntax<'s>> {
        match self {
            Self::Parsed(syntax) => Some(syntax),
            Self::Unparsable(_) => None,
        }
    }
}

/// Why there is no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Unparsable {
    /// No grammar fits the file's name.
    #[error("no grammar for a file of this name")]
    NoGrammar,
    /// The grammar exists and was left out of this build.
    #[error("the grammar for {0} is not part of this build")]
    NotCompiledIn(Language),
    /// Larger than what is parsed.
    #[error("the file is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// Not UTF-8.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// The parser took too many steps.
    #[error("the parser gave up")]
    GaveUp,
    /// Nested too deep to be judged.
    #[error("the file is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

/// Parses a file with the grammar of its name.
pub fn parse<'s>(path: &str, bytes: &'s [u8]) -> Outcome<'s> {
    match Language::of_path(path) {
        Some(language) => parse_as(language, bytes),
        None => Outcome::Unparsable(Unparsable::NoGrammar),
    }
}

/// Parses a file with a given grammar.
pub fn parse_as(language: Language, bytes: &[u8]) -> Outcome<'_> {
    match try_parse(language, bytes) {
        Ok(syntax) => Outcome::Parsed(Box::new(syntax)),
        Err(why) => Outcome::Unparsable(why),
    }
}

thread_local! {
    static PARSER: RefCell<tree_sitter::Parser> = RefCell::new(tree_sitter::Parser::new());
}

fn try_parse(language: Language, bytes: &[u8]) -> Result<Syntax<'_>, Unparsable> {
    if bytes.len() > MAX_BYTES {
        return Err(Unparsable::TooLarge);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let source = std::str::from_utf8(bytes).map_err(|_| Unparsable::NotUtf8)?;
    if bracket_depth(bytes) > MAX_DEPTH {
        return Err(Unparsable::TooDeep);
    }
    let grammar = language.grammar().ok_or(Unparsable::NotCompiledIn(language))?;
    let names = language.names(&grammar);
    let tree = PARSER.with_borrow_mut(|parser| {
        parser.reset();
        parser.set_language(&grammar).map_err(|_| Unparsable::NotCompiledIn(language))?;
        let mut asks = 0_usize;
        let mut ask = |_: &tree_sitter::ParseState| {
            asks += 1;
            if asks > MAX_ASKS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = tree_sitter::ParseOptions::new().progress_callback(&mut ask);
        let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut read, None, Some(options)).ok_or(Unparsable::GaveUp)
    })?;
    let nodes = flatten(&tree)?;
    let mut syntax = Syntax::new(language, source, nodes, names);
    syntax.canon = Canon::of(&syntax);
    Ok(syntax)
}

/// How deep brackets stand in each other at most, strings and comments counted like code: an upper bound that is cheap, since
/// the parser's own work on a failed parse grows with the depth.
fn bracket_depth(bytes: &[u8]) -> u32 {
    let (mut depth, mut most) = (0_u32, 0_u32);
    for byte in bytes {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                most = most.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// The tree as a list in order of appearance, each node with its parent and the end of its own part of the list.
fn flatten(tree: &tree_sitter::Tree) -> Result<Vec<Info>, Unparsable> {
    let narrow = |n: usize| u32::try_from(n).expect("a parsed file is smaller than 4 GiB");
    let mut nodes: Vec<Info> = Vec::with_capacity(tree.root_node().descendant_count());
    let mut cursor = tree.walk();
    let mut open: Vec<u32> = Vec::new();
    loop {
        let node = cursor.node();
        let index = narrow(nodes.len());
        nodes.push(Info {
            kind: node.kind_id(),
            field: cursor.field_id().map_or(0, u16::from),
            named: node.is_named(),
            broken: node.is_error() || node.is_missing(),
            start: narrow(node.start_byte()),
            end: narrow(node.end_byte()),
            parent: open.last().copied().unwrap_or(u32::MAX),
            past: index + 1,
        });
        if cursor.goto_first_child() {
            open.push(index);
            if narrow(open.len()) > MAX_DEPTH {
                return Err(Unparsable::TooDeep);
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            let past = narrow(nodes.len());
            let Some(done) = open.pop() else { return Ok(nodes) };
            nodes[done as usize].past = past;
            cursor.goto_parent();
        }
    }
}
