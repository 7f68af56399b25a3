//! Names that lead elsewhere than they say.

use super::{Facts, Finding, Location, Oracle, Rule, wording};
use crate::change::BytePath;
use crate::classes::{BadPath, bad_path};
use crate::words::Verdict;

pub(super) struct BadPathOracle;

pub(super) static BAD_PATH: Rule = Rule {
    id: "bad-path",
    verdict: Verdict::Reject,
    when: "A path has `..`, `.`, an empty part, a leading slash, a NUL, or a part that some machine takes for `.git`.",
    innocent: "Never: git does not make such a path by itself.",
    next: "Remove these paths from the commits; git itself does not write them.",
};

impl Oracle for BadPathOracle {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&BAD_PATH] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let mut bad: Vec<(&BytePath, BadPath)> = facts
            .rows
            .iter()
            .flat_map(|row| row.row.paths())
            .filter_map(|path| Some((path, bad_path(path)?)))
            .collect();
        bad.sort();
        bad.dedup();
        if bad.is_empty() {
            return Vec::new();
        }
        let named = bad.iter().map(|(path, why)| format!("\"{}\" {why}", wording::name(path))).collect();
        let message = format!(
            "{} no repository path may have: {}",
            wording::count(bad.len(), "changed path has a name that", "changed paths have names that"),
            wording::list(named)
        );
        vec![Finding::new(&BAD_PATH, message).at(bad.iter().map(|(path, _)| Location::file(path)))]
    }
}
