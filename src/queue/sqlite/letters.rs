//! What waits, and what will not work.

use jiff::Timestamp;
use sqlx::{AssertSqlSafe, SqlitePool};

use super::rows::{JOB_COLUMNS, JobRow, micros};
use super::write::{Doing as _, Write};
use crate::queue::{DeadErrand, Depth, Job, JobId, QueueError};

/// [`crate::queue::Queue::depth`].
pub(super) async fn depth(readers: &SqlitePool, now: Timestamp) -> Result<Depth, QueueError> {
    let sql = "SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'running'),
        count(*) FILTER (WHERE state = 'dead'), min(queued) FILTER (WHERE state = 'queued')
        FROM (SELECT state, queued FROM jobs UNION ALL SELECT state, queued FROM errands WHERE state != 'done')";
    let row: (i64, i64, i64, Option<i64>) =
        sqlx::query_as(sql).fetch_one(readers).await.doing("count what is queued")?;
    let (queued, running, dead, oldest) = row;
    let oldest = oldest.map_or(0, |oldest| micros(now).saturating_sub(oldest) / 1_000_000);
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    Ok(Depth { queued: count(queued), running: count(running), dead: count(dead), oldest_seconds: count(oldest) })
}

/// [`crate::queue::Queue::dead`].
pub(super) async fn dead(readers: &SqlitePool, most: u32) -> Result<Vec<(Job, String)>, QueueError> {
    let sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE state = 'dead' ORDER BY newest DESC, id DESC LIMIT ?");
    let rows: Vec<JobRow> =
        sqlx::query_as(AssertSqlSafe(sql)).bind(i64::from(most)).fetch_all(readers).await.doing("list dead jobs")?;
    Ok(rows.into_iter().filter_map(letter).collect())
}

/// [`crate::queue::Errands::dead_errands`].
pub(super) async fn dead_errands(readers: &SqlitePool, most: u32) -> Result<Vec<DeadErrand>, QueueError> {
    type Row = (i64, String, i64, String);
    let sql =
        "SELECT id, key, attempt, coalesce(error, '') FROM errands WHERE state = 'dead' ORDER BY id DESC LIMIT $1";
    let rows: Vec<Row> =
        sqlx::query_as(sql).bind(i64::from(most)).fetch_all(readers).await.doing("list dead errands")?;
    let row = |(id, key, tries, why): Row| DeadErrand { id, key, tries: u32::try_from(tries).unwrap_or(u32::MAX), why };
    Ok(rows.into_iter().map(row).collect())
}

/// A job that no version of ours can have written is counted and logged; there is nothing else to show of it.
fn letter(row: JobRow) -> Option<(Job, String)> {
    match row.job() {
        Ok(job) => Some((job, row.error.unwrap_or_default())),
        Err(error) => {
            tracing::error!(job.id = row.id().0, "a dead job cannot be shown: {error}");
            None
        }
    }
}

/// [`crate::queue::Queue::revive`].
pub(super) async fn revive(writer: &SqlitePool, job: JobId, now: Timestamp) -> Result<(), QueueError> {
    const DOING: &str = "revive a dead job";
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    let sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE state = 'dead' AND id = ?");
    let row: Option<JobRow> =
        sqlx::query_as(AssertSqlSafe(sql)).bind(job.0).fetch_optional(&mut *db).await.doing(DOING)?;
    if row.is_none() {
        write.undo().await.doing(DOING)?;
        return Err(QueueError::NotDead { job });
    }
    // A queued job of the same pull request looks at the same present state.
    sqlx::query(
        "DELETE FROM jobs WHERE id = ?1 AND EXISTS (SELECT 1 FROM jobs AS live WHERE live.state = 'queued'
            AND live.forge = jobs.forge AND live.repository = jobs.repository AND live.pull = jobs.pull)",
    )
    .bind(job.0)
    .execute(&mut *db)
    .await
    .doing(DOING)?;
    sqlx::query("UPDATE jobs SET state = 'queued', due = ?, attempt = 0, evaluation = NULL WHERE id = ?")
        .bind(micros(now))
        .bind(job.0)
        .execute(&mut *db)
        .await
        .doing(DOING)?;
    write.commit().await.doing(DOING)
}
