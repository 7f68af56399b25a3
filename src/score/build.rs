//! Facts and findings -> record.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::title::title;
use super::{
    Acknowledged, COULD_NOT_JUDGE, Digests, FindingRow, Lane, LocationRow, OverlapRow, Product, PropertyRow,
    RECORD_INCOMPLETE, Record, RecordRow, RepositoryRow, Run, Tests, UnobservedRow, all_rules,
};
use crate::change::PathChange;
use crate::evidence::surface::{FileSubtraction, Subtraction};
use crate::evidence::{ClassedRow, Finding, Location};
use crate::words::{BaseSha, ForgeKind, HeadSha, MergeBase, ObjectId, PullNumber, Verdict};

/// The shape of the record that this version writes.
pub(super) const SCHEMA: u32 = 1;

/// The worst finding's verdict; review when there is none. The order of findings changes nothing.
pub fn decide<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Verdict {
    findings.into_iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Review)
}

/// What a record is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Where the pull request lives.
    pub forge: ForgeKind,
    /// Whose repository it is.
    pub repository: RepositoryRow,
    /// Which pull request; `None` for a local change.
    pub pull: Option<PullNumber>,
    /// The name of the target branch, or the revision given on the command line.
    pub base_ref: String,
    /// Tip of the target branch.
    pub base: BaseSha,
    /// Tip of the pull request.
    pub head: HeadSha,
    /// Their one common ancestor; `None` when there is none, more than one, or when it was not found out.
    pub merge_base: Option<MergeBase>,
    /// The tree that merging makes; `None` when they do not merge, or when it was not found out.
    pub merged_tree: Option<ObjectId>,
}

/// What was found out about it.
#[derive(Clone, Debug, Default)]
pub struct Judged<'a> {
    /// Every row of the change with its class, in git's order.
    pub rows: &'a [ClassedRow<'a>],
    /// sha256 of each input that decided.
    pub digests: Digests,
    /// Every finding, in any order.
    pub findings: Vec<Finding>,
    /// What the coverage map says of the changed lines, where one was read.
    pub subtraction: Option<&'a Subtraction>,
    /// Evidence that is neither there nor required, one phrase each.
    pub not_observed: Vec<String>,
    /// Whether the policy gates this pull request at all.
    pub scope: Scope,
    /// What each property did.
    pub properties: Vec<PropertyRow>,
    /// What the live tests reported.
    pub tests: Option<Tests>,
    /// Who may acknowledge holds, and approves this very head.
    pub acknowledged_by: Vec<String>,
    /// The evidence lane, when it was asked for.
    pub lane: Option<Lane>,
}

/// Whether the policy gates a pull request (`scope.gate`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// It is judged.
    #[default]
    Gated,
    /// It matches nothing of the scope; the reason, for the title. A convenience and no control: the scope reads what the author wrote.
    NotGated(String),
}

impl Record {
    /// The record of an evaluation. Its verdict is the worst finding's; where no finding objects but the record lacks what a review
    /// must stand on, it gains the finding `record-incomplete` and is unscored.
    pub fn new(subject: Subject, judged: Judged<'_>, run: Run) -> Self {
        let Judged {
            rows,
            digests,
            findings,
            subtraction,
            mut not_observed,
            scope,
            properties,
            tests,
            acknowledged_by,
            lane,
        } = judged;
        let (findings, files) = match &scope {
            Scope::Gated => (findings, subtraction.map_or(&[][..], |subtraction| &subtraction.files)),
            Scope::NotGated(why) => {
                not_observed.push(format!("everything: this pull request is not gated ({why})"));
                (Vec::new(), &[][..])
            }
        };
        let mut record = Self {
            schema: SCHEMA,
            product: Product { name: "evidence-gate".into(), version: env!("CARGO_PKG_VERSION").into() },
            forge: subject.forge,
            repository: subject.repository,
            pull: subject.pull,
            base_ref: subject.base_ref,
            base: subject.base.to_string(),
            head: subject.head.to_string(),
            merge_base: subject.merge_base.map(|id| id.to_string()),
            merged_tree: subject.merged_tree.map(|id| id.to_string()),
            digests,
            rows: rows.iter().map(row).collect(),
            verdict: decide(&findings),
            findings: in_order(findings),
            overlap: files.iter().flat_map(overlap_rows).collect(),
            unobserved: files.iter().flat_map(unobserved_rows).collect(),
            properties,
            citations: Vec::new(),
            lane: lane.filter(|_| scope == Scope::Gated),
            acknowledged: Vec::new(),
            tests,
            not_observed,
            title: String::new(),
            run,
        };
        record.release_holds(&acknowledged_by);
        record.refuse_to_pass_incomplete();
        record.title = title(&record, &scope);
        record
    }

    /// The record of an evaluation that failed for a reason of ours: unscored, and never silence (R28). `why` is one sentence for
    /// the author of the pull request, lower-case and without a full stop, as every message, and without secrets.
    pub fn unscored(subject: Subject, why: impl Into<String>, run: Run) -> Self {
        let judged = Judged { findings: vec![Finding::new(&COULD_NOT_JUDGE, why)], ..Judged::default() };
        Self::new(subject, judged, run)
    }

    /// A record that nothing worse than a hold speaks against, and whose holds somebody acknowledged, says review (DESIGN section 3).
    fn release_holds(&mut self, by: &[String]) {
        if self.verdict != Verdict::Hold || by.is_empty() {
            return;
        }
        let holds = self.findings.iter().filter(|finding| finding.verdict == Verdict::Hold);
        let rules: BTreeSet<&str> = holds.map(|finding| finding.rule.as_str()).collect();
        let row =
            |rule: &str, by: &String| Acknowledged { rule: rule.to_owned(), by: by.clone(), sha: self.head.clone() };
        self.acknowledged = rules.into_iter().flat_map(|rule| by.iter().map(move |by| row(rule, by))).collect();
        self.verdict = Verdict::Review;
    }

    fn refuse_to_pass_incomplete(&mut self) {
        let missing = self.missing_for_review();
        if self.verdict == Verdict::Review && !missing.is_empty() {
            let finding = Finding::new(&RECORD_INCOMPLETE, format!("the record has no {}", missing.join(", no ")));
            self.verdict = finding.verdict;
            self.findings.insert(0, finding_row(finding));
        }
    }
}

/// Worst first, then by the order of the rules, then by place: the same list whatever the order of the oracles' answers.
fn in_order(mut findings: Vec<Finding>) -> Vec<FindingRow> {
    let place: BTreeMap<&str, usize> = all_rules().enumerate().map(|(at, rule)| (rule.id, at)).collect();
    for finding in &mut findings {
        finding.locations.sort();
        finding.locations.dedup();
    }
    findings.sort_by(|a, b| {
        let rank = |f: &Finding| (Reverse(f.verdict), place.get(f.rule.id).copied().unwrap_or(usize::MAX), f.rule.id);
        let texts = |f: &Finding| (f.message.clone(), f.next.clone());
        rank(a).cmp(&rank(b)).then_with(|| a.locations.cmp(&b.locations)).then_with(|| texts(a).cmp(&texts(b)))
    });
    findings.into_iter().map(finding_row).collect()
}

fn finding_row(finding: Finding) -> FindingRow {
    FindingRow {
        rule: finding.rule.id.to_owned(),
        verdict: finding.verdict,
        message: finding.message,
        next: finding.next,
        locations: finding.locations.iter().map(location_row).collect(),
    }
}

fn location_row(location: &Location) -> LocationRow {
    LocationRow { path: location.path.to_string(), line: location.line, end_line: location.end_line }
}

fn row(classed: &ClassedRow<'_>) -> RecordRow {
    let PathChange { status, old, new } = classed.row;
    RecordRow {
        status: status.letter().to_string(),
        old_path: old.as_ref().map(|side| side.path.to_string()),
        path: classed.row.path().to_string(),
        old_mode: old.as_ref().map(|side| side.mode.to_string()),
        mode: new.as_ref().map(|side| side.mode.to_string()),
        class: classed.class,
    }
}

fn overlap_rows(file: &FileSubtraction) -> impl Iterator<Item = OverlapRow> {
    file.overlap.iter().map(|overlap| OverlapRow {
        path: file.path.to_string(),
        old_line: overlap.line.old_line,
        head_line: overlap.line.head_line,
        frozen_tests: overlap.frozen_tests.clone(),
    })
}

fn unobserved_rows(file: &FileSubtraction) -> impl Iterator<Item = UnobservedRow> {
    file.unobserved.iter().map(|line| UnobservedRow {
        path: file.path.to_string(),
        old_line: line.old_line,
        head_line: line.head_line,
    })
}
