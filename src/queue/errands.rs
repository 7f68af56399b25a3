//! What the store keeps besides jobs and evaluations: errands, what verdicts stand, comments, marks, and the audit log.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{EvaluationId, Fenced, Generation, Lease, QueueError, RunnerId, Settled};
use crate::event::{Errand, Trigger};
use crate::words::{DeliveryId, ForgeKind, HeadSha, PullNumber, RepoRef, RepositoryId, RunId, Verdict};

/// The right to run an errand until it expires. The try is the fencing token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrandLease {
    /// The row.
    pub id: i64,
    /// What is to be done.
    pub errand: Errand,
    /// The delivery that asked for it first.
    pub delivery: Option<DeliveryId>,
    /// When it was asked for.
    pub queued: Timestamp,
    /// 1 on the first try.
    pub attempt: u32,
}

/// An errand that failed for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadErrand {
    /// The row.
    pub id: i64,
    /// What it was.
    pub key: String,
    /// After how many tries.
    pub tries: u32,
    /// The last error.
    pub why: String,
}

/// The last answer that was published for a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which evaluation gave it.
    pub evaluation: EvaluationId,
    /// On which head.
    pub head: HeadSha,
    /// What it says.
    pub verdict: Verdict,
    /// When it was begun: the oldest is judged anew first.
    pub started: Timestamp,
    /// The record as JSON.
    pub record: Vec<u8>,
}

/// A run that was opened and never completed as far as the store knows, and that no live job works at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hanging {
    /// The evaluation that opened it.
    pub evaluation: EvaluationId,
    /// Its try.
    pub generation: Generation,
    /// Where.
    pub repository: RepoRef,
    /// With whose token.
    pub installation: Option<crate::words::InstallationId>,
    /// On which head.
    pub head: HeadSha,
    /// The run.
    pub run: RunId,
}

/// Whether a pull request has the one right to write on its head (R40).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Reserved {
    /// Nobody else writes there while this lease stands.
    Held,
    /// Another pull request with this very head is being judged: wait for it.
    Busy,
    /// The lease was lost.
    Lost,
}

/// What is going on for a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Idle,
    /// A job is queued or running.
    Live,
    /// Its last job failed for good at this moment, or later.
    Dead(Timestamp),
}

/// One row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// When.
    pub at: Timestamp,
    /// `verdict`, `command`, `refusal`, `label`, `configuration`, `installation`, `group` or `map`.
    pub kind: String,
    /// Where.
    pub repository: Option<RepoRef>,
    /// On which pull request.
    pub pull: Option<PullNumber>,
    /// By whom, by login.
    pub who: Option<String>,
    /// Because of which delivery.
    pub delivery: Option<String>,
    /// One line for people.
    pub what: String,
    /// JSON: digests, heads, numbers of runs.
    pub details: String,
}

/// Which rows of the audit log are wanted; what is `None` is not asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The full name, as it was at the time.
    pub repository: Option<String>,
    /// The number.
    pub pull: Option<PullNumber>,
    /// The kind.
    pub kind: Option<String>,
    /// The login.
    pub who: Option<String>,
    /// Not before this moment.
    pub since: Option<Timestamp>,
    /// The newest so many.
    pub most: u32,
}

/// Every method is one transaction; `now` is the caller's clock.
#[async_trait]
pub trait Errands: Send + Sync + 'static {
    /// Takes the errand that has been due longest and whose like nobody runs, or whose lease ran out.
    async fn claim_errand(
        &self,
        runner: &RunnerId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<ErrandLease>, QueueError>;

    /// Extends the lease.
    async fn heartbeat_errand(
        &self,
        lease: &ErrandLease,
        now: Timestamp,
        length: Duration,
    ) -> Result<Fenced, QueueError>;

    /// Ends the try.
    async fn settle_errand(&self, lease: &ErrandLease, end: Settled, now: Timestamp) -> Result<Fenced, QueueError>;

    /// Errands that failed for good, newest first.
    async fn dead_errands(&self, most: u32) -> Result<Vec<DeadErrand>, QueueError>;

    /// Puts a dead errand back into the queue, with all its tries before it; where its like is queued already, that one does the work of
    /// both. [`QueueError::NoDeadErrand`] where there is no such dead errand.
    async fn revive_errand(&self, errand: i64, now: Timestamp) -> Result<(), QueueError>;

    /// Queues errands. One whose like is queued already is left out.
    async fn send(&self, errands: &[Errand], now: Timestamp) -> Result<(), QueueError>;

    /// Queues looks at pull requests as deliveries do, in this order.
    async fn ask(&self, triggers: &[Trigger], now: Timestamp) -> Result<(), QueueError>;

    /// The last answer that was published for this pull request.
    async fn answer(&self, repository: &RepoRef, pull: PullNumber) -> Result<Option<Answer>, QueueError>;

    /// Other pull requests whose last answer is about this very head, with that answer's verdict.
    async fn sharing(
        &self,
        repository: &RepoRef,
        head: &HeadSha,
        except: PullNumber,
    ) -> Result<Vec<(PullNumber, Verdict)>, QueueError>;

    /// Takes the right to write on a head, for as long as the lease stands.
    async fn reserve(&self, lease: &Lease, head: &HeadSha, now: Timestamp) -> Result<Reserved, QueueError>;

    /// What is going on for a pull request.
    async fn standing(&self, repository: &RepoRef, pull: PullNumber) -> Result<Standing, QueueError>;

    /// The pull request that an evaluation is of; the number in `external_id` came from outside.
    async fn pull_of(&self, external_id: &str) -> Result<Option<(RepositoryId, PullNumber)>, QueueError>;

    /// Pull requests that were judged on this head.
    async fn pulls_on(&self, repository: &RepoRef, head: &HeadSha) -> Result<Vec<PullNumber>, QueueError>;

    /// Runs that hang, of evaluations begun before this moment.
    async fn hanging(&self, before: Timestamp) -> Result<Vec<Hanging>, QueueError>;

    /// Notes that a hanging run was ended.
    async fn ended(&self, hanging: &Hanging) -> Result<(), QueueError>;

    /// How many commands were obeyed or refused since a moment: of this person, and on this pull request.
    async fn commands(
        &self,
        repository: &RepoRef,
        pull: PullNumber,
        who: &str,
        since: Timestamp,
    ) -> Result<(u64, u64), QueueError>;

    /// Our one comment on a pull request.
    async fn comment(&self, repository: &RepoRef, pull: PullNumber) -> Result<Option<u64>, QueueError>;

    /// Notes it.
    async fn commented(&self, repository: &RepoRef, pull: PullNumber, comment: u64) -> Result<(), QueueError>;

    /// Drops queued work that cannot be done any more: of an installation, or of some repositories of it.
    async fn drop_work(
        &self,
        installation: crate::words::InstallationId,
        repositories: &[u64],
    ) -> Result<u64, QueueError>;

    /// Whether this delivery was kept.
    async fn knows(&self, forge: ForgeKind, delivery: &DeliveryId) -> Result<bool, QueueError>;

    /// The value of a mark, and when it was set.
    async fn mark(&self, name: &str) -> Result<Option<(Timestamp, String)>, QueueError>;

    /// Sets a mark.
    async fn set_mark(&self, name: &str, value: &str, now: Timestamp) -> Result<(), QueueError>;

    /// Whether a duty is due: it was not taken up in the last `every`. Answers `true` to one of several workers.
    async fn take_duty(&self, name: &str, now: Timestamp, every: Duration) -> Result<bool, QueueError>;

    /// Adds a row to the audit log; a row about a verdict or a delivery that says word for word what an earlier one said, of an earlier try
    /// of the same work, is left out.
    async fn note(&self, row: &Audit) -> Result<(), QueueError>;

    /// Rows of the audit log, newest first.
    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<Audit>, QueueError>;

    /// The delivery that a job was made for first.
    async fn delivery_of(&self, lease: &Lease) -> Result<Option<DeliveryId>, QueueError>;
}
