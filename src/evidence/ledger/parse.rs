//! A ledger's bytes -> its entries. Strict: what is not understood freezes nothing.

use std::fmt;

use jiff::civil::Date;

use super::general::is_digest_of_nothing;
use super::{Freeze, FrozenFailure, Ledger, Normaliser, Shape, Signature};
use crate::evidence::json::{self, Json};
use crate::policy::Keep;

/// The largest ledger that is read, in bytes: room for 50,000 entries and more.
pub const LARGEST_LEDGER: u64 = 64 << 20;

/// The most faults that are named.
const MOST_FAULTS: usize = 100;

/// What is wrong with a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerError {
    /// It is no ledger at all: half a sentence.
    Document(String),
    /// Entries are wrong; never empty, at most 100.
    Entries(Vec<LedgerFault>),
}

/// What is wrong with one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerFault {
    /// Its key, or its number from 1.
    pub entry: String,
    /// Which field; `None` for the entry as a whole.
    pub field: Option<&'static str>,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "entry {}: `{field}` {}", self.entry, self.why),
            None => write!(f, "entry {}: {}", self.entry, self.why),
        }
    }
}

impl fmt::Display for LedgerError {
    /// One line: the first fault, and how many there are besides.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(why) => f.write_str(why),
            Self::Entries(faults) => match faults.as_slice() {
                [] => f.write_str("an entry is wrong"),
                [only] => only.fmt(f),
                [first, rest @ ..] if rest.len() + 1 < MOST_FAULTS => {
                    write!(f, "{first} (and {} more faults)", rest.len())
                }
                [first, ..] => write!(f, "{first} (and at least {} more faults)", MOST_FAULTS - 1),
            },
        }
    }
}

impl std::error::Error for LedgerError {}

/// Reads a ledger of any shape (DESIGN 4.3). Dates must be `YYYY-MM-DD` and in order, keys must fit their fields, no key may stand
/// twice. That a reason, a citation, a date or a bound commit is missing is no error here: it has rules of its own.
pub fn parse(bytes: &[u8]) -> Result<Ledger, LedgerError> {
    let (ledger, faults) = parse_entries(bytes).map_err(LedgerError::Document)?;
    if faults.is_empty() { Ok(ledger) } else { Err(LedgerError::Entries(faults)) }
}

/// The entries that can be read, and what is wrong with the others; the error is of the document as a whole.
pub fn parse_entries(bytes: &[u8]) -> Result<(Ledger, Vec<LedgerFault>), String> {
    let Json::Object(mut top) = json::read(bytes)? else { return Err("a ledger is a JSON object".to_owned()) };
    let mut take = |key: &str| {
        let at = top.iter().position(|(name, _)| name == key)?;
        Some(top.remove(at).1)
    };
    let schema = take("schema");
    let body = (take("freezes"), take("frozen"), take("nodeids"));
    let source = take("source");
    if let Some((key, _)) = top.first() {
        let key: String = key.chars().take(80).collect();
        return Err(format!(
            "the key `{key}` is not known: a ledger has `schema` and `freezes`, or `schema` and `frozen` in its first shape"
        ));
    }
    let wrong = |why: &str| Err(why.to_owned());
    let mut reader = Reader::default();
    let (shape, freezes) = match (schema, source, body) {
        (Some(Json::Integer(2)), None, (Some(Json::Object(entries)), None, None)) => {
            (Shape::Second, reader.signed(entries))
        }
        (Some(Json::Integer(1)), None, (None, Some(Json::List(entries)), None)) => {
            (Shape::First, reader.first(entries))
        }
        (None, None, (Some(Json::Object(entries)), None, None)) => (Shape::Signatures, reader.signed(entries)),
        (None, _, (None, None, Some(Json::List(ids)))) => (Shape::NodeIds, reader.nodeids(ids)),
        (Some(Json::Integer(2)), _, _) => {
            return wrong("a ledger of schema 2 has `freezes`, an object, and nothing else");
        }
        (Some(Json::Integer(1)), _, _) => return wrong("a ledger of schema 1 has `frozen`, a list, and nothing else"),
        (Some(Json::Integer(other)), _, _) => {
            return Err(format!("schema {other} is not known: 2 is, and 1"));
        }
        (Some(other), _, _) => {
            return Err(format!("`schema` is {}, and 2 is wanted", other.kind()));
        }
        (None, _, _) => return wrong("it has neither `schema` and `freezes` nor one of the older shapes"),
    };
    Ok((Ledger { shape, freezes }, reader.faults))
}

#[derive(Default)]
struct Reader {
    faults: Vec<LedgerFault>,
}

/// The fields of an entry, taken out one by one.
struct Fields<'r> {
    entry: String,
    left: Vec<(String, Json)>,
    faults: &'r mut Vec<LedgerFault>,
}

const SIGNED: &[&str] = &[
    "nodeid",
    "seed",
    "exc_type",
    "message_digest",
    "error_code",
    "normaliser",
    "keep",
    "first_seen",
    "expires_on",
    "reason",
    "citation",
    "bound_sha",
];

const PLAIN: &[&str] = &["nodeid", "reason", "bound_sha"];

impl Reader {
    fn signed(&mut self, entries: Vec<(String, Json)>) -> Vec<Freeze> {
        let read = entries.into_iter().map(|(key, value)| self.entry(shown(&key), value, |fields| fields.signed(&key)));
        read.take_while(Result::is_ok).flatten().flatten().collect()
    }

    fn first(&mut self, entries: Vec<Json>) -> Vec<Freeze> {
        let numbered = entries.into_iter().enumerate();
        let read = numbered.map(|(at, value)| self.entry((at + 1).to_string(), value, plain));
        read.take_while(Result::is_ok).flatten().flatten().collect()
    }

    fn nodeids(&mut self, ids: Vec<Json>) -> Vec<Freeze> {
        let mut freezes = Vec::new();
        for (at, value) in ids.into_iter().enumerate() {
            match value {
                Json::Text(nodeid) if !nodeid.trim().is_empty() => freezes.push(Freeze::unsigned(nodeid, None, None)),
                other => {
                    let why = format!("it is {}, and a node id is wanted", other.kind());
                    self.faults.push(LedgerFault { entry: (at + 1).to_string(), field: None, why });
                }
            }
        }
        self.faults.truncate(MOST_FAULTS);
        freezes
    }

    /// One entry; `Err` when enough faults were found, `Ok(None)` when this one has some.
    fn entry(
        &mut self,
        name: String,
        value: Json,
        read: impl FnOnce(&mut Fields<'_>) -> Option<Freeze>,
    ) -> Result<Option<Freeze>, ()> {
        if self.faults.len() >= MOST_FAULTS {
            return Err(());
        }
        let before = self.faults.len();
        let found = match value {
            Json::Object(fields) => read(&mut Fields { entry: name, left: fields, faults: &mut self.faults }),
            other => {
                let why = format!("it is {}, and an object is wanted", other.kind());
                self.faults.push(LedgerFault { entry: name, field: None, why });
                None
            }
        };
        self.faults.truncate(MOST_FAULTS);
        Ok(found.filter(|_| self.faults.len() == before))
    }
}

impl Freeze {
    fn unsigned(nodeid: String, reason: Option<String>, bound_sha: Option<String>) -> Self {
        Self { nodeid, failure: None, reason, citation: None, first_seen: None, expires_on: None, bound_sha }
    }
}

impl Fields<'_> {
    fn signed(&mut self, key: &str) -> Option<Freeze> {
        self.only(SIGNED);
        let nodeid = self.needed_text("nodeid");
        let seed = self.seed();
        let exc_type = self.needed_text("exc_type");
        let message_digest = self.needed_text("message_digest").and_then(|text| self.read("message_digest", &text));
        let error_code = self.text("error_code");
        let normaliser = self.normaliser();
        let keep = self.keep();
        let first_seen = self.date("first_seen");
        let expires_on = self.date("expires_on");
        let (reason, citation, bound_sha) = (self.text("reason"), self.text("citation"), self.bound_sha());
        if first_seen.zip(expires_on).is_some_and(|(first, last)| last < first) {
            self.fault("expires_on", "is before `first_seen`");
        }
        let (nodeid, exc_type, message_digest) = (nodeid?, exc_type?, message_digest?);
        let signature = Signature::of(&nodeid, seed?, &exc_type, &message_digest);
        if signature.as_str() != key {
            let why = format!("its key does not fit its fields, which make {signature}");
            self.faults.push(LedgerFault { entry: self.entry.clone(), field: None, why });
        }
        if error_code.is_none() && is_digest_of_nothing(&message_digest) {
            self.fault(
                "message_digest",
                "is that of a message without a word, so it would match failures of any cause",
            );
        }
        let failure = FrozenFailure {
            signature,
            seed: seed?,
            exc_type,
            message_digest,
            error_code,
            normaliser: normaliser?,
            keep: keep?,
        };
        Some(Freeze { nodeid, failure: Some(failure), reason, citation, first_seen, expires_on, bound_sha })
    }

    fn fault(&mut self, field: &'static str, why: impl Into<String>) {
        self.faults.push(LedgerFault { entry: self.entry.clone(), field: Some(field), why: why.into() });
    }

    fn only(&mut self, known: &[&str]) {
        for (name, _) in self.left.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            let why = format!("the field `{}` is not known: fields are {}", shown(name), known.join(", "));
            self.faults.push(LedgerFault { entry: self.entry.clone(), field: None, why });
        }
    }

    fn take(&mut self, field: &str) -> Option<Json> {
        let at = self.left.iter().position(|(name, _)| name == field)?;
        Some(self.left.remove(at).1).filter(|value| *value != Json::Null)
    }

    /// A text that may be left out; one of white space alone is left out.
    fn text(&mut self, field: &'static str) -> Option<String> {
        match self.take(field)? {
            Json::Text(text) => Some(text).filter(|text| !text.trim().is_empty()),
            other => {
                self.fault(field, format!("is {}, and a text is wanted", other.kind()));
                None
            }
        }
    }

    fn needed_text(&mut self, field: &'static str) -> Option<String> {
        let before = self.faults.len();
        let text = self.text(field);
        if text.is_none() && self.faults.len() == before {
            self.fault(field, "is missing");
        }
        text
    }

    fn read<T: std::str::FromStr<Err: fmt::Display>>(&mut self, field: &'static str, text: &str) -> Option<T> {
        text.parse().map_err(|error| self.fault(field, format!("is \"{}\": {error}", shown(text)))).ok()
    }

    /// The outer `None` is a fault.
    #[expect(clippy::option_option, reason = "no seed is a seed as good as any")]
    fn seed(&mut self) -> Option<Option<i64>> {
        match self.take("seed") {
            None => Some(None),
            Some(Json::Integer(seed)) => Some(Some(seed)),
            Some(other) => {
                self.fault("seed", format!("is {}, and a whole number of 64 bits or null is wanted", other.kind()));
                None
            }
        }
    }

    fn normaliser(&mut self) -> Option<Normaliser> {
        match self.take("normaliser") {
            None => Some(Normaliser::default()),
            Some(Json::Integer(number)) if Normaliser::from_number(number).is_some() => Normaliser::from_number(number),
            Some(_) => {
                self.fault("normaliser", "is neither 1 nor 2");
                None
            }
        }
    }

    fn keep(&mut self) -> Option<Vec<Keep>> {
        let items = match self.take("keep") {
            None => return Some(Vec::new()),
            Some(Json::List(items)) => items,
            Some(other) => {
                self.fault("keep", format!("is {}, and a list of regular expressions is wanted", other.kind()));
                return None;
            }
        };
        let mut keep = Vec::new();
        for item in items {
            match item {
                Json::Text(text) => match Keep::new(text) {
                    Ok(expression) => keep.push(expression),
                    Err(why) => self.fault("keep", format!("cannot be used: {why}")),
                },
                other => self.fault("keep", format!("holds {}, and regular expressions are wanted", other.kind())),
            }
        }
        Some(keep)
    }

    fn date(&mut self, field: &'static str) -> Option<Date> {
        let text = self.text(field)?;
        let date = strict_date(&text);
        if date.is_none() {
            self.fault(field, format!("is \"{}\", and a day is written YYYY-MM-DD", shown(&text)));
        }
        date
    }

    fn bound_sha(&mut self) -> Option<String> {
        let text = self.text("bound_sha")?;
        let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !hex || text.len() > 64 {
            self.fault(
                "bound_sha",
                format!("is \"{}\", and a commit is written in lower-case hexadecimal digits", shown(&text)),
            );
        }
        Some(text)
    }
}

/// An entry of the first schema.
fn plain(fields: &mut Fields<'_>) -> Option<Freeze> {
    fields.only(PLAIN);
    let nodeid = fields.needed_text("nodeid");
    let (reason, bound_sha) = (fields.text("reason"), fields.bound_sha());
    Some(Freeze::unsigned(nodeid?, reason, bound_sha))
}

/// `YYYY-MM-DD` and nothing else: no time, no sign, no missing zero.
pub(super) fn strict_date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let fits = bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() });
    if !fits {
        return None;
    }
    Date::new(text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?).ok()
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
