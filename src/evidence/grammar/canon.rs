//! What a piece of code says, without how it is laid out.
//!
//! Left out: white space between tokens, comments that direct nothing, a comma before a closing bracket, the semicolons of
//! JavaScript, and the choice between `'` and `"` where it means nothing. Kept: everything else, and the nesting.

use super::syntax::Info;
use super::{Language, Node, Syntax};

/// The tokens of a file, with the part of each node.
#[derive(Default)]
pub struct Canon {
    bytes: Vec<u8>,
    parts: Vec<(u32, u32)>,
}

/// Words that make a comment a directive: it changes what a test runner, a compiler or a coverage tool does.
const DIRECTIVES: &[&str] = &[
    "pragma:",
    "go:build",
    "+build",
    "go:embed",
    "Output:",
    "Unordered output:",
    "output:",
    "unordered output:",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "@jest-environment",
    "@vitest-environment",
    "@requires",
    "@group",
    "@dataProvider",
    "@depends",
    "@test",
    "@covers",
    "@runInSeparateProcess",
    "@ts-nocheck",
    "LCOV_EXCL",
    "GCOV_EXCL",
    ":nocov:",
    "doctest:",
    "@codeCoverageIgnore",
    "NOSONAR",
    "coverage:ignore",
    "@expectedException",
    "@before",
    "@after",
    "frozen_string_literal",
];

impl Canon {
    pub(super) fn of(syntax: &Syntax<'_>) -> Self {
        let mut canon = Self { bytes: Vec::with_capacity(syntax.source().len() * 2), parts: Vec::new() };
        canon.parts.resize(syntax.nodes.len(), (0, 0));
        let mut open: Vec<u32> = Vec::new();
        let (mut index, mut seen) = (0_u32, 0_usize);
        let narrow = |n: usize| u32::try_from(n).expect("tokens of a parsed file are smaller than 4 GiB");
        while (index as usize) < syntax.nodes.len() {
            let info = syntax.nodes[index as usize];
            while open.last().is_some_and(|top| syntax.nodes[*top as usize].past <= index) {
                canon.close(&mut open, narrow);
            }
            let start = narrow(canon.bytes.len());
            let node = syntax.node(index);
            let whole = info.past == index + 1 || is_atom(node) || node.is_comment();
            if whole {
                canon.write_gap(syntax, seen, info.start as usize);
                seen = seen.max(info.end as usize);
                canon.write(syntax, node, &info);
                for inner in index..info.past {
                    canon.parts[inner as usize] = (start, narrow(canon.bytes.len()));
                }
                index = info.past;
            } else {
                if info.named {
                    canon.bytes.push(b'\x02');
                }
                canon.parts[index as usize] = (start, start);
                open.push(index);
                index += 1;
            }
        }
        while !open.is_empty() {
            canon.close(&mut open, narrow);
        }
        canon
    }

    fn close(&mut self, open: &mut Vec<u32>, narrow: impl Fn(usize) -> u32) {
        if let Some(done) = open.pop() {
            self.bytes.push(b'\x03');
            self.parts[done as usize].1 = narrow(self.bytes.len());
        }
    }

    /// Text that the grammar gives no node, such as signs inside a macro.
    fn write_gap(&mut self, syntax: &Syntax<'_>, from: usize, to: usize) {
        let gap = syntax.source().get(from..to).unwrap_or("").trim();
        if !gap.is_empty() {
            self.bytes.extend_from_slice(gap.as_bytes());
            self.bytes.push(b'\x1f');
        }
    }

    fn write(&mut self, syntax: &Syntax<'_>, node: Node<'_>, info: &Info) {
        let text = node.text();
        if node.is_comment() {
            if !DIRECTIVES.iter().any(|word| text.contains(word)) {
                return;
            }
        } else if !info.named && is_layout(syntax, node, text) {
            return;
        }
        if text.trim().is_empty() && !is_atom(node) {
            return;
        }
        if let Some(inner) = plain_quotes(syntax.language(), text) {
            self.bytes.push(b'"');
            self.bytes.extend_from_slice(inner.as_bytes());
            self.bytes.push(b'"');
        } else {
            self.bytes.extend_from_slice(text.trim().as_bytes());
        }
        self.bytes.push(b'\x1f');
    }

    pub(super) fn of_node(&self, index: u32) -> &[u8] {
        let (start, end) = self.parts[index as usize];
        &self.bytes[start as usize..end as usize]
    }
}

/// Text that must stay as it is written: white space inside it means something.
fn is_atom(node: Node<'_>) -> bool {
    let kind = node.kind();
    (kind.contains("string")
        || kind.contains("char_literal")
        || kind.contains("heredoc")
        || kind == "regex"
        || kind == "jsx_text")
        && node.is_named()
        && !kind.ends_with("type")
        && kind != "string_array"
        && kind != "concatenated_string"
}

fn is_layout(syntax: &Syntax<'_>, node: Node<'_>, text: &str) -> bool {
    match text {
        "," => {
            let Some(parent) = node.parent() else { return false };
            let mut after = parent.children().skip_while(|n| n.index() <= node.index()).filter(|n| !n.is_comment());
            let closes = after.next().is_some_and(|n| matches!(n.text(), ")" | "]" | "}" | ">"));
            let one_tuple = parent.kind().contains("tuple") && parent.named().count() == 1;
            let hole = node.index() > 0 && matches!(syntax.node(node.index() - 1).text(), "," | "[");
            closes && !one_tuple && !hole
        }
        ";" => syntax.language().is_script() && node.parent().is_none_or(|p| p.kind() != "for_statement"),
        _ => false,
    }
}

/// The inside of a string whose quotes could be the other ones; `None` where they could not.
fn plain_quotes(language: Language, text: &str) -> Option<&str> {
    if language != Language::Python && !language.is_script() {
        return None;
    }
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inner.contains(['\'', '"', '\\'])).then_some(inner)
}
