//! The changed lines beside who runs them.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::report::{Lines, overlap, unobserved};
use crate::score::{Record, visible};
use crate::web::exhibit::{Exhibit, FileView, LineView, RowView, SeenView};
use crate::web::page::{code, outside};

/// The most runs of lines in a table; the record has them all.
const MOST: usize = 300;

/// Lines that lost their observer, lines without one, and the source itself.
pub(super) fn lines(record: &Record, exhibit: Option<&Result<Exhibit, String>>) -> Markup {
    let frozen = overlap(record);
    let unseen = unobserved(record);
    html! {
        @if !frozen.is_empty() {
            section aria-labelledby="overlap" {
                h2 id="overlap" { "Lines that only frozen tests run (" (record.overlap.len()) ")" }
                (table(&frozen, true))
            }
        }
        @if !unseen.is_empty() {
            section aria-labelledby="unobserved" {
                h2 id="unobserved" { "Changed lines that no test runs (" (record.unobserved.len()) ")" }
                (table(&unseen, false))
            }
        }
        @match exhibit {
            Some(Ok(exhibit)) if !exhibit.files.is_empty() || exhibit.files_left_out > 0 => (surface(exhibit)),
            Some(Err(why)) => p class="note" { "The source lines cannot be shown: " (outside(why)) "." },
            Some(Ok(_)) => {}
            None => p class="note" { "The source lines of this evaluation are no longer kept." },
        }
    }
}

fn table(files: &BTreeMap<&str, Vec<Lines<'_>>>, tests: bool) -> Markup {
    let rows: Vec<(&str, &Lines<'_>)> =
        files.iter().flat_map(|(path, runs)| runs.iter().map(|run| (*path, run))).collect();
    html! {
        table {
            thead { tr {
                th scope="col" { "File" } th scope="col" { "At head" } th scope="col" { "At the merge base" }
                @if tests { th scope="col" { "Frozen tests" } }
            } }
            tbody {
                @for (path, run) in rows.iter().take(MOST) {
                    tr {
                        td { (code(path)) } td { (run.at_head()) } td { (run.at_merge_base()) }
                        @if tests { td { @for test in run.tests { div { (code(test)) } } } }
                    }
                }
            }
        }
        @if rows.len() > MOST { p class="quiet" { (rows.len() - MOST) " more; the record has them all." } }
    }
}

fn surface(exhibit: &Exhibit) -> Markup {
    html! {
        section aria-labelledby="surface" {
            h2 id="surface" { "The changed files, line by line" }
            p {
                "The word before a line says who runs it by the coverage map of the merge base; \u{2212} is a changed line of the merge base, "
                "+ one of the head."
            }
            ul class="legend" {
                li class="live" { "live: a live test runs it" }
                li class="frozen" { "frozen: only frozen tests run it" }
                li class="import" { "import: it runs at import, beside frozen lines" }
                li class="nobody" { "none: no test runs it" }
                li { "no word: it is no code" }
            }
            @for file in &exhibit.files { (one(file)) }
            @if exhibit.files_left_out > 0 {
                p class="note" { (exhibit.files_left_out) " more changed files are too long to be shown here." }
            }
        }
    }
}

fn one(file: &FileView) -> Markup {
    html! {
        @if let Some(why) = &file.plain { p class="quiet" { "Read as plain lines: " (outside(why)) "." } }
        table class="code" {
            caption { (code(&file.path)) }
            colgroup { col class="n old"; col class="n"; col class="w"; col class="m"; col; }
            thead class="away" { tr {
                th scope="col" { "Line at the merge base" } th scope="col" { "Line at head" } th scope="col" { "Who runs it" }
                th scope="col" { "Change" } th scope="col" { "Source" }
            } }
            tbody { @for part in parts(&file.rows) { (part) } }
        }
    }
}

/// One below the other: of a run of changed rows first the merge base's lines, then the head's.
fn parts(rows: &[RowView]) -> Vec<Markup> {
    let mut out = Vec::new();
    let mut added: Vec<Markup> = Vec::new();
    for row in rows {
        match row {
            RowView::Lines { old: Some(old), new: Some(new) }
                if old.text == new.text && !old.changed && !new.changed =>
            {
                out.append(&mut added);
                out.push(line(Some(old.number), Some(new.number), old, ""));
            }
            RowView::Lines { old, new } => {
                if let Some(old) = old {
                    out.push(line(Some(old.number), None, old, "\u{2212}"));
                }
                if let Some(new) = new {
                    added.push(line(None, Some(new.number), new, "+"));
                }
            }
            RowView::LeftOut { lines, frozen_only } => {
                out.append(&mut added);
                out.push(gap(*lines, *frozen_only));
            }
        }
    }
    out.append(&mut added);
    out
}

fn line(old: Option<u32>, new: Option<u32>, line: &LineView, mark: &str) -> Markup {
    let (class, word) = match line.seen {
        SeenView::Live => ("live", "live"),
        SeenView::Import => ("import", "import"),
        SeenView::FrozenOnly => ("frozen", "frozen"),
        SeenView::Nobody => ("nobody", "none"),
        SeenView::NotCode => ("", ""),
    };
    // A change of what is no code is shown, and marked more quietly than one that counts.
    let quiet = !mark.is_empty() && !line.changed;
    // A tab is layout here, and no sign that hides.
    let text = visible(&line.text.replace('\t', "    "));
    html! {
        tr class=(class) {
            td class="n old" { @if let Some(old) = old { (old) } }
            td class="n" { @if let Some(new) = new { (new) } }
            td class="w" { (word) }
            td class={ "m" @if quiet { " quiet" } } { (mark) }
            td { bdi { (text) } }
        }
    }
}

fn gap(lines: usize, frozen_only: usize) -> Markup {
    html! {
        tr class="gap" { td colspan="5" {
            (lines) " lines without a change"
            @if frozen_only > 0 { ", " (frozen_only) " of them run by frozen tests only" }
        } }
    }
}
