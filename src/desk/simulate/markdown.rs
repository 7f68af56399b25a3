//! A judged history as Markdown, for a pull request that brings a policy in.

use std::fmt::Write as _;

use super::ask::History;
use super::summary::{Summary, share};
use super::text::{headline, notes};
use crate::report::{RULES_PAGE, code_cell, code_span};

/// How many rows of a table are worth reading at once.
const MOST_ROWS: usize = 20;

macro_rules! add {
    ($page:expr, $($part:tt)*) => { writeln!($page, $($part)*).expect("writing to a String cannot fail") };
}

/// The numbers, the reasons, the paths in the way and the lines that would let more pass.
pub(super) fn markdown(history: &History) -> String {
    let summary = Summary::of(history);
    let mut page = format!("# What {} would have said\n\n", code_span(&history.policy));
    let said = headline(history, &summary).replacen(&history.tip, &code_span(&history.tip), 1);
    add!(page, "{said}\n\n| verdict | changes | share |\n|---|---:|---:|");
    for (verdict, count) in &summary.verdicts {
        add!(page, "| {verdict} | {count} | {} |", share(*count, summary.judged));
    }
    if !summary.reasons.is_empty() {
        add!(
            page,
            "\n## Why the others would have waited\n\n| rule | verdict | changes | alone |\n|---|---|---:|---:|"
        );
        for reason in summary.reasons.iter().take(MOST_ROWS) {
            let (rule, verdict) = (reason.rule, reason.verdict);
            add!(page, "| [{rule}]({RULES_PAGE}#{rule}) | {verdict} | {} | {} |", reason.changes, reason.alone);
        }
    }
    if !summary.paths.is_empty() {
        add!(page, "\n## Most often in the way\n\n| path | changes | rule | what lets it pass |\n|---|---:|---|---|");
        for path in summary.paths.iter().take(MOST_ROWS) {
            add!(page, "| {} | {} | {} | {} |", code_cell(path.path), path.changes, path.rule, code_cell(&path.advice));
        }
    }
    if !summary.levers.is_empty() {
        add!(page, "\n## Lines that would let more pass by themselves\n\n| line | changes |\n|---|---:|");
        for (lever, changes) in summary.levers.iter().take(MOST_ROWS) {
            add!(page, "| {} | +{changes} |", code_cell(&lever.to_string()));
        }
        add!(page, "| all of them together | +{} |", summary.with_all_levers);
    }
    for (change, why) in &summary.not_judged {
        add!(page, "\nNot judged: {}: {}", code_span(change.change.commit.as_str()), code_span(why));
    }
    for note in notes(history) {
        add!(page, "\n{note}");
    }
    page
}
