//! Keeping and ending a lease.

use std::time::Duration;

use jiff::Timestamp;
use sqlx::{SqliteConnection, SqlitePool};

use super::rows::{PullKey, cause_word, micros};
use super::work;
use super::write::{Doing as _, Write};
use crate::queue::backoff::MAX_ATTEMPTS;
use crate::queue::coalesce::{SUPERSEDES_NOTHING, later};
use crate::queue::{Fenced, Lease, QueueError, Settled};

const DOING: &str = "settle a job";

/// Whether exactly the lease's own row was changed.
pub(super) fn fenced(done: &sqlx::sqlite::SqliteQueryResult) -> Fenced {
    if done.rows_affected() == 0 { Fenced::Lost } else { Fenced::Held }
}

/// Whether this lease still stands. Nobody else can take it before the transaction ends.
pub(super) async fn stands(db: &mut SqliteConnection, lease: &Lease) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ? AND state = 'running' AND generation = ?)")
        .bind(lease.job.id.0)
        .bind(lease.generation.0)
        .fetch_one(db)
        .await
}

/// Whether the pull request's newest generation is this lease's: nobody took it over, and it was not closed.
pub(super) async fn is_newest(db: &mut SqliteConnection, lease: &Lease) -> Result<bool, sqlx::Error> {
    let (forge, repository, pull) = PullKey::of(&lease.job.trigger).columns();
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM pulls WHERE forge = ? AND repository = ? AND pull = ? AND generation = ?)",
    )
    .bind(forge)
    .bind(repository)
    .bind(pull)
    .bind(lease.generation.0)
    .fetch_one(db)
    .await
}

/// Whether work is queued that makes this lease's evaluation stale.
pub(super) async fn newer_is_queued(db: &mut SqliteConnection, lease: &Lease) -> Result<bool, sqlx::Error> {
    let (forge, repository, pull) = PullKey::of(&lease.job.trigger).columns();
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE forge = ? AND repository = ? AND pull = ? AND state = 'queued'
            AND cause != ?)",
    )
    .bind(forge)
    .bind(repository)
    .bind(pull)
    .bind(cause_word(SUPERSEDES_NOTHING))
    .fetch_one(db)
    .await
}

/// [`crate::queue::Queue::heartbeat`].
pub(super) async fn heartbeat(
    writer: &SqlitePool,
    lease: &Lease,
    now: Timestamp,
    length: Duration,
) -> Result<Fenced, QueueError> {
    const DOING: &str = "extend a lease";
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let done = sqlx::query("UPDATE jobs SET expires = ? WHERE id = ? AND state = 'running' AND generation = ?")
        .bind(micros(later(now, length)))
        .bind(lease.job.id.0)
        .bind(lease.generation.0)
        .execute(write.connection())
        .await
        .doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(fenced(&done))
}

/// [`crate::queue::Queue::settle`].
pub(super) async fn settle(
    writer: &SqlitePool,
    lease: &Lease,
    end: Settled,
    now: Timestamp,
) -> Result<Fenced, QueueError> {
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    if !stands(db, lease).await.doing(DOING)? {
        write.undo().await.doing(DOING)?;
        return Ok(Fenced::Lost);
    }
    match end {
        Settled::Done => delete(db, lease).await,
        Settled::Dead { why } => bury(db, lease, &why).await,
        Settled::Retry { why, .. } if lease.job.attempt >= MAX_ATTEMPTS => bury(db, lease, &why).await,
        Settled::Retry { not_before, why } => retry(db, lease, not_before.max(now), &why).await,
    }
    .doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(Fenced::Held)
}

async fn delete(db: &mut SqliteConnection, lease: &Lease) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM jobs WHERE id = ?").bind(lease.job.id.0).execute(db).await?;
    Ok(())
}

async fn bury(db: &mut SqliteConnection, lease: &Lease, why: &str) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE jobs SET state = 'dead', generation = NULL, runner = NULL, expires = NULL, error = ? WHERE id = ?",
    )
    .bind(why)
    .bind(lease.job.id.0)
    .execute(db)
    .await?;
    Ok(())
}

/// Queues the job again. Newer work, or the pull request's closing, makes that needless; a replay that waits is taken in.
async fn retry(db: &mut SqliteConnection, lease: &Lease, due: Timestamp, why: &str) -> Result<(), sqlx::Error> {
    if newer_is_queued(db, lease).await? || !is_newest(db, lease).await? {
        return delete(db, lease).await;
    }
    work::delete_queued(db, PullKey::of(&lease.job.trigger)).await?;
    sqlx::query(
        "UPDATE jobs SET state = 'queued', generation = NULL, runner = NULL, expires = NULL, due = ?, error = ? WHERE id = ?",
    )
    .bind(micros(due))
    .bind(why)
    .bind(lease.job.id.0)
    .execute(db)
    .await?;
    Ok(())
}
