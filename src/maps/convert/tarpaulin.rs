//! JSON of cargo-tarpaulin (`--out Json`), one file per test (<https://github.com/xd009642/tarpaulin>).

use std::io::BufRead;

use serde::Deserialize;

use super::per_test::IMPORT;
use super::run::{Draft, wrong};
use crate::maps::MapError;
use crate::maps::unpack::classify;

#[derive(Deserialize)]
struct Report {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    path: Vec<String>,
    traces: Vec<Trace>,
}

#[derive(Deserialize)]
struct Trace {
    line: u64,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(rename = "Line")]
    line: Option<u64>,
}

pub(super) fn convert(
    draft: &mut Draft<'_>,
    plain: &mut dyn BufRead,
    origin: &str,
    test: &str,
) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    let report: Report = serde_json::from_reader(plain).map_err(|error| {
        if error.is_io() { classify(origin, &limits, error.into()) } else { wrong(origin)(error.to_string()) }
    })?;
    draft.tool("cargo-tarpaulin");
    take(draft, report, test).map_err(wrong(origin))
}

fn take(draft: &mut Draft<'_>, report: Report, test: &str) -> Result<(), String> {
    if test != IMPORT {
        draft.map.test(test)?;
    }
    for file in report.files {
        let path = match file.path.split_first() {
            Some((root, rest)) if root == "/" => format!("/{}", rest.join("/")),
            _ => file.path.join("/"),
        };
        let (mut executable, mut ran) = (Vec::new(), Vec::new());
        for trace in file.traces {
            let line = draft.line(trace.line)?;
            executable.push(line);
            if trace.stats.line.is_some_and(|hits| hits > 0) {
                ran.push(line);
            }
        }
        if executable.is_empty() {
            continue;
        }
        draft.executable(&path, &executable)?;
        draft.ran_in_file_of(test, &path, &mut ran)?;
    }
    Ok(())
}
