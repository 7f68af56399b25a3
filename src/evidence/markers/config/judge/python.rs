//! Keys of pytest, coverage.py and tox, and the sessions of nox.

use super::{Flavour, Side};
use crate::evidence::grammar::{Language, Outcome, parse_as};
use crate::evidence::markers::config::entries::{Entry, Unreadable};
use crate::evidence::markers::config::shell;
use crate::evidence::markers::marker::MarkerKind;
use crate::evidence::tests::unquoted;

pub(super) fn python(flavour: Flavour, entry: &Entry, side: &mut Side) {
    let section = entry.key.first().map_or("", String::as_str);
    let dotted = entry.dotted();
    let pytest = match flavour {
        Flavour::Ini => matches!(section, "pytest" | "tool:pytest"),
        _ => dotted.starts_with("tool.pytest.") || dotted.starts_with("pytest."),
    };
    let coverage = section.starts_with("coverage:")
        || dotted.starts_with("tool.coverage.")
        || (flavour == Flavour::Ini && matches!(section, "run" | "report"));
    let last = entry.last().to_owned();
    if pytest {
        match last.as_str() {
            "addopts" => addopts(entry, side),
            "xfail_strict" if entry.value == "false" || entry.value == "False" => {
                side.mark_value(MarkerKind::Retry, entry);
            }
            "timeout" | "reruns" | "faulthandler_timeout" | "flaky_reruns" => side.mark_value(MarkerKind::Retry, entry),
            "norecursedirs" => {
                for word in entry.value.split_whitespace() {
                    side.mark(MarkerKind::Disabled, entry, format!("norecursedirs = {word}"));
                }
            }
            "collect_ignore" => side.mark_value(MarkerKind::Disabled, entry),
            _ => {}
        }
    } else if coverage {
        if matches!(last.as_str(), "omit" | "exclude_lines" | "exclude_also" | "partial_branches") {
            side.mark_value(MarkerKind::Coverage, entry);
        }
    } else if section.starts_with("testenv")
        || dotted.contains("scripts")
        || dotted.contains("tasks")
        || dotted.contains(".env.")
        || dotted.starts_with("env.")
    {
        match last.as_str() {
            "ignore_outcome" | "ignore_errors" if entry.value.eq_ignore_ascii_case("true") => {
                side.mark_value(MarkerKind::Masked, entry);
            }
            _ => side.command(entry, &entry.value.clone()),
        }
    }
}

fn addopts(entry: &Entry, side: &mut Side) {
    let line = format!("pytest {}", entry.value);
    for word in shell::chooses(&line) {
        side.mark(MarkerKind::Disabled, entry, word);
    }
    if let Some(word) = shell::updates(&line) {
        side.mark(MarkerKind::Snapshot, entry, word);
    }
    for word in entry.value.split_whitespace() {
        if let Some((name @ ("--reruns" | "--timeout" | "--retries" | "--force-flaky"), value)) = word.split_once('=') {
            side.mark(MarkerKind::Retry, entry, name).amount = value.parse().ok();
        }
        if matches!(word, "--no-cov" | "--continue-on-collection-errors") {
            side.mark(MarkerKind::Retry, entry, word);
        }
    }
    let words: Vec<&str> = entry.value.split_whitespace().collect();
    for pair in words.windows(2) {
        if matches!(pair[0], "--reruns" | "--timeout" | "--retries") {
            side.mark(MarkerKind::Retry, entry, pair[0]).amount = pair[1].parse().ok();
        }
    }
}

/// The sessions of nox: what they run, and exit codes that they accept.
pub(super) fn nox(text: &str) -> Result<Side, Unreadable> {
    let Outcome::Parsed(syntax) = parse_as(Language::Python, text.as_bytes()) else {
        return Err(Unreadable::Invalid("Python", "the parser gave up".to_owned()));
    };
    let mut side = Side::default();
    for call in syntax.all().filter(|n| n.kind() == "call") {
        let runs =
            call.field("function").is_some_and(|f| matches!(f.text().rsplit('.').next(), Some("run" | "run_always")));
        let Some(arguments) = call.field("arguments").filter(|_| runs) else { continue };
        let words: Vec<String> = arguments.named().filter(|a| a.kind() == "string").map(unquoted).collect();
        let command = words.join(" ");
        let entry = Entry { key: vec!["session.run".to_owned()], value: command.clone(), line: call.line() };
        side.command(&entry, &command);
        let codes = arguments
            .named()
            .find(|a| a.kind() == "keyword_argument" && a.field("name").is_some_and(|n| n.text() == "success_codes"));
        let accepts = codes.and_then(|c| c.field("value")).is_some_and(|v| v.named().any(|n| n.text() != "0"));
        if accepts && shell::runs_tests(&command) {
            side.mark(MarkerKind::Masked, &entry, "success_codes accepts a failure");
        }
    }
    Ok(side)
}
