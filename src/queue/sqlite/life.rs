//! [`Errands`] in SQLite: what is asked about verdicts, runs, comments, marks and the audit log.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::{QueryBuilder, Sqlite};
use uuid::Uuid;

use super::errands::{self, Came};
use super::rows::{PullKey, micros, verdict};
use super::settle::stands;
use super::store::SqliteQueue;
use super::write::{Doing as _, Write};
use super::{body, letters, work};
use crate::event::{Errand, Trigger};
use crate::queue::{
    Answer, Audit, AuditFilter, DeadErrand, ErrandLease, Errands, EvaluationId, Fenced, Generation, Hanging, Lease,
    QueueError, Reserved, RunnerId, Settled, Standing,
};
use crate::words::{DeliveryId, ForgeKind, HeadSha, InstallationId, PullNumber, RepoRef, RepositoryId, RunId, Verdict};

/// The columns of a repository's key.
pub(super) fn place(repository: &RepoRef) -> (&'static str, i64) {
    (repository.forge.as_str(), repository.id.0.cast_signed())
}

fn unreadable(table: &'static str, row: &str, what: &str) -> QueueError {
    let why = format!("{what} has a value that this version does not know");
    QueueError::Unreadable { table, row: row.to_owned(), why }
}

fn moment(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MIN)
}

#[async_trait]
impl Errands for SqliteQueue {
    async fn claim_errand(
        &self,
        runner: &RunnerId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<ErrandLease>, QueueError> {
        let claimed = errands::claim(&self.readers, &self.writer, runner, now, lease).await?;
        if claimed.is_some() {
            self.watch.wake();
        }
        Ok(claimed)
    }

    async fn heartbeat_errand(
        &self,
        lease: &ErrandLease,
        now: Timestamp,
        length: Duration,
    ) -> Result<Fenced, QueueError> {
        errands::heartbeat(&self.writer, lease, now, length).await
    }

    async fn settle_errand(&self, lease: &ErrandLease, end: Settled, now: Timestamp) -> Result<Fenced, QueueError> {
        let fenced = errands::settle(&self.writer, lease, end, now).await?;
        self.watch.wake();
        Ok(fenced)
    }

    async fn dead_errands(&self, most: u32) -> Result<Vec<DeadErrand>, QueueError> {
        letters::dead_errands(&self.readers, most).await
    }

    async fn revive_errand(&self, errand: i64, now: Timestamp) -> Result<(), QueueError> {
        errands::revive(&self.writer, errand, now).await?;
        self.watch.wake();
        Ok(())
    }

    async fn send(&self, errands: &[Errand], now: Timestamp) -> Result<(), QueueError> {
        const DOING: &str = "queue errands";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        for errand in errands {
            errands::queue(write.connection(), errand, None, Came::First, now).await.doing(DOING)?;
        }
        write.commit().await.doing(DOING)?;
        self.watch.wake();
        Ok(())
    }

    async fn ask(&self, triggers: &[Trigger], now: Timestamp) -> Result<(), QueueError> {
        const DOING: &str = "queue looks at pull requests";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        // One after the other, so that the rows stand in the order that was asked for.
        for trigger in triggers {
            let asking = BTreeSet::from([PullKey::of(trigger)]);
            let before = work::standing(write.connection(), &asking).await.doing(DOING)?;
            let mut after = before.clone();
            after.entry(PullKey::of(trigger)).or_default().fold(trigger.clone(), now);
            work::write(write.connection(), &before, &after).await.doing(DOING)?;
        }
        write.commit().await.doing(DOING)?;
        self.watch.wake();
        Ok(())
    }

    async fn answer(&self, repository: &RepoRef, pull: PullNumber) -> Result<Option<Answer>, QueueError> {
        type Row = (Vec<u8>, Option<String>, Option<String>, i64, Option<Vec<u8>>);
        let (forge, id) = place(repository);
        let sql = "SELECT id, head, verdict, started, record FROM evaluations
            WHERE forge = ? AND repository = ? AND pull = ? AND state = 'published' ORDER BY generation DESC LIMIT 1";
        let query = sqlx::query_as(sql).bind(forge).bind(id).bind(pull.0.cast_signed());
        let row: Option<Row> = query.fetch_optional(&self.readers).await.doing("read the last answer")?;
        let Some((id, head, said, started, record)) = row else { return Ok(None) };
        let bad = |what: &str| unreadable("evaluations", &hex::encode(&id), what);
        Ok(Some(Answer {
            evaluation: EvaluationId(Uuid::from_slice(&id).map_err(|_| bad("id"))?),
            head: head.and_then(|head| head.parse().ok()).ok_or_else(|| bad("head"))?,
            verdict: said.as_deref().and_then(verdict).ok_or_else(|| bad("verdict"))?,
            started: moment(started),
            record: record.and_then(|packed| body::unpack(&packed).ok()).ok_or_else(|| bad("record"))?,
        }))
    }

    async fn sharing(
        &self,
        repository: &RepoRef,
        head: &HeadSha,
        except: PullNumber,
    ) -> Result<Vec<(PullNumber, Verdict)>, QueueError> {
        let (forge, id) = place(repository);
        let sql = "SELECT pull, verdict FROM evaluations AS mine
            WHERE forge = ?1 AND repository = ?2 AND head = ?3 AND pull != ?4 AND state IN ('posting', 'published')
              AND generation = (SELECT max(generation) FROM evaluations AS other WHERE other.forge = ?1
                AND other.repository = ?2 AND other.pull = mine.pull AND other.state IN ('posting', 'published'))";
        let query = sqlx::query_as(sql).bind(forge).bind(id).bind(head.id().as_str()).bind(except.0.cast_signed());
        let rows: Vec<(i64, Option<String>)> =
            query.fetch_all(&self.readers).await.doing("look for pull requests with the same head")?;
        let read = |(pull, said): (i64, Option<String>)| {
            let said = said.as_deref().and_then(verdict);
            Ok((
                PullNumber(pull.cast_unsigned()),
                said.ok_or_else(|| unreadable("evaluations", &pull.to_string(), "verdict"))?,
            ))
        };
        rows.into_iter().map(read).collect()
    }

    async fn reserve(&self, lease: &Lease, head: &HeadSha, now: Timestamp) -> Result<Reserved, QueueError> {
        const DOING: &str = "reserve a head";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        let db = write.connection();
        if !stands(db, lease).await.doing(DOING)? {
            write.undo().await.doing(DOING)?;
            return Ok(Reserved::Lost);
        }
        let (forge, id) = place(&lease.job.trigger.repository);
        let busy = "SELECT EXISTS (SELECT 1 FROM jobs JOIN evaluations AS e ON e.id = jobs.evaluation
                AND e.generation = jobs.generation
            WHERE jobs.state = 'running' AND jobs.expires > ? AND jobs.forge = ? AND jobs.repository = ? AND jobs.id != ?
                AND e.head = ?)";
        let query = sqlx::query_scalar(busy).bind(micros(now)).bind(forge).bind(id).bind(lease.job.id.0);
        let busy: bool = query.bind(head.id().as_str()).fetch_one(&mut *db).await.doing(DOING)?;
        if busy {
            write.undo().await.doing(DOING)?;
            return Ok(Reserved::Busy);
        }
        // A run that an earlier try opened on this head stays known; one on another head was ended before.
        sqlx::query(
            "UPDATE evaluations SET run = iif(head = ?1, run, NULL), head = ?1 WHERE id = ?2 AND generation = ?3",
        )
        .bind(head.id().as_str())
        .bind(lease.evaluation.0.as_bytes().to_vec())
        .bind(lease.generation.0)
        .execute(db)
        .await
        .doing(DOING)?;
        write.commit().await.doing(DOING)?;
        Ok(Reserved::Held)
    }

    async fn standing(&self, repository: &RepoRef, pull: PullNumber) -> Result<Standing, QueueError> {
        let (forge, id) = place(repository);
        let sql = "SELECT max(state IN ('queued', 'running')), max(iif(state = 'dead', newest, NULL)) FROM jobs
            WHERE forge = ? AND repository = ? AND pull = ? AND state IN ('queued', 'running', 'dead')";
        let query = sqlx::query_as(sql).bind(forge).bind(id).bind(pull.0.cast_signed());
        let (live, dead): (Option<i64>, Option<i64>) =
            query.fetch_one(&self.readers).await.doing("look at the work for a pull request")?;
        Ok(match (live, dead) {
            (Some(1), _) => Standing::Live,
            (_, Some(at)) => Standing::Dead(moment(at)),
            _ => Standing::Idle,
        })
    }

    async fn pull_of(&self, external_id: &str) -> Result<Option<(RepositoryId, PullNumber)>, QueueError> {
        let Ok(id) = Uuid::parse_str(external_id) else { return Ok(None) };
        let sql = "SELECT repository, pull FROM evaluations WHERE id = ? LIMIT 1";
        let row: Option<(i64, i64)> = sqlx::query_as(sql)
            .bind(id.as_bytes().to_vec())
            .fetch_optional(&self.readers)
            .await
            .doing("find an evaluation")?;
        Ok(row.map(|(repository, pull)| (RepositoryId(repository.cast_unsigned()), PullNumber(pull.cast_unsigned()))))
    }

    async fn pulls_on(&self, repository: &RepoRef, head: &HeadSha) -> Result<Vec<PullNumber>, QueueError> {
        let (forge, id) = place(repository);
        let sql = "SELECT DISTINCT pull FROM evaluations WHERE forge = ? AND repository = ? AND head = ? ORDER BY pull";
        let query = sqlx::query_scalar(sql).bind(forge).bind(id).bind(head.id().as_str());
        let rows: Vec<i64> = query.fetch_all(&self.readers).await.doing("find the pull requests of a head")?;
        Ok(rows.into_iter().map(|pull| PullNumber(pull.cast_unsigned())).collect())
    }

    async fn hanging(&self, before: Timestamp) -> Result<Vec<Hanging>, QueueError> {
        // Its own later tries carry the run on; only the last row of an evaluation speaks for it.
        let sql = "SELECT id, generation, forge, repository, name, installation, head, run FROM evaluations AS e
            WHERE run IS NOT NULL AND state != 'published' AND ended = 0 AND started < ?
              AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.evaluation = e.id AND jobs.state IN ('queued', 'running'))
              AND NOT EXISTS (SELECT 1 FROM evaluations AS later WHERE later.id = e.id AND later.generation > e.generation)
            ORDER BY started LIMIT 100";
        let rows: Vec<HangingRow> =
            sqlx::query_as(sql).bind(micros(before)).fetch_all(&self.readers).await.doing("look for hanging runs")?;
        Ok(rows.into_iter().filter_map(hanging).collect())
    }

    async fn ended(&self, hanging: &Hanging) -> Result<(), QueueError> {
        const DOING: &str = "note the end of a run";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        sqlx::query("UPDATE evaluations SET ended = 1 WHERE id = ? AND generation = ?")
            .bind(hanging.evaluation.0.as_bytes().to_vec())
            .bind(hanging.generation.0)
            .execute(write.connection())
            .await
            .doing(DOING)?;
        write.commit().await.doing(DOING)
    }

    async fn commands(
        &self,
        repository: &RepoRef,
        pull: PullNumber,
        who: &str,
        since: Timestamp,
    ) -> Result<(u64, u64), QueueError> {
        let (forge, id) = place(repository);
        let sql = "SELECT count(*) FILTER (WHERE who = ?1), count(*) FILTER (WHERE pull = ?2) FROM audit
            WHERE forge = ?3 AND repository = ?4 AND at >= ?5 AND kind IN ('command', 'refusal')";
        let query = sqlx::query_as(sql).bind(who).bind(pull.0.cast_signed()).bind(forge).bind(id).bind(micros(since));
        let (his, here): (i64, i64) = query.fetch_one(&self.readers).await.doing("count commands")?;
        Ok((his.cast_unsigned(), here.cast_unsigned()))
    }

    async fn comment(&self, repository: &RepoRef, pull: PullNumber) -> Result<Option<u64>, QueueError> {
        let (forge, id) = place(repository);
        let sql = "SELECT comment FROM comments WHERE forge = ? AND repository = ? AND pull = ?";
        let query = sqlx::query_scalar(sql).bind(forge).bind(id).bind(pull.0.cast_signed());
        let found: Option<i64> = query.fetch_optional(&self.readers).await.doing("find our comment")?;
        Ok(found.map(i64::cast_unsigned))
    }

    async fn commented(&self, repository: &RepoRef, pull: PullNumber, comment: u64) -> Result<(), QueueError> {
        const DOING: &str = "note our comment";
        let (forge, id) = place(repository);
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        sqlx::query(
            "INSERT INTO comments (forge, repository, pull, comment) VALUES (?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET comment = excluded.comment",
        )
        .bind(forge)
        .bind(id)
        .bind(pull.0.cast_signed())
        .bind(comment.cast_signed())
        .execute(write.connection())
        .await
        .doing(DOING)?;
        write.commit().await.doing(DOING)
    }

    async fn drop_work(&self, installation: InstallationId, repositories: &[u64]) -> Result<u64, QueueError> {
        const DOING: &str = "drop work that cannot be done";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        let mut sql = QueryBuilder::<Sqlite>::new("DELETE FROM jobs WHERE state = 'queued' AND forge = 'github' AND ");
        if repositories.is_empty() {
            sql.push("installation = ").push_bind(installation.0.cast_signed());
        } else {
            sql.push("repository IN (");
            let mut list = sql.separated(", ");
            for repository in repositories {
                list.push_bind(repository.cast_signed());
            }
            sql.push(")");
        }
        let done = sql.build().execute(write.connection()).await.doing(DOING)?;
        write.commit().await.doing(DOING)?;
        Ok(done.rows_affected())
    }

    async fn knows(&self, forge: ForgeKind, delivery: &DeliveryId) -> Result<bool, QueueError> {
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM seen WHERE forge = ? AND delivery = ?)")
            .bind(forge.as_str())
            .bind(delivery.as_str())
            .fetch_one(&self.readers)
            .await
            .doing("look for a delivery")
    }

    async fn mark(&self, name: &str) -> Result<Option<(Timestamp, String)>, QueueError> {
        let row: Option<(i64, String)> = sqlx::query_as("SELECT at, value FROM marks WHERE name = ?")
            .bind(name)
            .fetch_optional(&self.readers)
            .await
            .doing("read a mark")?;
        Ok(row.map(|(at, value)| (moment(at), value)))
    }

    async fn set_mark(&self, name: &str, value: &str, now: Timestamp) -> Result<(), QueueError> {
        const DOING: &str = "set a mark";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        sqlx::query(
            "INSERT INTO marks (name, at, value) VALUES (?, ?, ?)
             ON CONFLICT DO UPDATE SET at = excluded.at, value = excluded.value",
        )
        .bind(name)
        .bind(micros(now))
        .bind(value)
        .execute(write.connection())
        .await
        .doing(DOING)?;
        write.commit().await.doing(DOING)
    }

    async fn take_duty(&self, name: &str, now: Timestamp, every: Duration) -> Result<bool, QueueError> {
        const DOING: &str = "take up a duty";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        let every = i64::try_from(every.as_micros()).unwrap_or(i64::MAX);
        let done = sqlx::query(
            "INSERT INTO marks (name, at, value) VALUES (?1, ?2, '')
             ON CONFLICT DO UPDATE SET at = excluded.at WHERE marks.at <= ?2 - ?3 OR marks.at > ?2",
        )
        .bind(format!("duty/{name}"))
        .bind(micros(now))
        .bind(every)
        .execute(write.connection())
        .await
        .doing(DOING)?;
        write.commit().await.doing(DOING)?;
        Ok(done.rows_affected() == 1)
    }

    async fn note(&self, row: &Audit) -> Result<(), QueueError> {
        const DOING: &str = "write the audit log";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        let repository = row.repository.as_ref();
        sqlx::query(
            "INSERT INTO audit (at, kind, forge, repository, name, pull, who, delivery, what, details)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
             WHERE ?8 IS NULL AND ?2 != 'verdict' OR NOT EXISTS (SELECT 1 FROM audit WHERE kind = ?2 AND repository IS ?4
                AND pull IS ?6 AND delivery IS ?8 AND what = ?9 AND details = ?10)",
        )
        .bind(micros(row.at))
        .bind(&row.kind)
        .bind(repository.map(|repository| repository.forge.as_str()))
        .bind(repository.map(|repository| repository.id.0.cast_signed()))
        .bind(repository.map(|repository| repository.name.as_str()))
        .bind(row.pull.map(|pull| pull.0.cast_signed()))
        .bind(&row.who)
        .bind(&row.delivery)
        .bind(&row.what)
        .bind(&row.details)
        .execute(write.connection())
        .await
        .doing(DOING)?;
        write.commit().await.doing(DOING)
    }

    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<Audit>, QueueError> {
        let mut sql = QueryBuilder::<Sqlite>::new(
            "SELECT at, kind, forge, repository, name, pull, who, delivery, what, details FROM audit WHERE 1 = 1",
        );
        if let Some(name) = &filter.repository {
            sql.push(" AND name = ").push_bind(name);
        }
        if let Some(pull) = filter.pull {
            sql.push(" AND pull = ").push_bind(pull.0.cast_signed());
        }
        if let Some(kind) = &filter.kind {
            sql.push(" AND kind = ").push_bind(kind);
        }
        if let Some(who) = &filter.who {
            sql.push(" AND who = ").push_bind(who);
        }
        if let Some(since) = filter.since {
            sql.push(" AND at >= ").push_bind(micros(since));
        }
        sql.push(" ORDER BY seq DESC LIMIT ").push_bind(i64::from(filter.most));
        let rows: Vec<AuditRow> = sql.build_query_as().fetch_all(&self.readers).await.doing("read the audit log")?;
        Ok(rows.into_iter().map(AuditRow::audit).collect())
    }

    async fn delivery_of(&self, lease: &Lease) -> Result<Option<DeliveryId>, QueueError> {
        let found: Option<Option<String>> = sqlx::query_scalar("SELECT delivery FROM jobs WHERE id = ?")
            .bind(lease.job.id.0)
            .fetch_optional(&self.readers)
            .await
            .doing("find a job's delivery")?;
        Ok(found.flatten().and_then(|id| id.parse().ok()))
    }
}

#[derive(sqlx::FromRow)]
struct AuditRow {
    at: i64,
    kind: String,
    forge: Option<String>,
    repository: Option<i64>,
    name: Option<String>,
    pull: Option<i64>,
    who: Option<String>,
    delivery: Option<String>,
    what: String,
    details: String,
}

impl AuditRow {
    fn audit(self) -> Audit {
        let forge = self.forge.as_deref().and_then(super::rows::forge);
        let name = self.name.and_then(|name| name.parse().ok());
        let repository = match (forge, self.repository, name) {
            (Some(forge), Some(id), Some(name)) => Some(RepoRef { forge, id: RepositoryId(id.cast_unsigned()), name }),
            _ => None,
        };
        Audit {
            at: moment(self.at),
            kind: self.kind,
            repository,
            pull: self.pull.map(|pull| PullNumber(pull.cast_unsigned())),
            who: self.who,
            delivery: self.delivery,
            what: self.what,
            details: self.details,
        }
    }
}

/// Id, generation, forge, repository, its name, installation, head and run.
type HangingRow = (Vec<u8>, i64, String, i64, Option<String>, Option<i64>, Option<String>, i64);

/// A row of an older version names no repository; its run cannot be reached, and is left to the forge.
fn hanging((id, generation, forge, repository, name, installation, head, run): HangingRow) -> Option<Hanging> {
    Some(Hanging {
        evaluation: EvaluationId(Uuid::from_slice(&id).ok()?),
        generation: Generation(generation),
        repository: RepoRef {
            forge: super::rows::forge(&forge)?,
            id: RepositoryId(repository.cast_unsigned()),
            name: name?.parse().ok()?,
        },
        installation: installation.map(|id| InstallationId(id.cast_unsigned())),
        head: head?.parse().ok()?,
        run: RunId(run.cast_unsigned()),
    })
}
