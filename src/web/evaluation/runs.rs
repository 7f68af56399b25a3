//! What ran: properties with what their trial logs say, live tests, and what second runners saw.

use maud::{Markup, html};

use crate::score::{Citation, PropertyRow, Record, Tests};
use crate::web::page::{code, folded, outside};

/// More names than this are folded away.
const OPEN: usize = 12;

/// Everything that was run for this record.
pub(super) fn runs(record: &Record) -> Markup {
    html! {
        @if !record.properties.is_empty() {
            section aria-labelledby="properties" {
                h2 id="properties" { "Properties (" (record.properties.len()) ")" }
                @for row in &record.properties { (property(row)) }
            }
        }
        @if let Some(tests) = &record.tests { (live_tests(tests)) }
        @if !record.citations.is_empty() {
            section aria-labelledby="citations" {
                h2 id="citations" { "Second runners" }
                ul { @for row in &record.citations { (citation(row)) } }
            }
        }
    }
}

fn property(row: &PropertyRow) -> Markup {
    let number = |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    let seed = row.seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string());
    let text = |text: &Option<String>| html! { @match text { Some(text) => (outside(text)), None => "none" } };
    html! {
        article class="finding" {
            h3 { (code(&row.id)) }
            table class="digests" { tbody {
                tr { th scope="row" { "Seed" } td { (seed) } }
                tr { th scope="row" { "Trials" } td { (number(row.trials)) } }
                tr { th scope="row" { "Hits" } td { (number(row.hits)) } }
                @if let Some(kind) = &row.exc_type { tr { th scope="row" { "Failed with" } td { (code(kind)) } } }
                @if row.message.is_some() { tr { th scope="row" { "Message" } td { (text(&row.message)) } } }
                @if let Some(input) = &row.counterexample {
                    tr { th scope="row" { "Counterexample" } td { (code(&input.to_string())) } }
                }
                @if let Some(signature) = &row.signature { tr { th scope="row" { "Signature" } td { (code(signature)) } } }
                tr { th scope="row" { "Sample" } td { (text(&row.sample)) } }
                tr { th scope="row" { "Known bad input" } td { (text(&row.known_bad)) } }
                tr { th scope="row" { "Isolation" } td { (outside(&row.isolation)) } }
                tr { th scope="row" { "Runner" } td { (outside(&row.runner)) } }
                tr { th scope="row" { "Trial log" } td { @match &row.log { Some(log) => { "sha256 " (code(log)) }, None => "none" } } }
            } }
        }
    }
}

fn live_tests(tests: &Tests) -> Markup {
    let names = |what: &str, names: &[String]| {
        if names.is_empty() {
            return html! {};
        }
        let list = html! { ul { @for name in names { li { (code(name)) } } } };
        folded(&format!("{what} ({})", names.len()), names.len() > OPEN, &list)
    };
    html! {
        section aria-labelledby="tests" {
            h2 id="tests" { "Live tests" }
            @if tests.reported.is_empty() { p { "The report names no test." } }
            (names("Failed", &tests.failed))
            (names("Ran on the base and not on the merged tree", &tests.missing))
            (names("Frozen, not counted", &tests.frozen))
            (names("Reported", &tests.reported))
        }
    }
}

fn citation(row: &Citation) -> Markup {
    html! {
        li {
            (code(&row.runner)) ": " (outside(&row.outcome))
            @if let Some(signature) = &row.signature { ", signature " (code(signature)) }
        }
    }
}
