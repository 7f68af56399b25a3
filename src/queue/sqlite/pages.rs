//! What pages are made of. Reading needs no more than connections that cannot write.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, SqlitePool};
use uuid::Uuid;

use super::evaluations::state_of;
use super::rows::{JOB_COLUMNS, JobRow, forge, micros, verdict};
use super::write::{Doing as _, Write};
use super::{OpenError, SqliteQueue, body, letters, open};
use crate::queue::{
    DeadErrand, Depth, EvaluationId, Exhibits, Generation, Job, KnownRepository, Pages, Pass, PassHash, Past,
    QueueError, RepositoryKey, Shown,
};
use crate::words::{InstallationId, PullNumber, RepositoryId};

#[async_trait]
impl Exhibits for SqliteQueue {
    async fn exhibit(
        &self,
        evaluation: EvaluationId,
        generation: Generation,
        content: &[u8],
        pass: Pass,
    ) -> Result<(), QueueError> {
        const DOING: &str = "keep what a page shows";
        let content = body::pack(content).map_err(sqlx::Error::Io).doing(DOING)?;
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        let db = write.connection();
        sqlx::query(
            "INSERT INTO exhibits (evaluation, generation, content) VALUES ($1, $2, $3)
             ON CONFLICT (evaluation, generation) DO UPDATE SET content = excluded.content",
        )
        .bind(evaluation.0.as_bytes().to_vec())
        .bind(generation.0)
        .bind(content)
        .execute(&mut *db)
        .await
        .doing(DOING)?;
        sqlx::query("INSERT INTO passes (hash, evaluation, generation, expires) VALUES ($1, $2, $3, $4)")
            .bind(pass.hash.to_vec())
            .bind(evaluation.0.as_bytes().to_vec())
            .bind(generation.0)
            .bind(micros(pass.expires))
            .execute(&mut *db)
            .await
            .doing(DOING)?;
        write.commit().await.doing(DOING)
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, QueueError> {
        const DOING: &str = "forget expired passes";
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        let db = write.connection();
        let gone = sqlx::query("DELETE FROM passes WHERE expires <= $1").bind(micros(now)).execute(&mut *db).await;
        let gone = gone.doing(DOING)?.rows_affected();
        sqlx::query(
            "DELETE FROM exhibits WHERE NOT EXISTS (SELECT 1 FROM passes
                WHERE passes.evaluation = exhibits.evaluation AND passes.generation = exhibits.generation)",
        )
        .execute(&mut *db)
        .await
        .doing(DOING)?;
        write.commit().await.doing(DOING)?;
        Ok(gone)
    }
}

/// The database of a data directory for a process that only reads it.
#[derive(Clone, Debug)]
pub struct SqlitePages {
    readers: SqlitePool,
}

impl SqlitePages {
    /// Opens the database read-only. `None`: it is not there yet, or has not the shape that this version reads; whoever writes it makes
    /// both, so ask again.
    ///
    /// # Errors
    /// [`OpenError`]: the file is no database of ours, cannot be read, or was written by a newer version.
    pub async fn open(folder: &Path) -> Result<Option<Self>, OpenError> {
        let path: PathBuf = open::file_in(folder);
        if !path.exists() {
            return Ok(None);
        }
        let failed = |source| OpenError::Database { path: path.clone(), source };
        let connect = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(false)
            .read_only(true)
            .busy_timeout(Duration::from_secs(5))
            .pragma("query_only", "ON")
            .disable_statement_logging();
        let readers = SqlitePoolOptions::new().max_connections(4).connect_with(connect).await.map_err(failed)?;
        let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'";
        let begun: i64 = sqlx::query_scalar(sql).fetch_one(&readers).await.map_err(failed)?;
        if begun == 0 {
            return Ok(None);
        }
        let sql = "SELECT version FROM _sqlx_migrations WHERE success";
        let found: BTreeSet<i64> =
            sqlx::query_scalar(sql).fetch_all(&readers).await.map_err(failed)?.into_iter().collect();
        let known = open::shapes();
        if let Some(found) = found.difference(&known).max() {
            let known = known.last().copied().unwrap_or_default();
            return Err(OpenError::Newer { path, found: *found, known });
        }
        Ok((found == known).then_some(Self { readers }))
    }

    /// Ends all connections.
    pub async fn close(&self) {
        self.readers.close().await;
    }
}

/// The columns of [`PastRow`].
const PAST: &str = "e.id, e.generation, e.forge, e.repository, e.name, e.pull, e.started, e.state, e.head, e.verdict";

#[derive(Debug, sqlx::FromRow)]
struct PastRow {
    id: Vec<u8>,
    generation: i64,
    forge: String,
    repository: i64,
    name: Option<String>,
    pull: i64,
    started: i64,
    state: String,
    head: Option<String>,
    verdict: Option<String>,
}

#[derive(Debug, sqlx::FromRow)]
struct ShownRow {
    #[sqlx(flatten)]
    past: PastRow,
    record: Option<Vec<u8>>,
    content: Option<Vec<u8>>,
}

fn unreadable(table: &'static str, row: &dyn Display, column: &str) -> QueueError {
    QueueError::Unreadable {
        table,
        row: row.to_string(),
        why: format!("{column} has a value that this version does not know"),
    }
}

impl PastRow {
    fn past(self) -> Result<Past, QueueError> {
        let id = Uuid::from_slice(&self.id).map_err(|_| unreadable("evaluations", &hex::encode(&self.id), "id"))?;
        let bad = |column: &str| unreadable("evaluations", &format!("{id}, generation {}", self.generation), column);
        Ok(Past {
            id: EvaluationId(id),
            generation: Generation(self.generation),
            repository: RepositoryKey {
                forge: forge(&self.forge).ok_or_else(|| bad("forge"))?,
                id: RepositoryId(self.repository.cast_unsigned()),
            },
            pull: PullNumber(self.pull.cast_unsigned()),
            started: Timestamp::from_microsecond(self.started).map_err(|_| bad("started"))?,
            state: state_of(&self.state).ok_or_else(|| bad("state"))?,
            head: self.head.as_deref().map(str::parse).transpose().map_err(|_| bad("head"))?,
            verdict: match self.verdict.as_deref() {
                Some(word) => Some(verdict(word).ok_or_else(|| bad("verdict"))?),
                None => None,
            },
            name: self.name,
        })
    }
}

impl ShownRow {
    fn shown(self) -> Result<Shown, QueueError> {
        let past = self.past.past()?;
        let id = past.id;
        let unpacked = |packed: Option<Vec<u8>>, table, column: &str| {
            packed.map(|packed| body::unpack(&packed)).transpose().map_err(|_| unreadable(table, &id, column))
        };
        Ok(Shown {
            record: unpacked(self.record, "evaluations", "record")?,
            exhibit: unpacked(self.content, "exhibits", "content")?,
            past,
        })
    }
}

type KnownRow = (String, i64, Option<String>, Option<i64>, i64, i64, i64, i64, i64);

fn known(
    (forge_word, id, name, installation, newest, review, hold, unscored, reject): KnownRow,
) -> Option<KnownRepository> {
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    Some(KnownRepository {
        key: RepositoryKey { forge: forge(&forge_word)?, id: RepositoryId(id.cast_unsigned()) },
        name,
        installation: installation.map(|id| InstallationId(id.cast_unsigned())),
        verdicts: [review, hold, unscored, reject].map(count),
        newest: Timestamp::from_microsecond(newest).ok()?,
    })
}

#[async_trait]
impl Pages for SqlitePages {
    async fn opened_by(&self, pass: PassHash, now: Timestamp) -> Result<Option<Shown>, QueueError> {
        let sql = format!(
            "SELECT {PAST}, e.record, x.content FROM passes
             JOIN evaluations AS e ON e.id = passes.evaluation AND e.generation = passes.generation
             LEFT JOIN exhibits AS x ON x.evaluation = e.id AND x.generation = e.generation
             WHERE passes.hash = $1 AND passes.expires > $2"
        );
        let query = sqlx::query_as(AssertSqlSafe(sql)).bind(pass.to_vec()).bind(micros(now));
        let row: Option<ShownRow> = query.fetch_optional(&self.readers).await.doing("open a pass")?;
        row.map(ShownRow::shown).transpose()
    }

    async fn shown(&self, id: EvaluationId) -> Result<Option<Shown>, QueueError> {
        let sql = format!(
            "SELECT {PAST}, e.record, x.content FROM evaluations AS e
             LEFT JOIN exhibits AS x ON x.evaluation = e.id AND x.generation = e.generation
             WHERE e.id = $1 AND e.record IS NOT NULL ORDER BY e.generation DESC LIMIT 1"
        );
        let query = sqlx::query_as(AssertSqlSafe(sql)).bind(id.0.as_bytes().to_vec());
        let row: Option<ShownRow> = query.fetch_optional(&self.readers).await.doing("read an evaluation")?;
        row.map(ShownRow::shown).transpose()
    }

    async fn history(&self, repository: RepositoryKey, most: u32) -> Result<Vec<Past>, QueueError> {
        let sql = format!(
            "SELECT {PAST} FROM evaluations AS e
             WHERE e.forge = $1 AND e.repository = $2 AND e.state = 'published' AND e.verdict IS NOT NULL
             ORDER BY e.started DESC, e.generation DESC LIMIT $3"
        );
        let (forge, id) = columns(repository);
        let query = sqlx::query_as(AssertSqlSafe(sql)).bind(forge).bind(id).bind(i64::from(most));
        let rows: Vec<PastRow> = query.fetch_all(&self.readers).await.doing("list verdicts")?;
        rows.into_iter().map(PastRow::past).collect()
    }

    async fn last_exhibit(&self, repository: RepositoryKey) -> Result<Option<Shown>, QueueError> {
        let sql = format!(
            "SELECT {PAST}, e.record, x.content FROM evaluations AS e
             JOIN exhibits AS x ON x.evaluation = e.id AND x.generation = e.generation
             WHERE e.forge = $1 AND e.repository = $2 AND e.state = 'published'
             ORDER BY e.started DESC, e.generation DESC LIMIT 1"
        );
        let (forge, id) = columns(repository);
        let query = sqlx::query_as(AssertSqlSafe(sql)).bind(forge).bind(id);
        let row: Option<ShownRow> =
            query.fetch_optional(&self.readers).await.doing("read the freezes of a repository")?;
        row.map(ShownRow::shown).transpose()
    }

    async fn records(&self, repository: RepositoryKey, most: u32) -> Result<Vec<Vec<u8>>, QueueError> {
        let sql = "SELECT record FROM evaluations
            WHERE forge = $1 AND repository = $2 AND state = 'published' AND record IS NOT NULL
            ORDER BY started DESC, generation DESC LIMIT $3";
        let (forge, id) = columns(repository);
        let query = sqlx::query_as(sql).bind(forge).bind(id).bind(i64::from(most));
        let rows: Vec<(Vec<u8>,)> = query.fetch_all(&self.readers).await.doing("read the records of a repository")?;
        let unpack =
            |(packed,): (Vec<u8>,)| body::unpack(&packed).map_err(|_| unreadable("evaluations", &id, "record"));
        rows.into_iter().map(unpack).collect()
    }

    async fn known(&self, since: Timestamp, most: u32) -> Result<Vec<KnownRepository>, QueueError> {
        let sql = "SELECT e.forge, e.repository,
                (SELECT n.name FROM evaluations AS n WHERE n.forge = e.forge AND n.repository = e.repository
                    AND n.name IS NOT NULL ORDER BY n.started DESC LIMIT 1),
                (SELECT n.installation FROM evaluations AS n WHERE n.forge = e.forge AND n.repository = e.repository
                    AND n.installation IS NOT NULL ORDER BY n.started DESC LIMIT 1),
                max(e.started),
                count(*) FILTER (WHERE e.state = 'published' AND e.started >= $1 AND e.verdict = 'review'),
                count(*) FILTER (WHERE e.state = 'published' AND e.started >= $1 AND e.verdict = 'hold'),
                count(*) FILTER (WHERE e.state = 'published' AND e.started >= $1 AND e.verdict = 'unscored'),
                count(*) FILTER (WHERE e.state = 'published' AND e.started >= $1 AND e.verdict = 'reject')
            FROM evaluations AS e GROUP BY e.forge, e.repository ORDER BY max(e.started) DESC LIMIT $2";
        let query = sqlx::query_as(sql).bind(micros(since)).bind(i64::from(most));
        let rows: Vec<KnownRow> = query.fetch_all(&self.readers).await.doing("list repositories")?;
        Ok(rows.into_iter().filter_map(known).collect())
    }

    async fn live(&self, most: u32) -> Result<Vec<(Job, bool)>, QueueError> {
        let sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE state != 'dead' ORDER BY queued, id LIMIT $1");
        let query = sqlx::query_as(AssertSqlSafe(sql)).bind(i64::from(most));
        let rows: Vec<JobRow> = query.fetch_all(&self.readers).await.doing("list what waits")?;
        rows.into_iter().map(|row| Ok((row.job()?, row.state == "running"))).collect()
    }

    async fn letters(&self, most: u32) -> Result<Vec<(Job, String)>, QueueError> {
        letters::dead(&self.readers, most).await
    }

    async fn lost_errands(&self, most: u32) -> Result<Vec<DeadErrand>, QueueError> {
        letters::dead_errands(&self.readers, most).await
    }

    async fn depth(&self, now: Timestamp) -> Result<Depth, QueueError> {
        letters::depth(&self.readers, now).await
    }
}

fn columns(repository: RepositoryKey) -> (&'static str, i64) {
    (repository.forge.as_str(), repository.id.0.cast_signed())
}
