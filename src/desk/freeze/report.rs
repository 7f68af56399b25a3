//! Failures that a report or a record shows.

use std::path::Path;

use super::signature::SeenArgs;
use crate::change::Sha256;
use crate::desk::Failure;
use crate::evidence::junit::{self, Case, LARGEST_REPORT, TestFailure};
use crate::score::Record;

/// A document in which failures were seen.
pub(super) enum Seen {
    Junit { origin: String, cases: Vec<Case> },
    Record { origin: String, record: Box<Record>, digest: String },
}

/// One failure of it.
pub(super) struct Shown {
    pub(super) exc_type: String,
    pub(super) message: String,
    pub(super) seed: Option<i64>,
    /// The digest of the record that shows it.
    pub(super) digest: Option<String>,
}

/// What stands before a property's id in a node id.
const PROPERTY: &str = "property:";

/// How many ids are named to whoever misspelled one.
const NAMED: usize = 10;

impl Seen {
    pub(super) fn of(args: &SeenArgs) -> Result<Self, Failure> {
        match (&args.junit, &args.record) {
            (Some(path), None) => {
                let (origin, bytes) = read(path)?;
                let cases = junit::read(&bytes).map_err(|error| Failure::BadInput(format!("{origin}: {error}")))?;
                Ok(Self::Junit { origin, cases })
            }
            (None, Some(path)) => {
                let (origin, bytes) = read(path)?;
                let record = serde_json::from_slice(&bytes)
                    .map_err(|error| Failure::BadInput(format!("{origin} is no record: {error}")))?;
                Ok(Self::Record { origin, record, digest: Sha256::of(&bytes).to_string() })
            }
            _ => Err(Failure::Usage("name where the failure was seen: --junit FILE or --record FILE".to_owned())),
        }
    }

    /// The one failure of a test or property. A test that failed in several ways is refused: which one is meant must be certain.
    pub(super) fn failure(&self, nodeid: &str) -> Result<Shown, Failure> {
        match self {
            Self::Junit { origin, cases } => of_report(origin, cases, nodeid),
            Self::Record { origin, record, digest } => of_record(origin, record, digest, nodeid),
        }
    }
}

fn read(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let origin = path.display().to_string();
    let size = std::fs::metadata(path).map_err(|source| Failure::read(&origin, source))?.len();
    if size > LARGEST_REPORT {
        return Err(Failure::BadInput(format!("{origin} has {size} bytes, and at most {LARGEST_REPORT} are read")));
    }
    let bytes = std::fs::read(path).map_err(|source| Failure::read(&origin, source))?;
    Ok((origin, bytes))
}

fn of_report(origin: &str, cases: &[Case], nodeid: &str) -> Result<Shown, Failure> {
    let called: Vec<&Case> = cases.iter().filter(|case| case.is_called(nodeid)).collect();
    if called.is_empty() {
        let failed = cases.iter().filter(|case| !case.failures.is_empty()).map(Case::id).collect();
        return Err(Failure::BadInput(format!(
            "{origin} has no test {nodeid}; {}",
            named("it shows failures of", failed)
        )));
    }
    let mut failures: Vec<&TestFailure> = called.iter().flat_map(|case| &case.failures).collect();
    failures.dedup();
    match failures.as_slice() {
        [] => Err(Failure::BadInput(format!("{origin} shows no failure of {nodeid}: it passed or was skipped"))),
        [only] => {
            Ok(Shown { exc_type: only.exc_type.clone(), message: only.message.clone(), seed: None, digest: None })
        }
        several => {
            let types = several.iter().map(|failure| failure.exc_type.clone()).collect();
            let number = several.len();
            Err(Failure::BadInput(format!(
                "{origin} shows {number} different failures of {nodeid}, and a freeze is for one; {}",
                named("their types are", types)
            )))
        }
    }
}

fn of_record(origin: &str, record: &Record, digest: &str, nodeid: &str) -> Result<Shown, Failure> {
    let id = nodeid.strip_prefix(PROPERTY).ok_or_else(|| {
        Failure::Usage(format!("a record shows failures of properties: write --nodeid {PROPERTY}ID, not {nodeid}"))
    })?;
    let mut rows = record.properties.iter().filter(|row| row.id == id && row.exc_type.is_some());
    let (row, exc_type) = match (rows.next(), rows.next()) {
        (Some(row), None) => (row, row.exc_type.clone().unwrap_or_default()),
        (Some(_), Some(_)) => {
            return Err(Failure::BadInput(format!(
                "{origin} shows several failures of {nodeid}, and a freeze is for one"
            )));
        }
        (None, _) => {
            let failed = record.properties.iter().filter(|row| row.exc_type.is_some());
            let failed = failed.map(|row| format!("{PROPERTY}{}", row.id)).collect();
            let names = named("it shows failures of", failed);
            return Err(Failure::BadInput(format!("{origin} shows no failure of {nodeid}; {names}")));
        }
    };
    let message = row.message.clone().unwrap_or_default();
    Ok(Shown { exc_type, message, seed: row.seed, digest: Some(digest.to_owned()) })
}

fn named(what: &str, mut names: Vec<String>) -> String {
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    match (names.is_empty(), more) {
        (true, _) => format!("{what} none"),
        (false, 0) => format!("{what} {}", names.join(", ")),
        (false, more) => format!("{what} {} and {more} more", names.join(", ")),
    }
}
