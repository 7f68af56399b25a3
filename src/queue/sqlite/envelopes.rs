//! [`Envelopes`] in SQLite.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::body;
use super::life::place;
use super::rows::{forge, micros};
use super::store::SqliteQueue;
use super::write::{Doing as _, Write};
use crate::queue::{Added, Envelopes, EvaluationId, Link, QueueError};
use crate::words::{RepoRef, RepositoryId};

const DOING: &str = "read signed records";

#[async_trait]
impl Envelopes for SqliteQueue {
    async fn last_link(&self, repository: &RepoRef) -> Result<Option<(u64, String)>, QueueError> {
        let (forge, id) = place(repository);
        let sql =
            "SELECT number, digest FROM envelopes WHERE forge = $1 AND repository = $2 ORDER BY number DESC LIMIT 1";
        let row: Option<(i64, String)> =
            sqlx::query_as(sql).bind(forge).bind(id).fetch_optional(&self.readers).await.doing(DOING)?;
        Ok(row.map(|(number, digest)| (number.unsigned_abs(), digest)))
    }

    async fn add_link(&self, link: &Link) -> Result<Added, QueueError> {
        const DOING: &str = "keep a signed record";
        let (forge, id) = place(&link.repository);
        let envelope = body::pack(&link.envelope).map_err(sqlx::Error::Io).doing(DOING)?;
        let mut write = Write::begin(&self.writer).await.doing(DOING)?;
        let done = sqlx::query(
            "INSERT INTO envelopes (forge, repository, number, name, evaluation, digest, signed, envelope)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (forge, repository, number) DO NOTHING",
        )
        .bind(forge)
        .bind(id)
        .bind(link.number.cast_signed())
        .bind(link.repository.name.as_str())
        .bind(link.evaluation.0.as_bytes().to_vec())
        .bind(&link.digest)
        .bind(micros(link.signed))
        .bind(envelope)
        .execute(write.connection())
        .await
        .doing(DOING)?;
        write.commit().await.doing(DOING)?;
        Ok(if done.rows_affected() == 0 { Added::Taken } else { Added::Kept })
    }

    async fn link_of(&self, evaluation: EvaluationId) -> Result<Option<Link>, QueueError> {
        let sql = "SELECT forge, repository, number, name, evaluation, digest, signed, envelope FROM envelopes
            WHERE evaluation = $1 ORDER BY number DESC LIMIT 1";
        let row: Option<Row> = sqlx::query_as(sql)
            .bind(evaluation.0.as_bytes().to_vec())
            .fetch_optional(&self.readers)
            .await
            .doing(DOING)?;
        row.map(Row::link).transpose()
    }

    async fn links(&self, repository: &RepoRef, after: u64, most: u32) -> Result<Vec<Link>, QueueError> {
        let (forge, id) = place(repository);
        let sql = "SELECT forge, repository, number, name, evaluation, digest, signed, envelope FROM envelopes
            WHERE forge = $1 AND repository = $2 AND number > $3 ORDER BY number LIMIT $4";
        let query = sqlx::query_as(sql).bind(forge).bind(id).bind(after.cast_signed()).bind(i64::from(most));
        let rows: Vec<Row> = query.fetch_all(&self.readers).await.doing(DOING)?;
        rows.into_iter().map(Row::link).collect()
    }

    async fn linked(&self) -> Result<Vec<RepoRef>, QueueError> {
        let sql = "SELECT forge, repository, name FROM envelopes AS e WHERE number =
                (SELECT max(number) FROM envelopes AS last WHERE last.forge = e.forge AND last.repository = e.repository)
            ORDER BY forge, repository";
        let rows: Vec<(String, i64, String)> = sqlx::query_as(sql).fetch_all(&self.readers).await.doing(DOING)?;
        rows.iter().map(|(forge, repository, name)| repo(forge, *repository, name)).collect()
    }
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    forge: String,
    repository: i64,
    number: i64,
    name: String,
    evaluation: Vec<u8>,
    digest: String,
    signed: i64,
    envelope: Vec<u8>,
}

impl Row {
    fn link(self) -> Result<Link, QueueError> {
        let row = format!("{} of repository {} on {}", self.number, self.repository, self.forge);
        let unreadable = |what: &str| QueueError::Unreadable {
            table: "envelopes",
            row: row.clone(),
            why: format!("{what} is damaged"),
        };
        Ok(Link {
            repository: repo(&self.forge, self.repository, &self.name)?,
            number: self.number.unsigned_abs(),
            evaluation: EvaluationId(Uuid::from_slice(&self.evaluation).map_err(|_| unreadable("evaluation"))?),
            digest: self.digest,
            signed: Timestamp::from_microsecond(self.signed).map_err(|_| unreadable("signed"))?,
            envelope: body::unpack(&self.envelope).map_err(|_| unreadable("envelope"))?,
        })
    }
}

fn repo(kind: &str, id: i64, name: &str) -> Result<RepoRef, QueueError> {
    let unreadable = |what: &str| QueueError::Unreadable {
        table: "envelopes",
        row: format!("of repository {id} on {kind}"),
        why: format!("{what} has a value that this version does not know"),
    };
    Ok(RepoRef {
        forge: forge(kind).ok_or_else(|| unreadable("forge"))?,
        id: RepositoryId(id.cast_unsigned()),
        name: name.parse().map_err(|_| unreadable("name"))?,
    })
}
