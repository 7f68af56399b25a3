//! Trigger -> leased [`Job`]: durable, deduplicated, coalesced, fenced.
//!
//! [`Queue`] is the whole interface; SQLite keeps it today. Deliberately absent: no transaction is held while a job runs, no
//! judgement, no call to a forge.

mod backoff;
#[expect(dead_code, reason = "the stores that use it come next")]
mod coalesce;
mod job;
mod store;

pub use backoff::{MAX_ATTEMPTS, backoff};
pub use job::{Evaluation, EvaluationId, EvaluationState, Generation, Job, JobId, Lease, RunnerId};
pub use store::{Depth, Fenced, Queue, QueueError, Settled, Superseded};
