//! The ledger itself: whether its entries can be relied on.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::{Bound, Freeze, Ledger, LedgerFacts};
use crate::change::BytePath;
use crate::evidence::surface::MapFacts;
use crate::evidence::{Facts, Finding, Oracle, Rule, wording};
use crate::policy::Policy;
use crate::words::Verdict;

pub(in crate::evidence) struct LedgerOracle;

static LEDGER_UNREADABLE: Rule = Rule {
    id: "ledger-unreadable",
    verdict: Verdict::Unscored,
    when: "The freeze ledger is no JSON, has an unknown shape, a key twice, or an entry whose key, dates or fields are wrong.",
    innocent: "Never: nobody knows which failures it excuses.",
    next: "A maintainer repairs the ledger on the base branch; `evidence-gate freeze check` names every entry and field.",
};

static FREEZE_UNBOUND: Rule = Rule {
    id: "freeze-unbound",
    verdict: Verdict::Unscored,
    when: "A freeze names no commit at which it was accepted, or one that the base's tip does not stand on.",
    innocent: "The base's history was rewritten, or the ledger was copied from another repository.",
    next: "A maintainer binds these entries to a commit of the base branch (`evidence-gate freeze add` does), or takes them out.",
};

static FREEZE_INCOMPLETE: Rule = Rule {
    id: "freeze-incomplete",
    verdict: Verdict::Unscored,
    when: "A freeze has no reason, no citation or no last day, was first seen after today, or lasts longer than `freeze.max_days`.",
    innocent: "The entry was written in haste.",
    next: "A maintainer completes these entries on the base branch, or takes them out.",
};

static FREEZE_OVER_BUDGET: Rule = Rule {
    id: "freeze-over-budget",
    verdict: Verdict::Unscored,
    when: "The ledger has more entries than `freeze.max_entries`, or its freezes leave more lines to frozen tests alone than `freeze.max_lines`.",
    innocent: "Flaky tests were frozen faster than they were repaired.",
    next: "A maintainer repairs tests and takes their entries out, or raises the limit on the base branch.",
};

impl Oracle for LedgerOracle {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&LEDGER_UNREADABLE, &FREEZE_UNBOUND, &FREEZE_INCOMPLETE, &FREEZE_OVER_BUDGET] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        match facts.ledger {
            LedgerFacts::Absent => Vec::new(),
            LedgerFacts::Unreadable { origin, why } => {
                vec![Finding::new(&LEDGER_UNREADABLE, format!("the freeze ledger {origin} cannot be used: {why}"))]
            }
            LedgerFacts::Read { origin, ledger, bound } => {
                let mut findings = sound(origin, ledger, bound, facts.policy, facts.today);
                findings.extend(over_lines(facts, origin));
                findings
            }
        }
    }
}

/// What is wrong with the entries of a ledger: unbound, incomplete, too many.
pub fn sound(
    origin: &str,
    ledger: &Ledger,
    bound: &BTreeMap<String, Bound>,
    policy: &Policy,
    today: Date,
) -> Vec<Finding> {
    let unbound = faulty(ledger, |freeze| unbound(freeze, bound));
    let incomplete = faulty(ledger, |freeze| incomplete(freeze, ledger, policy, today));
    let unbound = over(&FREEZE_UNBOUND, origin, &unbound);
    let incomplete = over(&FREEZE_INCOMPLETE, origin, &incomplete);
    [unbound, incomplete, over_budget(policy, origin, ledger)].into_iter().flatten().collect()
}

/// What is wrong with one entry, one phrase each.
pub fn entry_faults(
    freeze: &Freeze,
    ledger: &Ledger,
    bound: &BTreeMap<String, Bound>,
    policy: &Policy,
    today: Date,
) -> Vec<String> {
    [unbound(freeze, bound), incomplete(freeze, ledger, policy, today)].into_iter().flatten().collect()
}

fn faulty(ledger: &Ledger, judge: impl Fn(&Freeze) -> Option<String>) -> Vec<(&Freeze, String)> {
    ledger.freezes.iter().filter_map(|freeze| Some((freeze, judge(freeze)?))).collect()
}

fn over(rule: &'static Rule, origin: &str, faulty: &[(&Freeze, String)]) -> Option<Finding> {
    if faulty.is_empty() {
        return None;
    }
    let names = faulty.iter().map(|(freeze, why)| format!("{} {why}", name(freeze))).collect();
    let entries = wording::count(faulty.len(), "entry", "entries");
    Some(Finding::new(rule, format!("{entries} of the freeze ledger {origin}: {}", wording::list(names))))
}

/// The test, and the key where there is one.
fn name(freeze: &Freeze) -> String {
    let nodeid = wording::name(&BytePath::new(freeze.nodeid.as_bytes()));
    match &freeze.failure {
        Some(failure) => format!("{} ({nodeid})", failure.signature),
        None => nodeid,
    }
}

fn unbound(freeze: &Freeze, bound: &BTreeMap<String, Bound>) -> Option<String> {
    let Some(sha) = &freeze.bound_sha else { return Some("is bound to no commit".to_owned()) };
    if sha.len() < super::SHORTEST_SHA {
        return Some(format!("is bound to {sha}, and at least {} digits of a commit are wanted", super::SHORTEST_SHA));
    }
    match bound.get(sha) {
        Some(Bound::Ancestor(_)) => None,
        Some(Bound::Several(number)) => {
            Some(format!("is bound to {sha}, which {number} commits of the base begin with"))
        }
        Some(Bound::CutOff) => Some(format!(
            "is bound to {sha}, which is not in this history; it is cut off: run `git fetch --unshallow` and try again"
        )),
        Some(Bound::Nothing) | None => {
            Some(format!("is bound to {sha}, on which the tip of the base branch does not stand"))
        }
    }
}

fn incomplete(freeze: &Freeze, ledger: &Ledger, policy: &Policy, today: Date) -> Option<String> {
    let mut missing = Vec::new();
    if freeze.reason.is_none() {
        missing.push("a reason");
    }
    if !ledger.is_dated() {
        return (!missing.is_empty()).then(|| format!("lacks {}", missing.join(", ")));
    }
    if freeze.citation.is_none() {
        missing.push("a citation");
    }
    let (Some(first), Some(last)) = (freeze.first_seen, freeze.expires_on) else {
        missing.extend(freeze.first_seen.is_none().then_some("the day it was first seen"));
        missing.extend(freeze.expires_on.is_none().then_some("a last day"));
        return Some(format!("lacks {}", missing.join(", ")));
    };
    if !missing.is_empty() {
        return Some(format!("lacks {}", missing.join(", ")));
    }
    if first > today {
        return Some(format!("was first seen on {first}, and today is {today}"));
    }
    let most = policy.freeze.max_days;
    let days = first.until(last).map_or(i32::MAX, |span| span.get_days());
    (i64::from(days) > i64::from(most)).then(|| format!("lasts {days} days, and the policy allows {most}"))
}

fn over_budget(policy: &Policy, origin: &str, ledger: &Ledger) -> Option<Finding> {
    let most = policy.freeze.max_entries?;
    let entries = ledger.freezes.len();
    (u32::try_from(entries).unwrap_or(u32::MAX) > most).then(|| {
        let message = format!(
            "the freeze ledger {origin} has {}, and the policy allows {most}",
            wording::count(entries, "entry", "entries")
        );
        Finding::new(&FREEZE_OVER_BUDGET, message)
    })
}

/// Known only where a map was read; where none could be, that is a finding of its own.
fn over_lines(facts: &Facts<'_>, origin: &str) -> Option<Finding> {
    let most = u64::from(facts.policy.freeze.max_lines?);
    let MapFacts::Read(map) = &facts.surface.map else { return None };
    let lines = map.frozen_lines();
    (lines > most).then(|| {
        let message = format!(
            "the freezes of {origin} leave {lines} lines that only frozen tests run, and the policy allows {most}"
        );
        Finding::new(&FREEZE_OVER_BUDGET, message)
    })
}
