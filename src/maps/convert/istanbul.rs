//! Istanbul's counters (`__coverage__`, `coverage-final.json`), reset before each test and written after it, one file per test
//! (<https://github.com/istanbuljs/istanbuljs>). A line has run where a statement that begins on it has, which is istanbul's own rule.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;

use super::per_test::IMPORT;
use super::run::{Draft, wrong};
use crate::maps::MapError;
use crate::maps::unpack::classify;

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    /// As `nyc` wraps it.
    Wrapped {
        data: File,
    },
    Plain(File),
}

#[derive(Deserialize)]
struct File {
    path: Option<String>,
    #[serde(rename = "statementMap")]
    statements: BTreeMap<String, Range>,
    s: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Range {
    start: Place,
}

#[derive(Deserialize)]
struct Place {
    line: u64,
}

pub(super) fn convert(
    draft: &mut Draft<'_>,
    plain: &mut dyn BufRead,
    origin: &str,
    test: &str,
) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    let files: BTreeMap<String, Entry> = serde_json::from_reader(plain).map_err(|error| {
        if error.is_io() { classify(origin, &limits, error.into()) } else { wrong(origin)(error.to_string()) }
    })?;
    draft.tool("istanbul");
    take(draft, files, test).map_err(wrong(origin))
}

fn take(draft: &mut Draft<'_>, files: BTreeMap<String, Entry>, test: &str) -> Result<(), String> {
    if test != IMPORT {
        draft.map.test(test)?;
    }
    for (key, entry) in files {
        let (Entry::Wrapped { data: file } | Entry::Plain(file)) = entry;
        let path = file.path.unwrap_or(key);
        let (mut executable, mut ran) = (Vec::new(), Vec::new());
        for (number, range) in file.statements {
            let line = draft.line(range.start.line)?;
            executable.push(line);
            let count =
                file.s.get(&number).ok_or_else(|| format!("statement {number} of \"{path}\" has no counter"))?;
            if *count > 0 {
                ran.push(line);
            }
        }
        draft.executable(&path, &executable)?;
        draft.ran_in_file_of(test, &path, &mut ran)?;
    }
    Ok(())
}
