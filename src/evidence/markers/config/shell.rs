//! Commands: which run tests, and which of those cannot fail, choose what runs, or rewrite snapshots.

use crate::evidence::markers::marker::MarkerKind;

/// Words that run tests. A word of two parts stands for both in order, other words between them allowed.
const RUNNERS: &[&[&str]] = &[
    &["pytest"],
    &["py.test"],
    &["unittest"],
    &["nose2"],
    &["nosetests"],
    &["tox"],
    &["nox"],
    &["jest"],
    &["vitest"],
    &["mocha"],
    &["ava"],
    &["jasmine"],
    &["karma"],
    &["playwright", "test"],
    &["cypress", "run"],
    &["npm", "test"],
    &["npm", "t"],
    &["yarn", "test"],
    &["pnpm", "test"],
    &["bun", "test"],
    &["deno", "test"],
    &["node", "--test"],
    &["cargo", "test"],
    &["cargo", "nextest"],
    &["cargo", "t"],
    &["go", "test"],
    &["gotestsum"],
    &["ginkgo"],
    &["mvn", "test"],
    &["mvn", "verify"],
    &["mvn", "install"],
    &["mvnw", "test"],
    &["mvnw", "verify"],
    &["gradle", "test"],
    &["gradle", "check"],
    &["gradlew", "test"],
    &["gradlew", "check"],
    &["dotnet", "test"],
    &["rspec"],
    &["rake", "test"],
    &["rake", "spec"],
    &["rails", "test"],
    &["phpunit"],
    &["pest"],
    &["ctest"],
    &["make", "test"],
    &["make", "check"],
    &["bazel", "test"],
    &["mix", "test"],
    &["prove"],
    &["bats"],
    &["swift", "test"],
    &["xcodebuild", "test"],
    &["sbt", "test"],
    &["flutter", "test"],
    &["hatch", "test"],
    &["composer", "test"],
    &["just", "test"],
    &["task", "test"],
    &["trunk", "test"],
    &["zig", "test"],
    &["stack", "test"],
    &["cabal", "test"],
    &["lein", "test"],
    &["npx", "test"],
    &["uv", "pytest"],
    &["nx", "test"],
    &["turbo", "test"],
    &["turbo", "run", "test"],
    &["lerna", "run", "test"],
    &["make", "tests"],
];

/// One thing that a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) kind: MarkerKind,
    pub(super) what: String,
    /// Which line of the command.
    pub(super) line: u32,
}

/// Whether a command runs tests.
pub(super) fn runs_tests(command: &str) -> bool {
    command.split(['\n', ';', '|', '&']).any(|part| {
        let words: Vec<&str> = part
            .split_whitespace()
            .map(|w| w.rsplit('/').next().unwrap_or(w).trim_matches(['"', '\'', '(', ')', '@', '-']))
            .collect();
        let raw: Vec<&str> = part.split_whitespace().collect();
        let installs = matches!(words.first(), Some(&"pip" | &"apt-get" | &"echo" | &"brew"))
            || part.contains("pip install")
            || part.contains("npm install")
            || part.contains("npm i ");
        !installs && RUNNERS.iter().any(|runner| in_order(&words, &raw, runner))
    })
}

fn in_order(words: &[&str], raw: &[&str], runner: &[&str]) -> bool {
    let mut at = 0;
    for wanted in runner {
        let found = words[at..].iter().zip(&raw[at..]).position(|(word, raw)| {
            word == wanted
                || raw == wanted
                || word.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(':') && *wanted == "test")
        });
        match found {
            Some(step) => at += step + 1,
            None => return false,
        }
    }
    true
}

/// Lines joined where a backslash says so, each with the number of its first part from 0.
fn logical_lines(script: &str) -> Vec<(u32, String)> {
    let mut lines: Vec<(u32, String)> = Vec::new();
    let mut joins = false;
    for (number, line) in (0_u32..).zip(script.lines()) {
        let part = line.trim_end().trim_end_matches('\\');
        match lines.last_mut().filter(|_| joins) {
            Some((_, open)) => {
                open.push(' ');
                open.push_str(part.trim());
            }
            None => lines.push((number, part.trim().to_owned())),
        }
        joins = line.trim_end().ends_with('\\');
    }
    lines.retain(|(_, line)| !line.starts_with('#'));
    lines
}

/// What the commands of a script do to tests.
pub(super) fn judge(script: &str) -> Vec<Hit> {
    let lines = logical_lines(script);
    let any = lines.iter().any(|(_, line)| runs_tests(line));
    let mut hits = Vec::new();
    let mut forgiving = false;
    for (number, line) in &lines {
        let mut hit = |kind, what: &str| hits.push(Hit { kind, what: what.to_owned(), line: *number });
        let flat = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if flat.contains("set +e") {
            forgiving = true;
        } else if flat.contains("set -e") {
            forgiving = false;
        }
        if let Some(word) = updates(&flat) {
            hit(MarkerKind::Snapshot, word);
        }
        if !runs_tests(&flat) {
            if any
                && matches!(flat.as_str(), "exit 0" | "true" | ":")
                && number == &lines.last().map_or(0, |l| l.0)
                && lines.len() > 1
            {
                hit(MarkerKind::Masked, "`exit 0` at the end");
            }
            continue;
        }
        if let Some(word) = masks(&flat) {
            hit(MarkerKind::Masked, word);
        } else if forgiving {
            hit(MarkerKind::Masked, "`set +e` before it");
        }
        for word in chooses(&flat) {
            hit(MarkerKind::Disabled, &word);
        }
        for word in unmeasured(&flat) {
            hit(MarkerKind::Coverage, &word);
        }
        if let Some(count) = retries(&flat) {
            hit(MarkerKind::Retry, &count);
        }
    }
    hits
}

/// How a command that runs tests is kept from failing.
fn masks(line: &str) -> Option<&'static str> {
    let mut parts = line.split("||");
    let first = parts.next().unwrap_or("");
    for rest in parts {
        let rest = rest.trim().trim_matches(['(', ')', '{', '}', ' ']).trim_end_matches(';').trim();
        let word = rest.split_whitespace().next().unwrap_or("");
        let quiet = matches!(word, "true" | ":" | "/bin/true" | "echo" | "printf" | "exit" | "return" | "warn")
            && !rest.contains("exit 1")
            && !rest.contains("false");
        let fails =
            (word == "exit" || word == "return") && !matches!(rest.split_whitespace().nth(1), Some("0" | "$?_"));
        if quiet && !fails && (runs_tests(first) || line.contains("test")) {
            return Some("`|| true` or its like behind it");
        }
    }
    let tail = line.rsplit(';').next().unwrap_or("").trim().trim_matches(['"', '\'']);
    if line.contains(';') && matches!(tail, "true" | ":" | "exit 0") {
        return Some("`; true` or its like behind it");
    }
    let alone = line.trim_end().strip_suffix('&').is_some_and(|rest| !rest.ends_with('&'));
    if alone {
        return Some("it runs in the background");
    }
    if line.starts_with('-') && !line.starts_with("--") {
        return Some("a leading `-`");
    }
    if line.starts_with("! ") {
        return Some("a leading `!`");
    }
    None
}

/// A word that lets a test run rewrite its snapshots.
pub(super) fn updates(line: &str) -> Option<&'static str> {
    const WORDS: &[&str] = &[
        "--snapshot-update",
        "--inline-snapshot=fix",
        "--inline-snapshot=create",
        "--update-snapshots",
        "--update-snapshot",
        "--updateSnapshot",
        "INSTA_UPDATE=always",
        "INSTA_UPDATE=unseen",
        "INSTA_FORCE_PASS=1",
        "TRYBUILD=overwrite",
        "UPDATE_EXPECT=1",
        "UPDATE_GOLDEN",
        "UPDATE_SNAPSHOTS",
        "UPDATE_GOLDENS",
        "--force-regen",
        "--regen-all",
        "cargo insta accept",
        "--accept",
        "BLESS=1",
        "UPDATE_BASELINES",
        "-d --update-snapshots",
        "--golden-update",
        "--update-goldens",
        "SNAPSHOT_UPDATE",
        "RECORD_SNAPSHOTS",
        "--update-baseline",
        "--write-snapshots",
    ];
    if let Some(word) = WORDS.iter().find(|w| {
        line.split_whitespace()
            .any(|part| part == **w || part.starts_with(&format!("{w}=")) || part.trim_matches(['"', '\'']) == **w)
            || (w.contains(' ') && line.contains(**w))
    }) {
        return Some(word);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let script = ["jest", "vitest", "ava", "mocha", "npm", "yarn", "pnpm", "playwright"]
        .iter()
        .any(|r| words.iter().any(|w| w.ends_with(r)));
    if script && (words.contains(&"-u") || words.contains(&"--update")) && runs_tests(line) {
        return Some("-u");
    }
    (words.contains(&"-update") && line.contains("go test")).then_some("-update")
}

/// The words by which a command leaves tests out.
pub(super) fn chooses(line: &str) -> Vec<String> {
    const WITH_VALUE: &[&str] = &[
        "--deselect",
        "--ignore",
        "--ignore-glob",
        "-k",
        "-m",
        "--testPathIgnorePatterns",
        "--testNamePattern",
        "--modulePathIgnorePatterns",
        "--skip",
        "-skip",
        "-run",
        "--exclude",
        "--exclude-group",
        "--exclude-tag",
        "--exclude-pattern",
        "--grep",
        "-g",
        "--fgrep",
        "--grep-invert",
        "--tag",
        "--tags",
        "-x",
        "--filter-expr",
        "-E",
        "--exclude-testsuite",
        "-LE",
        "--test-rerun-max_",
        "--filter",
        "--exclude-regex",
        "--tests",
        "-t",
    ];
    const ALONE: &[&str] = &[
        "--passWithNoTests",
        "--pass-with-no-tests",
        "--collect-only",
        "--co",
        "-short",
        "--lf",
        "--last-failed",
        "--no-run",
        "-DskipTests",
        "-DskipTests=true",
        "-Dmaven.test.skip=true",
        "-Dmaven.test.skip",
        "--onlyChanged",
        "--only-failures",
        "--dry-run",
        "--invert",
        "-DskipITs",
        "--listTests",
        "--suppress-no-test-exit-code",
        "-Dsurefire.failIfNoSpecifiedTests=false",
        "--no-tests=pass",
    ];
    let words: Vec<&str> = line.split_whitespace().map(|w| w.trim_matches(['"', '\''])).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (name, joined) = word.split_once('=').map_or((*word, None), |(n, v)| (n, Some(v)));
        if ALONE.contains(word) {
            found.push((*word).to_owned());
        } else if WITH_VALUE.contains(&name) && fits(name, &words, at) {
            let value = joined.unwrap_or_else(|| words.get(at + 1).copied().unwrap_or(""));
            let quoted = line.find(&format!("{name} ")).and_then(|start| {
                let rest = line[start + name.len()..].trim_start();
                let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
                rest[1..].split(quote).next()
            });
            found.push(format!("{name} {}", quoted.unwrap_or(value)).trim().to_owned());
        }
    }
    found
}

/// Short options mean other things to other programs.
fn fits(name: &str, words: &[&str], at: usize) -> bool {
    let before = |program: &str| words[..at].iter().any(|w| w.rsplit('/').next() == Some(program));
    match name {
        "-m" => {
            before("pytest")
                || before("py.test")
                || (words[..at].iter().any(|w| w.ends_with("pytest")) && words.get(at + 1).is_some())
        }
        "-k" => before("pytest") || before("py.test") || before("unittest"),
        "-x" => (before("gradle") || before("gradlew")) && words.get(at + 1).is_some_and(|w| w.contains("test")),
        "-E" | "--filter-expr" => before("nextest") || before("ctest"),
        "--skip" => words.contains(&"cargo") || words.contains(&"nextest") || words.contains(&"--"),
        "-run" | "-skip" => before("test") || before("gotestsum"),
        "--exclude" if measures(words, at) => false,
        "--exclude" => before("nextest") || before("cargo") || before("vitest") || before("test"),
        "-g" | "--grep" => before("mocha") || before("test") || before("playwright"),
        "-t" => before("jest") || before("vitest"),
        "--tag" | "--tags" => before("rspec") || before("cucumber"),
        "--ignore" => !before("flake8") && !before("ruff") && !before("eslint"),
        "--filter" => before("phpunit") || before("dotnet") || before("pest") || before("test"),
        "--tests" => before("gradle") || before("gradlew"),
        _ => true,
    }
}

/// Whether the option at this place is one of a program that measures coverage, in front of the program that runs the tests.
fn measures(words: &[&str], at: usize) -> bool {
    let programs: Vec<&str> = words[..at].iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let runs = |program: &&str| RUNNERS.iter().any(|runner| runner[0] == *program);
    programs
        .iter()
        .rposition(|program| matches!(*program, "nyc" | "c8"))
        .is_some_and(|tool| !programs[tool + 1..].iter().any(runs))
}

/// The words by which a command leaves files out of what is measured.
fn unmeasured(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(at, _)| measures(&words, *at)) {
        match word.split_once('=') {
            Some(("--exclude" | "-x", _)) => found.push((*word).to_owned()),
            None if matches!(*word, "--exclude" | "-x") => {
                found.push(format!("{word} {}", words.get(at + 1).copied().unwrap_or_default()));
            }
            _ => {}
        }
    }
    found
}

/// Retries asked for on the command line.
fn retries(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let (name, joined) = word.split_once('=').map_or((*word, None), |(n, v)| (n, Some(v)));
        if matches!(
            name,
            "--reruns"
                | "--retries"
                | "--retry"
                | "--flaky_test_attempts"
                | "--repeat-until-fail_"
                | "--rerun-fails"
                | "--repeat"
        ) || name == "-Dsurefire.rerunFailingTestsCount"
        {
            let value = joined.or_else(|| words.get(at + 1).copied()).unwrap_or("");
            return Some(format!("{name} {value}"));
        }
    }
    None
}
