//! The rules that speak when the gate itself failed. No oracle reports them, and neither is a pass (R28).

use crate::evidence::{self, Rule};
use crate::words::Verdict;

/// We failed.
pub static COULD_NOT_JUDGE: Rule = Rule {
    id: "could-not-judge",
    verdict: Verdict::Unscored,
    when: "The gate itself failed: git or the forge gave an error, a limit was reached, or time ran out.",
    innocent: "Always: it says nothing about the change, and it is no pass either.",
    next: "Push again, or close and reopen the pull request; if it happens again, show the operator the head sha and the time of the run.",
};

/// We would have said review without knowing enough.
pub static RECORD_INCOMPLETE: Rule = Rule {
    id: "record-incomplete",
    verdict: Verdict::Unscored,
    when: "No rule objects, but the record lacks what a review must stand on: an object id, the policy's digest, or any changed file.",
    innocent: "Always: it is a fault of the gate or of its set-up, and not of the change.",
    next: "Show the operator this message; it names what is missing.",
};

/// A pull request of a merge group is not in review, or cannot be told.
pub static GROUP_MEMBER: Rule = Rule {
    id: "group-member",
    verdict: Verdict::Unscored,
    when: "In a merge group: a member's own verdict is not review or not of its present head and rules, or a path or member cannot be told.",
    innocent: "A member was pushed to, or the base changed its evidence, after the pull request had been queued.",
    next: "Look at the check run of the pull request that is named; when it is in review again, put it back into the queue.",
};

/// Every rule of this file, our own failure before our own ignorance.
pub static FAILURES: &[&Rule] = &[&COULD_NOT_JUDGE, &RECORD_INCOMPLETE, &GROUP_MEMBER];

/// Every rule that a record can name: the oracles' and then our own. `docs/rules.md` has one section for each.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    evidence::rules().chain(FAILURES.iter().copied())
}
