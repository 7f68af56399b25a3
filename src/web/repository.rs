//! The page of one repository: its verdicts over time, what its freezes cost, and what holds it up most often.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use super::chart::{VERDICTS, bars, days};
use super::exhibit::{FreezeView, FreezesView};
use super::page::{Visitor, badge, code, outside, page};
use crate::queue::{Past, RepositoryKey};
use crate::score::Record;
use crate::words::Verdict;

/// The newest verdicts that are listed.
const LISTED: usize = 25;

/// The most frequent paths that are listed.
const FREQUENT: usize = 15;

/// What the page is made of.
pub(super) struct Repository<'a> {
    pub(super) key: RepositoryKey,
    /// Its latest name, where one was noted.
    pub(super) name: Option<&'a str>,
    /// Published evaluations, newest first.
    pub(super) past: &'a [Past],
    /// Their newest records.
    pub(super) records: &'a [Record],
    /// The freezes as the newest evaluation met them.
    pub(super) freezes: Option<&'a FreezesView>,
    pub(super) today: Date,
}

/// Its name, or its number where no name was noted.
pub(super) fn name_of(key: RepositoryKey, name: Option<&str>) -> String {
    name.map_or_else(|| format!("{} repository {}", key.forge.as_str(), key.id), ToOwned::to_owned)
}

/// The whole page.
pub(super) fn repository(of: &Repository<'_>, visitor: &Visitor) -> Markup {
    let name = name_of(of.key, of.name);
    page(
        &name,
        visitor,
        &html! {
            p class="where" { "Repository" }
            h1 { (outside(&name)) }
            (tiles(of.past))
            (over_time(of))
            (freezes(of))
            (held(of.records))
            (slowest(of.records))
            (newest(of.past))
        },
    )
}

fn tiles(past: &[Past]) -> Markup {
    let count = |verdict: Verdict| past.iter().filter(|one| one.verdict == Some(verdict)).count();
    let total = past.len();
    let share = (count(Verdict::Unscored) * 100).checked_div(total).unwrap_or(0);
    html! {
        p { "Of the last " (total) " published verdicts:" }
        ul class="tiles" {
            @for verdict in VERDICTS { li { strong { (count(verdict)) } (badge(verdict)) } }
            li { strong { (share) " %" } "unscored share" }
        }
    }
}

fn over_time(of: &Repository<'_>) -> Markup {
    let days = days(of.past, of.today);
    html! {
        section aria-labelledby="time" {
            h2 id="time" { "The last 30 days" }
            @if days.is_empty() { p { "No verdict was published in this time." } } @else {
                (bars(&days, of.today))
                details {
                    summary { "The same in numbers" }
                    table {
                        thead { tr {
                            th scope="col" { "Day" }
                            @for verdict in VERDICTS { th scope="col" class="number" { (verdict.as_str()) } }
                        } }
                        tbody { @for (date, day) in days.iter().rev() {
                            tr { th scope="row" { (date) } @for count in day { td class="number" { (count) } } }
                        } }
                    }
                }
            }
        }
    }
}

fn freezes(of: &Repository<'_>) -> Markup {
    let content = match of.freezes {
        None => html! { p { "The newest evaluation that is kept met no freeze ledger." } },
        Some(FreezesView { unreadable: Some(why), origin, .. }) => {
            html! { p class="note" { "The ledger " (code(origin)) " cannot be read: " (outside(why)) "." } }
        }
        Some(view) => ledger(view, of.today),
    };
    html! { section aria-labelledby="freezes" { h2 id="freezes" { "Freezes" } (content) } }
}

fn ledger(view: &FreezesView, today: Date) -> Markup {
    let bound = |most: Option<u32>| most.map_or_else(|| "any number".to_owned(), |most| most.to_string());
    html! {
        ul class="tiles" {
            li { strong { (view.entries.len()) } "of " (bound(view.max_entries)) " entries" }
            @if let Some(lines) = view.frozen_lines {
                li { strong { (lines) } "of " (bound(view.max_lines)) " lines left to frozen tests alone" }
            }
        }
        @if view.entries.is_empty() { p { "The ledger " (code(&view.origin)) " is empty." } } @else {
            table {
                caption { "Entries of " (code(&view.origin)) }
                thead { tr {
                    th scope="col" { "Frozen" } th scope="col" { "Ends" } th scope="col" class="number" { "Lines" }
                    th scope="col" class="wide" { "Reason" }
                } }
                tbody { @for freeze in &view.entries {
                    tr {
                        td { (code(&freeze.nodeid)) }
                        td { (end(freeze, today)) }
                        td class="number" { @match freeze.lines { Some(lines) => (lines), None => "not known" } }
                        td class="wide" { @match &freeze.reason { Some(reason) => (outside(reason)), None => "none" } }
                    }
                } }
            }
            p class="quiet" {
                "Lines are what lost its only observer to an entry, by the coverage map of the newest evaluation. "
                code { "evidence-gate freeze price" } " names them."
            }
        }
    }
}

/// When a freeze ends, and in how many days that is.
fn end(freeze: &FreezeView, today: Date) -> Markup {
    let Some(last) = freeze.expires_on.as_deref().and_then(|day| day.parse::<Date>().ok()) else {
        return html! { "never" };
    };
    let left = today.until(last).map(|span| span.get_days()).unwrap_or_default();
    html! {
        (last)
        @match left {
            ..0 => { " " span class="verdict reject" { "expired" } }
            0 => { " (today)" }
            1 => { " (1 day left)" }
            left => { " (" (left) " days left)" }
        }
    }
}

/// The paths that hold changes up most often, and by which rule.
fn held(records: &[Record]) -> Markup {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for record in records {
        let mut seen = std::collections::BTreeSet::new();
        for finding in record.findings.iter().filter(|finding| finding.verdict == Verdict::Hold) {
            seen.extend(finding.locations.iter().map(|place| (place.path.as_str(), finding.rule.as_str())));
        }
        for key in seen {
            *counts.entry(key).or_default() += 1;
        }
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|(key, count)| (std::cmp::Reverse(*count), *key));
    html! {
        section aria-labelledby="held" {
            h2 id="held" { "Most frequently held paths" }
            @if rows.is_empty() { p { "No path was held in the last " (records.len()) " verdicts." } } @else {
                p { "Of the last " (records.len()) " verdicts. A class for such paths in the policy makes them quieter." }
                table {
                    thead { tr { th scope="col" { "Path" } th scope="col" { "Rule" } th scope="col" class="number" { "Times" } } }
                    tbody { @for ((path, rule), count) in rows.iter().take(FREQUENT) {
                        tr { td { (code(path)) } td { (super::page::rule(rule)) } td class="number" { (count) } }
                    } }
                }
            }
        }
    }
}

/// How long judging took: the middle, and the longest with what they ran.
fn slowest(records: &[Record]) -> Markup {
    let mut rows: Vec<(SignedDuration, &Record)> =
        records.iter().filter_map(|record| Some((took(record)?, record))).collect();
    rows.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
    let Some((middle, _)) = rows.get(rows.len() / 2) else { return html! {} };
    let seconds = |took: SignedDuration| format!("{:.1} s", took.as_secs_f64());
    html! {
        section aria-labelledby="slow" {
            h2 id="slow" { "Slowest evaluations" }
            p { "Half of the last " (rows.len()) " took less than " (seconds(*middle)) "." }
            table {
                thead { tr {
                    th scope="col" { "Change" } th scope="col" class="number" { "Took" } th scope="col" class="number" { "Files" }
                    th scope="col" { "Ran" }
                } }
                tbody { @for (took, record) in rows.iter().take(5) {
                    tr {
                        td { @if let Some(pull) = record.pull { "#" (pull) " " } (code(record.head.get(..12).unwrap_or(&record.head))) }
                        td class="number" { (seconds(*took)) }
                        td class="number" { (record.rows.len()) }
                        td { (ran(record)) }
                    }
                } }
            }
        }
    }
}

fn ran(record: &Record) -> Markup {
    html! {
        @if record.properties.is_empty() && record.tests.is_none() { "nothing" }
        @for (at, property) in record.properties.iter().enumerate() { @if at > 0 { ", " } (code(&property.id)) }
        @if record.tests.is_some() { @if !record.properties.is_empty() { ", " } "live tests" }
    }
}

fn took(record: &Record) -> Option<SignedDuration> {
    let moment = |text: &str| text.parse::<Timestamp>().ok();
    Some(moment(&record.run.finished)?.duration_since(moment(&record.run.started)?))
}

fn newest(past: &[Past]) -> Markup {
    html! {
        section aria-labelledby="newest" {
            h2 id="newest" { "Newest verdicts" }
            @if past.is_empty() { p { "None yet." } } @else {
                table {
                    thead { tr { th scope="col" { "Verdict" } th scope="col" { "Pull request" } th scope="col" { "Begun" } } }
                    tbody { @for one in past.iter().take(LISTED) {
                        tr {
                            td class="short" { @if let Some(verdict) = one.verdict { (badge(verdict)) } }
                            td { a href={ "/evaluations/" (one.id) } { "#" (one.pull) @if let Some(head) = &one.head { " " (code(head.id().short())) } } }
                            td { (one.started.strftime("%Y-%m-%d %H:%M")) }
                        }
                    } }
                }
            }
        }
    }
}
