//! The rules that speak when nothing could be judged. They are ours, and none of them is a pass (R28, R29).

use crate::evidence::{self, Rule};
use crate::words::Verdict;

/// There is nothing to judge by.
pub static NO_POLICY: Rule = Rule {
    id: "no-policy",
    verdict: Verdict::Unscored,
    when: "The tip of the base branch holds no `.evidence-gate.toml`, and the operator keeps no copy for the repository.",
    innocent: "The repository has only just installed the App; the first policy comes in by a person's own merge.",
    next: "Commit a `.evidence-gate.toml` to the base branch; a policy that comes with the pull request itself is never read.",
};

/// What there is to judge by cannot be read.
pub static POLICY_UNREADABLE: Rule = Rule {
    id: "policy-unreadable",
    verdict: Verdict::Unscored,
    when: "The policy at the tip of the base branch, or the operator's copy, is no valid policy file.",
    innocent: "A typing error reached the base branch; the pull request has no part in it.",
    next: "Correct the policy on the base branch at the place that the message names; `evidence-gate policy check FILE` checks it.",
};

/// We failed.
pub static COULD_NOT_JUDGE: Rule = Rule {
    id: "could-not-judge",
    verdict: Verdict::Unscored,
    when: "The gate itself failed: git or the forge gave an error, a limit was reached, or time ran out.",
    innocent: "Always: it says nothing about the change, and it is no pass either.",
    next: "Ask for another evaluation; if it happens again, show the operator the head sha and the time of the run.",
};

/// We would have said review without knowing enough.
pub static RECORD_INCOMPLETE: Rule = Rule {
    id: "record-incomplete",
    verdict: Verdict::Unscored,
    when: "No rule objects, but the record lacks what a review must stand on: an object id, the policy's digest, or any changed file.",
    innocent: "Always: it is a fault of the gate or of its set-up, and not of the change.",
    next: "Show the operator this message; it names what is missing.",
};

/// Every rule of this file, in the order in which they can happen.
pub static FAILURES: &[&Rule] = &[&NO_POLICY, &POLICY_UNREADABLE, &COULD_NOT_JUDGE, &RECORD_INCOMPLETE];

/// Every rule that a record can name: the oracles' and then our own. `docs/rules.md` has one section for each.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    evidence::rules().chain(FAILURES.iter().copied())
}
