//! Without rules there is no score.

use super::{Facts, Finding, Oracle, Rule, RulesFrom};
use crate::policy::Policy;
use crate::words::Verdict;

pub(super) struct NoPolicy;

/// Neither the repository nor the operator has a policy.
pub static NO_POLICY: Rule = Rule {
    id: "no-policy",
    verdict: Verdict::Unscored,
    when: "Neither the tip of the base branch nor the operator has a policy for this repository.",
    innocent: "The App was installed before the repository was set up.",
    next: "A maintainer commits a `.evidence-gate.toml` to the base branch; one that comes with the pull request itself is never read.",
};

pub(super) static POLICY_UNREADABLE: Rule = Rule {
    id: "policy-unreadable",
    verdict: Verdict::Unscored,
    when: "The policy of the base branch or of the operator has a fault.",
    innocent: "Never: a rule that is not understood is not kept.",
    next: "A maintainer runs `evidence-gate policy check` on the file and repairs it on the base branch.",
};

impl Oracle for NoPolicy {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&NO_POLICY, &POLICY_UNREADABLE] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        match facts.rules_from {
            RulesFrom::Read(_) => Vec::new(),
            RulesFrom::Nowhere => {
                let message =
                    format!("there is no {} at the tip of the base branch, and the operator has none", Policy::FILE);
                vec![Finding::new(&NO_POLICY, message)]
            }
            RulesFrom::Unreadable { origin, why } => {
                vec![Finding::new(&POLICY_UNREADABLE, format!("the policy {origin} cannot be used: {why}"))]
            }
        }
    }
}
