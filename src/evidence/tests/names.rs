//! What a name in a file means: aliases and imports resolved within the file.

use std::collections::BTreeMap;

use crate::evidence::grammar::{Language, Node, Syntax};

/// Local name -> what it stands for, dotted: `m` -> `pytest.mark` after `from pytest import mark as m`.
#[derive(Clone, Debug, Default)]
pub struct Aliases(BTreeMap<String, String>);

/// Rounds of resolving: `a = pytest; b = a.mark; c = b.skip` takes three.
const ROUNDS: usize = 8;

impl Aliases {
    /// Reads the imports and the plain renamings of a file.
    pub fn of(syntax: &Syntax<'_>) -> Self {
        let mut aliases = Self::default();
        for node in syntax.all() {
            match syntax.language() {
                Language::Python => aliases.python(node),
                language if language.is_script() => aliases.script(node),
                Language::Rust => aliases.rust(node),
                Language::Go => aliases.go(node),
                Language::Java | Language::Kotlin => aliases.jvm(node),
                Language::CSharp => aliases.c_sharp(node),
                Language::Php => aliases.php(node),
                _ => {}
            }
        }
        aliases
    }

    fn add(&mut self, name: &str, means: String) {
        if !name.is_empty() && name != means {
            self.0.entry(name.to_owned()).or_insert(means);
        }
    }

    /// What a local name stands for, if the file says so.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A dotted name with its first part replaced by what it stands for, as often as that changes it.
    pub fn resolve(&self, name: &str) -> String {
        let mut name = name.to_owned();
        for _ in 0..ROUNDS {
            let (head, rest) = name.split_once('.').map_or((name.as_str(), None), |(head, rest)| (head, Some(rest)));
            let Some(means) = self.0.get(head) else { break };
            if means.split('.').next() == Some(head) {
                if means.as_str() != head && rest.is_none() {
                    name.clone_from(means);
                } else if let Some(rest) = rest {
                    name = format!("{means}.{rest}");
                }
                break;
            }
            name = rest.map_or_else(|| means.clone(), |rest| format!("{means}.{rest}"));
        }
        name
    }

    /// The dotted, resolved name of an expression; `None` where it is no name.
    pub fn name_of(&self, node: Node<'_>) -> Option<String> {
        dotted(node).map(|name| self.resolve(&name))
    }

    fn python(&mut self, node: Node<'_>) {
        match node.kind() {
            "import_statement" => {
                for part in node.fields("name") {
                    if let (Some(name), Some(alias)) = (part.field("name"), part.field("alias")) {
                        self.add(alias.text(), name.text().to_owned());
                    }
                }
            }
            "import_from_statement" => {
                let Some(module) = node.field("module_name") else { return };
                for part in node.fields("name") {
                    let name = part.field("name").unwrap_or(part).text();
                    let local = part.field("alias").map_or(name, Node::text);
                    self.add(local, format!("{}.{name}", module.text()));
                }
            }
            "assignment" => {
                if let (Some(left), Some(right)) = (node.field("left"), node.field("right"))
                    && left.kind() == "identifier"
                    && right.is(&["attribute", "identifier"])
                    && let Some(name) = dotted(right)
                {
                    self.add(left.text(), name);
                }
            }
            _ => {}
        }
    }

    fn script(&mut self, node: Node<'_>) {
        match node.kind() {
            "import_statement" => {
                let Some(source) = node.field("source").map(unquoted) else { return };
                for part in node.descendants() {
                    match part.kind() {
                        "import_specifier" => {
                            let name = part.field("name").map_or("", Node::text);
                            let local = part.field("alias").map_or(name, Node::text);
                            self.add(local, module_name(&source, name));
                        }
                        "identifier" if part.parent().is_some_and(|p| p.kind() == "import_clause") => {
                            self.add(part.text(), module_name(&source, "default"));
                        }
                        "namespace_import" => {
                            if let Some(name) = part.named().last() {
                                self.add(name.text(), module_name(&source, ""));
                            }
                        }
                        _ => {}
                    }
                }
            }
            "variable_declarator" => {
                let (Some(left), Some(right)) = (node.field("name"), node.field("value")) else { return };
                let Some(means) = required(right).or_else(|| dotted(right)) else { return };
                match left.kind() {
                    "identifier" if means.is_empty() => self.add(left.text(), "test".to_owned()),
                    "identifier" => self.add(left.text(), means),
                    "object_pattern" => {
                        for part in left.named() {
                            match part.kind() {
                                "shorthand_property_identifier_pattern" => {
                                    self.add(part.text(), join(&means, part.text()));
                                }
                                "pair_pattern" => {
                                    let key = part.field("key").map_or("", Node::text);
                                    let local = part.field("value").map_or("", Node::text);
                                    self.add(local, join(&means, key));
                                }
                                _ => {}
                            }
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn rust(&mut self, node: Node<'_>) {
        if node.kind() == "use_declaration"
            && let Some(argument) = node.field("argument")
        {
            for (local, means) in rust_uses(argument, "") {
                self.add(&local, means);
            }
        }
    }

    fn go(&mut self, node: Node<'_>) {
        if node.kind() == "import_spec" {
            let path = node.field("path").map(unquoted).unwrap_or_default();
            let last = path.rsplit('/').next().unwrap_or("").to_owned();
            if let Some(name) = node.field("name") {
                self.add(name.text(), last);
            }
        }
    }

    fn jvm(&mut self, node: Node<'_>) {
        if !node.is(&["import_declaration", "import"]) {
            return;
        }
        let Some(path) = node.child(&["scoped_identifier", "qualified_identifier", "identifier"]) else { return };
        let full = squeezed(path.text());
        let alias = node.named().filter(|n| n.kind() == "identifier" && n.index() > path.index()).last();
        let last = full.rsplit('.').next().unwrap_or("").to_owned();
        if let Some(alias) = alias {
            self.add(alias.text(), last);
        }
    }

    fn c_sharp(&mut self, node: Node<'_>) {
        if node.kind() == "using_directive"
            && let Some(name) = node.field("name")
            && let Some(target) = node.named().last()
        {
            let last = squeezed(target.text()).rsplit('.').next().unwrap_or("").to_owned();
            self.add(name.text(), last);
        }
    }

    fn php(&mut self, node: Node<'_>) {
        if node.kind() == "namespace_use_clause"
            && let Some(alias) = node.field("alias")
            && let Some(target) = node.named().next()
        {
            let last = target.text().rsplit('\\').next().unwrap_or("").to_owned();
            self.add(alias.text(), last);
        }
    }
}

/// The local name and the full dotted name of each thing that a `use` brings.
pub(super) fn rust_uses(node: Node<'_>, prefix: &str) -> Vec<(String, String)> {
    let under = |name: &str| {
        let name = squeezed(name).replace("::", ".");
        if prefix.is_empty() { name } else { format!("{prefix}.{name}") }
    };
    match node.kind() {
        "scoped_use_list" => {
            let prefix = node.field("path").map_or_else(|| prefix.to_owned(), |path| under(path.text()));
            node.field("list")
                .map(|list| list.named().flat_map(|n| rust_uses(n, &prefix)).collect())
                .unwrap_or_default()
        }
        "use_list" => node.named().flat_map(|n| rust_uses(n, prefix)).collect(),
        "use_as_clause" => {
            let path = node.field("path").map(|path| under(path.text())).unwrap_or_default();
            node.field("alias").map(|alias| (alias.text().to_owned(), path)).into_iter().collect()
        }
        "use_wildcard" => vec![("*".to_owned(), under(node.text()))],
        _ => {
            let full = under(node.text());
            let last = full.rsplit('.').next().unwrap_or("").to_owned();
            let last = if last == "self" { prefix.rsplit('.').next().unwrap_or("").to_owned() } else { last };
            vec![(last, full)]
        }
    }
}

fn join(means: &str, name: &str) -> String {
    if means.is_empty() { name.to_owned() } else { format!("{means}.{name}") }
}

/// The modules that give a test framework's globals, and their default export, are left out of the name, so that `test` of
/// `node:test` and the global `test` are one.
fn module_name(source: &str, name: &str) -> String {
    let framework = matches!(
        source,
        "node:test"
            | "vitest"
            | "@jest/globals"
            | "mocha"
            | "ava"
            | "jasmine"
            | "bun:test"
            | "@playwright/test"
            | "tap"
            | "chai"
    );
    match (framework, name) {
        (true, "") => String::new(),
        (true, "default") => "test".to_owned(),
        (true, name) => name.to_owned(),
        (false, "" | "default") => format!("\"{source}\""),
        (false, name) => format!("\"{source}\".{name}"),
    }
}

fn required(node: Node<'_>) -> Option<String> {
    let node = if node.kind() == "await_expression" { node.named().next()? } else { node };
    if node.kind() == "member_expression" {
        let object = required(node.field("object")?)?;
        return Some(join(&object, node.field("property")?.text()));
    }
    if node.kind() != "call_expression" || !matches!(node.field("function")?.text(), "require" | "import") {
        return None;
    }
    let source = unquoted(node.field("arguments")?.named().next()?);
    Some(module_name(&source, ""))
}

/// The inside of a string literal without its quotes; the text as it is where it is no plain string.
pub(in crate::evidence) fn unquoted(node: Node<'_>) -> String {
    let text = node.text();
    let text = text.trim_start_matches(['r', 'b', 'u', 'f', 'R', 'B', 'U', 'F', '@', '$', '#']);
    for quote in ["\"\"\"", "'''", "\"", "'", "`"] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|t| t.trim_end_matches('#').strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    node.text().to_owned()
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The dotted name of an expression such as `a.b["c"]` or `a::b`; `None` for anything else.
pub fn dotted(node: Node<'_>) -> Option<String> {
    let two = |left: Node<'_>, right: Node<'_>| Some(format!("{}.{}", dotted(left)?, squeezed(right.text())));
    match node.kind() {
        "identifier"
        | "property_identifier"
        | "type_identifier"
        | "field_identifier"
        | "constant"
        | "name"
        | "dotted_name"
        | "simple_identifier"
        | "namespace_identifier"
        | "this"
        | "self"
        | "super"
        | "crate"
        | "this_expression"
        | "package_identifier"
        | "relative_scope"
        | "instance_variable"
        | "this_keyword" => Some(squeezed(node.text())),
        "variable_name" => Some(node.text().trim_start_matches('$').to_owned()),
        "attribute" if node.field("object").is_some() => two(node.field("object")?, node.field("attribute")?),
        "member_expression" => two(node.field("object")?, node.field("property")?),
        "subscript_expression" | "subscript" => {
            let object = node.field("object").or_else(|| node.field("value"))?;
            let index = node.field("index").or_else(|| node.field("subscript"))?;
            index.kind().contains("string").then(|| Some(format!("{}.{}", dotted(object)?, unquoted(index))))?
        }
        "field_expression" => two(node.field("value").or_else(|| node.field("argument"))?, node.field("field")?),
        "selector_expression" => two(node.field("operand")?, node.field("field")?),
        "field_access" => two(node.field("object")?, node.field("field")?),
        "member_access_expression" => {
            two(node.field("expression").or_else(|| node.field("object"))?, node.field("name")?)
        }
        "class_constant_access_expression" | "navigation_expression" => {
            let parts: Vec<_> = node.named().collect();
            match parts.as_slice() {
                [left, right] => two(*left, *right),
                _ => None,
            }
        }
        "scoped_identifier"
        | "scoped_type_identifier"
        | "qualified_identifier"
        | "qualified_name"
        | "generic_name"
        | "user_type"
        | "nullable_type"
        | "scope_resolution"
        | "generic_type"
        | "template_function"
        | "qualified_type"
        | "namespace_name" => {
            let text = squeezed(node.text());
            let text = text.split(['<', '(']).next().unwrap_or("");
            Some(text.replace("::", ".").replace('\\', ".").trim_matches('.').to_owned())
        }
        "parenthesized_expression" | "non_null_expression" | "as_expression" => dotted(node.named().next()?),
        "call"
            if node.field("method").is_some() && node.field("arguments").is_none() && node.field("block").is_none() =>
        {
            match node.field("receiver") {
                Some(receiver) => two(receiver, node.field("method")?),
                None => Some(node.field("method")?.text().to_owned()),
            }
        }
        _ => None,
    }
}
