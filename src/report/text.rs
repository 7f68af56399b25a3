//! Record -> what a person reads in a terminal.

use anstyle::{AnsiColor, Style};

use super::freezes;
use super::surface::{Lines, overlap, unobserved};
use crate::policy::Class;
use crate::score::{FindingRow, LocationRow, Record, RecordRow, elided, visible};
use crate::words::Verdict;

/// Whether the text may carry colour. The caller knows whether a person looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// ANSI colour.
    Always,
    /// Plain text: for a pipe, a file, or a person who wants none.
    Never,
}

/// The most places of one finding, and names of one class.
const MOST_NAMES: usize = 20;

/// The most characters of a name.
const MOST_NAME: usize = 400;

/// The verdict first, then why, which paths, what to do next, and what the verdict stands for. Sentences are wrapped at `width` columns;
/// names never are, so that they can be copied. No line is a command for the log of a CI run (R47).
pub fn text(record: &Record, colour: Colour, width: usize) -> String {
    let paint = Paint { colour, width: width.clamp(40, 120) };
    let mut lines = vec![paint.title(record), String::new()];
    for finding in &record.findings {
        paint.finding(&mut lines, finding, record.verdict);
    }
    paint.ledger(&mut lines, record);
    paint.surface(&mut lines, record);
    paint.classes(&mut lines, record);
    paint.absent(&mut lines, record);
    paint.stands_for(&mut lines, record);
    lines.iter().map(|line| defused(line) + "\n").collect()
}

struct Paint {
    colour: Colour,
    width: usize,
}

impl Paint {
    fn styled(&self, style: Style, text: &str) -> String {
        match self.colour {
            Colour::Always => format!("{style}{text}{style:#}"),
            Colour::Never => text.to_owned(),
        }
    }

    fn title(&self, record: &Record) -> String {
        let title = visible(&record.title);
        match record.verdict {
            // Every other title begins with its verdict.
            Verdict::Review => self.styled(of(record.verdict), &format!("review: {title}")),
            Verdict::Hold | Verdict::Unscored | Verdict::Reject => self.styled(of(record.verdict), &title),
        }
    }

    fn finding(&self, lines: &mut Vec<String>, finding: &FindingRow, decided: Verdict) {
        let style = if finding.verdict == decided { of(finding.verdict) } else { Style::new() };
        let head = format!("{} {}", finding.verdict, visible(&finding.rule));
        lines.push(self.styled(style, &head));
        self.sentence(lines, "  ", &finding.message);
        lines.extend(finding.locations.iter().take(MOST_NAMES).map(|location| format!("    {}", place(location))));
        more(lines, "    ", finding.locations.len());
        self.sentence(lines, "  Next: ", &finding.next);
        lines.push(String::new());
    }

    /// What the evidence lane does to the freeze ledger.
    fn ledger(&self, lines: &mut Vec<String>, record: &Record) {
        let rows = freezes::freezes(record);
        if rows.is_empty() {
            return;
        }
        lines.push(self.styled(Style::new().bold(), "The freeze ledger's change"));
        for row in rows.iter().take(MOST_NAMES) {
            lines.push(format!("  {} {}", row.change, name(&row.nodeid)));
            self.sentence(lines, "    ", &format!("{}; {}", freezes::days(row), freezes::price(row)));
        }
        more(lines, "  ", rows.len());
        if let Some(share) = freezes::share(record) {
            self.sentence(lines, "  ", &share);
        }
        lines.push(String::new());
    }

    /// File by file what only frozen tests run, and what no test runs.
    fn surface(&self, lines: &mut Vec<String>, record: &Record) {
        let parts = [
            ("Lines that only frozen tests run", overlap(record)),
            ("Changed lines that no test runs", unobserved(record)),
        ];
        for (heading, files) in parts.into_iter().filter(|(_, files)| !files.is_empty()) {
            lines.push(self.styled(Style::new().bold(), heading));
            for (path, runs) in files.iter().take(MOST_NAMES) {
                lines.push(format!("  {}", name(path)));
                let width = runs.iter().take(MOST_NAMES).map(|run| where_is(run).len()).max().unwrap_or(0);
                lines.extend(runs.iter().take(MOST_NAMES).map(|run| {
                    let tests = tests_of(run);
                    format!("    {:width$}  {tests}", where_is(run)).trim_end().to_owned()
                }));
                more(lines, "    ", runs.len());
            }
            more(lines, "  ", files.len());
            lines.push(String::new());
        }
    }

    fn classes(&self, lines: &mut Vec<String>, record: &Record) {
        lines.push(self.styled(Style::new().bold(), &format!("Changed files: {}", record.rows.len())));
        for class in Class::ALL {
            let rows: Vec<&RecordRow> = record.rows.iter().filter(|row| row.class == class).collect();
            let Some(count) = (!rows.is_empty()).then_some(rows.len()) else { continue };
            lines.push(format!("  {} ({count})", class.as_str().replace('_', " ")));
            lines.extend(
                rows.iter().take(MOST_NAMES).map(|row| format!("    {} {}", visible(&row.status), name(&row.path))),
            );
            more(lines, "    ", count);
        }
        lines.push(String::new());
    }

    fn absent(&self, lines: &mut Vec<String>, record: &Record) {
        if record.not_observed.is_empty() {
            return;
        }
        lines.push(self.styled(Style::new().bold(), "Not observed"));
        for what in &record.not_observed {
            self.sentence(lines, "  - ", what);
        }
        lines.push(String::new());
    }

    fn stands_for(&self, lines: &mut Vec<String>, record: &Record) {
        let known = |text: Option<&str>| text.map_or_else(|| "none".to_owned(), name);
        lines.push(self.styled(Style::new().bold(), "What this verdict stands for"));
        lines.push(format!("  base         {} ({})", name(&record.base), name(&record.base_ref)));
        lines.push(format!("  head         {}", name(&record.head)));
        lines.push(format!("  merge base   {}", known(record.merge_base.as_deref())));
        lines.push(format!("  merged tree  {}", known(record.merged_tree.as_deref())));
        lines.push(format!("  policy       {}", known(record.digests.policy.as_deref())));
        if let Some(map) = &record.digests.map {
            lines.push(format!("  map          {}", name(map)));
        }
    }

    /// Wraps at spaces; lines after the first are indented as far as the opening is long.
    fn sentence(&self, lines: &mut Vec<String>, opening: &str, text: &str) {
        let indent = " ".repeat(opening.len());
        let mut line = opening.to_owned();
        let mut empty = true;
        for word in text.split(' ').map(name) {
            if !empty && line.chars().count() + 1 + word.chars().count() > self.width {
                lines.push(std::mem::replace(&mut line, indent.clone()));
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(&word);
            empty = false;
        }
        lines.push(line);
    }
}

fn of(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Review => AnsiColor::Green,
        Verdict::Hold => AnsiColor::Yellow,
        Verdict::Unscored => AnsiColor::Magenta,
        Verdict::Reject => AnsiColor::Red,
    };
    colour.on_default().bold()
}

fn name(text: &str) -> String {
    elided(&visible(text), MOST_NAME)
}

fn place(location: &LocationRow) -> String {
    let path = name(&location.path);
    match (location.line, location.end_line) {
        (None, _) => path,
        (Some(line), None) => format!("{path}:{line}"),
        (Some(line), Some(end)) => format!("{path}:{line}-{end}"),
    }
}

/// `30 (21 at the merge base)`, `gone (21-24 at the merge base)`, `3-9 (new)`.
fn where_is(run: &Lines<'_>) -> String {
    let head = if run.head.is_none() { "gone".to_owned() } else { run.at_head() };
    if run.old.is_none() {
        format!("{head} (new)")
    } else {
        format!("{head} ({} at the merge base)", run.at_merge_base())
    }
}

/// The most tests that are named beside a line.
const MOST_TESTS: usize = 3;

fn tests_of(run: &Lines<'_>) -> String {
    let mut tests: Vec<String> = run.tests.iter().take(MOST_TESTS).map(|test| name(test)).collect();
    if run.tests.len() > MOST_TESTS {
        tests.push(format!("and {} more", run.tests.len() - MOST_TESTS));
    }
    tests.join(", ")
}

fn more(lines: &mut Vec<String>, indent: &str, total: usize) {
    if total > MOST_NAMES {
        lines.push(format!("{indent}… {} more; `--format json` has them all", total - MOST_NAMES));
    }
}

/// A line that a CI runner would take for a command loses its first colon: runners trim a line before they look.
/// <https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions>
fn defused(line: &str) -> String {
    let rest = line.trim_start();
    let indent = &line[..line.len() - rest.len()];
    match rest.strip_prefix("::") {
        Some(rest) => format!("{indent}\\x3a:{rest}"),
        None => line.to_owned(),
    }
}
