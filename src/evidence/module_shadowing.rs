//! An added module that is imported in place of another.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::{Facts, Finding, Location, Oracle, Rule, wording};
use crate::change::{BytePath, fold};
use crate::classes::Classifier;
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct ModuleShadowing;

pub(super) static MODULE_SHADOWING: Rule = Rule {
    id: "module-shadowing",
    verdict: Verdict::Hold,
    when: "An added module takes the import name of a module of the standard library, of a test framework or of a test dependency, in a \
           folder from which tests import.",
    innocent: "A module whose name is taken by chance, and that no test can import in place of the other.",
    next: "Give the module another name, or a person checks that no test imports it in place of the real one, and a maintainer approves this head.",
};

static PYTHON: LazyLock<BTreeSet<&str>> = LazyLock::new(|| include_str!("module_names/python.txt").lines().collect());
static NODE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| include_str!("module_names/node.txt").lines().collect());
static RUBY: LazyLock<BTreeSet<&str>> = LazyLock::new(|| include_str!("module_names/ruby.txt").lines().collect());

/// Packages of test frameworks on the Java virtual machine and in PHP, as folders.
const PACKAGES: [&str; 10] = [
    "org/junit/",
    "junit/framework/",
    "org/testng/",
    "org/mockito/",
    "org/hamcrest/",
    "org/assertj/",
    "com/google/common/truth/",
    "kotlin/test/",
    "io/kotest/",
    "phpunit/framework/",
];

impl Oracle for ModuleShadowing {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&MODULE_SHADOWING] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let mut shadowing: Vec<(&BytePath, String)> = facts
            .rows
            .iter()
            .filter(|row| row.row.old.as_ref().map(|side| &side.path) != row.row.new.as_ref().map(|side| &side.path))
            .filter_map(|row| {
                let path = &row.row.new.as_ref()?.path;
                Some((path, shadowed(facts.classifier, path)?))
            })
            .collect();
        shadowing.sort();
        if shadowing.is_empty() {
            return Vec::new();
        }
        let named = shadowing.iter().map(|(path, module)| format!("{} ({module})", wording::name(path))).collect();
        let message = format!(
            "{} the import name of another module: {}",
            wording::count(shadowing.len(), "added file takes", "added files take"),
            wording::list(named)
        );
        vec![Finding::new(&MODULE_SHADOWING, message).at(shadowing.iter().map(|(path, _)| Location::file(path)))]
    }
}

/// The module whose name an added file takes; `None` for a file that takes none, or whose name is no text.
fn shadowed(classifier: &Classifier, path: &BytePath) -> Option<String> {
    let folded = fold(path);
    let text = folded.as_str()?;
    let parts: Vec<&str> = text.split('/').collect();
    let taken = python(classifier, path, &parts)
        .or_else(|| node(&parts))
        .or_else(|| ruby(&parts))
        .or_else(|| PACKAGES.into_iter().find(|package| format!("/{text}").contains(&format!("/{package}"))));
    taken.map(|module| module.trim_end_matches('/').to_owned())
}

/// `json.py`, `json/__init__.py` or a compiled `json.….so` in a folder that is on the import path: the root, `src`, `lib`, or any
/// folder of tests, since pytest puts the folder of each test file there.
fn python<'p>(classifier: &Classifier, path: &BytePath, parts: &[&'p str]) -> Option<&'p str> {
    let (file, folders) = parts.split_last()?;
    let (module, ending) = file.split_once('.')?;
    if !["py", "pyc", "pyd", "so"].contains(&ending.rsplit('.').next()?) {
        return None;
    }
    let (module, folders) = match (module, folders.split_last()) {
        ("__init__", Some((package, above))) => (*package, above),
        _ => (module, folders),
    };
    let importable = matches!(folders, [] | ["src" | "lib" | "python"]) || classifier.class(path) == Class::Test;
    (importable && PYTHON.contains(module)).then_some(module)
}

/// A module inside `node_modules`, or a mock that stands in for one without being asked for.
fn node<'p>(parts: &[&'p str]) -> Option<&'p str> {
    let at = parts.iter().rposition(|part| matches!(*part, "node_modules" | "__mocks__"))?;
    let first = *parts.get(at + 1)?;
    let last = parts.len() == at + 2;
    let module = if last { first.split_once('.').map_or(first, |(module, _)| module) } else { first };
    NODE.contains(module).then_some(module)
}

/// `json.rb` or `json/….rb` where `require` looks first: the root, `lib`, `spec` and `test`.
fn ruby<'p>(parts: &[&'p str]) -> Option<&'p str> {
    let rest = match parts {
        ["lib" | "spec" | "test", rest @ ..] => rest,
        parts => parts,
    };
    let [file] = rest else { return None };
    let module = file.strip_suffix(".rb")?;
    RUBY.contains(module).then_some(module)
}
