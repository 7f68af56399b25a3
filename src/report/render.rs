//! Record -> what a check run shows. Pure, and within the forge's limits whatever the record holds (R42, R47).

use std::collections::{BTreeMap, BTreeSet};

use super::annotate::{MOST_ANNOTATIONS, marks};
use super::budget::{Page, cut};
use super::freezes;
use super::markdown::{cell, code, prose};
use super::surface::{Lines, overlap, unobserved};
use crate::forge::Output;
use crate::policy::Class;
use crate::score::{FindingRow, FreezeRow, LocationRow, Record, RecordRow, elided, visible};
use crate::words::{HeadSha, Verdict};

/// The page that explains every rule; the part after `#` is the rule's id.
pub const RULES_PAGE: &str = "https://github.com/evidence-gate/evidence-gate/blob/main/docs/rules.md";

/// The most bytes of a summary or text. The forge refuses 65,536, and counts bytes where its documentation says characters.
/// <https://docs.github.com/en/rest/checks/runs>
pub const MOST_BYTES: usize = 65_000;

/// Shares of a summary, in bytes: what decided comes first and may be longest, and the digests at the end always have their place.
const DECIDING: usize = 28_000;
const OTHERS: usize = 12_000;
const CLASSES: usize = 14_000;
const CLASS: usize = 1_000;
const ABSENT: usize = 5_000;
const FREEZES: usize = 5_000;

/// Share of a text for each of the two lists of lines; every path takes the rest.
const SURFACE: usize = 16_000;

/// The most tests that are named beside a line.
const MOST_TESTS: usize = 3;

/// The most characters of a finding's sentences.
const MOST_SENTENCE: usize = 1_500;

/// Title, summary and text of a completed run. The summary has the findings, the paths by class, what was not observed and what the
/// verdict stands for; the text has every changed path. `rules_page` is an address as [`RULES_PAGE`].
pub fn output(record: &Record, rules_page: &str) -> Output {
    let surface = surface(record);
    let paths = every_path(record, MOST_BYTES - surface.len());
    Output { title: visible(&record.title), summary: summary(record, rules_page), text: Some(surface + &paths) }
}

/// The same with a summary that is cut to the forge's limit.
pub(super) fn within(output: Output) -> Output {
    Output { summary: cut(output.summary, MOST_BYTES), ..output }
}

/// The same as one Markdown page.
pub fn markdown(record: &Record, rules_page: &str) -> String {
    let Output { title, summary, text } = output(record, rules_page);
    format!("# {}\n\n{summary}\n{}", prose(&title), text.unwrap_or_default())
}

/// A body under 1 kB with nothing in it that a forge could refuse: for when it refused the whole report (R42).
pub fn fallback(record: &Record) -> Output {
    let decided = record
        .findings
        .first()
        .map_or_else(String::new, |f| format!("Deciding rule: {}.\n", code(&elided(&f.rule, 60))));
    let summary = format!(
        "{}\n\nThe forge refused the whole report. Findings: {}. Changed files: {}.\n{decided}Head: {}\nBase: {}\n",
        meaning(record.verdict),
        record.findings.len(),
        record.rows.len(),
        code(&elided(&record.head, 64)),
        code(&elided(&record.base, 64)),
    );
    Output { title: cut(elided(&visible(&record.title), 60), 300), summary: cut(summary, 650), text: None }
}

/// What a run shows from the moment it is opened until its verdict is there.
pub fn waiting(base_ref: &str, head: &HeadSha) -> Output {
    let summary = format!(
        "The change from {} to {} is being judged. Until the verdict is here this check does not pass.\n",
        code(base_ref),
        code(head.id().as_str()),
    );
    Output { title: "Waiting for a verdict".to_owned(), summary, text: None }
}

/// What the verdict means, and whose word made it so.
fn opening(record: &Record) -> String {
    let let_in = record.lane.as_ref().and_then(|lane| lane.approved_by.as_deref());
    let by: BTreeSet<&str> = record.acknowledged.iter().map(|row| row.by.as_str()).collect();
    let names = by.into_iter().map(code).collect::<Vec<_>>().join(", ");
    match (record.verdict, let_in) {
        (Verdict::Review, Some(who)) => {
            let also = if names.is_empty() { String::new() } else { format!(" {names} acknowledged what holds it.") };
            format!(
                "**Review.** Evidence alone changes, and {} let this head in.{also} From the merge on it decides about others.",
                code(who)
            )
        }
        (Verdict::Review, None) if !names.is_empty() => format!(
            "**Review.** {names} acknowledged what holds this change, on this very head; a push, a dismissal or another target branch takes \
             that back. A person may now review the product diff."
        ),
        (verdict, _) => meaning(verdict).to_owned(),
    }
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Review => "**Review.** No rule objects: a person may now review the product diff.",
        Verdict::Hold => "**Hold.** A person must look at paths or facts that the gate does not judge.",
        Verdict::Unscored => {
            "**Unscored.** An observer is missing, so there is no score. This is no pass, and no fault of the product."
        }
        Verdict::Reject => "**Reject.** Evidence was edited, or a live observer failed.",
    }
}

fn summary(record: &Record, rules_page: &str) -> String {
    let mut summary = format!("{}\n\n", opening(record));
    summary.push_str(&findings(record, rules_page));
    summary.push_str(&ledger(record));
    summary.push_str(&classes(record));
    summary.push_str(&absent(record));
    summary.push_str(&stands_for(record));
    cut(summary, MOST_BYTES)
}

fn findings(record: &Record, rules_page: &str) -> String {
    let (deciding, others): (Vec<_>, Vec<_>) = record.findings.iter().partition(|f| f.verdict == record.verdict);
    let note = match marks(record).count() {
        0..=MOST_ANNOTATIONS => String::new(),
        total => format!("{MOST_ANNOTATIONS} of {total} places are marked in the diff.\n\n"),
    };
    group("### Why\n\n", &deciding, DECIDING, rules_page)
        + &group("### Also found\n\n", &others, OTHERS, rules_page)
        + &note
}

/// What the evidence lane does to the freeze ledger, and what each freeze costs.
fn ledger(record: &Record) -> String {
    let rows = freezes::freezes(record);
    if rows.is_empty() {
        return String::new();
    }
    let heading = "### The freeze ledger's change\n\n| | test | last day | price | reason |\n|---|---|---|---|---|\n";
    let mut page = Page::new(heading, FREEZES);
    let line = |row: &FreezeRow| {
        let reason = row.reason.as_deref().map_or_else(|| "-".to_owned(), |reason| cell(&elided(reason, 200)));
        let price = prose(&freezes::price(row)).replace('|', "\\|");
        format!("| {} | {} | {} | {price} | {reason} |\n", row.change, cell(&row.nodeid), prose(&freezes::days(row)))
    };
    page.list(rows.iter().map(line), usize::MAX, |n| format!("\n{n} more freezes; the record has them all\n"));
    let share = freezes::share(record).map_or_else(String::new, |share| format!("\n{}\n", prose(&share)));
    page.into_text() + &share + "\n"
}

fn group(heading: &str, findings: &[&FindingRow], limit: usize, rules_page: &str) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut page = Page::new(heading, limit);
    page.list(findings.iter().map(|f| finding(f, rules_page)), usize::MAX, |n| format!("- … {n} findings omitted\n"));
    page.into_text() + "\n"
}

/// What, where, and what to do next.
fn finding(finding: &FindingRow, rules_page: &str) -> String {
    let sentence = |text: &str| prose(&elided(text, MOST_SENTENCE));
    let rule = rule(&finding.rule, rules_page);
    let mut page = Page::new(format!("- {} {rule}: {}\n", finding.verdict, sentence(&finding.message)), 12_000);
    page.list(finding.locations.iter().map(|l| format!("  - {}\n", place(l))), 20, |n| {
        format!("  - … {n} places omitted\n")
    });
    format!("{}\n  Next: {}\n", page.into_text(), sentence(&finding.next))
}

fn rule(id: &str, rules_page: &str) -> String {
    let ours = !id.is_empty() && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if ours { format!("[{id}]({rules_page}#{id})") } else { code(id) }
}

fn place(location: &LocationRow) -> String {
    let path = code(&location.path);
    match (location.line, location.end_line) {
        (None, _) => path,
        (Some(line), None) => format!("{path} line {line}"),
        (Some(line), Some(end)) if end == line => format!("{path} line {line}"),
        (Some(line), Some(end)) => format!("{path} lines {line} to {end}"),
    }
}

/// One row per class that occurs, with the first names.
fn classes(record: &Record) -> String {
    let classes = Class::ALL.into_iter().filter_map(|class| {
        let rows: Vec<&RecordRow> = record.rows.iter().filter(|row| row.class == class).collect();
        (!rows.is_empty()).then_some((class, rows))
    });
    let lines: Vec<String> = classes
        .map(|(class, rows)| {
            let opening = format!("| {} | {} |", class.as_str().replace('_', " "), rows.len());
            let mut line = Page::new(opening, CLASS);
            let names =
                rows.iter().enumerate().map(|(at, row)| format!("{} {}", if at == 0 { "" } else { "," }, named(row)));
            line.list(names, 5, |n| format!(", … {n} omitted"));
            line.into_text() + " |\n"
        })
        .collect();
    if lines.is_empty() {
        return "### Paths by class\n\nNo file is changed, or the change could not be read.\n\n".to_owned();
    }
    let mut page = Page::new("### Paths by class\n\n| class | files | paths |\n|---|---|---|\n", CLASSES);
    page.list(lines.into_iter(), usize::MAX, |n| format!("| … {n} classes omitted | | |\n"));
    page.into_text() + "\n"
}

/// Status and name, for a cell. A renamed file is a row that deletes and one that adds, so one name is enough.
fn named(row: &RecordRow) -> String {
    let known = row.status.bytes().all(|b| b.is_ascii_uppercase());
    let status = if known { row.status.clone() } else { cell(&row.status) };
    format!("{status} {}", cell(&row.path))
}

fn absent(record: &Record) -> String {
    if record.not_observed.is_empty() {
        return String::new();
    }
    let mut page = Page::new("### Not observed\n\n", ABSENT);
    let lines = record.not_observed.iter().map(|what| format!("- {}\n", prose(&elided(what, 300))));
    page.list(lines, 50, |n| format!("- … {n} omitted\n"));
    page.into_text() + "\n"
}

/// What the verdict stands for, and falls with (R35).
fn stands_for(record: &Record) -> String {
    let id = |id: &str| cell(&elided(id, 64));
    let known = |text: Option<&str>| text.map_or_else(|| "none".to_owned(), id);
    let digests = &record.digests;
    let lines = [
        ("base ref", cell(&record.base_ref)),
        ("base", id(&record.base)),
        ("head", id(&record.head)),
        ("merge base", known(record.merge_base.as_deref())),
        ("merged tree", known(record.merged_tree.as_deref())),
        ("policy", known(digests.policy.as_deref())),
        ("freeze ledger", known(digests.ledger.as_deref())),
        ("fixture lock", known(digests.lock.as_deref())),
        ("oracles", known(digests.oracles.as_deref())),
        ("coverage map", known(digests.map.as_deref())),
        ("judged by", cell(&format!("{} {}", record.product.name, record.product.version))),
    ];
    let lines = lines.map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("### What this verdict stands for\n\n| | |\n|---|---|\n{}", lines.concat())
}

/// File by file what only frozen tests run, and what no test runs.
fn surface(record: &Record) -> String {
    let row = |path: &str, lines: &Lines<'_>| {
        let mut tests: Vec<String> = lines.tests.iter().take(MOST_TESTS).map(|test| cell(test)).collect();
        if lines.tests.len() > MOST_TESTS {
            tests.push(format!("… {} more", lines.tests.len() - MOST_TESTS));
        }
        let tests = if tests.is_empty() { String::new() } else { format!(" {} |", tests.join(", ")) };
        format!("| {} | {} | {} |{tests}\n", cell(path), lines.at_head(), lines.at_merge_base())
    };
    let table = |heading: &str, files: BTreeMap<&str, Vec<Lines<'_>>>| {
        let rows: Vec<String> =
            files.iter().flat_map(|(path, lines)| lines.iter().map(|lines| row(path, lines))).collect();
        if rows.is_empty() {
            return String::new();
        }
        let mut page = Page::new(heading, SURFACE);
        page.list(rows.into_iter(), usize::MAX, |n| format!("\n{n} more runs of lines; the record has them all\n"));
        page.into_text() + "\n"
    };
    let overlapping = "### Lines that only frozen tests run\n\n\
        | file | at head | at the merge base | frozen tests |\n|---|---|---|---|\n";
    let unseen = "### Changed lines that no test runs\n\n| file | at head | at the merge base |\n|---|---|---|\n";
    table(overlapping, overlap(record)) + &table(unseen, unobserved(record))
}

fn every_path(record: &Record, room: usize) -> String {
    let mut page = Page::new(
        format!("### Every changed path ({})\n\n| class | status and path |\n|---|---|\n", record.rows.len()),
        room,
    );
    let lines =
        record.rows.iter().map(|row| format!("| {} | {} |\n", row.class.as_str().replace('_', " "), named(row)));
    page.list(lines, usize::MAX, |n| format!("| … | {n} omitted; the record has them all |\n"));
    page.into_text()
}
