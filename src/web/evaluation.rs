//! The page of one evaluation: the verdict and what to do first, then why, then everything that it stands on.

mod findings;
mod lines;
mod paths;
mod runs;
mod stands;

use maud::{Markup, html};

use super::exhibit::Exhibit;
use super::page::{Visitor, badge, code, meaning, outside, page};
use crate::queue::{EvaluationState, Past};
use crate::score::Record;

/// What the page is made of.
pub(super) struct Evaluation<'a> {
    /// The evaluation.
    pub(super) past: &'a Past,
    /// What was judged.
    pub(super) record: &'a Record,
    /// The record's bytes as they are kept.
    pub(super) bytes: &'a [u8],
    /// What was kept besides; an error where it cannot be read.
    pub(super) exhibit: Option<Result<Exhibit, String>>,
    /// Where the record is downloaded.
    pub(super) record_address: &'a str,
    /// Where the page of the repository is, for whoever may see it.
    pub(super) repository_address: Option<&'a str>,
}

/// The whole page.
pub(super) fn evaluation(of: &Evaluation<'_>, visitor: &Visitor) -> Markup {
    let Evaluation { past, record, .. } = of;
    let title = format!("{}: {}", record.verdict, headline(record));
    page(
        &title,
        visitor,
        &html! {
            (place(of))
            div class={ "headline " (record.verdict.as_str()) } {
                h1 { (badge(record.verdict)) (outside(headline(record))) }
                p { (meaning(record.verdict)) }
            }
            (standing(past))
            (findings::next(record))
            ul class="actions" {
                li { a href=(of.record_address) download="" { "Download the record" } }
                @if let Some(address) = of.repository_address { li { a href=(address) { "All verdicts of this repository" } } }
            }
            (findings::findings(record))
            (lines::lines(record, of.exhibit.as_ref()))
            (paths::paths(record))
            (runs::runs(record))
            (stands::stands(of))
        },
    )
}

/// The record's title without the verdict in front of it: the badge says it.
fn headline(record: &Record) -> &str {
    let verdict = format!("{}: ", record.verdict.as_str().to_uppercase());
    record.title.strip_prefix(&verdict).unwrap_or(&record.title)
}

fn place(of: &Evaluation<'_>) -> Markup {
    let record = of.record;
    html! {
        p class="where" {
            (outside(&record.repository.name))
            @if let Some(pull) = record.pull { " · pull request #" (pull) }
            " · " (code(record.head.get(..12).unwrap_or(&record.head))) " into " (code(&record.base_ref))
            " · judged " (moment(&record.run.finished))
        }
    }
}

/// Seconds are enough for people.
pub(super) fn moment(text: &str) -> Markup {
    let shown = text.parse::<jiff::Timestamp>().map(|moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string());
    html! { @match shown { Ok(shown) => time datetime=(text) { (shown) }, Err(_) => (outside(text)) } }
}

fn standing(past: &Past) -> Markup {
    match past.state {
        EvaluationState::Published => html! {},
        EvaluationState::Late => html! {
            p class="note" { "A newer evaluation of this pull request took its place: this one was recorded and not published." }
        },
        EvaluationState::Started | EvaluationState::Posting => html! {
            p class="note" { "This verdict is being published; the check run on the commit shows it in a moment." }
        },
    }
}
