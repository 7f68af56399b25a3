//! Whether there is a change to judge at all.

use super::{Comparison, Facts, Finding, Merge, Oracle, Rule, wording};
use crate::words::Verdict;

pub(super) struct ComparisonOracle;

pub(super) static EMPTY_DIFF: Rule = Rule {
    id: "empty-diff",
    verdict: Verdict::Hold,
    when: "Nothing changes between the merge base and the head.",
    innocent: "An empty commit that triggers something.",
    next: "Push the change that the pull request is about, or close it.",
};

pub(super) static NO_MERGE_BASE: Rule = Rule {
    id: "no-merge-base",
    verdict: Verdict::Unscored,
    when: "Base and head have no common ancestor.",
    innocent: "The branch began in another repository, or history was rewritten.",
    next: "Rebase the branch on the target branch and push it again.",
};

pub(super) static SEVERAL_MERGE_BASES: Rule = Rule {
    id: "several-merge-bases",
    verdict: Verdict::Unscored,
    when: "Base and head have more than one best common ancestor, so that it is not certain what the pull request changes.",
    innocent: "The branches were merged into each other in both directions.",
    next: "Rebase the branch on the target branch, or merge the target branch into it, and push it again.",
};

pub(super) static DOES_NOT_APPLY: Rule = Rule {
    id: "does-not-apply",
    verdict: Verdict::Unscored,
    when: "The head cannot be merged into the tip of the base branch.",
    innocent: "The base moved on since the branch was cut.",
    next: "Merge or rebase the target branch, resolve the conflicts, and push again.",
};

impl Oracle for ComparisonOracle {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&EMPTY_DIFF, &NO_MERGE_BASE, &SEVERAL_MERGE_BASES, &DOES_NOT_APPLY] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let comparison = match facts.comparison {
            Comparison::None => {
                // Unrelated histories do not merge either; saying so twice helps nobody.
                let message = format!(
                    "{} and {} have no common ancestor",
                    facts.change.base.0.short(),
                    facts.change.head.0.short()
                );
                return vec![Finding::new(&NO_MERGE_BASE, message)];
            }
            Comparison::Several(bases) => {
                let ids = bases.iter().map(|id| id.short().to_owned()).collect();
                let message =
                    format!("base and head have {} best common ancestors: {}", bases.len(), wording::list(ids));
                Some(Finding::new(&SEVERAL_MERGE_BASES, message))
            }
            Comparison::One => facts
                .rows
                .is_empty()
                .then(|| Finding::new(&EMPTY_DIFF, "nothing changes between the merge base and the head")),
        };
        comparison.into_iter().chain(merge(facts.merge)).collect()
    }
}

fn merge(merge: &Merge) -> Option<Finding> {
    match merge {
        Merge::Clean => None,
        Merge::Conflicts(paths) => {
            let mut paths: Vec<_> = paths.iter().collect();
            paths.sort();
            paths.dedup();
            let places: Vec<_> = paths.iter().map(|path| super::Location::file(path)).collect();
            let files = wording::count(paths.len(), "file", "files");
            let message = format!(
                "the head conflicts with the tip of the base branch in {files}: {}",
                wording::list(paths.into_iter().map(wording::name).collect())
            );
            Some(Finding::new(&DOES_NOT_APPLY, message).at(places))
        }
        Merge::Failed(why) => Some(Finding::new(
            &DOES_NOT_APPLY,
            format!("the head could not be merged into the tip of the base branch: {why}"),
        )),
    }
}
