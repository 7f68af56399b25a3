//! What evaluations came to.

use sqlx::{SqliteConnection, SqlitePool};

use super::body;
use super::rows::{run_column, verdict};
use super::settle::{fenced, is_newest, newer_is_queued, stands};
use super::write::{Doing as _, Write};
use crate::queue::{Evaluation, EvaluationId, EvaluationState, Fenced, Generation, Lease, QueueError, Superseded};
use crate::words::{HeadSha, RunId, Verdict};

/// [`crate::queue::Queue::run_opened`].
pub(super) async fn run_opened(
    writer: &SqlitePool,
    lease: &Lease,
    head: &HeadSha,
    run: RunId,
) -> Result<Fenced, QueueError> {
    const DOING: &str = "note a check run";
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    if !stands(db, lease).await.doing(DOING)? {
        write.undo().await.doing(DOING)?;
        return Ok(Fenced::Lost);
    }
    let done =
        sqlx::query("UPDATE evaluations SET head = ?, run = ?, state = 'started' WHERE id = ? AND generation = ?")
            .bind(head.id().as_str())
            .bind(run_column(run))
            .bind(lease.evaluation.0.as_bytes().to_vec())
            .bind(lease.generation.0)
            .execute(db)
            .await
            .doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(fenced(&done))
}

/// [`crate::queue::Queue::begin_post`].
pub(super) async fn begin_post(
    writer: &SqlitePool,
    lease: &Lease,
    verdict: Verdict,
    record: &[u8],
) -> Result<Superseded, QueueError> {
    const DOING: &str = "note the intent to post";
    let record = body::pack(record).map_err(sqlx::Error::Io).doing(DOING)?;
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    let current = may_post(db, lease).await.doing(DOING)?;
    sqlx::query("UPDATE evaluations SET state = ?, verdict = ?, record = ? WHERE id = ? AND generation = ?")
        .bind(if current { "posting" } else { "late" })
        .bind(verdict.as_str())
        .bind(record)
        .bind(lease.evaluation.0.as_bytes().to_vec())
        .bind(lease.generation.0)
        .execute(db)
        .await
        .doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(if current { Superseded::Current } else { Superseded::ByNewer })
}

async fn may_post(db: &mut SqliteConnection, lease: &Lease) -> Result<bool, sqlx::Error> {
    Ok(stands(db, lease).await? && is_newest(db, lease).await? && !newer_is_queued(db, lease).await?)
}

/// [`crate::queue::Queue::posted`].
pub(super) async fn posted(writer: &SqlitePool, lease: &Lease) -> Result<Fenced, QueueError> {
    const DOING: &str = "note a posted run";
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    if !stands(db, lease).await.doing(DOING)? {
        write.undo().await.doing(DOING)?;
        return Ok(Fenced::Lost);
    }
    let done = sqlx::query(
        "UPDATE evaluations SET state = 'published' WHERE id = ? AND generation = ? AND state IN ('posting', 'published')",
    )
    .bind(lease.evaluation.0.as_bytes().to_vec())
    .bind(lease.generation.0)
    .execute(db)
    .await
    .doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(fenced(&done))
}

#[derive(Debug, sqlx::FromRow)]
struct EvaluationRow {
    generation: i64,
    state: String,
    head: Option<String>,
    run: Option<i64>,
    verdict: Option<String>,
    record: Option<Vec<u8>>,
}

/// [`crate::queue::Queue::evaluation`].
pub(super) async fn evaluation(readers: &SqlitePool, id: EvaluationId) -> Result<Option<Evaluation>, QueueError> {
    let sql = "SELECT generation, state, head, run, verdict, record FROM evaluations WHERE id = ?
        ORDER BY generation DESC LIMIT 1";
    let row: Option<EvaluationRow> =
        sqlx::query_as(sql).bind(id.0.as_bytes().to_vec()).fetch_optional(readers).await.doing("read an evaluation")?;
    row.map(|row| row.evaluation(id)).transpose()
}

impl EvaluationRow {
    fn evaluation(self, id: EvaluationId) -> Result<Evaluation, QueueError> {
        let unreadable = |column: &str| QueueError::Unreadable {
            table: "evaluations",
            row: format!("{id}, generation {}", self.generation),
            why: format!("{column} has a value that this version does not know"),
        };
        let state = state_of(&self.state).ok_or_else(|| unreadable("state"))?;
        let head = self.head.as_deref().map(str::parse::<HeadSha>).transpose();
        let record = self.record.as_deref().map(body::unpack).transpose();
        Ok(Evaluation {
            id,
            generation: Generation(self.generation),
            head: head.map_err(|_| unreadable("head"))?,
            state,
            run: self.run.map(|run| RunId(run.cast_unsigned())),
            verdict: match self.verdict.as_deref() {
                Some(word) => Some(verdict(word).ok_or_else(|| unreadable("verdict"))?),
                None => None,
            },
            record: record.map_err(|_| unreadable("record"))?,
        })
    }
}

/// The state of a column.
pub(super) fn state_of(word: &str) -> Option<EvaluationState> {
    match word {
        "started" => Some(EvaluationState::Started),
        "posting" => Some(EvaluationState::Posting),
        "published" => Some(EvaluationState::Published),
        "late" => Some(EvaluationState::Late),
        _ => None,
    }
}
