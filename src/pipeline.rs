//! Collects the facts and calls the rooms in order, for the worker and for the command line alike.
//!
//! Every failure on the way is an error here and `unscored` for whoever reads the answer; none is a verdict of its own.

mod approval;
mod collect;
mod digests;
mod fulfilled;
mod group;
mod kept;
mod lane;
mod ledger;
mod lock;
mod map;
mod policy;
mod running;
mod source;
mod standing;
mod whole;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::change::{Compared, Git, GitError, Mirror, PathChange, Remedy, Want};
use crate::classes::Classifier;
use crate::evidence::Facts;
use crate::evidence::authority::Reviews;
use crate::evidence::surface::{MapFacts, Picture, picture};
use crate::forge::{Account, Remote};
use crate::score::{Digests, Judged, Record, RepositoryRow, Run, Scope, Subject};
use crate::web::Exhibit;
use crate::words::{BaseSha, ForgeKind, HeadSha, PullNumber, RepoRef};

pub use digests::known_digests;
pub use group::{Member, chain};
pub use kept::OperatorsFile;
pub use ledger::check_ledger;
pub use map::{KnownMaps, OperatorsMap};
pub use policy::{OperatorsPolicy, operators_policy};
pub use running::{Room, Running, kept_outcomes};
pub use standing::{Standing, standing};

/// What is to be judged.
#[derive(Clone, Debug)]
pub struct Question {
    /// Where the change comes from.
    pub origin: Origin,
    /// The name of the target branch, or the revision given on the command line.
    pub base_ref: String,
    /// Tip of the target branch.
    pub base: BaseSha,
    /// Tip of the pull request.
    pub head: HeadSha,
    /// The operator's own policy; the one at the base's tip where there is none.
    pub policy: Option<OperatorsPolicy>,
    /// The operator's own fixture lock; the one at the base's tip where there is none.
    pub lock: Option<OperatorsFile>,
    /// The operator's own freeze ledger; the one at the base's tip where there is none.
    pub ledger: Option<OperatorsFile>,
    /// The operator's own coverage map; it is believed to be of the merge base, unless it names its commit.
    pub map: Option<OperatorsMap>,
    /// The coverage maps that the base branch's own CI uploaded.
    pub maps: Option<KnownMaps>,
    /// A file that remembers the sha256 of blobs that were hashed before; without it they are hashed each time.
    pub known_digests: Option<PathBuf>,
    /// The reviews of the pull request; `None` where there are none to be asked for.
    pub reviews: Option<Reviews>,
    /// Whether the evidence lane is asked for.
    pub lane: LaneAsked,
    /// How properties and live tests are run.
    pub running: Running,
    /// The name of this runner.
    pub runner: String,
    /// The moment whose day decides which freezes are live: a record's own, when it is replayed; now, where there is none.
    pub today: Option<Timestamp>,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

/// Whether a change asks for the evidence lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneAsked {
    /// If its pull request carries the label.
    #[default]
    ByLabel,
    /// As if it carried the label: for a person who tries a change of evidence out.
    Always,
}

/// Where a change comes from. What it says of the author is the author's word: it selects, and grants nothing.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A pull request on a forge.
    Pull {
        /// The repository that it targets.
        repository: RepoRef,
        /// Its number.
        pull: PullNumber,
        /// Who opened it.
        author: Account,
        /// The name of its branch.
        branch: String,
        /// Names of its labels.
        labels: Vec<String>,
    },
    /// A merge group: several pull requests on top of each other.
    Group {
        /// The repository that it would be merged in.
        repository: RepoRef,
        /// The full name of the queue's own ref.
        reference: String,
        /// The pull requests in it, with the records of their own verdicts.
        members: Vec<Member>,
    },
    /// Two commits of a repository on this machine, under the folder's name. Always gated.
    Local {
        /// The folder's name.
        name: String,
    },
}

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct PipelineError(#[from] pub GitError);

impl PipelineError {
    /// Whether another try may work.
    pub fn is_passing(&self) -> bool {
        self.0.remedy() == Remedy::Retry
    }

    /// The text for people outside of the scoring host; the cause goes to the log.
    pub fn public(&self) -> String {
        self.0.public()
    }
}

/// Judges two commits of a repository that is here whole.
pub fn score(git: &Git, question: &Question) -> Result<Record, PipelineError> {
    judge(git, question, &mut source::Whole, |_| ()).map(|(record, ())| record)
}

/// As [`score`], with the changed files beside what the coverage map says of their lines; empty where no map was read.
pub fn score_with_picture(git: &Git, question: &Question) -> Result<(Record, Picture), PipelineError> {
    judge(git, question, &mut source::Whole, |facts| match &facts.surface.map {
        MapFacts::Read(map) => picture(facts.rows, facts.blobs, &map.surface),
        MapFacts::NotNeeded | MapFacts::Absent { .. } | MapFacts::Unusable { .. } | MapFacts::TooCoarse { .. } => {
            Picture::default()
        }
    })
}

/// Fetches exactly the two commits into the repository's mirror below `data_dir`, and judges them there.
pub fn score_mirrored(data_dir: &Path, remote: &Remote, question: &Question) -> Result<Record, PipelineError> {
    let (mirror, base, git) = mirrored(data_dir, remote, question)?;
    let mut source = source::Mirrored::new(&mirror, remote, &base);
    judge(&git, question, &mut source, |_| ()).map(|(record, ())| record)
}

/// As [`score_mirrored`], with what a page shows besides the record.
pub fn score_mirrored_with_exhibit(
    data_dir: &Path,
    remote: &Remote,
    question: &Question,
) -> Result<(Record, Exhibit), PipelineError> {
    let (mirror, base, git) = mirrored(data_dir, remote, question)?;
    let mut source = source::Mirrored::new(&mirror, remote, &base);
    judge(&git, question, &mut source, Exhibit::of)
}

/// The mirror with the two commits in it.
fn mirrored(data_dir: &Path, remote: &Remote, question: &Question) -> Result<(Mirror, Want, Git), PipelineError> {
    let (repository, reference) = match &question.origin {
        Origin::Pull { repository, pull, .. } => (repository, (remote.head_ref)(*pull)),
        Origin::Group { repository, reference, .. } => (repository, reference.clone()),
        Origin::Local { .. } => unreachable!("what is local has no remote; the command line asks `score`"),
    };
    let mirror = Mirror::open(data_dir, repository.forge, repository.id)?;
    let base = Want { sha: question.base.id().clone(), reference: format!("refs/heads/{}", question.base_ref) };
    let head = Want { sha: question.head.id().clone(), reference };
    let git = mirror.fetch_change(remote, &base, &head)?;
    Ok((mirror, base, git))
}

/// The rooms in order: change, policy, classes, evidence, score. `fetch` brings contents that the repository lacks; `more` is shown what
/// the oracles saw.
fn judge<T>(
    git: &Git,
    question: &Question,
    fetch: collect::Fetch<'_>,
    more: impl FnOnce(&Facts<'_>) -> T,
) -> Result<(Record, T), PipelineError> {
    let started = (question.clock)();
    let rules = policy::rules(git, question, &mut *fetch)?;
    let classifier = Classifier::new(&rules.policy);
    let mut classes = Vec::new();
    let class = &mut |row: &PathChange| classes.push(classifier.class_of(row));
    let compared = git.change_with(question.base.clone(), question.head.clone(), class)?;
    let change = collect::change(question, &compared);
    let rows = collect::classed(&change, &classes);
    let collected = collect::collect(git, question, &rules, &compared, (&change, &rows), &mut *fetch)?;
    let facts = collected.facts(&rules, &classifier, &change, &rows);
    let scope = policy::scope(git, &rules.policy, question, &compared)?;
    let mut findings = group::findings(&question.origin, &change, crate::evidence::judge(&facts));
    let lane = lane::collect(git, question, &rules, &compared, &facts, &mut *fetch)?;
    if let Some(lane) = &lane {
        findings.retain(|finding| !lane.gives_way(finding));
        findings.extend(crate::evidence::lane::judge(&facts, lane));
    }
    let mut not_observed = crate::evidence::not_observed(&facts);
    let brought = match (&scope, lane.as_ref().and_then(|lane| lane.proposal.as_deref())) {
        (Scope::Gated, None) => running::run(git, question, &rules, &facts, &findings, fetch)?,
        (Scope::Gated, Some(proposal)) => running::run_proposed(git, question, proposal, &facts, &findings, fetch)?,
        (Scope::NotGated(_), _) => running::Brought::default(),
    };
    // What a change of evidence asks to be run is what its own policy asks.
    let next =
        lane.as_ref().and_then(|lane| lane.proposal.as_deref()).map(|proposal| proposal.next_policy(facts.policy));
    let run_by = Facts { policy: next.unwrap_or(facts.policy), ..facts };
    findings.extend(crate::evidence::judge_runs(&run_by, &brought.runs));
    if let Some(lane) = &lane {
        findings.extend(crate::evidence::lane::judge_properties(&facts, lane, &brought.proposed));
        findings.extend(crate::evidence::lane::conclude(lane, &findings));
    }
    not_observed.extend(brought.not_observed);
    let approvals = approval::approvals(git, question, &rules.policy, &compared, &findings)?;
    findings.extend(crate::evidence::authority::not_counted(&approvals).filter(|_| approvals.counted.is_empty()));
    let digests = Digests { oracles: brought.oracles, ..collected.digests(&rules) };
    let (properties, tests) = (brought.properties, brought.tests);
    let subtraction = collected.subtraction();
    let judged = Judged {
        rows: &rows,
        digests,
        findings,
        subtraction,
        not_observed,
        scope,
        properties,
        tests,
        acknowledged_by: approvals.counted,
        lane: lane.as_ref().map(|lane| lane::row(lane, question)),
    };
    let known = matches!(compared, Compared::One(_)).then_some(&change);
    let subject = Subject {
        forge: question.origin.forge(),
        repository: question.origin.repository(),
        pull: question.origin.pull(),
        base_ref: question.base_ref.clone(),
        base: question.base.clone(),
        head: question.head.clone(),
        merge_base: known.map(|change| change.merge_base.clone()),
        merged_tree: known.and_then(|change| change.merged_tree.clone()),
    };
    let more = more(&facts);
    Ok((Record::new(subject, judged, run_row(&question.runner, started, (question.clock)())), more))
}

impl Origin {
    fn forge(&self) -> ForgeKind {
        match self {
            Self::Pull { repository, .. } | Self::Group { repository, .. } => repository.forge,
            Self::Local { .. } => ForgeKind::Local,
        }
    }

    fn repository(&self) -> RepositoryRow {
        match self {
            Self::Pull { repository, .. } | Self::Group { repository, .. } => repository_row(repository),
            Self::Local { name } => RepositoryRow { id: None, name: name.clone() },
        }
    }

    fn pull(&self) -> Option<PullNumber> {
        match self {
            Self::Pull { pull, .. } => Some(*pull),
            Self::Group { .. } | Self::Local { .. } => None,
        }
    }
}

/// A repository of a forge as the record names it.
pub fn repository_row(repository: &RepoRef) -> RepositoryRow {
    RepositoryRow { id: Some(repository.id), name: repository.name.to_string() }
}

/// The part of a record that may differ between equal runs.
pub fn run_row(runner: &str, started: Timestamp, finished: Timestamp) -> Run {
    Run {
        started: started.to_string(),
        finished: finished.to_string(),
        runner: runner.to_owned(),
        host_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
