//! The paths of a tree -> ecosystems and conventions. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::BytePath;
use crate::classes::Classifier;
use crate::desk::simulate::pattern;
use crate::policy::{Class, Classes, Ecosystem, Pattern, Policy};

/// What a tree tells about itself.
#[derive(Debug, Default)]
pub(super) struct Detected {
    /// The ecosystems, those with most files first, and what they were told by.
    pub(super) ecosystems: Vec<(Ecosystem, Signs)>,
    /// Folders that their names say are evidence or tests, and that no built-in pattern finds: class, pattern, number of files.
    pub(super) conventions: Vec<(Class, String, usize)>,
    /// Folders and files that are of no class: pattern, number of files, an example.
    pub(super) unclassed: Vec<Unclassed>,
    /// How many files have which class, by the built-in sets and the conventions.
    pub(super) classes: BTreeMap<Class, usize>,
    /// Folders and files at the root with Python of the product below.
    pub(super) python: BTreeSet<String>,
    /// Which forge's files the tree holds.
    pub(super) forge: ForgeHint,
}

/// By what an ecosystem was told.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// A manifest, the one nearest to the root.
    pub(super) manifest: Option<String>,
    /// How many source files.
    pub(super) sources: usize,
}

/// Paths that a maintainer should say something about.
#[derive(Debug)]
pub(super) struct Unclassed {
    pub(super) pattern: String,
    pub(super) files: usize,
    pub(super) example: String,
    /// Whether product stands in the same folder.
    pub(super) beside_product: bool,
}

/// Whose files a tree holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ForgeHint {
    GitHub,
    GitLab,
    #[default]
    Unknown,
}

/// Folders that hold other people's code.
const VENDORED: [&str; 6] = ["node_modules", "vendor", "third_party", "third-party", ".yarn", "external"];

/// Words for folders of recorded outputs, where they lie among tests.
const SNAPSHOT_WORDS: [&str; 11] = [
    "snapshot",
    "snapshots",
    "baseline",
    "baselines",
    "golden_files",
    "golden-files",
    "goldenfiles",
    "recordings",
    "expected",
    "expected_output",
    "expected-output",
];

/// Words for folders of recorded inputs, where they lie among tests.
const FIXTURE_WORDS: [&str; 12] = [
    "fixture",
    "test_assets",
    "test-assets",
    "testassets",
    "test_cases",
    "test-cases",
    "testcases",
    "sample_data",
    "test_inputs",
    "test-inputs",
    "corpus",
    "corpora",
];

/// Words for folders of tests.
const TEST_WORDS: [&str; 15] = [
    "unittest",
    "unittests",
    "unit_tests",
    "unit-tests",
    "integration_tests",
    "functional_tests",
    "functional-tests",
    "func_tests",
    "system_tests",
    "system-tests",
    "smoke_tests",
    "smoke-tests",
    "regression_tests",
    "testsuite",
    "test_suite",
];

/// Looks at every path of a tree.
pub(super) fn detect(paths: &[BytePath]) -> Detected {
    let all = Classifier::new(&Policy::default());
    let texts: Vec<&str> = paths.iter().filter_map(BytePath::as_str).collect();
    let ecosystems = ecosystems(&texts, &all);
    let sets: Vec<Ecosystem> = ecosystems.iter().map(|(ecosystem, _)| *ecosystem).collect();
    let built_in = Classifier::new(&policy_of(sets.clone(), &[]));
    let conventions = conventions(&texts, &built_in);
    let chosen = Classifier::new(&policy_of(sets, &conventions));
    let mut detected = Detected { ecosystems, conventions, forge: forge(&texts), ..Detected::default() };
    let classed: Vec<(&str, Class)> = texts.iter().map(|text| (*text, chosen.class(&BytePath::new(*text)))).collect();
    for (text, class) in &classed {
        *detected.classes.entry(*class).or_default() += 1;
        let python =
            *class == Class::Product && text.rsplit_once('.').is_some_and(|(_, end)| end == "py") && !is_vendored(text);
        detected.python.extend(python.then(|| root_of(text).to_owned()));
    }
    detected.unclassed = unclassed(&classed);
    detected
}

/// The ecosystem that a source file belongs to, by its ending.
pub(in crate::desk) fn ecosystem_of(path: &str) -> Option<Ecosystem> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "py" | "pyi" | "pyx" => Ecosystem::Python,
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte" => Ecosystem::Javascript,
        "rs" => Ecosystem::Rust,
        "go" => Ecosystem::Go,
        "java" | "kt" | "groovy" => Ecosystem::Java,
        "rb" => Ecosystem::Ruby,
        "php" => Ecosystem::Php,
        "cs" | "fs" | "vb" => Ecosystem::Dotnet,
        _ => return None,
    })
}

/// The ecosystem that a manifest belongs to, by its name.
fn ecosystem_of_manifest(path: &str) -> Option<Ecosystem> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    Some(match (name, ending) {
        ("pyproject.toml" | "setup.py" | "setup.cfg" | "Pipfile" | "requirements.txt", _) => Ecosystem::Python,
        ("package.json" | "deno.json", _) => Ecosystem::Javascript,
        ("Cargo.toml", _) => Ecosystem::Rust,
        ("go.mod", _) => Ecosystem::Go,
        ("pom.xml" | "build.gradle" | "build.gradle.kts", _) => Ecosystem::Java,
        ("Gemfile", _) | (_, "gemspec") => Ecosystem::Ruby,
        ("composer.json", _) => Ecosystem::Php,
        (_, "csproj" | "fsproj" | "vbproj" | "sln" | "slnx") => Ecosystem::Dotnet,
        _ => return None,
    })
}

/// Whether a path lies among other people's code.
pub(in crate::desk) fn is_vendored(path: &str) -> bool {
    folders(path).any(|folder| VENDORED.contains(&folder))
}

fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit_once('/').map_or("", |(folders, _)| folders).split('/')
}

fn root_of(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// One file of a language is enough: evidence of a language that was forgotten would be unprotected.
fn ecosystems(paths: &[&str], all: &Classifier) -> Vec<(Ecosystem, Signs)> {
    let mut found: BTreeMap<Ecosystem, Signs> = BTreeMap::new();
    for path in paths.iter().filter(|path| !is_vendored(path)) {
        // What lies among fixtures is somebody's input, and no code of this repository.
        if all.class(&BytePath::new(*path)).is_evidence() {
            continue;
        }
        if let Some(ecosystem) = ecosystem_of_manifest(path) {
            let signs = found.entry(ecosystem).or_default();
            let nearer = |known: &String| path.matches('/').count() < known.matches('/').count();
            if signs.manifest.as_ref().is_none_or(nearer) {
                signs.manifest = Some((*path).to_owned());
            }
        }
        if let Some(ecosystem) = ecosystem_of(path) {
            found.entry(ecosystem).or_default().sources += 1;
        }
    }
    let mut found: Vec<(Ecosystem, Signs)> = found.into_iter().collect();
    found.sort_by_key(|(_, signs)| std::cmp::Reverse(signs.sources));
    found
}

/// The policy of some sets and patterns, for their classes alone.
fn policy_of(sets: Vec<Ecosystem>, conventions: &[(Class, String, usize)]) -> Policy {
    let extends = if sets.is_empty() { vec![Ecosystem::Generic] } else { sets };
    let of = |wanted: Class| -> Vec<Pattern> {
        let own = conventions.iter().filter(|(class, ..)| *class == wanted);
        own.filter_map(|(_, pattern, _)| Pattern::new(pattern.as_str()).ok()).collect()
    };
    let (snapshot, fixture, test) = (of(Class::Snapshot), of(Class::Fixture), of(Class::Test));
    Policy { classes: Classes { extends, snapshot, fixture, test, ..Classes::default() }, ..Policy::default() }
}

fn conventions(paths: &[&str], built_in: &Classifier) -> Vec<(Class, String, usize)> {
    let mut found: BTreeMap<(Class, String), usize> = BTreeMap::new();
    for path in paths.iter().filter(|path| !is_vendored(path)) {
        let class = built_in.class(&BytePath::new(*path));
        if let Some((meant, pattern)) = meant_by_its_folders(path, class) {
            *found.entry((meant, pattern)).or_default() += 1;
        }
    }
    found.into_iter().map(|((class, pattern), files)| (class, pattern, files)).collect()
}

/// What the names of a path's folders say that it is, where the built-in patterns say less.
fn meant_by_its_folders(path: &str, class: Class) -> Option<(Class, String)> {
    if !matches!(class, Class::Test | Class::Product | Class::Other) {
        return None;
    }
    let mut prefix = String::new();
    let mut among_tests = false;
    for folder in folders(path) {
        prefix.push_str(&globset::escape(folder));
        let word = folder.to_lowercase();
        let (snapshot, fixture) = (SNAPSHOT_WORDS.contains(&word.as_str()), FIXTURE_WORDS.contains(&word.as_str()));
        let test = TEST_WORDS.contains(&word.as_str());
        if among_tests && (snapshot || fixture) {
            let meant = if snapshot { Class::Snapshot } else { Class::Fixture };
            return Some((meant, format!("{prefix}/**")));
        }
        if test && class != Class::Test {
            return Some((Class::Test, format!("{prefix}/**")));
        }
        among_tests |= test || matches!(word.as_str(), "test" | "tests" | "spec" | "specs" | "e2e" | "__tests__");
        prefix.push('/');
    }
    None
}

fn unclassed(classed: &[(&str, Class)]) -> Vec<Unclassed> {
    let product: BTreeSet<&str> = classed
        .iter()
        .filter(|(path, class)| *class == Class::Product && path.contains('/'))
        .map(|(path, _)| root_of(path))
        .collect();
    let mut groups: BTreeMap<String, Unclassed> = BTreeMap::new();
    for (path, _) in classed.iter().filter(|(_, class)| *class == Class::Other) {
        let name = pattern(path);
        let group = groups.entry(name.clone()).or_insert_with(|| Unclassed {
            pattern: name,
            files: 0,
            example: (*path).to_owned(),
            beside_product: product.contains(root_of(path)),
        });
        group.files += 1;
    }
    let mut groups: Vec<Unclassed> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.files));
    groups
}

fn forge(paths: &[&str]) -> ForgeHint {
    if paths.iter().any(|path| path.starts_with(".github/")) {
        ForgeHint::GitHub
    } else if paths.contains(&".gitlab-ci.yml") || paths.iter().any(|path| path.starts_with(".gitlab/")) {
        ForgeHint::GitLab
    } else {
        ForgeHint::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Detected {
        detect(&paths.iter().map(|path| BytePath::new(*path)).collect::<Vec<_>>())
    }

    #[test]
    fn a_language_is_told_by_one_file_and_not_by_what_lies_among_fixtures_or_vendored() {
        let found =
            of(&["pyproject.toml", "src/a.py", "src/b.py", "tools/x.rb", "tests/fixtures/a.php", "vendor/x/a.go"]);
        let names: Vec<_> = found.ecosystems.iter().map(|(ecosystem, _)| *ecosystem).collect();
        assert_eq!(names, [Ecosystem::Python, Ecosystem::Ruby]);
        assert_eq!(found.ecosystems[0].1.manifest.as_deref(), Some("pyproject.toml"));
        assert_eq!(found.ecosystems[0].1.sources, 2);
        assert_eq!(found.python, BTreeSet::from(["src".to_owned()]));
    }

    #[test]
    fn a_folder_whose_name_says_what_it_is_becomes_a_pattern() {
        let found = of(&["src/a.py", "tests/baseline/one.txt", "unit_tests/check.py", "src/baseline/model.py"]);
        let found: Vec<_> = found.conventions.iter().map(|(class, pattern, _)| (*class, pattern.as_str())).collect();
        assert_eq!(found, [(Class::Snapshot, "tests/baseline/**"), (Class::Test, "unit_tests/**")]);
    }

    #[test]
    fn what_has_no_class_is_grouped_by_the_folder_at_the_root() {
        let found = of(&["app/a.py", "app/t.html", "contrib/x", "contrib/y/z", "odd"]);
        let groups: Vec<_> =
            found.unclassed.iter().map(|of| (of.pattern.as_str(), of.files, of.beside_product)).collect();
        assert_eq!(groups, [("contrib/**", 2, false), ("/odd", 1, false)]);
    }
}
