//! Why, and what to do next.

use maud::{Markup, html};

use crate::score::{FindingRow, LocationRow, Record};
use crate::web::page::{badge, code, folded, outside, rule};
use crate::words::Verdict;

/// The most places of a finding that stand open.
const OPEN: usize = 8;

/// The most places of a finding on the page; the record has them all.
const MOST: usize = 1_000;

/// The next steps of what decided, each once.
pub(super) fn next(record: &Record) -> Markup {
    let mut steps: Vec<&str> = Vec::new();
    for finding in record.findings.iter().filter(|finding| finding.verdict == record.verdict) {
        if !steps.contains(&finding.next.as_str()) {
            steps.push(&finding.next);
        }
    }
    if record.verdict == Verdict::Review || steps.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="next" {
            h2 id="next" { "What to do next" }
            @if let [only] = steps.as_slice() { p { (outside(only)) } } @else {
                ol { @for step in &steps { li { (outside(step)) } } }
            }
        }
    }
}

/// Every finding, worst first.
pub(super) fn findings(record: &Record) -> Markup {
    if record.findings.is_empty() {
        return html! {};
    }
    let count = record.findings.len();
    html! {
        section aria-labelledby="findings" {
            h2 id="findings" { "Findings (" (count) ")" }
            @for finding in &record.findings { (one(finding)) }
            @for row in &record.acknowledged {
                p { (outside(&row.by)) " acknowledged " (rule(&row.rule)) " on " (code(&row.sha)) "." }
            }
            @if let Some(lane) = &record.lane {
                p {
                    "The label " (code(&lane.label)) " asks for the evidence lane"
                    @match &lane.approved_by { Some(who) => { ", granted by " (outside(who)) "." }, None => { ", not granted yet." } }
                }
            }
        }
    }
}

fn one(finding: &FindingRow) -> Markup {
    let total = finding.locations.len();
    html! {
        article class="finding" {
            h3 { (badge(finding.verdict)) " " (rule(&finding.rule)) }
            p { (outside(&finding.message)) }
            @if total > OPEN {
                (folded(&format!("{total} places"), true, &places(finding)))
            } @else if total > 0 {
                (places(finding))
            }
            p class="next" { strong { "Next: " } (outside(&finding.next)) }
        }
    }
}

fn places(finding: &FindingRow) -> Markup {
    let total = finding.locations.len();
    html! {
        ul {
            @for location in finding.locations.iter().take(MOST) { li { (place(location)) } }
            @if total > MOST { li { (total - MOST) " more; the record has them all" } }
        }
    }
}

fn place(location: &LocationRow) -> Markup {
    html! {
        (code(&location.path))
        @match (location.line, location.end_line) {
            (None, _) => {}
            (Some(line), Some(end)) if end != line => { " lines " (line) " to " (end) }
            (Some(line), _) => { " line " (line) }
        }
    }
}
