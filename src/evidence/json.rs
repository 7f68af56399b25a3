//! JSON, read strictly: a key that stands twice is an error, and numbers keep their kind.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// A JSON value, with the keys of objects in the order in which they stand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    /// A fraction, or a whole number of more than 64 bits.
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What it is, for a sentence.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Integer(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// Reads a whole document. The error says in half a sentence what is wrong, and where.
pub(super) fn read(bytes: &[u8]) -> Result<Json, String> {
    if bytes.starts_with(b"\xef\xbb\xbf") || bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("it begins with a byte order mark: save it as UTF-8 without one".to_owned());
    }
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => error.to_string(),
        serde_json::error::Category::Syntax | serde_json::error::Category::Eof | serde_json::error::Category::Io => {
            format!("it is no JSON: {error}")
        }
    })
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

struct Strict;

/// Up to this many keys a list is searched, above it a set.
const FEW: usize = 16;

impl<'de> Visitor<'de> for Strict {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        #[expect(clippy::cast_precision_loss, reason = "what has more than 64 bits is only ever refused")]
        Ok(i64::try_from(value).map_or(Json::Number(value as f64), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object: Vec<(String, Json)> = Vec::new();
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.len() == FEW {
                seen.extend(object.iter().map(|(key, _)| key.clone()));
            }
            let twice = if object.len() < FEW {
                object.iter().any(|(earlier, _)| *earlier == key)
            } else {
                !seen.insert(key.clone())
            };
            if twice {
                let key: String = key.chars().take(200).collect();
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            object.push((key, entries.next_value()?));
        }
        Ok(Json::Object(object))
    }
}
