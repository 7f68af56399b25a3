//! Findings -> marked lines.

use std::collections::BTreeSet;

use super::budget::cut;
use crate::forge::{Annotation, AnnotationLevel, Button};
use crate::score::{FindingRow, LocationRow, Record, visible};
use crate::words::Verdict;

/// The most annotations of one run; the summary says how many there would have been (R44).
pub const MOST_ANNOTATIONS: usize = 500;

/// <https://docs.github.com/en/rest/checks/runs>: at most 64 kB.
const MOST_MESSAGE: usize = 64_000;

/// Lines to mark, in the order of the findings and then of the places, at most 500. A finding on a whole file is marked at its first
/// line. A file that is gone at head has no line to mark, so it stands in the summary only (R45).
pub fn annotations(record: &Record) -> Vec<Annotation> {
    marks(record).take(MOST_ANNOTATIONS).map(|(finding, location)| annotation(finding, location)).collect()
}

/// The buttons of a run: one that asks for another evaluation.
pub fn buttons() -> Vec<Button> {
    vec![Button { label: "Rescore", description: "Judge this pull request again", identifier: "rescore" }]
}

/// Every place that can be marked.
pub(super) fn marks(record: &Record) -> impl Iterator<Item = (&FindingRow, &LocationRow)> {
    let there: BTreeSet<&str> =
        record.rows.iter().filter(|row| row.mode.is_some()).map(|row| row.path.as_str()).collect();
    record
        .findings
        .iter()
        .flat_map(|finding| finding.locations.iter().map(move |location| (finding, location)))
        .filter(move |(_, location)| there.contains(location.path.as_str()))
}

fn annotation(finding: &FindingRow, location: &LocationRow) -> Annotation {
    let line = location.line.unwrap_or(1).max(1);
    let title = format!("{}: {}", finding.verdict, visible(&finding.rule));
    let message = format!("{}\n\nNext: {}", visible(&finding.message), visible(&finding.next));
    Annotation {
        path: location.path.clone(),
        line,
        end_line: location.end_line.unwrap_or(line).max(line),
        level: level(finding.verdict),
        title: title.chars().take(255).collect(),
        message: cut(message, MOST_MESSAGE),
    }
}

fn level(verdict: Verdict) -> AnnotationLevel {
    match verdict {
        Verdict::Review => AnnotationLevel::Notice,
        Verdict::Hold | Verdict::Unscored => AnnotationLevel::Warning,
        Verdict::Reject => AnnotationLevel::Failure,
    }
}
