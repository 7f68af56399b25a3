//! A trial log: one line of JSON, read strictly.

use serde_json::Value;

use crate::evidence::json::{self, Json};
use crate::evidence::wording;
use crate::policy::PropertyId;

/// The largest log that is read, in bytes: it goes into the record.
const LARGEST: usize = 1 << 20;

/// What a run was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which property.
    pub id: PropertyId,
    /// The seed to draw from.
    pub seed: i64,
    /// How many draws.
    pub trials: u64,
}

/// What a run says that it did.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialLog {
    /// The seed that it drew from.
    pub seed: i64,
    /// How many draws it made.
    pub trials: u64,
    /// How many of them met the precondition.
    pub hits: u64,
    /// The smallest input that failed.
    pub counterexample: Option<Value>,
    /// The type of what was thrown.
    pub exc_type: Option<String>,
    /// Its message.
    pub message: Option<String>,
}

/// What is wrong with a log. Each is a phrase that stands behind the name of the property.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogFault {
    /// Nothing was written.
    #[error("it left no trial log")]
    Absent,
    /// More than is read.
    #[error("its trial log has {0} bytes, and at most {LARGEST} are read")]
    TooLarge(usize),
    /// The last line has no end.
    #[error("its trial log breaks off in line {0}, and every line ends with a line feed")]
    HalfLine(usize),
    /// A line is no JSON object, or has a key twice.
    #[error("line {line} of its trial log cannot be read: {why}")]
    Unreadable {
        /// From 1.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// More than one line.
    #[error("its trial log has {0} reports, and one run makes one")]
    Several(usize),
    /// A key that no log has.
    #[error("its trial log has the key `{0}`, which no trial log has")]
    UnknownKey(String),
    /// A key is missing.
    #[error("its trial log has no `{0}`")]
    Missing(&'static str),
    /// A value of the wrong kind.
    #[error("`{key}` in its trial log is {found}, and {wanted} is wanted")]
    Kind {
        /// Which.
        key: &'static str,
        /// What it is.
        found: &'static str,
        /// What it must be.
        wanted: &'static str,
    },
    /// Another property's log.
    #[error("its trial log is of the property `{0}`")]
    OtherProperty(String),
    /// Another seed than asked.
    #[error("it drew from the seed {said}, and was asked to draw from {asked}")]
    OtherSeed {
        /// Its own.
        said: i64,
        /// The policy's.
        asked: i64,
    },
    /// Less than it was asked for, and no failure.
    #[error("it made {said} of {asked} trials")]
    FewerTrials {
        /// Its own number.
        said: u64,
        /// The policy's.
        asked: u64,
    },
    /// More than it was asked for.
    #[error("it says that it made {said} trials, and was asked for {asked}")]
    MoreTrials {
        /// Its own number.
        said: u64,
        /// The policy's.
        asked: u64,
    },
    /// No draw met the precondition.
    #[error("none of its {0} trials met the precondition")]
    NoHits(u64),
    /// More hits than draws.
    #[error("it says that {hits} of {trials} trials met the precondition")]
    MoreHits {
        /// How many hits.
        hits: u64,
        /// How many draws.
        trials: u64,
    },
}

/// The object of a log's only line, checked for its property, with the values as they stand.
pub(super) struct Line {
    entries: Vec<(String, Json)>,
    values: serde_json::Map<String, Value>,
}

impl Line {
    /// Reads the only line of a log that is this property's and has no other keys than these.
    pub(super) fn read(bytes: &[u8], id: &PropertyId, keys: &[&str]) -> Result<Self, LogFault> {
        if bytes.is_empty() {
            return Err(LogFault::Absent);
        }
        if bytes.len() > LARGEST {
            return Err(LogFault::TooLarge(bytes.len()));
        }
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        if lines.pop().is_some_and(|rest| !rest.is_empty()) {
            return Err(LogFault::HalfLine(lines.len() + 1));
        }
        let mut read = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let unreadable = |why: String| LogFault::Unreadable { line: at + 1, why };
            match json::read(line).map_err(unreadable)? {
                Json::Object(entries) => read.push((*line, entries)),
                other => return Err(unreadable(format!("it is {}, and an object is wanted", other.kind()))),
            }
        }
        if read.len() > 1 {
            return Err(LogFault::Several(read.len()));
        }
        let (line, entries) = read.pop().ok_or(LogFault::Absent)?;
        let values = serde_json::from_slice(line)
            .map_err(|error| LogFault::Unreadable { line: 1, why: format!("it is no JSON: {error}") })?;
        if let Some((key, _)) = entries.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
            return Err(LogFault::UnknownKey(wording::text(key)));
        }
        let line = Self { entries, values };
        match line.get("property_id") {
            Some(Json::Text(said)) if said == id.as_str() => Ok(line),
            Some(Json::Text(said)) => Err(LogFault::OtherProperty(wording::text(said))),
            Some(other) => Err(LogFault::Kind { key: "property_id", found: other.kind(), wanted: "a text" }),
            None => Err(LogFault::Missing("property_id")),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A value as JSON has it; `None` when the key is not there.
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    pub(super) fn integer(&self, key: &'static str) -> Result<i64, LogFault> {
        match self.get(key) {
            Some(Json::Integer(number)) => Ok(*number),
            Some(other) => Err(LogFault::Kind { key, found: other.kind(), wanted: "a whole number" }),
            None => Err(LogFault::Missing(key)),
        }
    }

    pub(super) fn count(&self, key: &'static str) -> Result<u64, LogFault> {
        let negative = |_| LogFault::Kind { key, found: "a negative number", wanted: "a whole number from 0" };
        u64::try_from(self.integer(key)?).map_err(negative)
    }

    fn text(&self, key: &'static str) -> Result<Option<String>, LogFault> {
        match self.get(key) {
            Some(Json::Text(text)) => Ok(Some(text.clone())),
            Some(Json::Null) | None => Ok(None),
            Some(other) => Err(LogFault::Kind { key, found: other.kind(), wanted: "a text or null" }),
        }
    }
}

impl TrialLog {
    /// Reads a log and holds it against what was asked. A log of a failure may have made fewer trials; any other may not.
    pub fn read(bytes: &[u8], asked: &Asked) -> Result<Self, LogFault> {
        const KEYS: [&str; 7] = ["property_id", "seed", "trials", "hits", "counterexample", "exc_type", "message"];
        let line = Line::read(bytes, &asked.id, &KEYS)?;
        let counterexample = match line.value("counterexample") {
            Some(Value::Null) => None,
            Some(value) => Some(value.clone()),
            None => return Err(LogFault::Missing("counterexample")),
        };
        let log = Self {
            seed: line.integer("seed")?,
            trials: line.count("trials")?,
            hits: line.count("hits")?,
            counterexample,
            exc_type: line.text("exc_type")?,
            message: line.text("message")?,
        };
        log.held_against(asked)?;
        Ok(log)
    }

    /// Whether it tells of a failure. An input may itself be null: then the type of what was thrown tells.
    pub fn is_failure(&self) -> bool {
        self.counterexample.is_some() || self.exc_type.is_some()
    }

    fn held_against(&self, asked: &Asked) -> Result<(), LogFault> {
        let Self { seed, trials, hits, .. } = *self;
        if seed != asked.seed {
            return Err(LogFault::OtherSeed { said: seed, asked: asked.seed });
        }
        if trials > asked.trials {
            return Err(LogFault::MoreTrials { said: trials, asked: asked.trials });
        }
        if hits > trials {
            return Err(LogFault::MoreHits { hits, trials });
        }
        if self.is_failure() {
            return Ok(());
        }
        if trials < asked.trials {
            return Err(LogFault::FewerTrials { said: trials, asked: asked.trials });
        }
        if hits == 0 {
            return Err(LogFault::NoHits(trials));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        Asked { id: PropertyId::new("p").unwrap(), seed: 7, trials: 200 }
    }

    /// The fault of a log, or `fine`.
    fn said(log: &str) -> String {
        TrialLog::read(log.as_bytes(), &asked()).map_or_else(|fault| fault.to_string(), |_| "fine".to_owned())
    }

    const WHOLE: &str =
        r#"{"property_id":"p","seed":7,"trials":200,"hits":180,"counterexample":null,"exc_type":null,"message":null}"#;

    #[test]
    fn a_whole_log_is_fine_and_half_of_it_is_not() {
        assert_eq!(said(&format!("{WHOLE}\n")), "fine");
        for cut in 1..=WHOLE.len() {
            assert_eq!(said(&WHOLE[..cut]), "its trial log breaks off in line 1, and every line ends with a line feed");
        }
        assert_eq!(said(""), "it left no trial log");
    }

    #[test]
    fn every_fault_has_a_sentence_of_its_own() {
        let with = |from: &str, to: &str| said(&format!("{}\n", WHOLE.replace(from, to)));
        assert_eq!(with("\"p\"", "\"q\""), "its trial log is of the property `q`");
        assert_eq!(
            with("\"seed\":7", "\"seed\":\"7\""),
            "`seed` in its trial log is a text, and a whole number is wanted"
        );
        assert_eq!(
            with("\"seed\":7", "\"seed\":7.0"),
            "`seed` in its trial log is a number, and a whole number is wanted"
        );
        assert_eq!(with("\"seed\":7,", ""), "its trial log has no `seed`");
        assert_eq!(with("\"seed\":7", "\"seed\":8"), "it drew from the seed 8, and was asked to draw from 7");
        assert_eq!(with("200", "1000000000"), "it says that it made 1000000000 trials, and was asked for 200");
        assert_eq!(with("200", "199"), "it made 199 of 200 trials");
        assert_eq!(
            with("200", "-1"),
            "`trials` in its trial log is a negative number, and a whole number from 0 is wanted"
        );
        assert_eq!(with("180", "0"), "none of its 200 trials met the precondition");
        assert_eq!(with("180", "201"), "it says that 201 of 200 trials met the precondition");
        assert_eq!(with("\"counterexample\":null,", ""), "its trial log has no `counterexample`");
        assert_eq!(with("\"seed\"", "\"seeds\""), "its trial log has the key `seeds`, which no trial log has");
        assert_eq!(
            with("\"exc_type\":null", "\"exc_type\":3"),
            "`exc_type` in its trial log is a whole number, and a text or null is wanted"
        );
        assert_eq!(said(&format!("{WHOLE}\n{WHOLE}\n")), "its trial log has 2 reports, and one run makes one");
        assert_eq!(said(&" ".repeat(2_000_000)), "its trial log has 2000000 bytes, and at most 1048576 are read");
        assert_eq!(said("[]\n"), "line 1 of its trial log cannot be read: it is a list, and an object is wanted");
        assert!(with("\"hits\":180", "\"hits\":180,\"hits\":180").contains("stands twice"));
        assert!(said(&format!("{WHOLE}\n\n")).starts_with("line 2 of its trial log cannot be read"));
        assert!(said("\u{feff}{}\n").starts_with("line 1 of its trial log cannot be read"));
    }

    #[test]
    fn a_failure_may_have_made_fewer_trials() {
        let failure = WHOLE.replace("200", "3").replace("180", "3");
        let failure = failure.replace("\"counterexample\":null", "\"counterexample\":[1,{\"a\":null}]");
        let log = TrialLog::read(format!("{failure}\n").as_bytes(), &asked()).unwrap();
        assert!(log.is_failure());
        assert_eq!(log.counterexample.unwrap().to_string(), r#"[1,{"a":null}]"#);
    }
}
