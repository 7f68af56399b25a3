//! A judged history as text for a terminal.

use std::collections::BTreeSet;

use super::ask::History;
use super::summary::{HeldPath, Reason, Summary, share};
use crate::score::{all_rules, elided, visible};
use crate::words::Verdict;

/// How many rows of a table are worth reading at once.
const MOST_ROWS: usize = 10;

/// The most characters of a path or subject in a table.
const MOST_NAME: usize = 48;

/// How long a bar of all changes is.
const BAR: usize = 24;

/// What would have passed first, then why the rest would have waited, and which line of the policy changes that.
pub(in crate::desk) fn report(history: &History) -> String {
    let summary = Summary::of(history);
    let mut lines = vec![headline(history, &summary), String::new()];
    if summary.judged > 0 {
        verdicts(&mut lines, &summary);
        reasons(&mut lines, &summary);
        paths(&mut lines, &summary);
        levers(&mut lines, history, &summary);
    }
    limits(&mut lines, history, &summary);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The sentence that says it.
pub(super) fn headline(history: &History, summary: &Summary<'_>) -> String {
    let tip = visible(&history.tip);
    match (summary.judged, history.changes.len()) {
        (0, 0) => format!("There is no change to judge: {tip} has no commit that stands on another."),
        (0, all) => format!("None of the last {all} changes of {tip} could be judged."),
        (judged, _) => format!(
            "{} of the last {judged} {} of {tip} would have passed by {} ({}).",
            summary.passed(),
            if judged == 1 { "change" } else { "changes" },
            if summary.passed() == 1 { "itself" } else { "themselves" },
            share(summary.passed(), judged)
        ),
    }
}

fn verdicts(lines: &mut Vec<String>, summary: &Summary<'_>) {
    for (verdict, count) in &summary.verdicts {
        let bar = "█".repeat((count * BAR).div_ceil(summary.judged.max(1)));
        let share = share(*count, summary.judged);
        lines.push(format!("  {:<9}{count:>5}  {share:>6}  {bar:BAR$}  {}", verdict.as_str(), meaning(*verdict)));
    }
    lines.push(String::new());
}

/// What a verdict would have meant for the author.
pub(super) fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Review => "passes; a person reviews the product alone",
        Verdict::Hold => "waits for an approval of its head (`holds` in the policy)",
        Verdict::Unscored => "an observer is missing: only new evidence on the base helps",
        Verdict::Reject => "refused: evidence, or what the tests see, was changed",
    }
}

fn reasons(lines: &mut Vec<String>, summary: &Summary<'_>) {
    if summary.reasons.is_empty() {
        return;
    }
    lines.push("Why the others would have waited (`alone`: for no other reason)".to_owned());
    lines.push("  changes  alone  verdict   rule".to_owned());
    for reason in summary.reasons.iter().take(MOST_ROWS) {
        let Reason { rule, verdict, changes, alone } = reason;
        lines.push(format!("  {changes:>7}  {alone:>5}  {:<8}  {rule}", verdict.as_str()));
        let when = all_rules().find(|of| of.id == *rule).map_or("", |rule| rule.when);
        lines.push(format!("                            {}", first_sentence(when)));
    }
    more(lines, summary.reasons.len());
    lines.push(String::new());
}

fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

fn paths(lines: &mut Vec<String>, summary: &Summary<'_>) {
    if summary.paths.is_empty() {
        return;
    }
    lines.push("Most often in the way".to_owned());
    let shown: Vec<&HeldPath<'_>> = summary.paths.iter().take(MOST_ROWS).collect();
    let name = |path: &HeldPath<'_>| elided(&visible(path.path), MOST_NAME);
    let width = shown.iter().map(|path| name(path).chars().count()).max().unwrap_or(0);
    lines.extend(shown.iter().map(|path| format!("  {:>7}  {:width$}  {}", path.changes, name(path), path.rule)));
    more(lines, summary.paths.len());
    lines.push("What lets them pass".to_owned());
    let advice: BTreeSet<(&str, &str)> = shown.iter().map(|path| (path.rule, path.advice.as_str())).collect();
    lines.extend(advice.iter().map(|(rule, advice)| format!("  {rule:<22}  {}", visible(advice))));
    lines.push(String::new());
}

fn levers(lines: &mut Vec<String>, history: &History, summary: &Summary<'_>) {
    if summary.levers.is_empty() {
        return;
    }
    lines.push("Lines of the policy that would let more pass by themselves".to_owned());
    for (lever, changes) in summary.levers.iter().take(MOST_ROWS) {
        let line = visible(&lever.to_string());
        lines.push(format!("  {:>+7}  {line}  ({})", changes, visible(&lever.place(&history.policy_text))));
    }
    more(lines, summary.levers.len());
    if summary.levers.len() > 1 {
        lines.push(format!("  {:>+7}  all of them together", summary.with_all_levers));
    }
    lines.push(String::new());
}

fn limits(lines: &mut Vec<String>, history: &History, summary: &Summary<'_>) {
    if !summary.slowest.is_empty() {
        lines.push("Slowest".to_owned());
        for change in &summary.slowest {
            let subject = elided(&visible(&change.change.subject), MOST_NAME);
            lines.push(format!("  {:>6.1}s  {}  {subject}", change.took.as_secs_f32(), change.change.commit.short()));
        }
        lines.push(String::new());
    }
    for (change, why) in &summary.not_judged {
        lines.push(format!(
            "Not judged: {} ({}): {}",
            change.change.commit.short(),
            elided(&visible(&change.change.subject), MOST_NAME),
            visible(why)
        ));
    }
    lines.extend(notes(history).iter().map(|note| visible(note)));
}

/// What the numbers do not stand for, one sentence each.
pub(super) fn notes(history: &History) -> Vec<String> {
    let mut notes = Vec::new();
    if !history.not_run.is_empty() {
        notes.push(format!(
            "Not run here: {}. `simulate --run` runs what the policy asks for.",
            history.not_run.join(", ")
        ));
    }
    if history.cut_off {
        notes
            .push("The history is cut off here (a shallow clone): `git fetch --unshallow` brings the rest.".to_owned());
    }
    notes
}

fn more(lines: &mut Vec<String>, total: usize) {
    if total > MOST_ROWS {
        lines.push(format!("  … and {} more; `--format json` has them all", total - MOST_ROWS));
    }
}
