//! Taking work up.

use std::time::Duration;

use jiff::Timestamp;
use sqlx::{AssertSqlSafe, SqliteConnection, SqlitePool};
use uuid::{NoContext, Uuid};

use super::rows::{JOB_COLUMNS, JobRow, PullKey, cause_word, micros};
use super::work;
use super::write::{Doing as _, Write};
use crate::event::Trigger;
use crate::queue::backoff::MAX_ATTEMPTS;
use crate::queue::coalesce::{SUPERSEDES_NOTHING, later};
use crate::queue::{EvaluationId, Generation, JobId, Lease, QueueError, RunnerId};

const DOING: &str = "take up a job";

/// The job that can be taken at `?1` and has been due longest: a queued one whose pull request is free, or a running one whose lease
/// ran out. Where both are there for one pull request the queued one goes first and makes the lost try needless, unless it has the
/// cause `?2` that supersedes nothing.
const NEXT: &str = "
    SELECT id, due FROM (
        SELECT id, due FROM jobs AS mine WHERE state = 'queued' AND due <= ?1 AND NOT EXISTS (
            SELECT 1 FROM jobs AS other WHERE other.state = 'running' AND other.forge = mine.forge
                AND other.repository = mine.repository AND other.pull = mine.pull
                AND (other.expires > ?1 OR mine.cause = ?2))
        ORDER BY due, id LIMIT 1)
    UNION ALL SELECT id, due FROM jobs AS mine WHERE state = 'running' AND expires <= ?1 AND NOT EXISTS (
        SELECT 1 FROM jobs AS other WHERE other.state = 'queued' AND other.forge = mine.forge
            AND other.repository = mine.repository AND other.pull = mine.pull
            AND other.due <= ?1 AND other.cause != ?2)
    ORDER BY due, id LIMIT 1";

/// [`crate::queue::Queue::claim`].
pub(super) async fn claim(
    readers: &SqlitePool,
    writer: &SqlitePool,
    runner: &RunnerId,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<Lease>, QueueError> {
    // Asked first without the right to write, which receivers need more.
    if next(&mut *readers.acquire().await.doing(DOING)?, now).await?.is_none() {
        return Ok(None);
    }
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let taken = take_next(write.connection(), runner, now, lease).await?;
    write.commit().await.doing(DOING)?;
    Ok(taken)
}

/// Jobs that nobody can or should do are dead on the way, so that they are not met again before all others.
async fn take_next(
    db: &mut SqliteConnection,
    runner: &RunnerId,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<Lease>, QueueError> {
    while let Some(row) = next(db, now).await? {
        if row.attempt >= i64::from(MAX_ATTEMPTS) {
            // Every try ended with a lost lease: it may be what kills the workers.
            bury(db, &row, &format!("the lease ran out on try {}", row.attempt)).await?;
            continue;
        }
        match take(db, &row, runner, now, lease).await {
            Err(error @ QueueError::Unreadable { .. }) => {
                tracing::error!(job.id = row.id().0, "a job is dead: {error}");
                bury(db, &row, &error.to_string()).await?;
            }
            taken => return taken.map(Some),
        }
    }
    Ok(None)
}

/// The job that is next, oldest due first.
async fn next(db: &mut SqliteConnection, now: Timestamp) -> Result<Option<JobRow>, QueueError> {
    let sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE id = (SELECT id FROM ({NEXT}))");
    let query = sqlx::query_as(AssertSqlSafe(sql)).bind(micros(now)).bind(cause_word(SUPERSEDES_NOTHING));
    query.fetch_optional(db).await.doing(DOING)
}

async fn bury(db: &mut SqliteConnection, row: &JobRow, why: &str) -> Result<(), QueueError> {
    sqlx::query(
        "UPDATE jobs SET state = 'dead', generation = NULL, runner = NULL, expires = NULL, error = ? WHERE id = ?",
    )
    .bind(why)
    .bind(row.id().0)
    .execute(db)
    .await
    .doing(DOING)?;
    Ok(())
}

/// Gives the job to this runner under the pull request's next generation.
async fn take(
    db: &mut SqliteConnection,
    row: &JobRow,
    runner: &RunnerId,
    now: Timestamp,
    lease: Duration,
) -> Result<Lease, QueueError> {
    let mut job = row.job()?;
    job.attempt += 1;
    let evaluation = row.evaluation()?.unwrap_or_else(|| new_evaluation(now));
    let pull = PullKey::of(&job.trigger);
    let generation = Generation(work::next_generation(db, pull).await.doing(DOING)?);
    let expires = later(now, lease);
    drop_lost_try(db, pull, job.id).await.doing(DOING)?;
    sqlx::query(
        "UPDATE jobs SET state = 'running', attempt = ?, evaluation = ?, generation = ?, runner = ?, expires = ? WHERE id = ?",
    )
    .bind(i64::from(job.attempt))
    .bind(evaluation.0.as_bytes().to_vec())
    .bind(generation.0)
    .bind(&runner.0)
    .bind(micros(expires))
    .bind(job.id.0)
    .execute(&mut *db)
    .await
    .doing(DOING)?;
    begin_evaluation(db, &job.trigger, evaluation, generation, now).await.doing(DOING)?;
    Ok(Lease { job, generation, evaluation, expires })
}

/// Deletes a try of the same pull request whose lease ran out, when newer work takes its place.
async fn drop_lost_try(db: &mut SqliteConnection, pull: PullKey, taken: JobId) -> Result<(), sqlx::Error> {
    let (forge, repository, number) = pull.columns();
    sqlx::query("DELETE FROM jobs WHERE state = 'running' AND forge = ? AND repository = ? AND pull = ? AND id != ?")
        .bind(forge)
        .bind(repository)
        .bind(number)
        .bind(taken.0)
        .execute(db)
        .await?;
    Ok(())
}

/// Named after the moment, so that evaluations sort by it.
fn new_evaluation(now: Timestamp) -> EvaluationId {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    EvaluationId(Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, seconds, nanoseconds)))
}

/// A later try begins with what the earlier one noted, so that its run is found and not made twice. What was late is not carried on.
async fn begin_evaluation(
    db: &mut SqliteConnection,
    trigger: &Trigger,
    id: EvaluationId,
    generation: Generation,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    let (forge, repository, number) = PullKey::of(trigger).columns();
    sqlx::query(
        "INSERT INTO evaluations (id, generation, forge, repository, pull, started, state, head, run, verdict, record,
            name, installation)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, coalesce(nullif(state, 'late'), 'started'), head, run,
            iif(state = 'late', NULL, verdict), iif(state = 'late', NULL, record), ?7, ?8
         FROM (SELECT 1) LEFT JOIN (SELECT * FROM evaluations WHERE id = ?1 ORDER BY generation DESC LIMIT 1) ON true",
    )
    .bind(id.0.as_bytes().to_vec())
    .bind(generation.0)
    .bind(forge)
    .bind(repository)
    .bind(number)
    .bind(micros(now))
    .bind(trigger.repository.name.as_str())
    .bind(trigger.installation.map(|id| id.0.cast_signed()))
    .execute(db)
    .await?;
    Ok(())
}
