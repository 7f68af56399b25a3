//! What the oracles may know, read from git.

use std::collections::BTreeSet;

use jiff::civil::Date;
use jiff::tz::Offset;

use super::policy::Rules;
use super::{PipelineError, Question, ledger, lock, map};
use crate::change::{BytePath, Change, Compared, Git, GitError, Merged, Mode};
use crate::classes::Classifier;
use crate::evidence::ledger::LedgerFacts;
use crate::evidence::lock::LockFacts;
use crate::evidence::surface::{MapFacts, Subtraction, SurfaceFacts, surface_blobs};
use crate::evidence::{self, Analysis, Blob, Blobs, ClassedRow, Comparison, Facts, Merge, Twin};
use crate::policy::Class;
use crate::score::Digests;
use crate::words::{MergeBase, ObjectId};

/// Where what the repository lacks comes from.
pub(super) trait Source {
    /// Brings the contents of blobs here; nothing to do where the repository is whole.
    fn blobs(&mut self, wanted: &BTreeSet<ObjectId>) -> Result<(), GitError>;

    /// Brings more of the base's history here, and returns the repository with it; `None` when there is no more to be had.
    fn deeper(&mut self) -> Result<Option<Git>, GitError>;
}

pub(super) type Fetch<'a> = &'a mut dyn Source;

/// The largest file that an oracle reads.
pub(super) const LARGEST_BLOB: u64 = 8 << 20;

/// Everything that was read, so that [`Facts`] can borrow it.
pub(super) struct Collected {
    comparison: Comparison,
    merge: Merge,
    twins: Vec<Twin>,
    blobs: Blobs,
    analysis: Analysis,
    lock: Held<LockFacts>,
    ledger: Held<LedgerFacts>,
    surface: Held<SurfaceFacts>,
    today: Date,
}

/// Facts of a file that the base or the operator keeps, and the sha256 of its text.
#[derive(Default)]
pub(super) struct Held<T> {
    pub(super) facts: T,
    pub(super) digest: Option<String>,
}

/// The change with its rows; without a single merge base it has none, and its merge base means nothing ([`Facts::comparison`]).
pub(super) fn change(question: &Question, compared: &Compared) -> Change {
    match compared {
        Compared::One(change) => change.clone(),
        Compared::NoMergeBase | Compared::SeveralMergeBases(_) => {
            let (base, head) = (question.base.clone(), question.head.clone());
            Change { merge_base: MergeBase(base.id().clone()), base, head, merged_tree: None, rows: Vec::new() }
        }
    }
}

/// Every row with the class that it was given.
pub(super) fn classed<'a>(change: &'a Change, classes: &[Class]) -> Vec<ClassedRow<'a>> {
    change.rows.iter().zip(classes).map(|(row, class)| ClassedRow { row, class: *class }).collect()
}

/// Reads all that the oracles ask for.
pub(super) fn collect(
    git: &Git,
    question: &Question,
    rules: &Rules,
    compared: &Compared,
    (change, rows): (&Change, &[ClassedRow<'_>]),
    fetch: Fetch<'_>,
) -> Result<Collected, PipelineError> {
    let comparison = match compared {
        Compared::One(_) => Comparison::One,
        Compared::NoMergeBase => Comparison::None,
        Compared::SeveralMergeBases(bases) => Comparison::Several(bases.clone()),
    };
    let merge = merge_of(git, change, &comparison)?;
    let mut blobs = Blobs::default();
    let wanted: BTreeSet<_> = evidence::symlink_blobs(&change.rows).cloned().collect();
    read_blobs(git, &wanted, &mut blobs, fetch)?;
    let twins = git.twins(question.base.id(), &evidence::paths_to_look_up(&change.rows, &blobs))?;
    let wanted: BTreeSet<_> = evidence::analysed_blobs(rows).cloned().collect();
    read_blobs(git, &wanted, &mut blobs, fetch)?;
    let analysis = evidence::analyse(&rules.policy, rows, &blobs);
    let lock = lock::collect(git, question, &rules.policy, change.merged_tree.as_ref(), fetch)?;
    let ledger = ledger::collect(git, question, &rules.policy, fetch)?;
    let today = Offset::UTC.to_datetime(question.today.unwrap_or_else(question.clock)).date();
    let lines = if certainly_too_wide(rules, rows) { &[][..] } else { rows };
    let wanted: BTreeSet<_> = surface_blobs(lines).filter(|id| blobs.get(id).is_none()).cloned().collect();
    read_blobs(git, &wanted, &mut blobs, fetch)?;
    let asked = map::Asked { rules, change, rows: lines, blobs: &blobs, ledger: &ledger.facts, today };
    let surface = map::collect(git, question, &asked, fetch)?;
    Ok(Collected { comparison, merge, twins, blobs, analysis, lock, ledger, surface, today })
}

/// Whether a change is rejected for its width however many of its rows are halves of a move; then no line of it is looked at.
fn certainly_too_wide(rules: &Rules, rows: &[ClassedRow<'_>]) -> bool {
    rows.len() as u64 > 2 * u64::from(rules.policy.limits.max_changed_files)
}

impl Collected {
    pub(super) fn facts<'a>(
        &'a self,
        rules: &'a Rules,
        classifier: &'a Classifier,
        change: &'a Change,
        rows: &'a [ClassedRow<'a>],
    ) -> Facts<'a> {
        Facts {
            policy: &rules.policy,
            rules_from: &rules.from,
            classifier,
            change,
            comparison: &self.comparison,
            merge: &self.merge,
            rows,
            twins: &self.twins,
            blobs: &self.blobs,
            analysis: &self.analysis,
            lock: &self.lock.facts,
            ledger: &self.ledger.facts,
            surface: &self.surface.facts,
            today: self.today,
        }
    }

    /// What the coverage map says of the changed lines, where one was read.
    pub(super) fn subtraction(&self) -> Option<&Subtraction> {
        matches!(self.surface.facts.map, MapFacts::Read(_)).then_some(&self.surface.facts.subtraction)
    }

    /// sha256 of every input that decided.
    pub(super) fn digests(&self, rules: &Rules) -> Digests {
        Digests {
            policy: rules.digest.clone(),
            lock: self.lock.digest.clone(),
            ledger: self.ledger.digest.clone(),
            map: self.surface.digest.clone(),
            ..Digests::default()
        }
    }
}

fn merge_of(git: &Git, change: &Change, comparison: &Comparison) -> Result<Merge, PipelineError> {
    if *comparison != Comparison::One || change.merged_tree.is_some() {
        return Ok(Merge::Clean);
    }
    Ok(match git.merged_tree(&change.base, &change.head, &change.merge_base)? {
        Merged::Tree(_) => Merge::Clean,
        Merged::Conflict { paths } => Merge::Conflicts(paths),
    })
}

fn read_blobs(
    git: &Git,
    wanted: &BTreeSet<ObjectId>,
    blobs: &mut Blobs,
    fetch: Fetch<'_>,
) -> Result<(), PipelineError> {
    fetch.blobs(wanted)?;
    blobs.0.extend(git.blobs(wanted, LARGEST_BLOB)?);
    Ok(())
}

/// The file at a path of a commit, up to `limit` bytes.
pub(super) fn read_file(
    git: &Git,
    commit: &ObjectId,
    path: &BytePath,
    limit: u64,
    fetch: Fetch<'_>,
) -> Result<Option<(Mode, Blob)>, PipelineError> {
    let Some((mode, id)) = git.file_at(commit, path)? else { return Ok(None) };
    if matches!(mode, Mode::TREE | Mode::SUBMODULE) {
        return Ok(Some((mode, Blob::Missing)));
    }
    fetch.blobs(&BTreeSet::from([id.clone()]))?;
    Ok(Some((mode, git.blob(&id, limit)?)))
}
