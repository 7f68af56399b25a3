//! Errands: kept, taken up, ended.

use std::time::Duration;

use jiff::Timestamp;
use sqlx::{SqliteConnection, SqlitePool};

use super::rows::micros;
use super::settle::fenced;
use super::write::{Doing as _, Write};
use crate::event::Errand;
use crate::queue::backoff::MAX_ATTEMPTS;
use crate::queue::coalesce::{REPLAY_PAUSE, later};
use crate::queue::{ErrandLease, Fenced, QueueError, RunnerId, Settled};

/// The shape of an errand that this version writes and reads.
const SHAPE: i64 = 1;

const DOING: &str = "see to an errand";

/// How an errand came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    First,
    /// Its body was seen before under another id: it waits, so that replays cannot make much work (R8).
    Replayed,
}

/// Queues an errand unless its like is queued, or was ever queued if it is of the kind that is run once. Whether it did.
pub(super) async fn queue(
    db: &mut SqliteConnection,
    errand: &Errand,
    delivery: Option<&str>,
    came: Came,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let pause = if came == Came::Replayed { REPLAY_PAUSE } else { Duration::ZERO };
    let text = serde_json::to_string(errand).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    let done = sqlx::query(
        "INSERT INTO errands (v, key, errand, delivery, state, queued, due, attempt)
         SELECT ?1, ?2, ?3, ?4, 'queued', ?5, ?6, 0
         WHERE NOT EXISTS (SELECT 1 FROM errands WHERE key = ?2 AND (state = 'queued' OR ?7))",
    )
    .bind(SHAPE)
    .bind(errand.key())
    .bind(text)
    .bind(delivery)
    .bind(micros(now))
    .bind(micros(later(now, pause)))
    .bind(errand.is_once())
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

type Row = (i64, i64, String, Option<String>, i64, i64);

const NEXT: &str = "
    SELECT id, v, errand, delivery, queued, attempt FROM errands AS mine
    WHERE (state = 'queued' AND due <= ?1 AND NOT EXISTS (
            SELECT 1 FROM errands AS other WHERE other.key = mine.key AND other.state = 'running'))
       OR (state = 'running' AND expires <= ?1)
    ORDER BY due, id LIMIT 1";

/// [`crate::queue::Errands::claim_errand`].
pub(super) async fn claim(
    readers: &SqlitePool,
    writer: &SqlitePool,
    runner: &RunnerId,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<ErrandLease>, QueueError> {
    let next: Option<Row> = sqlx::query_as(NEXT).bind(micros(now)).fetch_optional(readers).await.doing(DOING)?;
    if next.is_none() {
        return Ok(None);
    }
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let taken = take_next(write.connection(), runner, now, lease).await?;
    write.commit().await.doing(DOING)?;
    Ok(taken)
}

async fn take_next(
    db: &mut SqliteConnection,
    runner: &RunnerId,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<ErrandLease>, QueueError> {
    loop {
        let next: Option<Row> = sqlx::query_as(NEXT).bind(micros(now)).fetch_optional(&mut *db).await.doing(DOING)?;
        let Some(row) = next else { return Ok(None) };
        let id = row.0;
        match read(row) {
            Err(why) => {
                tracing::error!(errand.id = id, "an errand is dead: {why}");
                bury(db, id, &why).await.doing(DOING)?;
            }
            Ok(taken) if taken.attempt > MAX_ATTEMPTS => {
                bury(db, id, "its lease ran out on every try").await.doing(DOING)?;
            }
            Ok(taken) => {
                sqlx::query("UPDATE errands SET state = 'running', attempt = ?, runner = ?, expires = ? WHERE id = ?")
                    .bind(i64::from(taken.attempt))
                    .bind(&runner.0)
                    .bind(micros(later(now, lease)))
                    .bind(id)
                    .execute(&mut *db)
                    .await
                    .doing(DOING)?;
                return Ok(Some(taken));
            }
        }
    }
}

/// The lease of the next try.
fn read((id, v, errand, delivery, queued, attempt): Row) -> Result<ErrandLease, String> {
    if v != SHAPE {
        return Err(format!("its shape {v} is not of this version"));
    }
    let errand = serde_json::from_str(&errand).map_err(|error| format!("it cannot be read: {error}"))?;
    let queued = Timestamp::from_microsecond(queued).map_err(|error| error.to_string())?;
    let attempt = u32::try_from(attempt).unwrap_or(u32::MAX).saturating_add(1);
    Ok(ErrandLease { id, errand, delivery: delivery.and_then(|id| id.parse().ok()), queued, attempt })
}

async fn bury(db: &mut SqliteConnection, id: i64, why: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE errands SET state = 'dead', runner = NULL, expires = NULL, error = ? WHERE id = ?")
        .bind(why)
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// [`crate::queue::Errands::heartbeat_errand`].
pub(super) async fn heartbeat(
    writer: &SqlitePool,
    lease: &ErrandLease,
    now: Timestamp,
    length: Duration,
) -> Result<Fenced, QueueError> {
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let done = sqlx::query("UPDATE errands SET expires = ? WHERE id = ? AND state = 'running' AND attempt = ?")
        .bind(micros(later(now, length)))
        .bind(lease.id)
        .bind(i64::from(lease.attempt))
        .execute(write.connection())
        .await
        .doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(fenced(&done))
}

/// [`crate::queue::Errands::settle_errand`].
pub(super) async fn settle(
    writer: &SqlitePool,
    lease: &ErrandLease,
    end: Settled,
    now: Timestamp,
) -> Result<Fenced, QueueError> {
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    let stands = "SELECT EXISTS (SELECT 1 FROM errands WHERE id = ? AND state = 'running' AND attempt = ?)";
    let stands: bool = sqlx::query_scalar(stands)
        .bind(lease.id)
        .bind(i64::from(lease.attempt))
        .fetch_one(&mut *db)
        .await
        .doing(DOING)?;
    if !stands {
        write.undo().await.doing(DOING)?;
        return Ok(Fenced::Lost);
    }
    match end {
        Settled::Done if lease.errand.is_once() => finish(db, lease.id).await,
        Settled::Done => delete(db, lease.id).await,
        Settled::Retry { not_before, why } if lease.attempt < MAX_ATTEMPTS => {
            retry(db, lease, not_before.max(now), &why).await
        }
        Settled::Retry { why, .. } | Settled::Dead { why } => bury(db, lease.id, &why).await,
    }
    .doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(Fenced::Held)
}

async fn finish(db: &mut SqliteConnection, id: i64) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE errands SET state = 'done', runner = NULL, expires = NULL WHERE id = ?")
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

async fn delete(db: &mut SqliteConnection, id: i64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM errands WHERE id = ?").bind(id).execute(db).await?;
    Ok(())
}

/// Its like that was queued meanwhile does the work of both.
async fn retry(db: &mut SqliteConnection, lease: &ErrandLease, due: Timestamp, why: &str) -> Result<(), sqlx::Error> {
    let done = sqlx::query(
        "UPDATE errands SET state = 'queued', runner = NULL, expires = NULL, due = ?1, error = ?2
         WHERE id = ?3 AND NOT EXISTS (SELECT 1 FROM errands AS other WHERE other.key = errands.key AND other.state = 'queued')",
    )
    .bind(micros(due))
    .bind(why)
    .bind(lease.id)
    .execute(&mut *db)
    .await?;
    if done.rows_affected() == 0 { delete(db, lease.id).await } else { Ok(()) }
}

/// [`crate::queue::Errands::revive_errand`]. Its like that is queued already does the work of both.
pub(super) async fn revive(writer: &SqlitePool, errand: i64, now: Timestamp) -> Result<(), QueueError> {
    const DOING: &str = "revive an errand";
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    let done = sqlx::query(
        "UPDATE errands SET state = 'queued', due = ?1, attempt = 0 WHERE id = ?2 AND state = 'dead'
         AND NOT EXISTS (SELECT 1 FROM errands AS other WHERE other.key = errands.key AND other.state = 'queued')",
    )
    .bind(micros(now))
    .bind(errand)
    .execute(&mut *db)
    .await
    .doing(DOING)?;
    if done.rows_affected() == 0 {
        let gone = sqlx::query("DELETE FROM errands WHERE id = ? AND state = 'dead'").bind(errand).execute(db).await;
        if gone.doing(DOING)?.rows_affected() == 0 {
            write.undo().await.doing(DOING)?;
            return Err(QueueError::NoDeadErrand { errand });
        }
    }
    write.commit().await.doing(DOING)
}
