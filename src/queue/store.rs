//! The interface that every store keeps.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Envelopes, Errands, Evaluation, EvaluationId, Exhibits, Job, JobId, Lease, RunnerId};
use crate::delivery::Inbox;
use crate::words::{HeadSha, RunId, Verdict};

/// Deliveries, jobs and evaluations. Every method is one transaction; `now` is the caller's clock.
#[async_trait]
pub trait Queue: Inbox + Errands + Envelopes + Exhibits {
    /// Takes the oldest job that is due and whose pull request nobody else works on, or whose lease ran out. `None`: nothing is due.
    async fn claim(&self, runner: &RunnerId, now: Timestamp, lease: Duration) -> Result<Option<Lease>, QueueError>;

    /// Extends a lease. [`Fenced::Lost`] when it ran out and somebody else took the job: stop at once.
    async fn heartbeat(&self, lease: &Lease, now: Timestamp, length: Duration) -> Result<Fenced, QueueError>;

    /// Ends the try. Losing the lease first makes this [`Fenced::Lost`] and changes nothing.
    async fn settle(&self, lease: &Lease, end: Settled, now: Timestamp) -> Result<Fenced, QueueError>;

    /// Notes which check run shows this evaluation, and the head that it is on. An intent to post that an earlier try noted is void from
    /// here on: what was to be posted is judged anew.
    async fn run_opened(&self, lease: &Lease, head: &HeadSha, run: RunId) -> Result<Fenced, QueueError>;

    /// Notes the intent to post, with the whole record, if this lease still stands and no newer work for the pull request is
    /// queued or running; otherwise the record is kept as late (R39, R41). One transaction.
    async fn begin_post(&self, lease: &Lease, verdict: Verdict, record: &[u8]) -> Result<Superseded, QueueError>;

    /// Notes that the run was posted and read back.
    async fn posted(&self, lease: &Lease) -> Result<Fenced, QueueError>;

    /// The evaluation of this name.
    async fn evaluation(&self, id: EvaluationId) -> Result<Option<Evaluation>, QueueError>;

    /// What waits, runs and failed for good, for metrics and for `work --drain`.
    async fn depth(&self, now: Timestamp) -> Result<Depth, QueueError>;

    /// Jobs that failed for good, newest first, with the last error.
    async fn dead(&self, most: u32) -> Result<Vec<(Job, String)>, QueueError>;

    /// Puts a dead job back into the queue, with all its tries before it; where a job of its pull request is queued already, that one
    /// does the work of both. [`QueueError::NotDead`] where there is no such dead job.
    async fn revive(&self, job: JobId, now: Timestamp) -> Result<(), QueueError>;

    /// Forgets deliveries that were received before this moment, and returns how many. Keep at least seven days: until then a
    /// redelivery is known as one (R8). Jobs and evaluations stay.
    async fn forget(&self, before: Timestamp) -> Result<u64, QueueError>;

    /// Returns when a job may have come, or after `longest`. A hint only: the caller claims again either way.
    async fn wait(&self, longest: Duration);
}

/// Whether the lease still held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fenced {
    /// The change was made.
    Held,
    /// The lease was lost; nothing was changed.
    Lost,
}

/// Whether this evaluation may be posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Superseded {
    /// It is the newest: post it.
    Current,
    /// Newer work exists, or the lease was lost: it was recorded and must not be posted.
    ByNewer,
}

/// How a try ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Nothing is left to do.
    Done,
    /// Try again, not before this moment. Past the bound of attempts the store makes it [`Settled::Dead`] by itself.
    Retry {
        /// The earliest next try.
        not_before: Timestamp,
        /// What went wrong, for people; no secrets, no bodies.
        why: String,
    },
    /// It will not work; a person must look.
    Dead {
        /// What went wrong.
        why: String,
    },
}

/// Counts of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Jobs and errands that nobody took yet, due or not.
    pub queued: u64,
    /// Jobs under a lease.
    pub running: u64,
    /// Jobs that failed for good.
    pub dead: u64,
    /// Seconds since the oldest queued job's first trigger.
    pub oldest_seconds: u64,
}

/// Why the store could not answer.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The database said no, or did not answer.
    #[error("the queue's database failed while it was to {doing}")]
    Database {
        /// The step, as a verb.
        doing: &'static str,
        /// The database's own words.
        #[source]
        source: sqlx::Error,
    },
    /// A stored row cannot be read: written by a newer version, or damaged.
    #[error("row {row} of {table} cannot be read: {why}")]
    Unreadable {
        /// The table.
        table: &'static str,
        /// Its key.
        row: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no dead errand of this number: it was revived before, or never failed for good.
    #[error("errand {errand} is not among the dead ones")]
    NoDeadErrand {
        /// Its number.
        errand: i64,
    },
    /// There is no dead job of this number: it was revived before, or never failed for good.
    #[error("job {} is not among the dead ones", job.0)]
    NotDead {
        /// Its number.
        job: JobId,
    },
}
