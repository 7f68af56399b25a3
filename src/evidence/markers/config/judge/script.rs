//! Keys of the JavaScript runners, in their own files and in package.json.

use super::Side;
use crate::evidence::markers::config::entries::Entry;
use crate::evidence::markers::config::shell;
use crate::evidence::markers::marker::MarkerKind;

pub(super) fn package(entry: &Entry, side: &mut Side) {
    match entry.key.first().map(String::as_str) {
        Some("jest" | "mocha" | "ava" | "vitest" | "nyc" | "c8" | "jasmine") => script(entry, side),
        Some("scripts" | "tasks") => {
            let name = entry.key.get(1).map_or("", String::as_str).to_owned();
            let value = entry.value.clone();
            let about_tests = ["test", "spec", "ci", "check", "verify", "e2e"].iter().any(|w| name.contains(w))
                || shell::runs_tests(&value);
            if about_tests {
                side.command(entry, &value);
            }
            let idle = value.split(['&', ';', '|']).map(str::trim).filter(|p| !p.is_empty()).all(|p| {
                let word = p.split_whitespace().next().unwrap_or("");
                matches!(word, "echo" | "true" | ":" | "printf") || p == "exit 0"
            });
            if (name == "test" || name.starts_with("test:")) && idle && !value.contains("exit 1") {
                side.mark(MarkerKind::Masked, entry, format!("the script `{name}` cannot fail"));
            }
        }
        _ => {}
    }
}

/// Values that every project excludes.
fn is_vendor(value: &str) -> bool {
    ["node_modules", "dist", "build", ".git", "coverage", ".next", "vendor", ".cache", "target", "lib/"]
        .iter()
        .any(|w| value.contains(w))
        || value.starts_with("...")
        || value.contains("configDefaults")
}

pub(super) fn script(entry: &Entry, side: &mut Side) {
    let last = entry.last().to_owned();
    let on = entry.value == "true";
    let about_coverage = entry.key.iter().any(|k| k.contains("overage") || k == "nyc" || k == "c8");
    match last.as_str() {
        "coveragePathIgnorePatterns" => side.mark_value(MarkerKind::Coverage, entry),
        "exclude" if about_coverage => side.mark_value(MarkerKind::Coverage, entry),
        "collectCoverageFrom" if entry.value.starts_with('!') && !is_vendor(&entry.value) => {
            side.mark_value(MarkerKind::Coverage, entry);
        }
        "testPathIgnorePatterns"
        | "modulePathIgnorePatterns"
        | "testIgnore"
        | "excludeSpecPattern"
        | "ignore"
        | "testNamePattern"
        | "grep"
        | "grepInvert"
        | "fgrep"
        | "match"
        | "filter"
            if !is_vendor(&entry.value) && !entry.value.is_empty() =>
        {
            side.mark_value(MarkerKind::Disabled, entry);
        }
        "exclude" if (entry.key.iter().any(|k| k == "test") || entry.key.len() <= 2) && !is_vendor(&entry.value) => {
            side.mark_value(MarkerKind::Disabled, entry);
        }
        "spec_files" | "files" | "spec" | "testMatch" if entry.value.starts_with('!') && !is_vendor(&entry.value) => {
            side.mark_value(MarkerKind::Disabled, entry);
        }
        "passWithNoTests" | "invert" | "onlyChanged" | "onlyFailures" | "dryRun" | "dry-run" | "listTests" if on => {
            side.mark_value(MarkerKind::Disabled, entry);
        }
        "passOnFailingTestSuite" | "pass-on-failing-test-suite" | "dangerouslyIgnoreUnhandledErrors" if on => {
            side.mark_value(MarkerKind::Forced, entry);
        }
        "testFailureExitCode" if entry.value == "0" => side.mark_value(MarkerKind::Forced, entry),
        "failWithoutAssertions" if entry.value == "false" => side.mark_value(MarkerKind::Forced, entry),
        "forbidOnly" | "forbid-only" | "forbidPending" if entry.value == "false" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        "allowOnly" if on => side.mark_value(MarkerKind::Retry, entry),
        "update" if on => side.mark_value(MarkerKind::Snapshot, entry),
        "updateSnapshots" | "updateSnapshot" if matches!(entry.value.as_str(), "all" | "changed" | "true") => {
            side.mark_value(MarkerKind::Snapshot, entry);
        }
        "retries"
        | "retry"
        | "retryTimes"
        | "testTimeout"
        | "hookTimeout"
        | "timeout"
        | "runMode"
        | "openMode"
        | "defaultCommandTimeout" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        _ => {}
    }
}
