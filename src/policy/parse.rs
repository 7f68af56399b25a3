//! Text -> [`Policy`], or every fault that the text has, each with its place.

use std::ops::Range;
use std::sync::LazyLock;

use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::Deserialize;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::policy::{Class, Policy};

/// The largest policy that is read, in bytes.
pub const LARGEST: usize = 1024 * 1024;

/// The most faults that are worth listing at once.
const MOST_FAULTS: usize = 20;

static SCHEMA: LazyLock<Json> = LazyLock::new(super::schema);

/// Reads a policy. `origin` names for people where the text came from, such as `.evidence-gate.toml at 1a2b3c4d5e of main`.
///
/// An empty answer has no meaning here: a text without `schema = 1` is refused like one with a key that does not exist, since a rule
/// that was meant and not understood would be a rule that is not kept.
pub fn parse(text: &str, origin: &str) -> Result<Policy, PolicyError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let refuse = |faults: Vec<Fault>| PolicyError {
        origin: origin.to_owned(),
        source_code: NamedSource::new(origin, text.to_owned()),
        faults,
    };
    if text.len() > LARGEST {
        let message = format!("the file has {} bytes, and a policy may have {LARGEST}", text.len());
        return Err(PolicyError {
            origin: origin.to_owned(),
            source_code: NamedSource::new(origin, String::new()),
            faults: vec![Fault { message, help: None, at: (0..0).into(), line: 1, column: 1 }],
        });
    }
    let mut reader = Reader { text, whole: &SCHEMA, faults: Vec::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        for error in errors {
            reader.fault(error.span().unwrap_or(0..0), error.message(), None);
        }
        return Err(refuse(reader.faults));
    }
    let table = document.get_ref();
    if !table.keys().any(|key| key.get_ref() == "schema") {
        reader.fault(0..0, "`schema = 1` is missing", Some("write `schema = 1` as the first line".to_owned()));
    }
    let clean = reader.table(&SCHEMA, table, "");
    reader.values(&clean);
    reader.places(table);
    if !reader.faults.is_empty() {
        return Err(refuse(reader.faults));
    }
    match Policy::deserialize(toml::Deserializer::from(document)) {
        Ok(policy) => Ok(with_lines(policy, table_of(text).as_ref(), text)),
        Err(error) => {
            reader.fault(error.span().unwrap_or(0..0), error.message(), None);
            Err(refuse(reader.faults))
        }
    }
}

/// Why a text is no policy: every fault that was found, with its place. Prints with a caret under each through `miette`.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{origin} is no policy that can be used")]
pub struct PolicyError {
    origin: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[related]
    faults: Vec<Fault>,
}

impl PolicyError {
    /// The faults in the order of the file; never empty.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The first fault in one line, for places where a caret has no room.
    pub fn one_line(&self) -> String {
        let Some(first) = self.faults.first() else { return "it cannot be read".to_owned() };
        let more = match self.faults.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more fault)".to_owned(),
            more => format!(" (and {more} more faults)"),
        };
        let help = first.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("line {}: {}{help}{more}", first.line, first.message)
    }
}

/// One fault of a policy file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Diagnostic)]
#[error("line {line}: {message}")]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be guessed.
    #[help]
    pub help: Option<String>,
    #[label("here")]
    at: SourceSpan,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

struct Reader<'r> {
    text: &'r str,
    /// The schema of the whole file.
    whole: &'r Json,
    faults: Vec<Fault>,
}

/// A place in the document: the keys and numbers that lead to it, and the value.
struct Leaf<'d, 't> {
    keys: Vec<String>,
    value: &'d Spanned<DeValue<'t>>,
}

impl Reader<'_> {
    fn fault(&mut self, at: Range<usize>, message: impl Into<String>, help: Option<String>) {
        let (line, column) = place(self.text, at.start);
        self.faults.push(Fault { message: message.into(), help, at: at.into(), line, column });
    }

    /// Holds a table against the schema: unknown keys, wrong types and words that are none of the choices are faults. What is left
    /// over, value by value, is returned for [`Reader::values`].
    fn table<'d, 't>(&mut self, schema: &Json, table: &'d DeTable<'t>, section: &str) -> Vec<Leaf<'d, 't>> {
        let Some(known) = schema.get("properties").and_then(Json::as_object) else { return Vec::new() };
        for required in schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
            let there = table.keys().any(|key| key.get_ref() == required);
            // At the top the missing `schema` was named already.
            if !there && !section.is_empty() {
                let at = table.keys().next().map_or(0..0, Spanned::span);
                self.fault(at, format!("`{required}` is missing in {section}"), None);
            }
        }
        let mut clean = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let Some(schema) = known.get(name) else {
                let help = suggest(self.whole, known, name, section);
                let section = if section.is_empty() { String::new() } else { format!(" in {section}") };
                self.fault(key.span(), format!("unknown key `{name}`{section}"), help);
                continue;
            };
            let schema = resolve(self.whole, schema);
            if !self.fits(schema, value, name) {
                continue;
            }
            match value.get_ref() {
                DeValue::Table(inner) => {
                    let section = if section.is_empty() { format!("[{name}]") } else { format!("`{name}`") };
                    let before = self.faults.len();
                    let keys = self.table(schema, inner, &section);
                    if schema.get("required").is_none() {
                        clean.extend(keys.into_iter().map(|leaf| leaf.below(name)));
                    } else if self.faults.len() == before {
                        // Its keys cannot be read one without the other.
                        clean.push(Leaf { keys: vec![name.to_owned()], value });
                    }
                }
                DeValue::Array(items) if items.iter().any(|item| item.get_ref().is_table()) => {
                    let schema = resolve(self.whole, schema.get("items").unwrap_or(&Json::Null));
                    for (at, item) in items.iter().enumerate() {
                        let DeValue::Table(inner) = item.get_ref() else { continue };
                        let section = if section.is_empty() { format!("[[{name}]]") } else { format!("`{name}`") };
                        let before = self.faults.len();
                        self.table(schema, inner, &section);
                        if self.faults.len() == before {
                            clean.push(Leaf { keys: vec![name.to_owned(), at.to_string()], value: item });
                        }
                    }
                }
                DeValue::Array(_)
                | DeValue::String(_)
                | DeValue::Integer(_)
                | DeValue::Float(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_) => clean.push(Leaf { keys: vec![name.to_owned()], value }),
            }
        }
        clean
    }

    /// Whether a value has the type, the range and one of the words that the schema asks for.
    fn fits(&mut self, schema: &Json, value: &Spanned<DeValue<'_>>, name: &str) -> bool {
        let is = type_of(value.get_ref());
        let wanted: Vec<&str> = match schema.get("type") {
            Some(Json::String(one)) => vec![one],
            Some(Json::Array(several)) => several.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        if !wanted.is_empty() && !wanted.contains(&is) {
            let wanted: Vec<&str> = wanted.into_iter().filter(|one| *one != "null").map(named).collect();
            let message = format!("`{name}` must be {}, and is {}", wanted.join(" or "), named(is));
            self.fault(value.span(), message, None);
            return false;
        }
        match value.get_ref() {
            DeValue::String(word) => {
                let choices = choices(schema);
                if choices.is_empty() || choices.contains(&word.as_ref()) {
                    return true;
                }
                let listed: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
                let help = nearest(word, choices.iter().copied()).map(|near| format!("did you mean \"{near}\"?"));
                self.fault(value.span(), format!("`{name}` must be {}, and is \"{word}\"", listed.join(" or ")), help);
                false
            }
            DeValue::Integer(number) => {
                let number = i128::from_str_radix(number.as_str(), number.radix());
                let least = schema.get("minimum").and_then(Json::as_i64).map_or(i128::from(i64::MIN), i128::from);
                let most =
                    match (schema.get("maximum").and_then(Json::as_i64), schema.get("format").and_then(Json::as_str)) {
                        (Some(most), _) => i128::from(most),
                        (None, Some("uint32")) => i128::from(u32::MAX),
                        (None, _) => i128::from(i64::MAX),
                    };
                if number.is_ok_and(|number| (least..=most).contains(&number)) {
                    return true;
                }
                let wanted = match (least, most) {
                    (least, most) if least == most => least.to_string(),
                    (least, most) if most >= i128::from(u32::MAX) => format!("a whole number, at least {least}"),
                    (least, most) => format!("a whole number from {least} to {most}"),
                };
                self.fault(value.span(), format!("`{name}` must be {wanted}"), None);
                false
            }
            DeValue::Array(items) => {
                let Some(inner) = schema.get("items").map(|items| resolve(self.whole, items)) else { return true };
                // Every item is looked at, not only those before the first fault.
                let faults = self.faults.len();
                for item in items {
                    self.fits(inner, item, name);
                }
                self.faults.len() == faults
            }
            DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Table(_) => true,
        }
    }

    /// Reads every value by itself, so that one that cannot be read does not hide the next.
    fn values(&mut self, leaves: &[Leaf<'_, '_>]) {
        for leaf in leaves {
            match leaf.value.get_ref() {
                DeValue::Array(items) if !items.iter().any(|item| item.get_ref().is_table()) && !leaf.is_command() => {
                    for item in items {
                        self.value(
                            &leaf.keys,
                            Spanned::new(item.span(), DeValue::Array([item.clone()].into_iter().collect())),
                        );
                    }
                }
                _ => self.value(&leaf.keys, leaf.value.clone()),
            }
        }
    }

    fn value(&mut self, keys: &[String], value: Spanned<DeValue<'_>>) {
        let span = value.span();
        let mut value = value;
        for key in keys.iter().rev() {
            value = if key.parse::<usize>().is_ok() {
                Spanned::new(span.clone(), DeValue::Array([value].into_iter().collect()))
            } else {
                let key = Spanned::new(span.clone(), key.clone().into());
                Spanned::new(span.clone(), DeValue::Table([(key, value)].into_iter().collect()))
            };
        }
        if let Err(error) = Policy::deserialize(toml::de::ValueDeserializer::from(value)) {
            self.fault(error.span().unwrap_or(span), error.message(), None);
        }
    }

    /// What no single value can know: ids that stand twice, and paths that stand for two things.
    fn places(&mut self, table: &DeTable<'_>) {
        let properties = get(table, "property").and_then(|value| value.get_ref().as_array());
        let mut seen: Vec<&str> = Vec::new();
        for property in properties.into_iter().flat_map(|list| list.iter()) {
            let id = property.get_ref().as_table().and_then(|table| get(table, "id"));
            if let Some((id, text)) = id.and_then(|id| Some((id, id.get_ref().as_str()?))) {
                if seen.contains(&text) {
                    self.fault(id.span(), format!("the property id `{text}` stands twice"), None);
                }
                seen.push(text);
            }
        }
        self.faults.sort_by_key(|fault| (fault.at.offset(), fault.message.clone()));
        self.faults.dedup();
        self.faults.truncate(MOST_FAULTS);
    }
}

impl Leaf<'_, '_> {
    fn below(mut self, key: &str) -> Self {
        self.keys.insert(0, key.to_owned());
        self
    }

    fn is_command(&self) -> bool {
        self.keys.last().is_some_and(|key| matches!(key.as_str(), "command" | "subject"))
    }
}

pub(super) fn get<'d, 't>(table: &'d DeTable<'t>, name: &str) -> Option<&'d Spanned<DeValue<'t>>> {
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
}

fn resolve<'s>(whole: &'s Json, schema: &'s Json) -> &'s Json {
    let inner = schema
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|name| whole.pointer(name.strip_prefix('#')?))
        // A key that may be left out refers to its type, or to null.
        .or_else(|| schema.get("anyOf")?.as_array()?.first().map(|inner| resolve(whole, inner)));
    inner.unwrap_or(schema)
}

/// The words that a schema allows; empty when it is no choice.
fn choices(schema: &Json) -> Vec<&str> {
    let listed = schema.get("enum").and_then(Json::as_array).into_iter().flatten();
    let described =
        schema.get("oneOf").and_then(Json::as_array).into_iter().flatten().filter_map(|one| one.get("const"));
    listed.chain(described).filter_map(Json::as_str).collect()
}

fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "string",
        DeValue::Integer(_) => "integer",
        DeValue::Float(_) => "number",
        DeValue::Boolean(_) => "boolean",
        DeValue::Datetime(_) => "date",
        DeValue::Array(_) => "array",
        DeValue::Table(_) => "object",
    }
}

fn named(kind: &str) -> &str {
    match kind {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        other => other,
    }
}

/// The nearest of some words, if one is near.
fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    words
        .map(|known| (strsim::jaro_winkler(&word.to_lowercase(), known), known))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known)
}

/// What somebody who wrote an unknown key may have meant: the same key of another section, the nearest key here, or the list.
fn suggest(whole: &Json, known: &serde_json::Map<String, Json>, name: &str, section: &str) -> Option<String> {
    let top = whole.get("properties").and_then(Json::as_object)?;
    if let Some(near) =
        nearest(name, known.keys().map(String::as_str)).filter(|near| strsim::levenshtein(near, name) <= 3)
    {
        return Some(format!("did you mean `{near}`?"));
    }
    if !section.is_empty() && top.contains_key(name) {
        return Some(format!("`{name}` stands at the top of the file, before the first section"));
    }
    let elsewhere = top.iter().find(|(_, schema)| {
        let inner = resolve(whole, schema);
        let inner = inner.get("items").map_or(inner, |items| resolve(whole, items));
        inner.get("properties").and_then(Json::as_object).is_some_and(|keys| keys.contains_key(name))
    });
    if let Some((place, _)) = elsewhere {
        return Some(format!("`{name}` is a key of [{place}]"));
    }
    let near =
        nearest(name, known.keys().map(String::as_str)).map(|near| format!("the nearest known key is `{near}`; "));
    let mut keys: Vec<&str> = known.keys().map(String::as_str).collect();
    keys.sort_unstable();
    Some(format!("{}known keys are {}", near.unwrap_or_default(), keys.join(", ")))
}

/// Line and column, both from 1, of a place in a text.
pub(super) fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

fn table_of(text: &str) -> Option<Spanned<DeTable<'_>>> {
    DeTable::parse(text).ok()
}

/// Tells every pattern of the classes the line that it stands in.
fn with_lines(mut policy: Policy, document: Option<&Spanned<DeTable<'_>>>, text: &str) -> Policy {
    let classes = document.and_then(|document| get(document.get_ref(), "classes")?.get_ref().as_table());
    for class in Class::ALL {
        let spans = classes.and_then(|table| get(table, class.as_str())?.get_ref().as_array());
        let spans = spans.into_iter().flat_map(|list| list.iter());
        for (pattern, place_of) in policy.classes.of_mut(class).iter_mut().zip(spans) {
            pattern.set_line(place(text, place_of.span().start).0);
        }
    }
    policy
}
