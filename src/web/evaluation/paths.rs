//! Every changed path by its class.

use maud::{Markup, html};

use crate::policy::Class;
use crate::score::{Record, RecordRow};
use crate::web::page::{code, folded, outside};

/// More paths of a class than this are folded away.
const OPEN: usize = 12;

/// The paths, class by class, evidence first.
pub(super) fn paths(record: &Record) -> Markup {
    html! {
        section aria-labelledby="paths" {
            h2 id="paths" { "Changed files (" (record.rows.len()) ")" }
            @if record.rows.is_empty() { p { "No file is changed, or the change could not be read." } }
            @for class in Class::ALL { (of_class(record, class)) }
        }
        @if !record.not_observed.is_empty() {
            section aria-labelledby="absent" {
                h2 id="absent" { "Not observed" }
                ul { @for what in &record.not_observed { li { (outside(what)) } } }
            }
        }
    }
}

fn of_class(record: &Record, class: Class) -> Markup {
    let rows: Vec<&RecordRow> = record.rows.iter().filter(|row| row.class == class).collect();
    if rows.is_empty() {
        return html! {};
    }
    let name = class.as_str().replace('_', " ");
    let list = html! {
        ul { @for row in &rows { li { (status(&row.status)) " " (code(&row.path)) } } }
    };
    folded(&format!("{name} ({})", rows.len()), rows.len() > OPEN, &list)
}

/// git's letter as a word.
fn status(letter: &str) -> Markup {
    match letter {
        "A" => html! { "added" },
        "D" => html! { "deleted" },
        "M" => html! { "modified" },
        "T" => html! { "type changed" },
        other => outside(other),
    }
}
