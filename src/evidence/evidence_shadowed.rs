//! A pull request may not stand in front of evidence either.

use std::collections::{BTreeMap, BTreeSet};

use super::links::{Target, Targets};
use super::{ClassedRow, Facts, Finding, Location, Oracle, Rule, Twin, wording};
use crate::change::{BytePath, Mode};
use crate::words::Verdict;

pub(super) struct EvidenceShadowed;

pub(super) static EVIDENCE_SHADOWED: Rule = Rule {
    id: "evidence-shadowed",
    verdict: Verdict::Reject,
    when: "A file, symbolic link or submodule takes the place of a folder that holds evidence, has the name of evidence up to case and \
           composition of letters, or is a symbolic link into evidence.",
    innocent: "A name that only looks like evidence and has no namesake on the base: it is held, not rejected.",
    next: "Give these files other names, or let the link point elsewhere.",
};

/// Why a path of the change shadows evidence. The order is the order of the sentences.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shadow {
    ReplacesFolder(BytePath),
    Namesake(BytePath),
    LinkInto(BytePath),
    LinkAround(BytePath),
    LinkUnread,
    LooksLike(String),
}

impl Oracle for EvidenceShadowed {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&EVIDENCE_SHADOWED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let mut by_verdict: BTreeMap<Verdict, Vec<(BytePath, Shadow)>> = BTreeMap::new();
        for (path, shadow) in shadows(facts) {
            by_verdict.entry(shadow.verdict()).or_default().push((path, shadow));
        }
        by_verdict.into_iter().rev().map(|(verdict, shadows)| finding(verdict, &shadows)).collect()
    }
}

impl Shadow {
    fn verdict(&self) -> Verdict {
        match self {
            Self::ReplacesFolder(_) | Self::Namesake(_) | Self::LinkInto(_) => Verdict::Reject,
            Self::LinkUnread => Verdict::Unscored,
            Self::LinkAround(_) | Self::LooksLike(_) => Verdict::Hold,
        }
    }

    fn sentence(&self, path: &BytePath) -> String {
        let path = wording::name(path);
        match self {
            Self::ReplacesFolder(held) => {
                format!("{path} takes the place of the folder that holds {}", wording::name(held))
            }
            Self::Namesake(base) => {
                format!("{path} is the same file as the evidence {} on machines that fold names", wording::name(base))
            }
            Self::LinkInto(target) => {
                format!("the symbolic link {path} leads to the evidence {}", wording::name(target))
            }
            Self::LinkAround(held) => {
                format!(
                    "the symbolic link {path} leads to a folder that holds evidence, such as {}",
                    wording::name(held)
                )
            }
            Self::LinkUnread => format!("where the symbolic link {path} leads could not be read"),
            Self::LooksLike(pattern) => {
                format!("{path} would match the evidence pattern {pattern} on machines that fold names")
            }
        }
    }
}

fn finding(verdict: Verdict, shadows: &[(BytePath, Shadow)]) -> Finding {
    let more = match shadows.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more like it)".to_owned(),
        more => format!(" (and {more} more like it)"),
    };
    let message = shadows.first().map(|(path, shadow)| shadow.sentence(path)).unwrap_or_default();
    Finding::new(&EVIDENCE_SHADOWED, format!("{message}{more}"))
        .with_verdict(verdict)
        .at(shadows.iter().map(|(path, _)| Location::file(path)))
}

/// Every path of the change that shadows evidence, with its worst reason.
fn shadows(facts: &Facts<'_>) -> Vec<(BytePath, Shadow)> {
    let mut twins: BTreeMap<&BytePath, Vec<&Twin>> = BTreeMap::new();
    for twin in facts.twins {
        twins.entry(&twin.path).or_default().push(twin);
    }
    for twins in twins.values_mut() {
        twins.sort();
    }
    let targets = Targets::of(&facts.change.rows, facts.blobs);
    let touched: BTreeSet<&BytePath> =
        facts.rows.iter().filter(|row| row.class.is_evidence()).flat_map(|row| row.row.paths()).collect();
    let mut found: Vec<(BytePath, Shadow)> = facts
        .rows
        .iter()
        .filter_map(|row| {
            let new = row.row.new.as_ref()?;
            let mut reasons = in_place(facts, row, twins.get(&new.path).map_or(&[], Vec::as_slice), &touched);
            if new.mode == Mode::SYMLINK {
                reasons.extend(through_link(facts, &targets.resolve(&new.path), &twins));
            }
            // The worst reason, and of equally bad ones always the same.
            let worst = reasons
                .into_iter()
                .max_by(|one, other| one.verdict().cmp(&other.verdict()).then_with(|| other.cmp(one)));
            worst.map(|worst| (new.path.clone(), worst))
        })
        .collect();
    found.sort_by(|(one_path, one), (other_path, other)| (one, one_path).cmp(&(other, other_path)));
    found
}

fn in_place(facts: &Facts<'_>, row: &ClassedRow<'_>, twins: &[&Twin], touched: &BTreeSet<&BytePath>) -> Vec<Shadow> {
    let Some(new) = &row.row.new else { return Vec::new() };
    let is_evidence = |path: &&BytePath| facts.classifier.class(path).is_evidence();
    let mut reasons = Vec::new();
    for twin in twins {
        if let Some(held) = twin.below.iter().find(is_evidence) {
            reasons.push(Shadow::ReplacesFolder(held.clone()));
        }
        if twin.base != new.path && twin.mode != Mode::TREE && is_evidence(&&twin.base) {
            reasons.push(Shadow::Namesake(twin.base.clone()));
        }
    }
    // The same, seen in the rows alone: evidence below this path is gone because this path is no folder any more.
    let below = |path: &&&BytePath| {
        path.as_bytes().strip_prefix(new.path.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'))
    };
    if let Some(held) = touched.iter().find(below) {
        reasons.push(Shadow::ReplacesFolder((*held).clone()));
    }
    if !is_evidence(&&new.path) {
        let looks_like = facts.classifier.classify_folded(&new.path).and_then(|classified| classified.pattern);
        reasons.extend(looks_like.map(|pattern| Shadow::LooksLike(pattern.text)));
    }
    reasons
}

fn through_link(facts: &Facts<'_>, target: &Target, twins: &BTreeMap<&BytePath, Vec<&Twin>>) -> Vec<Shadow> {
    let target = match target {
        Target::Inside(path) => path,
        Target::Unknown => return vec![Shadow::LinkUnread],
        // No name of the repository stands behind these; the link itself is held as any other.
        Target::Root | Target::Outside => return Vec::new(),
    };
    let is_evidence = |path: &BytePath| facts.classifier.class(path).is_evidence();
    let something_below = BytePath::new([target.as_bytes(), b"/_"].concat());
    let mut reasons = Vec::new();
    if is_evidence(target) || is_evidence(&something_below) {
        reasons.push(Shadow::LinkInto(target.clone()));
    }
    for twin in twins.get(target).into_iter().flatten() {
        let below = BytePath::new([twin.base.as_bytes(), b"/_"].concat());
        if is_evidence(if twin.mode == Mode::TREE { &below } else { &twin.base }) {
            reasons.push(Shadow::LinkInto(twin.base.clone()));
        }
        reasons.extend(twin.below.iter().find(|path| is_evidence(path)).map(|held| Shadow::LinkAround(held.clone())));
    }
    for path in [target, &something_below] {
        let looks_like = facts.classifier.classify_folded(path).and_then(|classified| classified.pattern);
        reasons.extend(looks_like.map(|pattern| Shadow::LooksLike(pattern.text)));
    }
    reasons
}
