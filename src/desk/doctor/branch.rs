//! What the default branch of a repository asks for before a merge (R37, R38).

use super::line::{About, Line};
use crate::forge::{Inspected, RequiredCheck};

/// What the App has, as far as a branch depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ours<'a> {
    /// The App's number.
    pub(super) app: u64,
    /// The name of its check run.
    pub(super) check: &'a str,
    /// Whether it is told of merge groups, and may see them.
    pub(super) sees_merge_groups: bool,
}

/// The lines about one repository.
pub(super) fn branch(found: &Inspected, ours: Ours<'_>) -> Vec<Line> {
    let about = About(format!("{}, branch {}", found.repository.name, found.rules.branch));
    let rules = &found.rules;
    let mut lines = vec![required(&about, &rules.required, ours)];
    if rules.queue && !ours.sees_merge_groups {
        let next = "grant `merge_queues: read` and subscribe to `merge_group`";
        lines.push(about.fault(
            "merge queue",
            "the branch has one, and the App is not told of it: no group can be merged",
            next,
        ));
    } else if rules.queue {
        lines.push(about.ok("merge queue", "each group is judged by itself"));
    }
    if !rules.queue {
        lines.push(if rules.strict {
            about.ok("up to date", "a head must contain the tip of the branch")
        } else {
            let next = "require branches to be up to date, or use a merge queue; a push that changes policy or oracles takes greens back in any case";
            about.warning("up to date", "the branch may move on under a green", next)
        });
    }
    lines.push(match rules.binds_administrators {
        Some(true) => about.ok("administrators", "bound like everybody"),
        Some(false) => {
            let next = "\"Do not allow bypassing the above settings\" in the branch protection rule";
            about.warning("administrators", "exempt: they can merge what is rejected", next)
        }
        None => about.ok("administrators", "a ruleset binds whoever is not in its bypass list, which no App can read"),
    });
    lines
}

/// Whether our check is required, and from us alone.
fn required(about: &About, all: &[RequiredCheck], ours: Ours<'_>) -> Line {
    let named: Vec<&RequiredCheck> = all.iter().filter(|check| check.name == ours.check).collect();
    let name = ours.check;
    if named.iter().any(|check| check.app == Some(ours.app)) {
        return about.ok("required check", format!("`{name}`, from App {} alone", ours.app));
    }
    match named.first().map(|check| check.app) {
        None => {
            let next = "require it in a ruleset, with this App as the expected source; it can be chosen once a first check run has appeared";
            about.fault(
                "required check",
                format!("`{name}` is not required: no verdict keeps anybody from merging"),
                next,
            )
        }
        Some(None) => {
            let next = "choose this App as the expected source: from \"any source\" whoever may write a commit status can write a green";
            about.warning("required check", format!("`{name}` is required from any source"), next)
        }
        Some(Some(other)) => {
            let next = "choose this App as the expected source";
            about.fault(
                "required check",
                format!("`{name}` is required from App {other}, and this is App {}", ours.app),
                next,
            )
        }
    }
}
