//! Tests and markers by grammar: whole changes in, findings out.

mod attacks;
mod bounds;
mod catalogue;
mod compare;
mod config;
mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use evidence_gate::change::{BytePath, Change, Mode, PathChange, Side, Status};
use evidence_gate::classes::Classifier;
use evidence_gate::evidence::ledger::LedgerFacts;
use evidence_gate::evidence::surface::{MapFacts, SurfaceFacts};
use evidence_gate::evidence::{
    Analysis, Blob, Blobs, ClassedRow, Comparison, Facts, Finding, Merge, RulesFrom, analyse, judge,
};
use evidence_gate::policy::Policy;
use evidence_gate::words::{BaseSha, HeadSha, MergeBase, ObjectId};
use sha2::Digest;

/// A tree: path to content.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// A tree of texts.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// The policy that the attacks are judged by: built-in classes, and `src/**` is the product.
pub(crate) fn plain_policy() -> Policy {
    evidence_gate::policy::parse("schema = 1\n[classes]\nproduct = [\"src/**\"]\n", "policy").unwrap()
}

fn object(bytes: &[u8]) -> ObjectId {
    hex::encode(sha2::Sha256::digest(bytes)).parse().unwrap()
}

fn side(path: &str, bytes: &[u8]) -> Side {
    Side { path: BytePath::new(path), mode: Mode::FILE, blob: object(bytes) }
}

/// The rows between two trees and the contents of both.
pub(crate) fn rows(base: &Tree, head: &Tree) -> (Vec<PathChange>, Blobs) {
    let paths: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    let mut blobs = Blobs::default();
    let mut rows = Vec::new();
    for path in paths {
        let (old, new) = (base.get(path), head.get(path));
        if old == new {
            continue;
        }
        for bytes in [old, new].into_iter().flatten() {
            blobs.0.insert(object(bytes), Blob::Whole(Arc::from(bytes.as_slice())));
        }
        let status = match (old, new) {
            (None, _) => Status::Added,
            (_, None) => Status::Deleted,
            _ => Status::Modified,
        };
        rows.push(PathChange { status, old: old.map(|b| side(path, b)), new: new.map(|b| side(path, b)) });
    }
    (rows, blobs)
}

/// The plain policy and its classes, made once.
static PLAIN: LazyLock<(Policy, Classifier)> = LazyLock::new(|| {
    let policy = plain_policy();
    let classifier = Classifier::new(&policy);
    (policy, classifier)
});

/// All findings about a change from one tree to another.
pub(crate) fn findings_with(policy: &Policy, base: &Tree, head: &Tree) -> Vec<Finding> {
    judged(policy, &Classifier::new(policy), base, head)
}

fn judged(policy: &Policy, classifier: &Classifier, base: &Tree, head: &Tree) -> Vec<Finding> {
    judged_with(policy, classifier, base, head, &LedgerFacts::Absent)
}

/// All findings under the plain policy where the base has a freeze ledger.
pub(crate) fn findings_with_ledger(base: &Tree, head: &Tree, ledger: &LedgerFacts) -> Vec<Finding> {
    judged_with(&PLAIN.0, &PLAIN.1, base, head, ledger)
}

fn judged_with(
    policy: &Policy,
    classifier: &Classifier,
    base: &Tree,
    head: &Tree,
    ledger: &LedgerFacts,
) -> Vec<Finding> {
    let (rows, blobs) = rows(base, head);
    let change = Change {
        base: BaseSha(object(b"base")),
        head: HeadSha(object(b"head")),
        merge_base: MergeBase(object(b"merge base")),
        merged_tree: None,
        rows,
    };
    let classed: Vec<ClassedRow<'_>> =
        change.rows.iter().map(|row| ClassedRow { row, class: classifier.class_of(row) }).collect();
    let analysis = analyse(policy, &classed, &blobs);
    judge(&Facts {
        policy,
        rules_from: &RulesFrom::Read("a test".to_owned()),
        classifier,
        change: &change,
        comparison: &Comparison::One,
        merge: &Merge::Clean,
        rows: &classed,
        twins: &[],
        blobs: &blobs,
        analysis: &analysis,
        lock: &evidence_gate::evidence::lock::LockFacts::Absent,
        ledger,
        surface: &SurfaceFacts::without_map(MapFacts::NotNeeded, &classed, &blobs),
        today: jiff::civil::date(2026, 10, 1),
    })
}

/// All findings under the plain policy.
pub(crate) fn findings(base: &Tree, head: &Tree) -> Vec<Finding> {
    judged(&PLAIN.0, &PLAIN.1, base, head)
}

/// What analysing a change gives under the plain policy.
pub(crate) fn analysis(base: &Tree, head: &Tree) -> Analysis {
    let (policy, classifier) = &*PLAIN;
    let (rows, blobs) = rows(base, head);
    let classed: Vec<ClassedRow<'_>> =
        rows.iter().map(|row| ClassedRow { row, class: classifier.class_of(row) }).collect();
    analyse(policy, &classed, &blobs)
}

/// The rules of some findings, each once.
pub(crate) fn rule_ids(findings: &[Finding]) -> BTreeSet<&'static str> {
    findings.iter().map(|finding| finding.rule.id).collect()
}

/// Rules that say nothing about how a test was hidden: they speak for the path alone.
pub(crate) const BY_PATH: &[&str] = &[
    "test-config-edited",
    "build-edited",
    "added-test",
    "test-extended",
    "unclassified-path",
    "added-test-acts",
    "test-rewritten",
];
