//! A pull request may not change evidence.

use super::{ClassedRow, Facts, Finding, Oracle, Rule, wording};
use crate::change::Status;
use crate::policy::{Class, Policy, Strictness};
use crate::words::Verdict;

pub(super) struct EvidenceEdited;

pub(super) static EVIDENCE_EDITED: Rule = Rule {
    id: "evidence-edited",
    verdict: Verdict::Reject,
    when: "A path of a row, old or new, is a policy, a freeze ledger, an oracle, a snapshot or a fixture.",
    innocent: "The evidence really has to change: then it changes alone, before or after the product, in the evidence lane.",
    next: "Take these files out of this pull request; evidence changes in one of its own, by a person, with the label `evidence-edit` (`lane.label`) and a maintainer's approval.",
};

impl Oracle for EvidenceEdited {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&EVIDENCE_EDITED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let evidence: Vec<&ClassedRow<'_>> = facts.rows.iter().filter(|row| row.class.is_evidence()).collect();
        let (soft, hard): (Vec<_>, Vec<_>) = evidence.into_iter().partition(|row| softened(facts, row));
        let hard =
            (!hard.is_empty()).then(|| Finding::new(&EVIDENCE_EDITED, message(&hard)).at(wording::places(&hard)));
        let soft = (!soft.is_empty()).then(|| {
            let mut finding =
                Finding::new(&EVIDENCE_EDITED, message(&soft)).with_verdict(Verdict::Hold).at(wording::places(&soft));
            "The policy lets a person decide about these files: a person looks at each, and a maintainer approves this head."
                .clone_into(&mut finding.next);
            finding
        });
        hard.into_iter().chain(soft).collect()
    }
}

/// Whether the policy turns this row's reject into a hold. Every name of the row must be soft by itself.
fn softened(facts: &Facts<'_>, row: &ClassedRow<'_>) -> bool {
    row.row.paths().all(|path| {
        let class = facts.classifier.class(path);
        !class.is_evidence() || soft(facts.policy, row.row.status, class)
    })
}

fn soft(policy: &Policy, status: Status, class: Class) -> bool {
    let added = status == Status::Added
        && matches!(class, Class::Fixture | Class::Snapshot)
        && policy.fixtures.added == Strictness::Hold;
    let edited = matches!(status, Status::Added | Status::Modified | Status::Deleted)
        && class == Class::Snapshot
        && policy.snapshots.edited == Strictness::Hold;
    added || edited
}

fn message(rows: &[&ClassedRow<'_>]) -> String {
    let mut kinds: Vec<(Class, usize)> = Vec::new();
    for class in Class::ALL {
        let number = rows.iter().filter(|row| row.class == class).count();
        if number > 0 {
            kinds.push((class, number));
        }
    }
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(class, number)| match class {
            Class::Policy => wording::count(number, "policy file", "policy files"),
            Class::FreezeLedger => wording::count(number, "freeze ledger", "freeze ledgers"),
            Class::Oracle => wording::count(number, "oracle file", "oracle files"),
            Class::Snapshot => wording::count(number, "snapshot", "snapshots"),
            Class::Fixture => wording::count(number, "fixture file", "fixture files"),
            other => wording::count(number, other.as_str(), other.as_str()),
        })
        .collect();
    let kinds = match kinds.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => kinds.concat(),
    };
    let verbs: Vec<&str> = [Status::Added, Status::Modified, Status::Deleted]
        .into_iter()
        .filter(|status| rows.iter().any(|row| row.row.status == *status))
        .map(|status| match status {
            Status::Added => "added",
            Status::Deleted => "deleted",
            Status::Modified | Status::TypeChanged | Status::Unparsed(_) => "changed",
        })
        .collect();
    let verb = match verbs.as_slice() {
        [one] if rows.iter().all(|row| !matches!(row.row.status, Status::TypeChanged | Status::Unparsed(_))) => one,
        _ => "changed",
    };
    format!("{kinds} {verb}: {}", wording::names(rows))
}
