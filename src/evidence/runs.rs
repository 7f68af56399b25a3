//! What sandboxed runs brought back, and what it means.

use super::property::{self, PropertyFacts};
use super::sandbox_unavailable;
use super::tree_tests::{self, TreeFacts};
use super::{Facts, Finding, Rule};

/// What came of the runs that the policy asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Runs {
    /// Nothing was started, since what was found before says reject or unscored already; or nothing was asked for.
    #[default]
    NotStarted,
    /// There is no sandbox: why.
    NoSandbox(String),
    /// They ended.
    Ended {
        /// One for each property of the policy.
        properties: Vec<PropertyFacts>,
        /// The live tests; `None` when the policy asks for none.
        tests: Option<TreeFacts>,
    },
}

/// Every rule that [`judge_runs`] can report.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    [&sandbox_unavailable::SANDBOX_UNAVAILABLE]
        .into_iter()
        .chain(property::RULES.iter().copied())
        .chain(tree_tests::RULES.iter().copied())
}

/// The second step of judging: what the runs say. The first one is [`judge`](super::judge); nothing runs when it rejects.
pub fn judge_runs(facts: &Facts<'_>, runs: &Runs) -> Vec<Finding> {
    match runs {
        Runs::NotStarted => Vec::new(),
        Runs::NoSandbox(why) => sandbox_unavailable::judge(facts, why).into_iter().collect(),
        Runs::Ended { properties, tests } => {
            let mut findings = property::judge(facts, properties);
            findings.extend(tests.iter().flat_map(|tests| tree_tests::judge(facts, tests)));
            findings
        }
    }
}
