//! Stryker's report (<https://github.com/stryker-mutator/mutation-testing-elements>): which tests reach which mutant. Lines without a
//! mutant are not in it, so the map is partial.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;

use super::coarse::Coarse;
use super::run::{Draft, wrong};
use crate::maps::MapError;
use crate::maps::unpack::classify;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    files: BTreeMap<String, File>,
    #[serde(default)]
    test_files: BTreeMap<String, TestFile>,
}

#[derive(Deserialize)]
struct File {
    mutants: Vec<Mutant>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mutant {
    location: Range,
    covered_by: Option<Vec<String>>,
    #[serde(rename = "static")]
    at_import: Option<bool>,
}

#[derive(Deserialize)]
struct Range {
    start: Place,
}

#[derive(Deserialize)]
struct Place {
    line: u64,
}

#[derive(Deserialize)]
struct TestFile {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    id: String,
    name: String,
}

pub(super) fn convert(draft: &mut Draft<'_>, plain: &mut dyn BufRead, origin: &str) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    let report: Report = serde_json::from_reader(plain).map_err(|error| {
        if error.is_io() { classify(origin, &limits, error.into()) } else { wrong(origin)(error.to_string()) }
    })?;
    let reached = report.files.values().flat_map(|file| &file.mutants).any(|mutant| mutant.covered_by.is_some());
    if !reached || report.test_files.is_empty() {
        return Coarse::StrykerWithoutTests.refused(origin);
    }
    draft.tool("stryker");
    draft.map.about.partial = true;
    take(draft, &report).map_err(wrong(origin))
}

fn take(draft: &mut Draft<'_>, report: &Report) -> Result<(), String> {
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for (file, tests) in &report.test_files {
        for test in &tests.tests {
            let name = if file.is_empty() { test.name.clone() } else { format!("{file}::{}", test.name) };
            draft.map.test(&name)?;
            names.insert(&test.id, name);
        }
    }
    for (path, file) in &report.files {
        let mut ran: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for mutant in &file.mutants {
            // Reaching a mutant proves that its first line ran, and no more.
            let line = draft.line(mutant.location.start.line)?;
            for id in mutant.covered_by.iter().flatten() {
                let name = names.get(id.as_str()).ok_or_else(|| format!("no test has the id \"{id}\""))?;
                ran.entry(name).or_default().push(line);
            }
            if mutant.at_import == Some(true) {
                draft.import(path, &[line])?;
            }
        }
        for (test, mut lines) in ran {
            draft.ran(test, path, &mut lines)?;
        }
    }
    Ok(())
}
