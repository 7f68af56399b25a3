//! How each language says what a piece of a file is.

mod c_sharp;
mod cpp;
mod examples;
mod go;
mod jvm;
mod php;
mod python;
mod ruby;
mod rust;
mod script;

use super::inventory::{Kind, Scope};
use super::names::Aliases;
use crate::evidence::grammar::{Language, Node};

pub(in crate::evidence) use c_sharp::attributes as c_sharp_attributes;
pub(in crate::evidence) use cpp::TESTS as CPP_TESTS;
pub(super) use examples::examples;
pub(in crate::evidence) use jvm::annotations as jvm_annotations;
pub(in crate::evidence) use php::{attributes as php_attributes, chain_root as php_chain_root};
pub(in crate::evidence) use ruby::call_parts as ruby_call;
pub(in crate::evidence) use rust::attribute_path as rust_attribute;
pub(in crate::evidence) use script::path_of as script_path;

/// Where a node stands.
pub(super) struct Inside<'a> {
    /// The file's path.
    pub(super) path: &'a str,
    /// How much of the file is test.
    pub(super) scope: Scope,
    /// What the suite around it is; `None` at the top of the file.
    pub(super) suite: Option<Suite>,
    /// How many suites are around it.
    pub(super) depth: usize,
}

/// What a suite is, where that decides what its members are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Suite {
    /// A block of calls or a module.
    #[default]
    Block,
    /// A class whose tests are found by a name.
    NamedClass,
    /// A class whose tests carry an annotation.
    Class,
}

/// What a node is.
pub(super) enum Read<'t> {
    /// A piece.
    Item(Shape<'t>),
    /// Nothing by itself; its children are pieces.
    Open(Node<'t>),
    /// It belongs to the piece behind it.
    Lead,
    /// Nothing that matters.
    Nothing,
}

/// A piece before it knows its place.
pub(super) struct Shape<'t> {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) node: Option<Node<'t>>,
    pub(super) body: Option<Node<'t>>,
    pub(super) tail: Option<Node<'t>>,
    pub(super) binds: Vec<String>,
    pub(super) why: &'static str,
    pub(super) suite: Suite,
}

impl<'t> Shape<'t> {
    fn new(kind: Kind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            node: None,
            body: None,
            tail: None,
            binds: Vec::new(),
            why: "",
            suite: Suite::Block,
        }
    }

    /// A named thing that binds its name.
    fn named(kind: Kind, name: &str, body: Option<Node<'t>>) -> Self {
        let mut shape = Self::new(kind, name);
        shape.binds.push(name.to_owned());
        shape.body = body;
        shape
    }

    /// A thing that its tokens stand for.
    fn unnamed(kind: Kind, node: Node<'t>, why: &'static str) -> Self {
        let mut shape = Self::new(kind, squeezed(node));
        shape.why = why;
        shape
    }

    fn suite(mut self, suite: Suite) -> Self {
        self.suite = suite;
        self
    }

    fn because(mut self, why: &'static str) -> Self {
        self.why = why;
        self
    }

    fn binding(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.binds.extend(names);
        self
    }

    fn item(self) -> Read<'t> {
        Read::Item(self)
    }
}

fn acts<'t>(node: Node<'t>, why: &'static str) -> Read<'t> {
    Shape::unnamed(Kind::Acts, node, why).item()
}

/// The text on one line, as the name of a piece that has none.
fn squeezed(node: Node<'_>) -> String {
    let text = node.text().split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(160) {
        Some((at, _)) => format!("{} #{}", &text[..at], text.len()),
        None => text,
    }
}

type Dialect = for<'t> fn(Node<'t>, &Inside<'_>, &Aliases, &[Node<'t>]) -> Read<'t>;

pub(super) fn dialect(language: Language) -> Dialect {
    match language {
        Language::Python => python::read,
        Language::JavaScript | Language::TypeScript | Language::Tsx => script::read,
        Language::Rust => rust::read,
        Language::Go => go::read,
        Language::Java => jvm::read_java,
        Language::Kotlin => jvm::read_kotlin,
        Language::CSharp => c_sharp::read,
        Language::Ruby => ruby::read,
        Language::Php => php::read,
        Language::Cpp => cpp::read,
    }
}

/// What an import brings: the local name and what it means, each in words of the language. An import whose parts are not told apart
/// brings itself.
pub(super) fn brings(item: &super::inventory::Item<'_>) -> Vec<(String, String)> {
    let node = item.node;
    let parts: Vec<(String, String)> = match (node.syntax().language(), node.kind()) {
        (Language::Python, "import_statement" | "import_from_statement") => {
            let module = node.field("module_name").map_or("", Node::text);
            node.fields("name")
                .map(|part| {
                    let name = part.field("name").unwrap_or(part).text();
                    let local = part.field("alias").map_or_else(|| name.split('.').next().unwrap_or(name), Node::text);
                    (local.to_owned(), format!("{module}:{name}"))
                })
                .collect()
        }
        (Language::Rust, "use_declaration") => {
            node.field("argument").map(|a| super::names::rust_uses(a, "")).unwrap_or_default()
        }
        (language, "import_statement") if language.is_script() => {
            let source = node.field("source").map_or("", Node::text).trim_matches(['\'', '"']);
            let clause = node.child(&["import_clause"]).into_iter().flat_map(Node::descendants);
            clause
                .filter_map(|n| match n.kind() {
                    "import_specifier" => {
                        let name = n.field("name")?.text();
                        Some((n.field("alias").map_or(name, Node::text).to_owned(), format!("{source}:{name}")))
                    }
                    "namespace_import" => Some((n.named().last()?.text().to_owned(), format!("{source}:*"))),
                    "identifier" if n.parent()?.kind() == "import_clause" => {
                        Some((n.text().to_owned(), format!("{source}:default")))
                    }
                    _ => None,
                })
                .collect()
        }
        _ => Vec::new(),
    };
    if parts.is_empty() {
        let local = match item.binds.as_slice() {
            [one] => one.clone(),
            _ => String::new(),
        };
        return vec![(local, item.name.clone())];
    }
    parts
}
