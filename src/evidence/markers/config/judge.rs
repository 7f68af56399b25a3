//! Keys and values -> markers: which format a file has, and who reads it.

mod cargo;
mod ci;
mod jvm;
mod narrowed;
mod python;
mod script;
mod words;

use super::entries::{self, Entry, Unreadable};
use super::shell;
use crate::evidence::grammar::Language;
use crate::evidence::markers::marker::{Marker, MarkerKind};

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
    markers.extend(narrowed::narrowed(flavour, &old.entries, &new.entries));
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
    if let Some(marker) = narrowed::tests_left(flavour, &old, &new) {
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
        Flavour::Nox => return python::nox(text),
        Flavour::Ci => return ci::ci(text),
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
        Flavour::Ini | Flavour::Pyproject => python::python(flavour, entry, side),
        Flavour::Cargo => cargo::cargo(entry, side),
        Flavour::Nextest => cargo::nextest(entry, side),
        Flavour::PackageJson => script::package(entry, side),
        Flavour::Script(_) | Flavour::Json | Flavour::YamlOptions => script::script(entry, side),
        Flavour::Coverage => {
            if entry.ends(&["ignore"]) {
                side.mark_value(MarkerKind::Coverage, entry);
            }
        }
        Flavour::Pom => jvm::pom(entry, side),
        Flavour::Gradle => jvm::gradle(entry, side),
        Flavour::TestNg => {
            if entry.last() == "@name" && entry.key.iter().rev().nth(1).is_some_and(|k| k == "exclude") {
                side.mark_value(MarkerKind::Disabled, entry);
            }
        }
        Flavour::Properties => jvm::properties(entry, side),
        Flavour::PhpUnit => words::phpunit(entry, side),
        Flavour::Words => words::rspec(entry, side),
        Flavour::Recipes => {
            let command = entry.value.trim_start_matches('@');
            side.command(entry, command);
        }
        Flavour::Nox | Flavour::Ci => {}
    }
}
