//! Patterns that do not do what they seem to.

use std::collections::{BTreeMap, BTreeSet};

use super::remark::{Level, Remark, Subject};
use crate::change::BytePath;
use crate::classes::{Classified, Classifier, Origin, PathSet};
use crate::desk::init::{ecosystem_of, is_vendored};
use crate::evidence::grammar::Language;
use crate::policy::{Class, Ecosystem, Pattern, Policy, RequireProperties};
use crate::words::count;

/// Endings of source code in which people write tests, and for which there is no grammar.
const NO_GRAMMAR: [&str; 32] = [
    "bats", "sh", "exs", "ex", "erl", "hs", "scala", "swift", "dart", "r", "pl", "pm", "t", "lua", "jl", "ml", "clj",
    "cljs", "groovy", "zig", "nim", "fs", "vb", "m", "mm", "feature", "f90", "cr", "elm", "sv", "ps1", "tcl",
];

/// Looks at every pattern of the policy.
pub(super) fn remarks(subject: &Subject<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for class in Class::ALL {
        for pattern in subject.policy.classes.of(class) {
            remarks.extend(of_class(subject, class, pattern));
        }
    }
    remarks.extend(unprotected(subject));
    remarks.extend(languages_left_out(subject));
    remarks.extend(without_grammar(subject));
    remarks.extend(lists(subject));
    remarks
}

/// Whether a class's pattern finds anything, and decides anything.
fn of_class(subject: &Subject<'_>, class: Class, pattern: &Pattern) -> Option<Remark> {
    let set = PathSet::of_class(class, pattern);
    let matched: Vec<(&BytePath, Classified)> = subject
        .files
        .iter()
        .filter(|file| set.holds(&file.path))
        .map(|file| (&file.path, subject.classifier.classify(&file.path)))
        .collect();
    let remark = |level, check, message, next: &str| {
        Some(Remark { level, check, line: pattern.line(), message, next: next.to_owned() })
    };
    let Some((first, of_first)) = matched.first() else {
        let message = format!("`{pattern}` in `{class}` matches no path of {}", subject.rev);
        return remark(
            Level::Warning,
            "matches-nothing",
            message,
            "correct it, or take it out: `evidence-gate policy explain PATH` says what a path is",
        );
    };
    let decides = |of: &Classified| {
        of.pattern.as_ref().is_some_and(|by| by.text == pattern.text() && by.origin == Origin::Policy(pattern.line()))
    };
    if !matched.iter().any(|(_, of)| decides(of)) {
        let paths = count(matched.len(), "path", "paths");
        let by = of_first.pattern.as_ref().map(|by| format!(" by `{}` in {}", by.text, by.origin)).unwrap_or_default();
        let message = format!(
            "`{pattern}` in `{class}` decides nothing: of the {paths} that it matches each has its class before, such as {first} ({}{by})",
            of_first.class
        );
        let next = if of_first.class == class {
            "take it out: another pattern of the same class says the same"
        } else {
            "take it out: a class takes nothing from the classes before it, and evidence comes first"
        };
        return remark(Level::Warning, "decides-nothing", message, next);
    }
    let evidence: Vec<_> = matched.iter().filter(|(_, of)| of.class.is_evidence()).collect();
    match (class.is_evidence(), evidence.first()) {
        (false, Some((path, of))) => remark(
            Level::Note,
            "covers-evidence",
            format!(
                "`{pattern}` in `{class}` also matches {} of evidence, which stay evidence, such as {path} ({})",
                count(evidence.len(), "path", "paths"),
                of.class
            ),
            "nothing, if that is what you mean",
        ),
        _ => None,
    }
}

/// Paths that a built-in set which the policy leaves out calls evidence or tests.
fn unprotected(subject: &Subject<'_>) -> Vec<Remark> {
    let all = Classifier::new(&Policy::default());
    let mut groups: BTreeMap<(String, Option<u32>, Class), Vec<&BytePath>> = BTreeMap::new();
    for file in subject.files {
        let here = subject.classifier.classify(&file.path);
        let meant = all.classify(&file.path);
        let stricter = meant.class.is_evidence() || meant.class == Class::Test;
        let loose =
            matches!(here.class, Class::Product | Class::Allowed | Class::Generated | Class::Intent | Class::Other);
        if let (true, true, Some(by)) = (stricter, loose, meant.pattern) {
            let line = here.pattern.and_then(|pattern| match pattern.origin {
                Origin::Policy(line) => line,
                Origin::Named(_) | Origin::BuiltIn(_) => None,
            });
            let said = format!("{} here, and {} for {}", here.class, meant.class, by.origin);
            groups.entry((said, line, meant.class)).or_default().push(&file.path);
        }
    }
    let extends = subject.line(&["classes", "extends"]);
    let remark = |((said, line, meant), paths): ((String, Option<u32>, Class), Vec<&BytePath>)| Remark {
        level: if meant.is_evidence() { Level::Fault } else { Level::Warning },
        check: "evidence-unprotected",
        line: line.or(extends),
        message: format!("{} {said}, such as {}", count(paths.len(), "path is", "paths are"), paths[0]),
        next: format!("add the set to `extends`, or a pattern of your own to `{meant}`"),
    };
    groups.into_iter().map(remark).collect()
}

fn languages_left_out(subject: &Subject<'_>) -> Vec<Remark> {
    let mut found: BTreeMap<Ecosystem, (usize, &str)> = BTreeMap::new();
    for path in subject.files.iter().filter_map(|file| file.path.as_str()).filter(|path| !is_vendored(path)) {
        if let Some(ecosystem) = ecosystem_of(path)
            && !subject.classifier.class(&BytePath::new(path)).is_evidence()
        {
            found.entry(ecosystem).or_insert((0, path)).0 += 1;
        }
    }
    let left_out = found.into_iter().filter(|(ecosystem, _)| !subject.policy.classes.extends.contains(ecosystem));
    let remark = |(ecosystem, (files, example)): (Ecosystem, (usize, &str))| Remark {
        level: Level::Warning,
        check: "language-left-out",
        line: subject.line(&["classes", "extends"]),
        message: format!(
            "there {} of {}, such as {example}, and `extends` leaves its set out",
            if files == 1 { "is 1 file".to_owned() } else { format!("are {files} files") },
            ecosystem.as_str()
        ),
        next: format!("add \"{}\" to `extends`", ecosystem.as_str()),
    };
    left_out.map(remark).collect()
}

/// Test files in which a disabled test is looked for in plain text only.
fn without_grammar(subject: &Subject<'_>) -> Vec<Remark> {
    let mut groups: BTreeMap<(Option<u32>, String), (usize, String)> = BTreeMap::new();
    for file in subject.files {
        let classified = subject.classifier.classify(&file.path);
        let Some(path) = file.path.as_str().filter(|_| classified.class == Class::Test) else { continue };
        let Some(ending) = ending_without_grammar(path) else { continue };
        let line = classified.pattern.and_then(|pattern| match pattern.origin {
            Origin::Policy(line) => line,
            Origin::Named(_) | Origin::BuiltIn(_) => None,
        });
        groups.entry((line, ending)).or_insert_with(|| (0, path.to_owned())).0 += 1;
    }
    let unmatched = subject
        .policy
        .classes
        .test
        .iter()
        .filter_map(|pattern| Some((pattern.line(), ending_without_grammar(pattern.text())?)));
    for (line, ending) in unmatched {
        groups.entry((line, ending)).or_insert((0, String::new()));
    }
    let remark = |((line, ending), (files, example)): ((Option<u32>, String), (usize, String))| Remark {
        // A pattern of the policy's own is somebody's promise that these are tests; the built-in ones are a guess.
        level: if line.is_some() { Level::Warning } else { Level::Note },
        check: "no-grammar",
        line,
        message: match files {
            0 => format!(
                "tests that end with `.{ending}` have no grammar here, so a marker that disables one is looked for as plain text"
            ),
            files => format!(
                "{} that {} with `.{ending}`, such as {example}, {} no grammar here, so a marker that disables a test is looked for as plain text",
                count(files, "test file", "test files"),
                if files == 1 { "ends" } else { "end" },
                if files == 1 { "has" } else { "have" },
            ),
        },
        next: "name your runner's markers in `markers.extra`, and let `[tree_tests]` count the tests that run"
            .to_owned(),
    };
    groups.into_iter().map(remark).collect()
}

fn ending_without_grammar(path: &str) -> Option<String> {
    if Language::of_path(path).is_some() {
        return None;
    }
    let ending = path.rsplit('/').next()?.rsplit_once('.')?.1.to_lowercase();
    NO_GRAMMAR.contains(&ending.as_str()).then_some(ending)
}

/// Patterns of lists that are no class.
fn lists(subject: &Subject<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let policy = subject.policy;
    let nothing = |keys: &[&str], pattern: &str, of: String| Remark {
        level: Level::Warning,
        check: "matches-nothing",
        line: subject.line(keys),
        message: format!("`{pattern}` in {of} matches no path of {}", subject.rev),
        next: "correct it, or take it out".to_owned(),
    };
    let matches = |pattern: &Pattern| {
        let set = PathSet::new([pattern]);
        subject.files.iter().any(|file| set.holds(&file.path))
    };
    for (at, property) in policy.property.iter().enumerate() {
        for (number, pattern) in property.paths.iter().enumerate().filter(|(_, pattern)| !matches(pattern)) {
            let keys = ["property", &at.to_string(), "paths", &number.to_string()];
            remarks.push(nothing(&keys, pattern.text(), format!("`paths` of the property `{}`", property.id)));
        }
    }
    for (at, marker) in policy.markers.extra.iter().enumerate() {
        for (number, pattern) in marker.paths.iter().enumerate().filter(|(_, pattern)| !matches(pattern)) {
            let keys = ["markers", "extra", &at.to_string(), "paths", &number.to_string()];
            remarks.push(nothing(&keys, pattern.text(), format!("`paths` of the marker `{}`", marker.text)));
        }
    }
    for (at, prefix) in policy.fixtures.human_prefixes.iter().enumerate() {
        if !subject.files.iter().any(|file| prefix.holds(&file.path)) {
            remarks.push(nothing(
                &["fixtures", "human_prefixes", &at.to_string()],
                prefix.as_str(),
                "`human_prefixes`".to_owned(),
            ));
        }
    }
    remarks.extend(uncovered(subject));
    remarks
}

/// Product that no property names, where each must be named.
fn uncovered(subject: &Subject<'_>) -> Option<Remark> {
    if subject.policy.require.properties != RequireProperties::Touched {
        return None;
    }
    let set = PathSet::new(subject.policy.property.iter().flat_map(|property| &property.paths));
    let open: BTreeSet<&BytePath> = subject
        .files
        .iter()
        .map(|file| &file.path)
        .filter(|path| subject.classifier.class(path) == Class::Product && !set.holds(path))
        .collect();
    let first = open.first()?;
    Some(Remark {
        level: Level::Warning,
        check: "product-uncovered",
        line: subject.line(&["require", "properties"]),
        message: format!(
            "{} named by no property, such as {first}, and with `properties = \"touched\"` a change there is unscored",
            count(open.len(), "path of the product is", "paths of the product are")
        ),
        next: "add it to the `paths` of a property, or ask for \"configured\"".to_owned(),
    })
}
