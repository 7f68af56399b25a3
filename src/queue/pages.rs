//! What pages for people are made of: kept by the worker, read by a process that writes nothing.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{DeadErrand, Depth, EvaluationId, EvaluationState, Generation, Job, QueueError};
use crate::words::{ForgeKind, HeadSha, InstallationId, PullNumber, RepositoryId, Verdict};

/// sha256 of a pass. Whoever can read the store cannot make a pass of it.
pub type PassHash = [u8; 32];

/// A pass to the page of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// What the pass hashes to.
    pub hash: PassHash,
    /// The first moment at which it opens nothing any more.
    pub expires: Timestamp,
}

/// A repository, as rows name it: by numbers, since its name may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepositoryKey {
    /// The forge.
    pub forge: ForgeKind,
    /// The forge's number.
    pub id: RepositoryId,
}

/// An evaluation without its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Its name.
    pub id: EvaluationId,
    /// Its try.
    pub generation: Generation,
    /// Where.
    pub repository: RepositoryKey,
    /// The repository's name at the time, where it was noted.
    pub name: Option<String>,
    /// Of which pull request.
    pub pull: PullNumber,
    /// When it was begun.
    pub started: Timestamp,
    /// How far it came.
    pub state: EvaluationState,
    /// What was judged, once known.
    pub head: Option<HeadSha>,
    /// The answer, once given.
    pub verdict: Option<Verdict>,
}

/// An evaluation with all that a page shows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The evaluation.
    pub past: Past,
    /// The record, byte for byte as it was kept.
    pub record: Option<Vec<u8>>,
    /// What was kept besides.
    pub exhibit: Option<Vec<u8>>,
}

/// A repository in an overview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRepository {
    /// Which.
    pub key: RepositoryKey,
    /// Its latest name, where one was noted.
    pub name: Option<String>,
    /// Under which installation it was seen last.
    pub installation: Option<InstallationId>,
    /// Published verdicts since the moment asked about, in the order review, hold, unscored, reject.
    pub verdicts: [u64; 4],
    /// When its last evaluation was begun.
    pub newest: Timestamp,
}

/// What a worker keeps for pages.
#[async_trait]
pub trait Exhibits: Send + Sync + 'static {
    /// Keeps what a page shows of a try besides its record, and the pass that opens it. A second time replaces the contents and adds the
    /// pass.
    async fn exhibit(
        &self,
        evaluation: EvaluationId,
        generation: Generation,
        content: &[u8],
        pass: Pass,
    ) -> Result<(), QueueError>;

    /// Forgets passes that open nothing any more, and the contents that no pass opens. Returns how many passes that were.
    async fn sweep(&self, now: Timestamp) -> Result<u64, QueueError>;
}

/// What pages read. Nothing here writes.
#[async_trait]
pub trait Pages: Send + Sync + 'static {
    /// The evaluation that a pass opens now. `None` for one that is unknown, and for one that has expired: the caller cannot tell them apart.
    async fn opened_by(&self, pass: PassHash, now: Timestamp) -> Result<Option<Shown>, QueueError>;

    /// The newest try of an evaluation that has a record.
    async fn shown(&self, id: EvaluationId) -> Result<Option<Shown>, QueueError>;

    /// Published evaluations of a repository, newest first.
    async fn history(&self, repository: RepositoryKey, most: u32) -> Result<Vec<Past>, QueueError>;

    /// The newest published evaluation of a repository for which contents are kept.
    async fn last_exhibit(&self, repository: RepositoryKey) -> Result<Option<Shown>, QueueError>;

    /// Records of published evaluations of a repository, newest first.
    async fn records(&self, repository: RepositoryKey, most: u32) -> Result<Vec<Vec<u8>>, QueueError>;

    /// Every repository with an evaluation, the most recently judged first, with verdicts counted from `since`.
    async fn known(&self, since: Timestamp, most: u32) -> Result<Vec<KnownRepository>, QueueError>;

    /// Jobs that wait or run, oldest first; with whether they run.
    async fn live(&self, most: u32) -> Result<Vec<(Job, bool)>, QueueError>;

    /// Jobs that failed for good, newest first, with the last error.
    async fn letters(&self, most: u32) -> Result<Vec<(Job, String)>, QueueError>;

    /// Errands that failed for good, newest first: what each was, after how many tries, and the last error.
    async fn lost_errands(&self, most: u32) -> Result<Vec<DeadErrand>, QueueError>;

    /// What waits, runs and failed for good.
    async fn depth(&self, now: Timestamp) -> Result<Depth, QueueError>;
}
