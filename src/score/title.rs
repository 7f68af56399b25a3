//! One line for the head of a report.

use std::collections::BTreeSet;

use super::{Acknowledged, FindingRow, Record, Scope, elided, visible};
use crate::policy::Class;
use crate::words::Verdict;

/// The most characters of a title: forges show about this much of one line.
const MOST: usize = 120;

/// The verdict in capitals, the rule that decided and where, or for a review what was seen (DESIGN section 3). One line of at most
/// 120 characters, whatever the names in the change are.
pub(super) fn title(record: &Record, scope: &Scope) -> String {
    let title = match (record.verdict, scope) {
        (Verdict::Review, Scope::NotGated(why)) => format!("Not gated: {}", visible(why)),
        (Verdict::Review, Scope::Gated) if let_in_by(record).is_some() => let_in(record),
        (Verdict::Review, Scope::Gated) if !record.acknowledged.is_empty() => acknowledged(record),
        (Verdict::Review, Scope::Gated) => seen(record),
        (Verdict::Hold | Verdict::Unscored | Verdict::Reject, _) => blocked(record),
    };
    elided(&title, MOST)
}

/// Who let a change of evidence in.
fn let_in_by(record: &Record) -> Option<&str> {
    record.lane.as_ref()?.approved_by.as_deref()
}

/// `Evidence let in by mia: 2 fixture files`.
fn let_in(record: &Record) -> String {
    format!("Evidence let in by {}: {}", visible(let_in_by(record).unwrap_or_default()), counted(record))
}

/// `Acknowledged by mia: build-edited, added-test`.
fn acknowledged(record: &Record) -> String {
    let names = |of: fn(&Acknowledged) -> &str| {
        let names: BTreeSet<&str> = record.acknowledged.iter().map(of).collect();
        names.into_iter().map(visible).collect::<Vec<_>>().join(", ")
    };
    format!("Acknowledged by {}: {}", names(|row| &row.by), names(|row| &row.rule))
}

fn blocked(record: &Record) -> String {
    let verdict = record.verdict.as_str().to_uppercase();
    let Some(first) = record.findings.first() else {
        return verdict;
    };
    let others = match record.findings.iter().skip(1).filter(|finding| finding.verdict == record.verdict).count() {
        0 => String::new(),
        1 => "; 1 more finding".to_owned(),
        n => format!("; {n} more findings"),
    };
    if first.rule == "freeze-overlap" {
        // The share says more than the first of many lines.
        let share = first.message.split(": ").next().unwrap_or_default();
        return format!("{verdict}: {}{others}", visible(share));
    }
    let fixed = format!("{verdict}: {}: ", visible(&first.rule));
    let room = MOST.saturating_sub(fixed.chars().count() + others.chars().count());
    format!("{fixed}{}{others}", place(first, room))
}

/// Where a finding is, or what it says when it is nowhere in particular, in at most `room` characters.
fn place(finding: &FindingRow, room: usize) -> String {
    let Some(first) = finding.locations.first() else {
        return elided(visible(&finding.message).trim_end_matches('.'), room);
    };
    let line = match first.line {
        Some(line) if finding.locations.len() == 1 => format!(":{line}"),
        Some(_) | None => String::new(),
    };
    let paths: BTreeSet<&str> = finding.locations.iter().map(|location| location.path.as_str()).collect();
    let more = match paths.len() - 1 {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let room = room.saturating_sub(line.chars().count() + more.chars().count());
    format!("{}{line}{more}", elided(&visible(&first.path), room))
}

/// `Evidence intact: 3 product files, 1 allowed`: the product first, since it is what a person now reviews.
fn seen(record: &Record) -> String {
    let evidence = record.rows.iter().any(|row| row.class.is_evidence());
    let opening = if evidence { "Evidence changed and acknowledged" } else { "Evidence intact" };
    format!("{opening}: {}", counted(record))
}

/// `3 product files, 1 allowed`.
fn counted(record: &Record) -> String {
    let first = [Class::Product, Class::Allowed, Class::Test];
    let rest = Class::ALL.into_iter().filter(|class| !first.contains(class));
    let counts = first.into_iter().chain(rest).filter_map(|class| {
        let count = record.rows.iter().filter(|row| row.class == class).count();
        (count > 0).then(|| (count, class.as_str().replace('_', " ")))
    });
    let counts: Vec<String> = counts
        .enumerate()
        .map(|(at, (count, name))| match (at, count) {
            (0, 1) => format!("1 {name} file"),
            (0, _) => format!("{count} {name} files"),
            (_, _) => format!("{count} {name}"),
        })
        .collect();
    counts.join(", ")
}
