//! The rules about properties.

use jiff::civil::Date;

use super::table::{Beside, Meaning, meaning};
use super::{Failed, KnownBad, Outcome, PropertyFacts, Sample, node_id};
use crate::evidence::ledger::{Failure, Ledger, LedgerFacts, Match};
use crate::evidence::{Facts, Finding, Rule, wording};
use crate::policy::Class;
use crate::words::Verdict;

static PROPERTY_INCOMPLETE: Rule = Rule {
    id: "property-incomplete",
    verdict: Verdict::Unscored,
    when: "A property ended without saying enough: no trial log, a log with a fault, another seed or fewer trials than asked, no draw that met its precondition.",
    innocent: "The property itself is at fault, or its command is not to be found in the sandbox.",
    next: "Look at the named fault; where the code under test ends the process, it must not, and where the property is at fault, a maintainer repairs it on the base branch.",
};

static PROPERTY_FAILED: Rule = Rule {
    id: "property-failed",
    verdict: Verdict::Reject,
    when: "A property fails on the merged tree, and holds on the base with the same seed or fails there with another signature.",
    innocent: "Never with the same seed; a property that is flaky is frozen on the base branch.",
    next: "Run `evidence-gate score` with the named seed, and repair what the counterexample shows.",
};

static PROPERTY_FAILED_ON_BASE: Rule = Rule {
    id: "property-failed-on-base",
    verdict: Verdict::Hold,
    when: "A property fails on the merged tree exactly as it fails on the base.",
    innocent: "The failure is older than the change: it can be cited and frozen on the base branch, and not here.",
    next: "A maintainer repairs the base branch or freezes the failure there; a person decides on this change, and a maintainer approves this head.",
};

static PROPERTY_BASE_UNKNOWN: Rule = Rule {
    id: "property-base-unknown",
    verdict: Verdict::Unscored,
    when: "A property fails on the merged tree, and could not be run to an end on the base.",
    innocent: "The failure may be older than the change.",
    next: "A maintainer sees to it that the property runs on the base branch.",
};

static ENVIRONMENT_MISSING: Rule = Rule {
    id: "environment-missing",
    verdict: Verdict::Unscored,
    when: "A property or live test fails because a module or a program is missing, and the change touches a build or dependency file.",
    innocent: "The change needs a dependency that the scoring host does not have yet.",
    next: "The operator adds the dependency to the scoring host's toolchains, or the change does without it.",
};

static PROPERTY_FROZEN: Rule = Rule {
    id: "property-frozen",
    verdict: Verdict::Unscored,
    when: "A property fails with the signature of an unexpired freeze: it is skipped, and observes nothing.",
    innocent: "The failure is known and flaky.",
    next: "Wait for the repair on the base branch; a frozen failure excuses nobody, it only says that nothing was observed.",
};

/// Also said of live tests.
pub(in crate::evidence) static FREEZE_EXPIRED: Rule = Rule {
    id: "freeze-expired",
    verdict: Verdict::Reject,
    when: "A property or live test fails with the signature of a freeze that has ended.",
    innocent: "Nobody repaired the failure in the time that the freeze gave.",
    next: "A maintainer repairs what fails on the base branch, or accepts a new freeze there.",
};

static FREEZE_OPEN: Rule = Rule {
    id: "freeze-open",
    verdict: Verdict::Hold,
    when: "A property holds while an unexpired freeze of it stands.",
    innocent: "The failure is flaky, or was repaired and the freeze forgotten.",
    next: "A person looks at this head, and a maintainer approves it; the freeze goes from the base branch once the failure is repaired.",
};

static SAMPLE_STALE: Rule = Rule {
    id: "sample-stale",
    verdict: Verdict::Reject,
    when: "A property's sample, computed anew from the merged tree, is not what the oracles hold.",
    innocent: "The product's answers are meant to change: then the sample changes first, through the evidence lane.",
    next: "Restore the answer that the sample holds, or change the sample in a pull request of its own.",
};

static TAUTOLOGICAL_PROPERTY: Rule = Rule {
    id: "tautological-property",
    verdict: Verdict::Unscored,
    when: "A property accepts an input that is known to be bad.",
    innocent: "The property has lost its teeth, or the code under test tampers with it.",
    next: "A maintainer repairs the property on the base branch; if it rejects the input there, look at what the change does to it.",
};

/// Also said of live tests.
pub(in crate::evidence) static FLAKY_OUTCOME: Rule = Rule {
    id: "flaky-outcome",
    verdict: Verdict::Hold,
    when: "Two runs with the same inputs ended in different ways; the worse one stands.",
    innocent: "What is observed depends on time or chance.",
    next: "Make the outcome depend on the seed alone; another run does not replace the worse outcome, and a maintainer may approve this head.",
};

pub(in crate::evidence) static RULES: &[&Rule] = &[
    &PROPERTY_INCOMPLETE,
    &PROPERTY_FAILED,
    &PROPERTY_FAILED_ON_BASE,
    &PROPERTY_BASE_UNKNOWN,
    &ENVIRONMENT_MISSING,
    &PROPERTY_FROZEN,
    &FREEZE_EXPIRED,
    &FREEZE_OPEN,
    &SAMPLE_STALE,
    &TAUTOLOGICAL_PROPERTY,
    &FLAKY_OUTCOME,
];

pub(in crate::evidence) fn judge(facts: &Facts<'_>, properties: &[PropertyFacts]) -> Vec<Finding> {
    properties.iter().flat_map(|property| of_one(facts, property)).collect()
}

fn of_one(facts: &Facts<'_>, property: &PropertyFacts) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(of_trials(facts, property));
    let id = &property.id;
    match &property.sample {
        None | Some(Sample::Same) => {}
        Some(Sample::Stale(why)) => {
            findings.push(Finding::new(
                &SAMPLE_STALE,
                format!("the sample of property {id} is not what comes out now: {why}"),
            ));
        }
        Some(Sample::Incomplete(why)) => {
            findings
                .push(Finding::new(&PROPERTY_INCOMPLETE, format!("property {id} could not compute its sample: {why}")));
        }
    }
    match &property.known_bad {
        None | Some(KnownBad::Rejected(_)) => {}
        Some(KnownBad::Accepted(numbers)) => {
            let numbers = wording::list(numbers.iter().map(ToString::to_string).collect());
            let message = format!("property {id} accepts what is known to be bad: number {numbers} of its inputs");
            findings.push(Finding::new(&TAUTOLOGICAL_PROPERTY, message));
        }
        Some(KnownBad::Incomplete(why)) => {
            let message = format!("property {id} did not judge its known-bad inputs to an end: {why}");
            findings.push(Finding::new(&PROPERTY_INCOMPLETE, message));
        }
    }
    if let Some(flaky) = &property.flaky {
        let message = format!(
            "property {id} with the seed {} was {} in one run and {} in another with the same inputs; the first stands",
            property.seed, flaky.stands, flaky.other
        );
        findings.push(Finding::new(&FLAKY_OUTCOME, message));
    }
    findings
}

fn of_trials(facts: &Facts<'_>, property: &PropertyFacts) -> Option<Finding> {
    let PropertyFacts { id, seed, merged, base, .. } = property;
    let beside = Beside {
        frozen: is_frozen(facts, property),
        matching: frozen_by(facts, property),
        build_changes: build_changes(facts),
        keep: &facts.policy.freeze.keep,
    };
    let failure = match merged {
        Outcome::Failed(failed) => told(failed),
        Outcome::Complete(_) | Outcome::Incomplete(_) => String::new(),
    };
    let (rule, message) = match meaning(merged, base.as_ref(), beside) {
        Meaning::Holds => return None,
        Meaning::HoldsFrozen => {
            (&FREEZE_OPEN, format!("property {id} holds with the seed {seed}, and a freeze of it stands"))
        }
        Meaning::Incomplete => {
            let why = match merged {
                Outcome::Incomplete(why) => why.as_str(),
                Outcome::Complete(_) | Outcome::Failed(_) => "it does not say why",
            };
            (&PROPERTY_INCOMPLETE, format!("property {id} does not say enough: {why}"))
        }
        Meaning::Frozen => {
            (&PROPERTY_FROZEN, format!("property {id} fails with the seed {seed} as it is frozen: {failure}"))
        }
        Meaning::FreezeExpired => (
            &FREEZE_EXPIRED,
            format!("property {id} fails with the seed {seed}, and the freeze of this failure has ended: {failure}"),
        ),
        Meaning::EnvironmentMissing => (
            &ENVIRONMENT_MISSING,
            format!(
                "property {id} misses something that the scoring host does not have, and the change touches build or dependency files: {failure}"
            ),
        ),
        Meaning::Failed => {
            let on_base = match base {
                Some(Outcome::Failed(before)) => format!("fails on the base in another way ({})", told(before)),
                _ => "holds on the base".to_owned(),
            };
            (&PROPERTY_FAILED, format!("property {id} fails with the seed {seed}, and {on_base}: {failure}"))
        }
        Meaning::FailedOnBase => (
            &PROPERTY_FAILED_ON_BASE,
            format!("property {id} fails with the seed {seed} as it does on the base: {failure}"),
        ),
        Meaning::BaseUnknown => {
            let why = match base {
                Some(Outcome::Incomplete(why)) => why.as_str(),
                _ => "it was not run there",
            };
            (
                &PROPERTY_BASE_UNKNOWN,
                format!(
                    "property {id} fails with the seed {seed}, and nothing can be said of the base ({why}): {failure}"
                ),
            )
        }
    };
    Some(Finding::new(rule, message))
}

/// `AssertionError: 3 > 2 (counterexample 0)`.
pub(in crate::evidence) fn told(failed: &Failed) -> String {
    let what = format!("{}: {}", wording::text(&failed.exc_type), wording::text(failed.message.trim()));
    match failed.counterexample() {
        Some(input) => format!("{what} (counterexample {})", wording::text(&input.to_string())),
        None => what,
    }
}

fn build_changes(facts: &Facts<'_>) -> bool {
    facts.rows.iter().any(|row| row.class == Class::Build)
}

/// Whether the change touches what brings modules and programs, and this failure is that one is not there.
pub(in crate::evidence) fn misses_environment(facts: &Facts<'_>, failed: &Failed) -> bool {
    build_changes(facts) && failed.misses_something()
}

/// The rule for a live test whose environment is missing.
pub(in crate::evidence) fn environment_missing(message: String) -> Finding {
    Finding::new(&ENVIRONMENT_MISSING, message)
}

fn is_frozen(facts: &Facts<'_>, property: &PropertyFacts) -> bool {
    let LedgerFacts::Read { ledger, .. } = facts.ledger else { return false };
    let nodeid = node_id(&property.id);
    ledger.live(facts.today).any(|freeze| freeze.nodeid == nodeid)
}

/// Whether the failure on the merged tree falls under a freeze, ended or not: then the base is not asked.
pub fn frozen(facts: &Facts<'_>, property: &PropertyFacts) -> bool {
    frozen_by(facts, property) != Match::None
}

/// The freeze that the failure on the merged tree falls under; none where it did not fail.
fn frozen_by<'a>(facts: &Facts<'a>, property: &PropertyFacts) -> Match<'a> {
    let LedgerFacts::Read { ledger, .. } = facts.ledger else { return Match::None };
    matching(ledger, property, facts.today)
}

/// The freeze of a ledger that the failure on the merged tree falls under; none where it did not fail.
pub fn matching<'a>(ledger: &'a Ledger, property: &PropertyFacts, today: Date) -> Match<'a> {
    let Outcome::Failed(failed) = &property.merged else { return Match::None };
    let nodeid = node_id(&property.id);
    let failure = Failure {
        nodeid: &nodeid,
        seed: Some(property.seed),
        exc_type: &failed.exc_type,
        message: &failed.message,
        error_code: None,
    };
    ledger.matching(&failure, today)
}
