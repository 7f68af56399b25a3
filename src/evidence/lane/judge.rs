//! The rules of the lane.

use super::facts::{Lane, Proposal, ProposedLedger, ProposedLock, ProposedPolicy};
use super::{Grant, ledger};
use crate::change::BytePath;
use crate::evidence::ledger::{LedgerFacts, Match};
use crate::evidence::lock::{self, Lock, LockedTrees};
use crate::evidence::property::{self, KnownBad, Outcome, PropertyFacts, Sample};
use crate::evidence::{ClassedRow, Facts, Finding, Location, Rule, wording};
use crate::policy::Policy;
use crate::words::Verdict;

static MIXED_LANE: Rule = Rule {
    id: "mixed-lane",
    verdict: Verdict::Reject,
    when: "The pull request asks for the evidence lane, and changes something else than evidence as well.",
    innocent: "A fixture and the product that reads it belong together: even then the fixture comes first, alone.",
    next: "Split it: the evidence in a pull request of its own with the label, the rest in another.",
};

static LANE_NOT_AUTHORISED: Rule = Rule {
    id: "lane-not-authorised",
    verdict: Verdict::Reject,
    when: "The pull request asks for the evidence lane, and its author, branch, label or commit trailer is a bot's or an agent's.",
    innocent: "A person let an agent write the evidence: then that person opens the pull request, without the agent's commits.",
    next: "A person makes this change of evidence; what a bot or an agent proposes is judged by evidence that it did not write.",
};

static LANE_WAITS: Rule = Rule {
    id: "lane-waits",
    verdict: Verdict::Hold,
    when: "The change of evidence is sound, and nobody of the role has let this head in.",
    innocent: "Always: this is how the lane works.",
    next: "A maintainer who has no part in these commits reviews the new evidence and approves this very head; the check follows by itself.",
};

static LANE_STALE: Rule = Rule {
    id: "lane-stale",
    verdict: Verdict::Hold,
    when: "The change of evidence was let in, and a push came afterwards.",
    innocent: "The push was meant; it has to be looked at as well.",
    next: "A maintainer reviews what was pushed and approves this very head.",
};

static POLICY_INVALID: Rule = Rule {
    id: "policy-invalid",
    verdict: Verdict::Reject,
    when: "In the evidence lane: the new policy has a fault, or there would be none.",
    innocent: "Never: with such a policy every pull request would be unscored.",
    next: "Repair the named lines; `evidence-gate policy check` shows each fault.",
};

static PROPERTY_INVALID: Rule = Rule {
    id: "property-invalid",
    verdict: Verdict::Reject,
    when: "In the evidence lane: a property that the change touches fails or says too little on the merged tree, its sample is not what comes \
           out, or it accepts what is known to be bad.",
    innocent: "The property shows a fault that the product has: repair that first, or freeze the failure in the same pull request.",
    next: "Run `evidence-gate score --lane` with the named seed, and repair the property, its sample or its known-bad inputs.",
};

pub(super) static LEDGER_ENTRY_INVALID: Rule = Rule {
    id: "ledger-entry-invalid",
    verdict: Verdict::Reject,
    when: "In the evidence lane: an entry that is added to the freeze ledger or changed has a fault, or its test is in no coverage map and no property.",
    innocent: "Never: such an entry would leave every pull request unscored.",
    next: "Repair the entry on this line; `evidence-gate freeze add` writes entries without these faults.",
};

static LOCK_NOT_REGENERATED: Rule = Rule {
    id: "lock-not-regenerated",
    verdict: Verdict::Reject,
    when: "In the evidence lane: the fixture lock of the merged tree does not fit the fixtures of the merged tree.",
    innocent: "The lock was forgotten.",
    next: "Run `evidence-gate lock write` on this branch and commit the lock.",
};

pub(super) static FREEZE_FOR_ADDED_TEST: Rule = Rule {
    id: "freeze-for-added-test",
    verdict: Verdict::Reject,
    when: "In the evidence lane: an entry of the freeze ledger names a test that the base does not have.",
    innocent: "The test comes with another pull request: then it is not frozen before it counts.",
    next: "Take the entry out; a test that is known to fail is not added.",
};

static EVIDENCE_ONLY: Rule = Rule {
    id: "evidence-only",
    verdict: Verdict::Review,
    when: "The change is of evidence alone, the new evidence is sound, and somebody of the role let this very head in.",
    innocent: "Always: the new evidence decides from the moment it is on the base branch.",
    next: "Merge it; a push takes the approval back.",
};

/// Every rule of the lane.
pub(in crate::evidence) static RULES: &[&Rule] = &[
    &MIXED_LANE,
    &LANE_NOT_AUTHORISED,
    &POLICY_INVALID,
    &PROPERTY_INVALID,
    &LEDGER_ENTRY_INVALID,
    &FREEZE_FOR_ADDED_TEST,
    &LOCK_NOT_REGENERATED,
    &LANE_STALE,
    &LANE_WAITS,
    &EVIDENCE_ONLY,
];

/// What is wrong with a change that asks for the lane, as far as nothing has to be run.
pub fn judge(facts: &Facts<'_>, lane: &Lane) -> Vec<Finding> {
    let Some(proposal) = &lane.proposal else { return vec![mixed(facts, lane)] };
    let next = proposal.next_policy(facts.policy);
    let mut findings: Vec<Finding> = not_authorised(proposal).into_iter().collect();
    findings.extend(policy(&proposal.policy));
    findings.extend(ledger::judge(&proposal.ledger, next, facts.today));
    findings.extend(locked(facts, &proposal.lock));
    findings
}

impl Proposal {
    /// The policy that counts once the change is in.
    pub fn next_policy<'a>(&'a self, base: &'a Policy) -> &'a Policy {
        match &self.policy {
            ProposedPolicy::Read(policy) => policy,
            ProposedPolicy::Untouched
            | ProposedPolicy::Gone
            | ProposedPolicy::Unreadable(_)
            | ProposedPolicy::Faulty(_) => base,
        }
    }
}

fn mixed(facts: &Facts<'_>, lane: &Lane) -> Finding {
    let others: Vec<&ClassedRow<'_>> = facts
        .rows
        .iter()
        .filter(|row| row.row.paths().any(|path| !facts.classifier.class(path).is_evidence()))
        .collect();
    let number = wording::count(others.len(), "file", "files");
    let message = format!(
        "the label {} asks for the evidence lane, and {number} besides evidence change: {}",
        wording::text(&lane.label),
        wording::names(&others)
    );
    Finding::new(&MIXED_LANE, message).at(wording::places(&others))
}

fn not_authorised(proposal: &Proposal) -> Option<Finding> {
    let why = proposal.agent.as_ref()?;
    Some(Finding::new(&LANE_NOT_AUTHORISED, format!("evidence is changed by people: {why}")))
}

fn policy(policy: &ProposedPolicy) -> Vec<Finding> {
    let path = BytePath::new(Policy::FILE);
    let invalid = |message: String, place| Finding::new(&POLICY_INVALID, message).at([place]);
    match policy {
        ProposedPolicy::Untouched | ProposedPolicy::Read(_) => Vec::new(),
        ProposedPolicy::Gone => {
            let message = "the policy is taken away, and without one every pull request is unscored".to_owned();
            vec![invalid(message, Location::file(&path))]
        }
        ProposedPolicy::Unreadable(why) => {
            vec![invalid(format!("the new policy cannot be read: {why}"), Location::file(&path))]
        }
        ProposedPolicy::Faulty(faults) => faults
            .iter()
            .map(|(line, why)| invalid(format!("the new policy has a fault: {why}"), Location::line(&path, *line)))
            .collect(),
    }
}

fn locked(facts: &Facts<'_>, proposed: &ProposedLock) -> Vec<Finding> {
    let finding = |message: String| Finding::new(&LOCK_NOT_REGENERATED, message);
    match proposed {
        ProposedLock::Untouched | ProposedLock::Absent { missed: false, .. } => Vec::new(),
        ProposedLock::Absent { path, missed: true } => {
            let message = format!("the merged tree has no fixture lock {}", wording::name(path));
            vec![finding(message).at([Location::file(path)])]
        }
        ProposedLock::Unreadable { path, line, why } => {
            let place = line.map_or_else(|| Location::file(path), |line| Location::line(path, line));
            vec![finding(format!("the fixture lock {} cannot be used: {why}", wording::name(path))).at([place])]
        }
        ProposedLock::Read { path, lock, trees, lines } => {
            let place = |fixture: &BytePath, gone: bool| match lines.get(fixture).filter(|_| gone) {
                Some(line) => Location::line(path, *line),
                None => Location::file(fixture),
            };
            unfit(facts, lock, trees)
                .into_iter()
                .map(|(fixture, why, gone)| {
                    finding(format!("{} {why}", wording::name(fixture))).at([place(fixture, gone)])
                })
                .collect()
        }
    }
}

/// What the merged tree's own lock says wrong: the path, half a sentence, and whether nothing stands there.
fn unfit<'a>(facts: &Facts<'_>, lock: &'a Lock, trees: &'a LockedTrees) -> Vec<(&'a BytePath, &'static str, bool)> {
    let mut unfit: Vec<_> = lock::unfulfilled(lock, trees)
        .into_iter()
        .map(|(path, there)| match there {
            lock::Unfulfilled::OtherBytes => (path, "has other bytes than the fixture lock says", false),
            lock::Unfulfilled::Missing => (path, "is in the fixture lock, and not in the merged tree", true),
            lock::Unfulfilled::NoFile => (path, "is in the fixture lock, and is no ordinary file", false),
        })
        .collect();
    let added = lock::added_beside(facts, lock, trees).into_iter();
    unfit.extend(added.map(|path| (path, "lies in a folder of locked files, and is not in the fixture lock", false)));
    unfit
}

/// What the runs of the properties say that the change touches.
pub fn judge_properties(facts: &Facts<'_>, lane: &Lane, properties: &[PropertyFacts]) -> Vec<Finding> {
    properties.iter().filter_map(|property| of_property(facts, lane, property)).collect()
}

fn of_property(facts: &Facts<'_>, lane: &Lane, found: &PropertyFacts) -> Option<Finding> {
    let mut wrong = Vec::new();
    match &found.merged {
        Outcome::Complete(_) => {}
        Outcome::Incomplete(why) => wrong.push(format!("does not say enough: {why}")),
        Outcome::Failed(_) if is_frozen(facts, lane, found) => {}
        Outcome::Failed(failed) => wrong.push(format!("fails on the merged tree: {}", property::told(failed))),
    }
    match &found.sample {
        None | Some(Sample::Same) => {}
        Some(Sample::Stale(why)) => wrong.push(format!("has a sample that is not what comes out: {why}")),
        Some(Sample::Incomplete(why)) => wrong.push(format!("could not compute its sample: {why}")),
    }
    match &found.known_bad {
        None | Some(KnownBad::Rejected(_)) => {}
        Some(KnownBad::Accepted(numbers)) => {
            let numbers = wording::list(numbers.iter().map(ToString::to_string).collect());
            wrong.push(format!("accepts what is known to be bad: number {numbers} of its inputs"));
        }
        Some(KnownBad::Incomplete(why)) => wrong.push(format!("did not judge its known-bad inputs to an end: {why}")),
    }
    if let Some(flaky) = &found.flaky {
        wrong.push(format!("was {} in one run and {} in another with the same inputs", flaky.stands, flaky.other));
    }
    let message = format!("property {} with the seed {} {}", found.id, found.seed, wrong.join(", and "));
    (!wrong.is_empty()).then(|| Finding::new(&PROPERTY_INVALID, message))
}

/// Whether the failure is frozen by the ledger that comes with the change, or by the base's where that stays.
fn is_frozen(facts: &Facts<'_>, lane: &Lane, found: &PropertyFacts) -> bool {
    let ledger = match lane.proposal.as_ref().map(|proposal| &proposal.ledger) {
        Some(ProposedLedger::Read { after, .. }) => Some(after),
        Some(ProposedLedger::Untouched) | None => match facts.ledger {
            LedgerFacts::Read { ledger, .. } => Some(ledger),
            LedgerFacts::Absent | LedgerFacts::Unreadable { .. } => None,
        },
        Some(ProposedLedger::Gone(_) | ProposedLedger::Unreadable { .. }) => None,
    };
    ledger.is_some_and(|ledger| matches!(property::matching(ledger, found, facts.today), Match::Live(_)))
}

/// Speaks last: what is sound waits for somebody, or is let in. `found`: everything that was found.
pub fn conclude(lane: &Lane, found: &[Finding]) -> Option<Finding> {
    let proposal = lane.proposal.as_ref()?;
    if found.iter().any(|finding| RULES.contains(&finding.rule)) {
        return None;
    }
    Some(match &proposal.grant {
        Grant::Given(by) => {
            let who = wording::list(by.iter().map(|who| wording::text(who)).collect());
            Finding::new(&EVIDENCE_ONLY, format!("evidence alone changes, and {who} let this head in"))
        }
        Grant::Stale(by) => {
            let who = wording::list(by.iter().map(|who| wording::text(who)).collect());
            Finding::new(&LANE_STALE, format!("{who} let an earlier head in, and a push came afterwards"))
        }
        Grant::Waits(vain) if vain.is_empty() => {
            Finding::new(&LANE_WAITS, "the new evidence is sound and waits for an approval of this head")
        }
        Grant::Waits(vain) => {
            let said = vain.iter().map(|(who, why)| format!("{} ({why})", wording::text(who))).collect();
            let message = format!("the new evidence is sound, and no approval counts: {}", wording::list(said));
            Finding::new(&LANE_WAITS, message)
        }
        Grant::Unseen => {
            Finding::new(&LANE_WAITS, "the new evidence is sound; who lets it in can only be seen on the forge")
        }
    })
}

/// Whether the lane itself still waits for somebody. Such a hold ends by the lane's own authority, and not as other holds do.
pub fn is_open(found: &[Finding]) -> bool {
    found.iter().any(|finding| finding.rule == &LANE_WAITS || finding.rule == &LANE_STALE)
}
