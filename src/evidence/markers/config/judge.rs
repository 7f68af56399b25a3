//! Keys and values -> markers.

use std::rc::Rc;

use super::entries::{self, Entry, Unreadable, Yaml};
use super::shell;
use crate::evidence::grammar::{Language, Outcome, parse_as};
use crate::evidence::markers::marker::{Marker, MarkerKind};
use crate::evidence::tests::unquoted;

/// Markers of both sides of a configuration file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configured {
    /// Those of the merge base's side.
    pub old: Vec<Marker>,
    /// Those of the head's side, with what only the comparison shows: a list that got shorter, a threshold that fell.
    pub new: Vec<Marker>,
    /// Why the head's side could not be read as what it is.
    pub unreadable: Option<String>,
}

/// What kind of configuration a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    Ini,
    Pyproject,
    Cargo,
    Nextest,
    PackageJson,
    Script(Language),
    Json,
    YamlOptions,
    Pom,
    Gradle,
    TestNg,
    Properties,
    PhpUnit,
    Words,
    Ci,
    Recipes,
    Nox,
    Coverage,
}

fn flavour(path: &str) -> Option<Flavour> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let yaml = has_ending(name, &["yml", "yaml"]);
    let script = Language::of_path(name).filter(|l| l.is_script());
    let base = name.split('.').next().unwrap_or("");
    let second = |word: &str| name.strip_prefix(base).is_some_and(|rest| rest.starts_with(word));
    Some(match name {
        "pytest.ini" | ".pytest.ini" | "tox.ini" | "setup.cfg" | ".coveragerc" => Flavour::Ini,
        "pyproject.toml" | "pytest.toml" | ".pytest.toml" | "tox.toml" => Flavour::Pyproject,
        "Cargo.toml" => Flavour::Cargo,
        "nextest.toml" => Flavour::Nextest,
        "package.json" | "deno.json" => Flavour::PackageJson,
        "jasmine.json" | ".mocharc.json" | ".mocharc.jsonc" | ".nycrc" | ".nycrc.json" | ".c8rc.json"
        | "jest.config.json" | "cypress.json" | ".mocharc" => Flavour::Json,
        ".mocharc.yml" | ".mocharc.yaml" => Flavour::YamlOptions,
        "codecov.yml" | ".codecov.yml" | "codecov.yaml" => Flavour::Coverage,
        "pom.xml" => Flavour::Pom,
        "testng.xml" => Flavour::TestNg,
        "junit-platform.properties" | "gradle.properties" | "maven.config" => Flavour::Properties,
        "phpunit.xml" | "phpunit.xml.dist" | "phpunit.dist.xml" => Flavour::PhpUnit,
        ".rspec" => Flavour::Words,
        "Makefile" | "GNUmakefile" | "makefile" | "justfile" | "Justfile" => Flavour::Recipes,
        "noxfile.py" => Flavour::Nox,
        "Taskfile.yml"
        | "Taskfile.yaml"
        | ".gitlab-ci.yml"
        | ".travis.yml"
        | ".cirrus.yml"
        | "appveyor.yml"
        | ".appveyor.yml"
        | "azure-pipelines.yml"
        | "bitbucket-pipelines.yml"
        | ".drone.yml"
        | "cloudbuild.yaml"
        | "buildkite.yml"
        | "action.yml"
        | "action.yaml"
        | ".woodpecker.yml" => Flavour::Ci,
        _ if yaml
            && [
                ".github/workflows/",
                ".circleci/",
                ".buildkite/",
                ".gitlab/",
                ".azure-pipelines/",
                ".github/actions/",
                "ci/",
                ".woodpecker/",
            ]
            .iter()
            .any(|dir| path.starts_with(dir) || path.contains(&format!("/{dir}"))) =>
        {
            Flavour::Ci
        }
        _ if has_ending(name, &["gradle", "gradle.kts"]) => Flavour::Gradle,
        _ if has_ending(name, &["mk", "mak"]) => Flavour::Recipes,
        _ if script.is_some()
            && (matches!(
                base,
                "jest" | "vitest" | "vite" | "playwright" | "cypress" | "ava" | "wdio" | "nyc" | "protractor"
            ) && second(".config")
                || name.starts_with("karma.conf")
                || name.starts_with(".mocharc")
                || name.starts_with("vitest.workspace")) =>
        {
            Flavour::Script(script?)
        }
        _ => return None,
    })
}

/// Whether a file's name ends in a dot and one of these.
fn has_ending(name: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.')))
}

/// Whether a file is configuration that this judges.
pub fn is_config(path: &str) -> bool {
    flavour(path).is_some()
}

/// Judges both sides of a configuration file; `None` where it is none.
pub fn configured(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Option<Configured> {
    let flavour = flavour(path)?;
    let read = |bytes: Option<&[u8]>| bytes.map_or(Ok(Side::default()), |bytes| side(flavour, bytes));
    let new = match read(new) {
        Ok(side) => side,
        Err(why) => return Some(Configured { unreadable: Some(why.to_string()), ..Configured::default() }),
    };
    // An old side that cannot be read excuses nothing.
    let old = read(old).unwrap_or_default();
    let mut markers = new.markers.clone();
    markers.extend(narrowed(flavour, &old.entries, &new.entries));
    let plain =
        |side: &Side| side.commands.iter().filter(|c| shell::runs_tests(c) && shell::chooses(c).is_empty()).count();
    if matches!(
        flavour,
        Flavour::Ci | Flavour::Recipes | Flavour::PackageJson | Flavour::Nox | Flavour::Ini | Flavour::Pyproject
    ) && plain(&new) >= plain(&old)
    {
        // A command that is new and runs some of the tests takes none away.
        markers.retain(|m| !(m.kind == MarkerKind::Disabled && m.scope.starts_with("command ")));
    }
    if let Some(marker) = tests_left(flavour, &old, &new) {
        markers.push(marker);
    }
    Some(Configured { old: old.markers, new: markers, unreadable: None })
}

#[derive(Default)]
struct Side {
    entries: Vec<Entry>,
    markers: Vec<Marker>,
    commands: Vec<String>,
}

fn side(flavour: Flavour, bytes: &[u8]) -> Result<Side, Unreadable> {
    let text = entries::text(bytes)?;
    let entries = match flavour {
        Flavour::Ini => entries::ini(text)?,
        Flavour::Pyproject | Flavour::Cargo | Flavour::Nextest => entries::toml(text)?,
        Flavour::PackageJson | Flavour::Json => entries::json(text)?,
        Flavour::Script(language) => entries::script(language, bytes)?,
        Flavour::YamlOptions | Flavour::Coverage => entries::yaml(text)?,
        Flavour::Pom | Flavour::TestNg | Flavour::PhpUnit => entries::xml(text)?,
        Flavour::Gradle => entries::code_lines(text)?,
        Flavour::Properties => entries::properties(text)?,
        Flavour::Words => entries::words(text)?,
        Flavour::Recipes => entries::recipes(text)?,
        Flavour::Nox => return nox(text),
        Flavour::Ci => return ci(text),
    };
    let mut side = Side::default();
    for entry in &entries {
        rule(flavour, entry, &mut side);
    }
    side.entries = entries;
    Ok(side)
}

impl Side {
    fn mark(&mut self, kind: MarkerKind, entry: &Entry, spelling: impl Into<String>) -> &mut Marker {
        let mut marker = Marker::new(kind, spelling, entry.line);
        marker.scope = entry.dotted();
        self.markers.push(marker);
        self.markers.last_mut().expect("a marker was just pushed")
    }

    fn mark_value(&mut self, kind: MarkerKind, entry: &Entry) {
        let value: String = entry.value.chars().take(120).collect();
        let amount = entry.value.trim_end_matches(['s', 'm', '%']).parse().ok();
        self.mark(kind, entry, format!("{} = {value}", entry.last())).amount =
            amount.filter(|_| kind == MarkerKind::Retry);
    }

    fn command(&mut self, entry: &Entry, script: &str) {
        self.commands.extend(script.lines().map(str::to_owned));
        for hit in shell::judge(script) {
            let mut marker = Marker::new(hit.kind, hit.what, entry.line + hit.line);
            marker.scope = format!("command {}", entry.dotted());
            self.markers.push(marker);
        }
    }
}

fn rule(flavour: Flavour, entry: &Entry, side: &mut Side) {
    match flavour {
        Flavour::Ini | Flavour::Pyproject => python(flavour, entry, side),
        Flavour::Cargo => cargo(entry, side),
        Flavour::Nextest => nextest(entry, side),
        Flavour::PackageJson => package(entry, side),
        Flavour::Script(_) | Flavour::Json | Flavour::YamlOptions => script(entry, side),
        Flavour::Coverage => {
            if entry.ends(&["ignore"]) {
                side.mark_value(MarkerKind::Coverage, entry);
            }
        }
        Flavour::Pom => pom(entry, side),
        Flavour::Gradle => gradle(entry, side),
        Flavour::TestNg => {
            if entry.last() == "@name" && entry.key.iter().rev().nth(1).is_some_and(|k| k == "exclude") {
                side.mark_value(MarkerKind::Disabled, entry);
            }
        }
        Flavour::Properties => properties(entry, side),
        Flavour::PhpUnit => phpunit(entry, side),
        Flavour::Words => rspec(entry, side),
        Flavour::Recipes => {
            let command = entry.value.trim_start_matches('@');
            side.command(entry, command);
        }
        Flavour::Nox | Flavour::Ci => {}
    }
}

fn python(flavour: Flavour, entry: &Entry, side: &mut Side) {
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

fn cargo(entry: &Entry, side: &mut Side) {
    let table = entry.key.first().map_or("", String::as_str);
    let off = entry.value == "false";
    match (table, entry.last()) {
        ("lib" | "test" | "bin" | "example", "test" | "doctest") | ("test" | "lib", "harness") if off => {
            side.mark(MarkerKind::Disabled, entry, format!("[{table}] {} = false", entry.last()));
        }
        ("package" | "autotests", "autotests") if off => side.mark_value(MarkerKind::Disabled, entry),
        ("test", "required-features") => side.mark_value(MarkerKind::Disabled, entry),
        _ => {}
    }
}

fn nextest(entry: &Entry, side: &mut Side) {
    match entry.last() {
        "default-filter" => side.mark_value(MarkerKind::Disabled, entry),
        "retries" | "count" | "slow-timeout" | "leak-timeout" | "period" | "terminate-after" | "flaky-result" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        _ => {}
    }
}

fn package(entry: &Entry, side: &mut Side) {
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

fn script(entry: &Entry, side: &mut Side) {
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

fn pom(entry: &Entry, side: &mut Side) {
    let key = entry.dotted();
    let on = entry.value == "true";
    let runner = ["plugin", "properties", "configuration"].iter().any(|k| key.contains(k));
    match entry.last() {
        "skipTests"
        | "maven.test.skip"
        | "skipITs"
        | "skipUnitTests"
        | "testFailureIgnore"
        | "maven.test.failure.ignore"
        | "skipIfNoTests"
            if on =>
        {
            let kind = if entry.last().contains("ailure") { MarkerKind::Masked } else { MarkerKind::Disabled };
            side.mark_value(kind, entry);
        }
        "rerunFailingTestsCount" | "forkedProcessTimeoutInSeconds" | "surefire.rerunFailingTestsCount" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        "exclude" | "excludedGroups"
            if runner && !entry.value.is_empty() && !key.contains("jacoco") && !key.contains("exclusion") =>
        {
            let test = entry.value.contains("Test")
                || entry.value.contains("IT")
                || entry.last() == "excludedGroups"
                || entry.value.contains("test");
            if test {
                side.mark_value(MarkerKind::Disabled, entry);
            } else {
                side.mark_value(MarkerKind::Coverage, entry);
            }
        }
        "failIfNoTests" if entry.value == "false" => side.mark_value(MarkerKind::Retry, entry),
        _ => {}
    }
}

fn gradle(entry: &Entry, side: &mut Side) {
    const CHOOSES: &[&str] = &[
        "excludeTags",
        "excludeTestsMatching",
        "excludeEngines",
        "excludeGroups",
        "excludeCategories",
        "test.enabled = false",
        "-x test",
    ];
    let code: String = entry.value.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = code.replace(' ', "");
    let in_test = entry.key.iter().any(|k| k.to_ascii_lowercase().contains("test"));
    let forgives = flat.contains("ignoreFailures=true")
        || flat.contains("setIgnoreFailures(true)")
        || flat.contains("isIgnoreFailures=true");
    let leaves_out = code.starts_with("exclude ")
        || code.starts_with("exclude(")
        || flat == "enabled=false"
        || code.starts_with("onlyIf")
        || code.contains("includeTestsMatching");
    let short = || code.chars().take(120).collect::<String>();
    if forgives {
        side.mark(MarkerKind::Masked, entry, short());
    } else if CHOOSES.iter().any(|word| code.contains(word)) || (in_test && leaves_out) {
        side.mark(MarkerKind::Disabled, entry, short());
    } else if ["maxRetries", "maxFailures", "failOnPassedAfterRetry"].iter().any(|word| code.contains(word)) {
        let amount = code.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok();
        let name = code.split(['=', '(']).next().unwrap_or("").trim().to_owned();
        side.mark(MarkerKind::Retry, entry, name).amount = amount;
    }
}

fn properties(entry: &Entry, side: &mut Side) {
    match entry.last() {
        "junit.jupiter.execution.timeout.default" | "systemProp.retries" => side.mark_value(MarkerKind::Retry, entry),
        "skipTests" | "maven.test.skip" if entry.value != "false" => side.mark_value(MarkerKind::Disabled, entry),
        "junit.jupiter.extensions.autodetection.enabled" if entry.value == "true" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        _ => {}
    }
}

fn phpunit(entry: &Entry, side: &mut Side) {
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

fn rspec(entry: &Entry, side: &mut Side) {
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

/// The sessions of nox: what they run, and exit codes that they accept.
fn nox(text: &str) -> Result<Side, Unreadable> {
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

/// The jobs and steps of a build machine.
fn ci(text: &str) -> Result<Side, Unreadable> {
    let mut side = Side::default();
    let lines: Vec<&str> = text.lines().collect();
    for document in entries::yaml_tree(text)? {
        let mut budget = 20_000_usize;
        step(&document, &mut Vec::new(), &lines, &mut budget, &mut side);
    }
    Ok(side)
}

/// All text below a node that could be a command, up to a budget.
fn commands(node: &Yaml, out: &mut String, budget: &mut usize) {
    if *budget == 0 {
        return;
    }
    *budget -= 1;
    match node {
        Yaml::Scalar(value, _) => {
            out.push_str(value);
            out.push('\n');
        }
        Yaml::List(list) => list.iter().for_each(|n| commands(n, out, budget)),
        Yaml::Map(map) => map
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "name" | "env" | "with"))
            .for_each(|(_, n)| commands(n, out, budget)),
    }
}

fn step(node: &Rc<Yaml>, key: &mut Vec<String>, lines: &[&str], budget: &mut usize, side: &mut Side) {
    if *budget == 0 || key.len() > 40 {
        return;
    }
    *budget -= 1;
    match &**node {
        Yaml::Scalar(value, line) => {
            let entry = Entry { key: key.clone(), value: value.clone(), line: *line };
            scalar(&entry, lines, side);
        }
        Yaml::List(list) => {
            for node in list {
                key.push("[]".to_owned());
                step(node, key, lines, budget, side);
                key.pop();
            }
        }
        Yaml::Map(map) => {
            let mut text = String::new();
            let mut cost = 2_000;
            commands(node, &mut text, &mut cost);
            let tests = text.lines().any(shell::runs_tests);
            for (name, value) in map {
                if tests && let Yaml::Scalar(value, line) = &**value {
                    let entry = Entry {
                        key: [key.as_slice(), std::slice::from_ref(name)].concat(),
                        value: value.clone(),
                        line: *line,
                    };
                    switch(&entry, name, side);
                }
                key.push(name.clone());
                step(value, key, lines, budget, side);
                key.pop();
            }
        }
    }
}

/// A key beside commands that run tests.
fn switch(entry: &Entry, name: &str, side: &mut Side) {
    let value = entry.value.trim();
    let on = matches!(value, "true" | "yes" | "on" | "True");
    match name {
        "continue-on-error" | "continueOnError" | "allow_failure" | "allow_failures" | "soft_fail"
        | "ignore_failure" | "ignore_errors" | "ignore_error" | "failure" => {
            if on || (name == "failure" && value == "ignore") {
                side.mark(MarkerKind::Masked, entry, format!("{name}: {value}"));
            } else if value.contains("${{") || value.contains('$') {
                side.mark(MarkerKind::Retry, entry, format!("{name}: {value}"));
            }
        }
        "if" | "when" | "condition" if matches!(value, "false" | "${{ false }}" | "never" | "manual" | "False") => {
            side.mark(MarkerKind::Disabled, entry, format!("{name}: {value}"));
        }
        "timeout-minutes" | "timeout" | "timeoutInMinutes" | "retry" | "max_attempts" | "retries" | "attempts" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        "shell" if value.contains("|| true") || value.contains("+e") => {
            side.mark(MarkerKind::Masked, entry, format!("shell: {value}"));
        }
        _ => {}
    }
}

fn scalar(entry: &Entry, lines: &[&str], side: &mut Side) {
    let name = entry.last();
    if matches!(name, "name" | "description" | "uses" | "if" | "title" | "label") {
        return;
    }
    if entry.key.iter().any(|k| k == "env" || k == "environment" || k == "variables") {
        if let Some(word) = shell::updates(&format!("{name}={}", entry.value)) {
            side.mark(MarkerKind::Snapshot, entry, word);
        }
        return;
    }
    if entry.key.iter().any(|k| k == "with") && !matches!(name, "command" | "run" | "script" | "args") {
        if matches!(name, "max_attempts" | "retries") {
            side.mark_value(MarkerKind::Retry, entry);
        }
        return;
    }
    // A block begins on the line behind its sign.
    let at = usize::try_from(entry.line).unwrap_or(1).saturating_sub(1);
    let block = lines.get(at).is_some_and(|l| {
        l.trim_end().ends_with(['|', '>'])
            || l.trim_end().ends_with("|-")
            || l.trim_end().ends_with(">-")
            || l.trim_end().ends_with("|+")
    });
    let mut entry = entry.clone();
    entry.line += u32::from(block);
    let value = entry.value.clone();
    side.command(&entry, &value);
}

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

fn narrowed(flavour: Flavour, old: &[Entry], new: &[Entry]) -> Vec<Marker> {
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
fn tests_left(flavour: Flavour, old: &Side, new: &Side) -> Option<Marker> {
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
