//! The smaller words of a policy file: each is checked when it is read, so that no judge meets a wrong one.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

use super::pattern::{NamePattern, Pattern};
use crate::change::BytePath;

/// A path of the repository, counted from its root: no leading slash, no empty part, no `.` or `..`. A slash at the end is dropped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct RepoPath(String);

impl RepoPath {
    /// Takes a path that can be one; says what is wrong with any other.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let mut text = text.into();
        if text.ends_with('/') {
            text.pop();
        }
        if text.is_empty() || text.len() > 4_096 {
            return Err("a path of 1 to 4,096 bytes is wanted here".to_owned());
        }
        if text.contains(['\\', '\0']) || text.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(format!(
                "`{text}` does not stay inside the repository: paths are counted from its root and have no leading slash, empty part, `.`, `..` or backslash"
            ));
        }
        Ok(Self(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `path` is this path, or lies below it.
    pub fn holds(&self, path: &BytePath) -> bool {
        let rest = path.as_bytes().strip_prefix(self.0.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How long something may take: `45s`, `2m`, `1h 30m`; from one second to one day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span(pub Duration);

impl Span {
    /// Reads a text such as `45s`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let span: jiff::SignedDuration = text.parse().map_err(|_| {
            format!("`{text}` is not a duration; durations are written like \"45s\", \"2m\" or \"1h 30m\"")
        })?;
        match Duration::try_from(span) {
            Ok(span) if (Duration::from_secs(1)..=Duration::from_hours(24)).contains(&span) => Ok(Self(span)),
            Ok(_) | Err(_) => Err(format!("`{text}` is not between one second and one day")),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}s", self.0.as_secs()))
    }
}

/// The id of a property: letters, digits, `_` and `-`, since files are named after it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct PropertyId(String);

impl PropertyId {
    /// Takes 1 to 64 letters, digits, `_` and `-`.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
            Ok(Self(text))
        } else {
            Err(format!(
                "`{text}` is no id: 1 to 64 letters, digits, `_` and `-` are wanted, since files are named after it"
            ))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PropertyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A program and its arguments. No shell is involved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct CommandLine(Vec<String>);

impl CommandLine {
    /// Takes at least a program. An argument that would reach out of the folder that the command belongs to is refused.
    pub fn new(words: Vec<String>) -> Result<Self, String> {
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(
                "a command is a list that begins with a program, like [\"python3\", \"-I\", \"check.py\"]".to_owned()
            );
        }
        for (at, word) in words.iter().enumerate() {
            if word.contains('\0') {
                return Err("a word of a command cannot hold a NUL".to_owned());
            }
            let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            if value.split(['/', '\\']).any(|part| part == "..") || (at > 0 && value.starts_with('/')) {
                return Err(format!(
                    "`{word}` leads out of the folder in which the command runs; for a property that is `oracles.root`"
                ));
            }
        }
        Ok(Self(words))
    }

    /// The program and its arguments; never empty.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

/// A regular expression for parts of a failure message that normalising leaves alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct Keep(String);

impl Keep {
    /// Takes an expression that compiles.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        match regex::Regex::new(&text) {
            Ok(expression) if expression.is_match("") => {
                Err(format!("`{text}` matches the empty text, so it would keep everything"))
            }
            Ok(_) => Ok(Self(text)),
            Err(regex::Error::CompiledTooBig(limit)) => Err(format!("`{text}` compiles to more than {limit} bytes")),
            Err(error) => {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                Err(format!("`{text}` is no regular expression: {why}"))
            }
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The compiled expression.
    pub fn regex(&self) -> regex::Regex {
        regex::Regex::new(&self.0).expect("it compiled when it was read")
    }
}

macro_rules! read_text {
    ($name:ident, $make:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                ($make)(Deserialize::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

read_text!(RepoPath, |text: String| RepoPath::new(text));
read_text!(Span, |text: String| Span::parse(&text));
read_text!(PropertyId, |text: String| PropertyId::new(text));
read_text!(CommandLine, CommandLine::new);
read_text!(Keep, |text: String| Keep::new(text));

macro_rules! describe {
    ($name:ident, $schema:tt) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

describe!(Pattern, { "type": "string", "minLength": 1, "maxLength": 1024, "pattern": "^[^!]" });
describe!(NamePattern, { "type": "string", "minLength": 1 });
describe!(RepoPath, { "type": "string", "minLength": 1, "maxLength": 4096 });
describe!(Span, { "type": "string", "examples": ["45s", "2m", "1h 30m"] });
describe!(PropertyId, { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" });
describe!(CommandLine, { "type": "array", "items": { "type": "string" }, "minItems": 1 });
describe!(Keep, { "type": "string", "format": "regex" });
