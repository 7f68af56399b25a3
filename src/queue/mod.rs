//! Trigger -> leased [`Job`]: durable, deduplicated, coalesced, fenced.
//!
//! [`Queue`] is the whole interface; SQLite keeps it today. Deliberately absent: no transaction is held while a job runs, no
//! judgement, no call to a forge.

mod backoff;
mod coalesce;
mod envelopes;
mod errands;
mod job;
mod pages;
mod sqlite;
mod store;

pub use backoff::{MAX_ATTEMPTS, backoff};
pub use envelopes::{Added, Envelopes, Link};
pub use errands::{Answer, Audit, AuditFilter, DeadErrand, ErrandLease, Errands, Hanging, Reserved, Standing};
pub use job::{Evaluation, EvaluationId, EvaluationState, Generation, Job, JobId, Lease, RunnerId};
pub use pages::{Exhibits, KnownRepository, Pages, Pass, PassHash, Past, RepositoryKey, Shown};
pub use sqlite::{OpenError, SqliteOptions, SqlitePages, SqliteQueue, StoredDelivery};
pub use store::{Depth, Fenced, Queue, QueueError, Settled, Superseded};
