//! Keys of PHPUnit, and the option files of RSpec and cucumber.

use super::Side;
use crate::evidence::markers::config::entries::Entry;
use crate::evidence::markers::marker::MarkerKind;

pub(super) fn phpunit(entry: &Entry, side: &mut Side) {
    let key = entry.dotted();
    if entry.value.is_empty() {
        return;
    }
    let about_coverage = key.contains("coverage") || key.contains("source.") || key.contains("filter.whitelist");
    if key.contains("exclude") {
        side.mark_value(if about_coverage { MarkerKind::Coverage } else { MarkerKind::Disabled }, entry);
    } else if key.contains("groups.include") {
        side.mark_value(MarkerKind::Disabled, entry);
    } else if matches!(
        entry.last(),
        "@failOnRisky"
            | "@failOnWarning"
            | "@failOnEmptyTestSuite"
            | "@beStrictAboutTestsThatDoNotTestAnything"
            | "@failOnIncomplete"
            | "@failOnSkipped"
    ) && entry.value == "false"
    {
        side.mark_value(MarkerKind::Retry, entry);
    }
}

pub(super) fn rspec(entry: &Entry, side: &mut Side) {
    let words: Vec<&str> = entry.value.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let (name, joined) = word.split_once('=').map_or((*word, ""), |(n, v)| (n, v));
        let value = if joined.is_empty() { words.get(at + 1).copied().unwrap_or("") } else { joined };
        match name {
            "--tag" | "-t" | "--exclude-pattern" | "--pattern" | "-P" | "--dry-run" | "--example" | "-e"
            | "--only-failures" | "--next-failure" => {
                side.mark(MarkerKind::Disabled, entry, format!("{name} {value}").trim().to_owned());
            }
            "--failure-exit-code" | "--error-exit-code" if value == "0" => {
                side.mark(MarkerKind::Forced, entry, format!("{name} 0"));
            }
            _ => {}
        }
    }
}
