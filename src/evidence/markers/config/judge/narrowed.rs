//! Keys that choose what runs, before and after.

use super::{Flavour, Side};
use crate::evidence::markers::config::entries::Entry;
use crate::evidence::markers::config::shell;
use crate::evidence::markers::marker::{Marker, MarkerKind};

/// Keys that say which tests there are: what they lose is no longer run.
const INCLUDES: &[&str] = &[
    "testpaths",
    "python_files",
    "python_classes",
    "python_functions",
    "testMatch",
    "testRegex",
    "roots",
    "specPattern",
    "spec",
    "spec_files",
    "testDir",
    "include",
    "files",
    "projects",
];
/// Keys that say how much must be covered: they may rise.
const THRESHOLDS: &[&str] = &[
    "fail_under",
    "lines",
    "branches",
    "functions",
    "statements",
    "minimum",
    "target",
    "check-coverage",
    "watermarks",
    "minimumCoverage",
];

pub(super) fn narrowed(flavour: Flavour, old: &[Entry], new: &[Entry]) -> Vec<Marker> {
    let mut markers = Vec::new();
    let mut mark = |kind, entry: &Entry, text: String| {
        let mut marker = Marker::new(kind, text, entry.line);
        marker.scope = format!("{} got narrower", entry.dotted());
        markers.push(marker);
    };
    let relevant = |entry: &Entry| match flavour {
        Flavour::Ini => matches!(entry.key[0].as_str(), "pytest" | "tool:pytest") || entry.key[0].contains("report"),
        Flavour::Pyproject => entry.dotted().starts_with("tool.pytest") || entry.dotted().starts_with("tool.coverage"),
        Flavour::Script(_) => {
            entry.last() != "include" && entry.last() != "files" || entry.key.iter().any(|k| k == "test")
        }
        Flavour::PackageJson => matches!(entry.key[0].as_str(), "jest" | "mocha" | "ava" | "nyc" | "c8" | "vitest"),
        Flavour::Json | Flavour::YamlOptions | Flavour::Coverage => true,
        Flavour::PhpUnit => entry.dotted().contains("testsuite") && matches!(entry.last(), "file" | "directory"),
        Flavour::Pom => entry.dotted().contains("surefire") || matches!(entry.last(), "minimum" | "include"),
        _ => false,
    };
    let members = |entries: &[Entry], key: &str| -> Vec<String> {
        let of_key = entries.iter().filter(|e| relevant(e) && e.dotted() == key);
        of_key.flat_map(|e| e.value.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let mut seen: Vec<String> = Vec::new();
    for entry in new.iter().filter(|e| relevant(e)) {
        let key = entry.dotted();
        let included = INCLUDES.contains(&entry.last()) || flavour == Flavour::PhpUnit;
        if !included || seen.contains(&key) {
            continue;
        }
        seen.push(key.clone());
        let (before, after) = (members(old, &key), members(new, &key));
        let lost: Vec<&String> = before
            .iter()
            .filter(|v| !after.contains(v) && !v.starts_with('!') && !after.iter().any(|a| is_below(v, a)))
            .collect();
        let usual = |v: &String| {
            ["test", "spec", "src", "Test", "__tests__"].iter().any(|w| v.contains(w))
                || v == "."
                || v.contains("<rootDir>\"")
        };
        if !lost.is_empty() && !after.iter().all(|v| v == "." || v == "**/*") {
            let lost = lost.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(", ");
            mark(MarkerKind::Disabled, entry, format!("{} no longer names {lost}", entry.last()));
        } else if before.is_empty()
            && !after.iter().any(usual)
            && !matches!(entry.last(), "files" | "include" | "projects")
            && flavour != Flavour::PhpUnit
        {
            mark(MarkerKind::Disabled, entry, format!("{} = {}", entry.last(), after.join(", ")));
        }
    }
    for entry in old.iter().filter(|e| THRESHOLDS.contains(&e.last()) && relevant(e)) {
        let number = |e: &Entry| e.value.trim_end_matches('%').parse::<f64>().ok();
        let now = new.iter().find(|e| e.key == entry.key);
        match (number(entry), now) {
            (Some(before), Some(now)) if number(now).is_some_and(|after| after < before) => {
                mark(MarkerKind::Retry, now, format!("{} fell from {} to {}", entry.last(), entry.value, now.value));
            }
            (Some(_), None) if !new.is_empty() => mark(MarkerKind::Retry, entry, format!("{} is gone", entry.last())),
            _ => {}
        }
    }
    if flavour == Flavour::PhpUnit {
        let suites = |entries: &[Entry]| {
            members(entries, "phpunit.testsuites.testsuite.file").len()
                + members(entries, "phpunit.testsuites.testsuite.directory").len()
        };
        if suites(new) == 0
            && suites(old) > 0
            && let Some(entry) = new.first()
        {
            mark(MarkerKind::Disabled, entry, "no test suite is left".to_owned());
        }
    }
    markers
}

/// Whether a path lies below another: `tests/unit` below `tests`.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// A script named `test` that ran tests and does not any more.
pub(super) fn tests_left(flavour: Flavour, old: &Side, new: &Side) -> Option<Marker> {
    if flavour != Flavour::PackageJson {
        return None;
    }
    let script = |side: &Side| side.entries.iter().find(|e| e.key == ["scripts", "test"]).cloned();
    let (before, after) = (script(old)?, script(new)?);
    (shell::runs_tests(&before.value)
        && !shell::runs_tests(&after.value)
        && !after.value.contains("run")
        && !after.value.contains("node"))
    .then(|| {
        let mut marker = Marker::new(MarkerKind::Masked, "the script `test` no longer runs the tests", after.line);
        "scripts.test".clone_into(&mut marker.scope);
        marker
    })
}
