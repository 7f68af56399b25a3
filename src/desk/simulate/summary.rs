//! A judged history -> numbers. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::advice::{Lever, without_a_line};
use super::ask::History;
use super::outcome::{Outcome, Simulated};
use crate::words::Verdict;

/// How many of the slowest are named.
const SLOWEST: usize = 5;

/// Changes that took less are not worth a line.
const SLOW: Duration = Duration::from_millis(500);

/// What a history says about a policy.
pub(super) struct Summary<'h> {
    /// How many changes were judged.
    pub(super) judged: usize,
    /// How many had which verdict, the best first.
    pub(super) verdicts: Vec<(Verdict, usize)>,
    /// Why changes would have waited, the most frequent first.
    pub(super) reasons: Vec<Reason<'h>>,
    /// The paths that were held or refused, the most frequent first.
    pub(super) paths: Vec<HeldPath<'h>>,
    /// Lines of the policy that would let more pass, the most useful first.
    pub(super) levers: Vec<(Lever, usize)>,
    /// How many more would pass with all of these lines together.
    pub(super) with_all_levers: usize,
    /// The changes that took longest.
    pub(super) slowest: Vec<&'h Simulated>,
    /// The changes that could not be judged, and why.
    pub(super) not_judged: Vec<(&'h Simulated, &'h str)>,
}

/// One rule with one verdict.
pub(super) struct Reason<'h> {
    pub(super) rule: &'h str,
    pub(super) verdict: Verdict,
    /// In how many changes it objects.
    pub(super) changes: usize,
    /// In how many of them nothing else does.
    pub(super) alone: usize,
}

/// A path that objections name.
pub(super) struct HeldPath<'h> {
    pub(super) path: &'h str,
    /// In how many changes.
    pub(super) changes: usize,
    /// The rule that names it most often.
    pub(super) rule: &'h str,
    /// What the policy can say about it, or who must look.
    pub(super) advice: String,
}

impl<'h> Summary<'h> {
    pub(super) fn of(history: &'h History) -> Self {
        let judged: Vec<(&Simulated, Verdict)> =
            history.changes.iter().filter_map(|change| Some((change, change.outcome.verdict()?))).collect();
        let count = |verdict| judged.iter().filter(|(_, of)| *of == verdict).count();
        let verdicts = [Verdict::Review, Verdict::Hold, Verdict::Unscored, Verdict::Reject]
            .map(|verdict| (verdict, count(verdict)));
        let (levers, with_all_levers) = levers(&history.changes);
        let mut slowest: Vec<&Simulated> = history.changes.iter().filter(|change| change.took >= SLOW).collect();
        slowest.sort_by_key(|change| std::cmp::Reverse(change.took));
        slowest.truncate(SLOWEST);
        let not_judged = history.changes.iter().filter_map(|change| match &change.outcome {
            Outcome::NotJudged(why) => Some((change, why.as_str())),
            Outcome::Judged { .. } => None,
        });
        Self {
            judged: judged.len(),
            verdicts: verdicts.to_vec(),
            reasons: reasons(&history.changes),
            paths: paths(history),
            levers,
            with_all_levers,
            slowest,
            not_judged: not_judged.collect(),
        }
    }

    /// How many changes would have passed by themselves.
    pub(super) fn passed(&self) -> usize {
        self.verdicts.iter().find(|(verdict, _)| *verdict == Verdict::Review).map_or(0, |(_, count)| *count)
    }
}

/// `52%`, `18.5%`; nothing of nothing is nothing.
pub(super) fn share(count: usize, of: usize) -> String {
    let tenths = (count * 1_000 + of / 2).checked_div(of).unwrap_or(0);
    let text = format!("{}.{}", tenths / 10, tenths % 10);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

fn reasons(changes: &[Simulated]) -> Vec<Reason<'_>> {
    let mut counted: BTreeMap<(&str, Verdict), (usize, usize)> = BTreeMap::new();
    for change in changes {
        let objections: BTreeMap<&str, Verdict> =
            change.outcome.objections().fold(BTreeMap::new(), |mut of, finding| {
                let worst = of.entry(finding.rule.as_str()).or_insert(finding.verdict);
                *worst = finding.verdict.max(*worst);
                of
            });
        for (rule, verdict) in &objections {
            let (in_all, alone) = counted.entry((rule, *verdict)).or_default();
            *in_all += 1;
            *alone += usize::from(objections.len() == 1);
        }
    }
    let mut reasons: Vec<Reason<'_>> = counted
        .into_iter()
        .map(|((rule, verdict), (changes, alone))| Reason { rule, verdict, changes, alone })
        .collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse((reason.changes, reason.alone)));
    reasons
}

fn paths(history: &History) -> Vec<HeldPath<'_>> {
    let mut by_path: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut changes_of: BTreeMap<&str, usize> = BTreeMap::new();
    for change in &history.changes {
        let places: BTreeSet<(&str, &str)> = change
            .outcome
            .objections()
            .flat_map(|finding| finding.locations.iter().map(|at| (at.path.as_str(), finding.rule.as_str())))
            // How wide a change is says nothing about one path of it.
            .filter(|(_, rule)| *rule != "too-wide")
            .collect();
        for (path, rule) in &places {
            *by_path.entry(path).or_default().entry(rule).or_default() += 1;
        }
        let named: BTreeSet<&str> = places.iter().map(|(path, _)| *path).collect();
        for path in named {
            *changes_of.entry(path).or_default() += 1;
        }
    }
    let mut paths: Vec<HeldPath<'_>> = by_path
        .into_iter()
        .filter_map(|(path, rules)| {
            let (rule, _) = rules.iter().max_by_key(|(rule, count)| (**count, std::cmp::Reverse(**rule)))?;
            let advice = match Lever::of(rule, Some(path)) {
                Some(lever) => format!("{lever} ({})", lever.place(&history.policy_text)),
                None => without_a_line(rule).to_owned(),
            };
            Some(HeldPath { path, changes: changes_of.get(path).copied().unwrap_or(0), rule, advice })
        })
        .collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.changes));
    paths
}

/// For each line of the policy how many changes it alone would let pass, and how many all of them would.
fn levers(changes: &[Simulated]) -> (Vec<(Lever, usize)>, usize) {
    let mut alone: BTreeMap<Lever, usize> = BTreeMap::new();
    let mut together = 0;
    for change in changes {
        let needed: Option<Vec<Vec<Lever>>> = change.outcome.objections().map(Lever::all_of).collect();
        let Some(needed) = needed.filter(|needed| !needed.is_empty()) else { continue };
        let needed: BTreeSet<Lever> = needed.into_iter().flatten().collect();
        together += 1;
        for lever in &needed {
            *alone.entry(lever.clone()).or_default() += usize::from(needed.len() == 1);
        }
    }
    let mut levers: Vec<(Lever, usize)> = alone.into_iter().collect();
    levers.sort_by_key(|(_, changes)| std::cmp::Reverse(*changes));
    (levers, together)
}
