//! Why a verified body cannot be read.

use std::fmt;

use crate::words::NotAWord;

/// Why a verified body cannot be what its event header says (R13). No variant holds more of the body than a short id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not JSON, not an object, a key twice, or a field of another type.
    #[error("the body of the {event:?} event cannot be read")]
    Json {
        /// The event header.
        event: String,
        /// Where and what.
        #[source]
        source: JsonFault,
    },
    /// JSON, without what the event always carries, or with something of another kind in its place.
    #[error("the body of the {event:?} event has no `{missing}` of the right kind")]
    Missing {
        /// The event header.
        event: String,
        /// The key.
        missing: &'static str,
    },
    /// JSON, with what only another event carries: no signature covers the header, so the body decides.
    #[error("the body of the {event:?} event has a `{foreign}`, so it is of another event")]
    Foreign {
        /// The event header.
        event: String,
        /// The key.
        foreign: &'static str,
    },
    /// Two fields that always say the same say different things.
    #[error("in the body of the {event:?} event `{one}` and `{other}` disagree")]
    Disagree {
        /// The event header.
        event: String,
        /// The one field.
        one: &'static str,
        /// The other field.
        other: &'static str,
    },
    /// A field whose text cannot be what it stands for.
    #[error("in the body of the {event:?} event `{field}` cannot be used")]
    Field {
        /// The event header.
        event: String,
        /// The field, from the top.
        field: &'static str,
        /// What it would have to be.
        #[source]
        source: NotAWord,
    },
}

/// What a JSON parser complained about and where, without the values that it met: they may be private (R14).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct JsonFault {
    line: usize,
    column: usize,
    what: String,
}

impl JsonFault {
    /// Keeps of the parser's words what cannot come out of the body: its own complaint about the form, the name of a missing or
    /// repeated field, or the type that was expected.
    pub(super) fn of(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let complaint = text.strip_suffix(&place).unwrap_or(&text);
        let names_a_field = ["missing field `", "duplicate field `"].iter().any(|start| complaint.starts_with(start));
        let what = if !error.is_data() || names_a_field {
            complaint.to_owned()
        } else {
            let expected = complaint.rsplit_once(", expected ").map_or("of the right type", |(_, expected)| expected);
            format!("a value is not {expected}")
        };
        Self { line: error.line(), column: error.column(), what }
    }

    /// A list where an object belongs. The parser would fill the fields by position.
    pub(super) fn list() -> Self {
        Self { line: 1, column: 1, what: "a value is not a JSON object".to_owned() }
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}: {}", self.line, self.column, self.what)
    }
}
