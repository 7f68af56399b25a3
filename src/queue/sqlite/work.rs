//! The live work of pull requests: read, folded by `coalesce.rs`, written back.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::many::{chunks, values};
use super::rows::{JOB_COLUMNS, JobRow, PullKey, SHAPE, cause_word, micros};
use crate::queue::QueueError;
use crate::queue::coalesce::{Pending, Running, Standing};
use crate::words::DeliveryId;

pub(super) type Work = BTreeMap<PullKey, Standing>;

/// What is queued and running for these pull requests.
pub(super) async fn standing(db: &mut SqliteConnection, pulls: &BTreeSet<PullKey>) -> Result<Work, sqlx::Error> {
    let pulls: Vec<PullKey> = pulls.iter().copied().collect();
    let mut work = Work::new();
    for chunk in chunks(&pulls) {
        let tail = format!(
            ") SELECT {JOB_COLUMNS} FROM wanted CROSS JOIN jobs ON forge = f AND repository = r AND pull = p
                WHERE state = 'queued'
             UNION ALL SELECT {JOB_COLUMNS} FROM wanted CROSS JOIN jobs ON forge = f AND repository = r AND pull = p
                WHERE state = 'running'"
        );
        let mut query = sqlx::query_as(values("WITH wanted(f, r, p) AS (VALUES ", "(?, ?, ?)", chunk.len(), &tail));
        for pull in chunk {
            let (forge, repository, number) = pull.columns();
            query = query.bind(forge).bind(repository).bind(number);
        }
        let rows: Vec<JobRow> = query.fetch_all(&mut *db).await?;
        for row in rows {
            // Left out, a queued row is written anew by the next trigger, and dead-lettered if a worker meets it first.
            if let Err(error) = add(&mut work, &row) {
                tracing::error!(job.id = row.id().0, "a job is passed over: {error}");
            }
        }
    }
    Ok(work)
}

fn add(work: &mut Work, row: &JobRow) -> Result<(), QueueError> {
    let job = row.job()?;
    let newest = row.moment(row.newest)?;
    let standing = work.entry(PullKey::of(&job.trigger)).or_default();
    if row.state == "running" {
        standing.running = Some(Running { cause: job.trigger.cause, newest, void: false });
    } else {
        standing.queued = Some(Pending {
            trigger: job.trigger,
            queued: job.queued,
            newest,
            due: row.moment(row.due)?,
            attempt: job.attempt,
            evaluation: row.evaluation()?,
            delivery: row.delivery.as_deref().and_then(|id| id.parse().ok()),
        });
    }
    Ok(())
}

/// Writes what the folding changed.
pub(super) async fn write(db: &mut SqliteConnection, before: &Work, after: &Work) -> Result<(), sqlx::Error> {
    let none = Standing::default();
    let mut queued = Vec::new();
    for (pull, now) in after {
        let was = before.get(pull).unwrap_or(&none);
        match &now.queued {
            Some(pending) if was.queued.as_ref() != Some(pending) => queued.push(pending),
            None if was.queued.is_some() => delete_queued(db, *pull).await?,
            Some(_) | None => {}
        }
        if now.running.as_ref().is_some_and(|running| running.void) {
            next_generation(db, *pull).await?;
        }
    }
    for chunk in chunks(&queued) {
        upsert(db, chunk).await?;
    }
    Ok(())
}

async fn upsert(db: &mut SqliteConnection, jobs: &[&Pending]) -> Result<(), sqlx::Error> {
    let sql = values(
        "INSERT INTO jobs (v, forge, repository, pull, name, installation, head, cause, state,
            queued, newest, due, attempt, evaluation, delivery) VALUES ",
        "(?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?)",
        jobs.len(),
        " ON CONFLICT (forge, repository, pull) WHERE state = 'queued' DO UPDATE SET
            v = excluded.v, name = excluded.name, installation = excluded.installation, head = excluded.head,
            cause = excluded.cause, queued = excluded.queued, newest = excluded.newest, due = excluded.due,
            attempt = excluded.attempt, evaluation = excluded.evaluation, delivery = excluded.delivery",
    );
    let mut query = sqlx::query(sql);
    for job in jobs {
        let trigger = &job.trigger;
        let (forge, repository, pull) = PullKey::of(trigger).columns();
        query = query.bind(SHAPE).bind(forge).bind(repository).bind(pull);
        query = query.bind(trigger.repository.name.as_str());
        query = query.bind(trigger.installation.map(|id| id.0.cast_signed()));
        query = query.bind(trigger.head.as_ref().map(|head| head.id().as_str()));
        query = query.bind(cause_word(trigger.cause));
        query = query.bind(micros(job.queued)).bind(micros(job.newest)).bind(micros(job.due));
        query = query.bind(i64::from(job.attempt));
        query = query.bind(job.evaluation.map(|id| id.0.as_bytes().to_vec()));
        query = query.bind(job.delivery.as_ref().map(DeliveryId::as_str));
    }
    query.execute(db).await?;
    Ok(())
}

/// Deletes the queued job of a pull request, if there is one.
pub(super) async fn delete_queued(db: &mut SqliteConnection, pull: PullKey) -> Result<(), sqlx::Error> {
    let (forge, repository, number) = pull.columns();
    sqlx::query("DELETE FROM jobs WHERE forge = ? AND repository = ? AND pull = ? AND state = 'queued'")
        .bind(forge)
        .bind(repository)
        .bind(number)
        .execute(db)
        .await?;
    Ok(())
}

/// The next generation of a pull request. Whoever holds an earlier one may no longer publish.
pub(super) async fn next_generation(db: &mut SqliteConnection, pull: PullKey) -> Result<i64, sqlx::Error> {
    let (forge, repository, number) = pull.columns();
    sqlx::query_scalar(
        "INSERT INTO pulls (forge, repository, pull, generation) VALUES (?, ?, ?, 1)
         ON CONFLICT DO UPDATE SET generation = generation + 1 RETURNING generation",
    )
    .bind(forge)
    .bind(repository)
    .bind(number)
    .fetch_one(db)
    .await
}

/// Queues the newest dead job of a pull request again, unless something is queued. Whether it did.
pub(super) async fn revive_newest_dead(
    db: &mut SqliteConnection,
    pull: PullKey,
    due: Timestamp,
) -> Result<bool, sqlx::Error> {
    let (forge, repository, number) = pull.columns();
    let done = sqlx::query(
        "UPDATE jobs SET state = 'queued', due = ?1, attempt = 0, evaluation = NULL
         WHERE id = (SELECT max(id) FROM jobs WHERE forge = ?2 AND repository = ?3 AND pull = ?4 AND state = 'dead')
           AND NOT EXISTS (SELECT 1 FROM jobs WHERE forge = ?2 AND repository = ?3 AND pull = ?4
                AND state IN ('queued', 'running'))",
    )
    .bind(micros(due))
    .bind(forge)
    .bind(repository)
    .bind(number)
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}
