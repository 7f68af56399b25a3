//! What the policy asks to run, and nothing can run.

use super::{Facts, Finding, Oracle, Rule, wording};
use crate::policy::{Policy, RequireProperties};
use crate::words::Verdict;

pub(super) struct SandboxUnavailable;

pub(super) static SANDBOX_UNAVAILABLE: Rule = Rule {
    id: "sandbox-unavailable",
    verdict: Verdict::Unscored,
    when: "The policy asks for properties or live tests, and this scoring host has no sandbox to run them in.",
    innocent: "Never: what did not run observed nothing.",
    next: "The operator sets up a sandbox on the scoring host, or a maintainer takes the request out of the policy.",
};

pub(super) static PROPOSAL_UNREAD: Rule = Rule {
    id: "proposal-unread",
    verdict: Verdict::Unscored,
    when: "The policy names check runs of the pull request's own CI, and their state was not read.",
    innocent: "Never: a failed one would have been a reject.",
    next: "Wait until the scoring host reads these check runs, or let a maintainer take them out of the policy.",
};

impl Oracle for SandboxUnavailable {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&PROPOSAL_UNREAD] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let checks = &facts.policy.proposal.checks;
        let unread = || {
            let message = format!("the state of the named checks was not read: {}", wording::list(checks.clone()));
            Finding::new(&PROPOSAL_UNREAD, message)
        };
        (!checks.is_empty()).then(unread).into_iter().collect()
    }
}

/// Whether a policy asks for anything to be run.
pub fn asks_for_runs(policy: &Policy) -> bool {
    asks_for_properties(policy) || policy.tree_tests.is_some()
}

/// Whether a policy asks for properties to be run.
pub fn asks_for_properties(policy: &Policy) -> bool {
    !policy.property.is_empty() && policy.require.properties != RequireProperties::Off
}

/// What is said when there is no sandbox: every request is unanswered.
pub(super) fn judge(facts: &Facts<'_>, why: &str) -> Option<Finding> {
    let policy = facts.policy;
    let mut asked = Vec::new();
    if asks_for_properties(policy) {
        let ids = policy.property.iter().map(|property| property.id.to_string()).collect();
        let number = wording::count(policy.property.len(), "property", "properties");
        asked.push(format!("{number} ({})", wording::list(ids)));
    }
    if policy.tree_tests.is_some() {
        asked.push("the live tests of the merged tree".to_owned());
    }
    (!asked.is_empty()).then(|| {
        let message =
            format!("the policy asks for {}, and there is no sandbox here to run them in: {why}", asked.join(" and "));
        Finding::new(&SANDBOX_UNAVAILABLE, message)
    })
}
