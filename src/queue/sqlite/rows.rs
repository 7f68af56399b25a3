//! Words of the product as columns, and back.

use jiff::Timestamp;
use sqlx::SqlitePool;
use uuid::Uuid;

use super::body;
use super::write::Doing as _;
use crate::event::{Cause, Trigger};
use crate::queue::{EvaluationId, Job, JobId, QueueError};
use crate::words::{DeliveryId, ForgeKind, HeadSha, InstallationId, PullNumber, RepoRef, RepositoryId, RunId, Verdict};

/// The shape of a stored trigger that this version writes and reads.
pub(super) const SHAPE: i64 = 1;

/// What jobs and evaluations belong to. Names change, these do not (R87).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PullKey {
    pub(super) forge: ForgeKind,
    pub(super) repository: RepositoryId,
    pub(super) pull: PullNumber,
}

impl PullKey {
    pub(super) fn of(trigger: &Trigger) -> Self {
        Self { forge: trigger.repository.forge, repository: trigger.repository.id, pull: trigger.pull }
    }

    /// The three columns.
    pub(super) fn columns(self) -> (&'static str, i64, i64) {
        (self.forge.as_str(), self.repository.0.cast_signed(), self.pull.0.cast_signed())
    }
}

/// A moment as it is stored.
pub(super) fn micros(moment: Timestamp) -> i64 {
    moment.as_microsecond()
}

/// The column of a cause.
pub(super) fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Opened => "opened",
        Cause::Reopened => "reopened",
        Cause::Pushed => "pushed",
        Cause::Retargeted => "retargeted",
        Cause::DraftFlipped => "draft_flipped",
        Cause::Replayed => "replayed",
        Cause::Asked => "asked",
        Cause::BaseChanged => "base_changed",
        Cause::Missed => "missed",
        Cause::Reviewed => "reviewed",
        Cause::Labelled => "labelled",
        Cause::Closed => "closed",
    }
}

fn cause(word: &str) -> Option<Cause> {
    let all = [
        Cause::Opened,
        Cause::Reopened,
        Cause::Pushed,
        Cause::Retargeted,
        Cause::DraftFlipped,
        Cause::Replayed,
        Cause::Asked,
        Cause::BaseChanged,
        Cause::Missed,
        Cause::Reviewed,
        Cause::Labelled,
        Cause::Closed,
    ];
    all.into_iter().find(|cause| cause_word(*cause) == word)
}

pub(super) fn forge(word: &str) -> Option<ForgeKind> {
    [ForgeKind::Github, ForgeKind::Gitlab, ForgeKind::Local].into_iter().find(|forge| forge.as_str() == word)
}

/// The verdict of a column.
pub(super) fn verdict(word: &str) -> Option<Verdict> {
    let all = [Verdict::Review, Verdict::Hold, Verdict::Unscored, Verdict::Reject];
    all.into_iter().find(|verdict| verdict.as_str() == word)
}

/// The columns that make a job, whatever its state.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct JobRow {
    id: i64,
    v: i64,
    forge: String,
    repository: i64,
    pull: i64,
    name: String,
    installation: Option<i64>,
    head: Option<String>,
    cause: String,
    pub(super) state: String,
    queued: i64,
    pub(super) newest: i64,
    pub(super) due: i64,
    pub(super) attempt: i64,
    pub(super) evaluation: Option<Vec<u8>>,
    pub(super) error: Option<String>,
    pub(super) delivery: Option<String>,
}

/// The columns of [`JobRow`].
pub(super) const JOB_COLUMNS: &str = "id, v, forge, repository, pull, name, installation, head, cause, state, \
                                      queued, newest, due, attempt, evaluation, error, delivery";

impl JobRow {
    pub(super) fn id(&self) -> JobId {
        JobId(self.id)
    }

    /// The job, or which part of the row no version of ours can have written.
    pub(super) fn job(&self) -> Result<Job, QueueError> {
        Ok(Job {
            id: self.id(),
            trigger: self.trigger()?,
            queued: self.moment(self.queued)?,
            attempt: u32::try_from(self.attempt).map_err(|_| self.unreadable("attempt"))?,
        })
    }

    pub(super) fn trigger(&self) -> Result<Trigger, QueueError> {
        if self.v != SHAPE {
            return Err(self.unreadable("v"));
        }
        let head = self.head.as_deref().map(str::parse::<HeadSha>).transpose();
        Ok(Trigger {
            installation: self.installation.map(|id| InstallationId(id.cast_unsigned())),
            repository: RepoRef {
                forge: forge(&self.forge).ok_or_else(|| self.unreadable("forge"))?,
                id: RepositoryId(self.repository.cast_unsigned()),
                name: self.name.parse().map_err(|_| self.unreadable("name"))?,
            },
            pull: PullNumber(self.pull.cast_unsigned()),
            head: head.map_err(|_| self.unreadable("head"))?,
            cause: cause(&self.cause).ok_or_else(|| self.unreadable("cause"))?,
        })
    }

    pub(super) fn evaluation(&self) -> Result<Option<EvaluationId>, QueueError> {
        let id = self.evaluation.as_deref().map(Uuid::from_slice).transpose();
        Ok(id.map_err(|_| self.unreadable("evaluation"))?.map(EvaluationId))
    }

    pub(super) fn moment(&self, micros: i64) -> Result<Timestamp, QueueError> {
        Timestamp::from_microsecond(micros).map_err(|_| self.unreadable("a moment"))
    }

    fn unreadable(&self, column: &str) -> QueueError {
        let why = format!("{column} has a value that this version does not know");
        QueueError::Unreadable { table: "jobs", row: self.id.to_string(), why }
    }
}

/// A delivery as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDelivery {
    /// Which hook sent it.
    pub hook: String,
    /// The event header.
    pub event: String,
    /// When the receiver had it whole.
    pub received: Timestamp,
    /// `queued`, `coalesced`, or `ignored: ` and why.
    pub outcome: String,
    /// The bytes that were signed. `None`: it repeated an earlier body, which has been forgotten since.
    pub body: Option<Vec<u8>>,
}

pub(super) async fn delivery(
    readers: &SqlitePool,
    forge: ForgeKind,
    id: &DeliveryId,
) -> Result<Option<StoredDelivery>, QueueError> {
    type Row = (String, String, i64, String, Option<Vec<u8>>);
    let sql = "SELECT d.hook, d.event, d.received, d.outcome, coalesce(d.body, first.body)
        FROM seen s
        JOIN deliveries d ON d.seq = s.seq
        LEFT JOIN seen f ON f.content = s.content AND f.replay = 0
        LEFT JOIN deliveries first ON first.seq = f.seq
        WHERE s.forge = ? AND s.delivery = ?";
    let query = sqlx::query_as(sql).bind(forge.as_str()).bind(id.as_str());
    let row: Option<Row> = query.fetch_optional(readers).await.doing("read a delivery")?;
    let unreadable =
        |why: &str| QueueError::Unreadable { table: "deliveries", row: id.to_string(), why: why.to_owned() };
    let Some((hook, event, received, outcome, packed)) = row else { return Ok(None) };
    let received = Timestamp::from_microsecond(received).map_err(|_| unreadable("its moment is out of range"))?;
    let body = packed.map(|packed| body::unpack(&packed)).transpose();
    let body = body.map_err(|error| unreadable(&format!("its body cannot be decompressed: {error}")))?;
    Ok(Some(StoredDelivery { hook, event, received, outcome, body }))
}

/// The column of a run.
pub(super) fn run_column(run: RunId) -> i64 {
    run.0.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_is_written_is_read_back() {
        for word in [
            "opened",
            "reopened",
            "pushed",
            "retargeted",
            "draft_flipped",
            "replayed",
            "asked",
            "base_changed",
            "missed",
            "reviewed",
            "labelled",
            "closed",
        ] {
            assert_eq!(cause(word).map(cause_word), Some(word));
        }
        for word in ["github", "gitlab", "local"] {
            assert_eq!(forge(word).map(ForgeKind::as_str), Some(word));
        }
        for word in ["review", "hold", "unscored", "reject"] {
            assert_eq!(verdict(word).map(Verdict::as_str), Some(word));
        }
        assert_eq!((cause("merged"), forge("gitea"), verdict("success")), (None, None, None));
    }
}
