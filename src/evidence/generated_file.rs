//! Nobody reads a generated file line by line.

use super::{Facts, Finding, Oracle, Rule, wording};
use crate::policy::Class;
use crate::words::Verdict;

pub(super) struct GeneratedFile;

pub(super) static GENERATED_FILE: Rule = Rule {
    id: "generated-file",
    verdict: Verdict::Hold,
    when: "A file changes that a tool makes from something else.",
    innocent: "The tool ran again after its input changed.",
    next: "A person runs the generator, compares, and a maintainer approves this head.",
};

impl Oracle for GeneratedFile {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&GENERATED_FILE] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        wording::over(
            &GENERATED_FILE,
            facts.rows,
            |row| row.class == Class::Generated,
            |number, names| format!("{} changed: {names}", wording::count(number, "generated file", "generated files")),
        )
        .into_iter()
        .collect()
    }
}
