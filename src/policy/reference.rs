//! The schema of the policy file as a page for people.

use std::fmt::Write as _;

use serde_json::{Map, Value};

macro_rules! add {
    ($page:expr, $($part:tt)*) => { writeln!($page, $($part)*).expect("writing to a String cannot fail") };
}

/// A page of Markdown: which policy fits which team, then every section and key with its type, its default and what it means. Made from
/// [`schema`](super::schema()), so that the two cannot disagree; `docs/policy.md` is this text.
pub fn reference() -> String {
    let schema = super::schema();
    let empty = Map::new();
    let keys = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut page = include_str!("guide.md").to_owned();
    let (tables, plain): (Vec<_>, Vec<_>) = keys.iter().partition(|(_, key)| table_of(&schema, key).is_some());
    add!(page, "### At the top\n\n| key | type | default | means |\n|---|---|---|---|");
    for (name, key) in plain {
        row(&mut page, &schema, name, key);
    }
    for (name, key) in tables {
        let Some(table) = table_of(&schema, key) else { continue };
        let heading = if key.get("type").and_then(Value::as_str) == Some("array") { "[[{}]]" } else { "[{}]" };
        add!(page, "\n### {}\n\n{}\n", heading.replace("{}", name), said(table.get("description")));
        add!(page, "| key | type | default | means |\n|---|---|---|---|");
        let required: Vec<&str> =
            table.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, key) in table.get("properties").and_then(Value::as_object).unwrap_or(&empty) {
            if required.contains(&name.as_str()) {
                add!(page, "| `{name}` | {} | must be there | {} |", kind(&schema, key), meaning(&schema, key));
            } else {
                row(&mut page, &schema, name, key);
            }
        }
    }
    page
}

fn row(page: &mut String, schema: &Value, name: &str, key: &Value) {
    add!(page, "| `{name}` | {} | {} | {} |", kind(schema, key), default(key), meaning(schema, key));
}

/// The schema that a reference, or the first of two choices of which the other is null, leads to.
fn resolved<'s>(schema: &'s Value, key: &'s Value) -> &'s Value {
    if let Some(first) = key.get("anyOf").and_then(Value::as_array).and_then(|any| any.first()) {
        return resolved(schema, first);
    }
    key.get("$ref").and_then(Value::as_str).and_then(|name| schema.pointer(name.strip_prefix('#')?)).unwrap_or(key)
}

/// The schema of a section, or of the items of a list of tables; `None` for a plain key.
fn table_of<'s>(schema: &'s Value, key: &'s Value) -> Option<&'s Value> {
    let found = resolved(schema, key);
    let found = found.get("items").map_or(found, |items| resolved(schema, items));
    found.get("properties").map(|_| found)
}

fn kind(schema: &Value, key: &Value) -> String {
    let found = resolved(schema, key);
    let words = words(found);
    if !words.is_empty() {
        return words.iter().map(|(word, _)| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ");
    }
    let one = match found.get("type") {
        Some(Value::Array(types)) => types.first().and_then(Value::as_str),
        Some(of) => of.as_str(),
        None => None,
    };
    match one {
        Some("integer") => range(found),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => match found.get("items").map(|items| resolved(schema, items)) {
            Some(items) if items.get("properties").is_some() => "list of tables".to_owned(),
            Some(_) | None => "list of texts".to_owned(),
        },
        Some("object") => "table".to_owned(),
        Some(_) | None => "text".to_owned(),
    }
}

fn range(of: &Value) -> String {
    match (of.get("minimum").and_then(Value::as_i64), of.get("maximum").and_then(Value::as_i64)) {
        (Some(least), Some(most)) if least == most => format!("{least}"),
        (Some(least), Some(most)) => format!("number from {least} to {most}"),
        (Some(least), None) if least > 0 => format!("number from {least}"),
        _ => "number".to_owned(),
    }
}

/// The words of a choice, and what each means.
fn words(of: &Value) -> Vec<(&str, &str)> {
    let described = of.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let described = described.filter_map(|one| {
        let word = one.get("const").and_then(Value::as_str)?;
        Some((word, one.get("description").and_then(Value::as_str).unwrap_or_default()))
    });
    let listed = of.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    described.chain(listed.map(|word| (word, ""))).collect()
}

fn default(key: &Value) -> String {
    match key.get("default") {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "`[]`".to_owned(),
        Some(Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("`[{}]`", items.join(", "))
        }
        Some(value) => format!("`{value}`"),
    }
}

/// What a key means, and what each of its words does.
fn meaning(schema: &Value, key: &Value) -> String {
    let found = resolved(schema, key);
    let said = said(key.get("description").or_else(|| found.get("description")));
    let words: Vec<String> = words(found)
        .into_iter()
        .filter(|(_, means)| !means.is_empty())
        .map(|(word, means)| format!("`{word}`: {}", cell(means).trim_end_matches('.')))
        .collect();
    if words.is_empty() { said } else { format!("{said} ({})", words.join("; ")) }
}

fn said(description: Option<&Value>) -> String {
    cell(description.and_then(Value::as_str).unwrap_or_default())
}

/// Text for a cell: on one line, and no bar ends it. Links of the code's documentation become plain names.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
