//! A configuration file as a flat list of keys and values.

use std::rc::Rc;

use crate::evidence::grammar::{Language, Node, Outcome, parse_as};
use crate::evidence::tests::unquoted;

/// More entries than this are not read; the file is then not judged.
const MAX_ENTRIES: usize = 50_000;
/// Deeper nesting is not read.
const MAX_DEPTH: usize = 64;

/// One value with its place. List members have the key of the list with `[]` behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: Vec<String>,
    pub(super) value: String,
    pub(super) line: u32,
}

impl Entry {
    fn new(key: &[String], value: impl Into<String>, line: u32) -> Self {
        Self { key: key.to_vec(), value: value.into(), line }
    }

    /// The last part of the key that names something.
    pub(super) fn last(&self) -> &str {
        self.key.iter().rev().map(String::as_str).find(|k| *k != "[]").unwrap_or("")
    }

    /// The key in dots, list marks left out.
    pub(super) fn dotted(&self) -> String {
        self.key.iter().filter(|k| *k != "[]").map(String::as_str).collect::<Vec<_>>().join(".")
    }

    /// Whether the key ends so.
    pub(super) fn ends(&self, end: &[&str]) -> bool {
        let key: Vec<&str> = self.key.iter().map(String::as_str).filter(|k| *k != "[]").collect();
        key.ends_with(end)
    }
}

/// Why a configuration file has no entries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("the file is not UTF-8")]
    NotUtf8,
    #[error("it is no valid {0}: {1}")]
    Invalid(&'static str, String),
    #[error("it holds more than {MAX_ENTRIES} values")]
    TooMany,
}

type Read = Result<Vec<Entry>, Unreadable>;

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }
}

fn bounded(entries: Vec<Entry>) -> Read {
    if entries.len() > MAX_ENTRIES { Err(Unreadable::TooMany) } else { Ok(entries) }
}

/// The text of a file.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Unreadable> {
    std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).map_err(|_| Unreadable::NotUtf8)
}

/// INI as Python's configparser reads it: sections, `=` or `:`, values that go on in indented lines, whole-line comments.
pub(super) fn ini(text: &str) -> Read {
    let mut entries: Vec<Entry> = Vec::new();
    let mut section = String::new();
    let mut open = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with([' ', '\t'])
            && open
            && let Some(last) = entries.last()
        {
            let key = last.key.clone();
            entries.push(Entry { key, value: strip_inline(trimmed).to_owned(), line: number });
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[').and_then(|t| t.split(']').next()) {
            name.trim().clone_into(&mut section);
            open = false;
            continue;
        }
        let (key, value) = trimmed.split_once(['=', ':']).unwrap_or((trimmed, ""));
        let path = [section.clone(), key.trim().to_owned()];
        entries.push(Entry::new(&path, strip_inline(value.trim()), number));
        open = true;
    }
    entries.retain(|e| !e.value.is_empty());
    bounded(entries)
}

fn strip_inline(value: &str) -> &str {
    value.split(" #").next().unwrap_or(value).split(" ;").next().unwrap_or(value).trim()
}

/// Java's properties, and dotenv files: `key = value`.
pub(super) fn properties(text: &str) -> Read {
    let lines = (1_u32..).zip(text.lines()).filter_map(|(number, line)| {
        let line = line.trim();
        let (key, value) = line.split_once(['=', ':'])?;
        (!line.starts_with(['#', '!'])).then(|| Entry::new(&[key.trim().to_owned()], value.trim(), number))
    });
    bounded(lines.collect())
}

/// TOML.
pub(super) fn toml(text: &str) -> Read {
    let table = toml::de::DeTable::parse(text).map_err(|e| Unreadable::Invalid("TOML", e.message().to_owned()))?;
    let mut entries = Vec::new();
    toml_table(table.get_ref(), &Lines::of(text), &mut Vec::new(), &mut entries);
    bounded(entries)
}

fn toml_table(table: &toml::de::DeTable<'_>, lines: &Lines, key: &mut Vec<String>, entries: &mut Vec<Entry>) {
    for (name, value) in table {
        key.push(name.get_ref().to_string());
        toml_value(value, lines, key, entries);
        key.pop();
    }
}

fn toml_value(
    value: &toml::Spanned<toml::de::DeValue<'_>>,
    lines: &Lines,
    key: &mut Vec<String>,
    entries: &mut Vec<Entry>,
) {
    use toml::de::DeValue;
    let line = lines.line(value.span().start);
    if key.len() > MAX_DEPTH || entries.len() > MAX_ENTRIES {
        return;
    }
    match value.get_ref() {
        DeValue::String(s) => entries.push(Entry::new(key, s.to_string(), line)),
        DeValue::Integer(n) => entries.push(Entry::new(key, n.to_string(), line)),
        DeValue::Float(n) => entries.push(Entry::new(key, n.to_string(), line)),
        DeValue::Boolean(b) => entries.push(Entry::new(key, b.to_string(), line)),
        DeValue::Datetime(d) => entries.push(Entry::new(key, d.to_string(), line)),
        DeValue::Array(list) => {
            key.push("[]".to_owned());
            for value in list {
                toml_value(value, lines, key, entries);
            }
            key.pop();
        }
        DeValue::Table(table) => toml_table(table, lines, key, entries),
    }
}

/// A YAML node. Anchors are shared, never copied, so that a file of aliases cannot grow.
pub(super) enum Yaml {
    Scalar(String, u32),
    List(Vec<Rc<Yaml>>),
    Map(Vec<(String, Rc<Yaml>)>),
}

/// YAML as a tree of its first to last document.
pub(super) fn yaml_tree(text: &str) -> Result<Vec<Rc<Yaml>>, Unreadable> {
    use saphyr_parser::{Event, Parser};
    enum Open {
        List(Vec<Rc<Yaml>>, usize),
        Map(Vec<(String, Rc<Yaml>)>, Option<String>, usize),
    }
    let mut anchors: std::collections::BTreeMap<usize, Rc<Yaml>> = std::collections::BTreeMap::new();
    let mut stack: Vec<Open> = Vec::new();
    let mut documents = Vec::new();
    let mut count = 0_usize;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| Unreadable::Invalid("YAML", e.to_string()))?;
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
        count += 1;
        if count > MAX_ENTRIES * 4 || stack.len() > MAX_DEPTH * 4 {
            return Err(Unreadable::TooMany);
        }
        let (done, anchor) = match event {
            Event::Alias(id) => {
                (anchors.get(&id).cloned().unwrap_or_else(|| Rc::new(Yaml::Scalar(String::new(), line))), 0)
            }
            Event::Scalar(value, _, anchor, _) => (Rc::new(Yaml::Scalar(value.into_owned(), line)), anchor),
            Event::SequenceStart(anchor, _) => {
                stack.push(Open::List(Vec::new(), anchor));
                continue;
            }
            Event::MappingStart(anchor, _) => {
                stack.push(Open::Map(Vec::new(), None, anchor));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(Open::List(list, anchor)) => (Rc::new(Yaml::List(list)), anchor),
                Some(Open::Map(map, _, anchor)) => (Rc::new(Yaml::Map(map)), anchor),
                None => continue,
            },
            _ => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, Rc::clone(&done));
        }
        match stack.last_mut() {
            None => documents.push(done),
            Some(Open::List(list, _)) => list.push(done),
            Some(Open::Map(map, key, _)) => match key.take() {
                Some(key) => map.push((key, done)),
                None => {
                    *key = Some(match &*done {
                        Yaml::Scalar(text, _) => text.clone(),
                        _ => String::new(),
                    });
                }
            },
        }
    }
    Ok(documents)
}

/// YAML.
pub(super) fn yaml(text: &str) -> Read {
    let mut entries = Vec::new();
    for document in yaml_tree(text)? {
        flatten(&document, &mut Vec::new(), &mut entries);
    }
    bounded(entries)
}

fn flatten(node: &Yaml, key: &mut Vec<String>, entries: &mut Vec<Entry>) {
    if key.len() > MAX_DEPTH || entries.len() > MAX_ENTRIES {
        return;
    }
    match node {
        Yaml::Scalar(value, line) => entries.push(Entry::new(key, value.clone(), *line)),
        Yaml::List(list) => {
            key.push("[]".to_owned());
            for node in list {
                flatten(node, key, entries);
            }
            key.pop();
        }
        Yaml::Map(map) => {
            for (name, node) in map {
                key.push(name.clone());
                flatten(node, key, entries);
                key.pop();
            }
        }
    }
}

/// JSON, with comments and trailing commas where somebody wrote them: an object literal of JavaScript.
pub(super) fn json(text: &str) -> Read {
    let wrapped = format!("({text}\n)");
    match parse_as(Language::JavaScript, wrapped.as_bytes()) {
        Outcome::Parsed(syntax) => {
            if let Some((line, _)) = syntax.broken_lines().first() {
                return Err(Unreadable::Invalid("JSON", format!("line {line} does not parse")));
            }
            Ok(objects(syntax.root()))
        }
        Outcome::Unparsable(why) => Err(Unreadable::Invalid("JSON", why.to_string())),
    }
}

/// The object literals of a JavaScript or TypeScript configuration file.
pub(super) fn script(language: Language, bytes: &[u8]) -> Read {
    match parse_as(language, bytes) {
        Outcome::Parsed(syntax) => bounded(objects(syntax.root())),
        Outcome::Unparsable(why) => Err(Unreadable::Invalid("JavaScript", why.to_string())),
    }
}

/// Every value under a key of an object literal, and every plain assignment to a member, wherever they stand.
fn objects(root: Node<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for node in root.descendants() {
        let (key, value) = match node.kind() {
            "pair" => (node.field("key"), node.field("value")),
            "assignment_expression" => (node.field("left"), node.field("right")),
            _ => continue,
        };
        let (Some(name), Some(value)) = (key, value) else { continue };
        if value.kind() == "object" {
            continue;
        }
        let mut path: Vec<String> =
            node.ancestors().filter(|a| a.kind() == "pair").filter_map(|a| a.field("key").map(unquoted)).collect();
        path.reverse();
        path.push(unquoted(name));
        if value.kind() == "array" {
            path.push("[]".to_owned());
            for member in value.named().filter(|m| m.kind() != "object") {
                entries.push(Entry::new(&path, unquoted(member), member.line()));
            }
        } else {
            entries.push(Entry::new(&path, unquoted(value), value.line()));
        }
    }
    entries
}

/// XML: texts and attributes by the local names of their elements. Entities are not expanded.
pub(super) fn xml(text: &str) -> Read {
    use quick_xml::events::Event;
    let lines = Lines::of(text);
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut path: Vec<String> = Vec::new();
    let mut entries = Vec::new();
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let line = lines.line(at);
        let event = reader.read_event().map_err(|e| Unreadable::Invalid("XML", e.to_string()))?;
        let closed = matches!(event, Event::Empty(_));
        match event {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => {
                let name = element.name();
                path.push(local(name.as_ref()));
                if path.len() > MAX_DEPTH || entries.len() > MAX_ENTRIES {
                    return Err(Unreadable::TooMany);
                }
                entries.push(Entry::new(&path, "", line));
                for attribute in element.attributes().flatten() {
                    path.push(format!("@{}", local(attribute.key.as_ref())));
                    entries.push(Entry::new(&path, attribute.value.to_string(), line));
                    path.pop();
                }
                if closed {
                    path.pop();
                }
            }
            Event::End(_) => {
                path.pop();
            }
            Event::Text(words) => {
                let words: &str = words.as_ref();
                if !words.trim().is_empty() {
                    entries.push(Entry::new(&path, words.trim(), line));
                }
            }
            _ => {}
        }
    }
    bounded(entries)
}

fn local(name: impl AsRef<[u8]>) -> String {
    let name = String::from_utf8_lossy(name.as_ref());
    name.rsplit(':').next().unwrap_or("").to_owned()
}

/// The recipes of a Makefile or justfile: the target and each command, a leading tab taken off.
pub(super) fn recipes(text: &str) -> Read {
    let mut entries = Vec::new();
    let mut target = String::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        if line.starts_with(['\t', ' ']) {
            let command = line.trim();
            if !command.starts_with('#') {
                entries.push(Entry::new(&[target.clone()], command, number));
            }
        } else if let Some((name, _)) = line.split_once(':')
            && !line.starts_with('#')
        {
            name.trim().clone_into(&mut target);
        }
    }
    bounded(entries)
}

/// Words on lines, as in `.rspec`.
pub(super) fn words(text: &str) -> Read {
    let lines =
        (1_u32..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    bounded(lines.map(|(number, line)| Entry::new(&["options".to_owned()], line.trim(), number)).collect())
}

/// Lines of code without their comments, for Gradle's scripts.
pub(super) fn code_lines(text: &str) -> Read {
    let mut in_comment = false;
    let mut blocks: Vec<String> = Vec::new();
    let mut entries = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let mut code = line.trim();
        if in_comment {
            let Some((_, rest)) = code.split_once("*/") else { continue };
            in_comment = false;
            code = rest.trim();
        }
        if let Some((before, rest)) = code.split_once("/*") {
            in_comment = !rest.contains("*/");
            code = before.trim();
        }
        let code = code.split("//").next().unwrap_or("").trim();
        if code.is_empty() {
            continue;
        }
        if code.starts_with('}') {
            blocks.pop();
        }
        entries.push(Entry::new(&blocks, code, number));
        if code.ends_with('{') && blocks.len() < MAX_DEPTH {
            blocks.push(code.trim_end_matches('{').trim().to_owned());
        }
    }
    bounded(entries)
}
