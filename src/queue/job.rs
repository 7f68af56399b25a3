//! A piece of work and the right to do it.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::Trigger;
use crate::words::{HeadSha, RunId, Verdict};

/// The row number of a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JobId(pub i64);

/// Grows by one with each job that is taken up for a pull request. The newest generation alone may publish (R39).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub i64);

/// The name of one evaluation: the `external_id` of its check run (R35).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvaluationId(pub Uuid);

impl fmt::Display for EvaluationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a worker process, as `--runner-id` gives it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RunnerId(pub String);

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The row.
    pub id: JobId,
    /// The newest trigger that was folded into it.
    pub trigger: Trigger,
    /// When the first trigger of it came.
    pub queued: Timestamp,
    /// 1 on the first try.
    pub attempt: u32,
}

/// The right to do a job until `expires`; only its holder can settle it or publish for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The work.
    pub job: Job,
    /// The fencing token.
    pub generation: Generation,
    /// The evaluation that this try makes. The same on every try of one job, so that a run posted before a crash is found again.
    pub evaluation: EvaluationId,
    /// When the right ends, unless a heartbeat extends it.
    pub expires: Timestamp,
}

/// How far an evaluation came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationState {
    /// Taken up, nothing posted yet.
    Started,
    /// The intent to post was noted; a crash from here on is repaired by looking the run up (R33, R39).
    Posting,
    /// Posted and read back.
    Published,
    /// Finished after a newer generation had begun: recorded, not posted (R41).
    Late,
}

/// One evaluation as the store keeps it.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Its name.
    pub id: EvaluationId,
    /// The fencing token under which it was made.
    pub generation: Generation,
    /// What was judged, once known.
    pub head: Option<HeadSha>,
    /// How far it came.
    pub state: EvaluationState,
    /// The check run, once it was created.
    pub run: Option<RunId>,
    /// The answer, once given.
    pub verdict: Option<Verdict>,
    /// The record as JSON, once made.
    pub record: Option<Vec<u8>>,
}
