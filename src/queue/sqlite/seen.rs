//! The tables of deliveries: which are new, and what they said.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::SqliteConnection;

use super::batch::Novelty;
use super::group::{Incoming, Kept};
use super::many::{chunks, values};
use super::rows::micros;
use crate::delivery::Stored;
use crate::words::{DeliveryId, ForgeKind};

/// Deliveries with the rows they will have. Rows of refused deliveries stay free.
pub(super) type Numbered<'a> = Vec<(i64, &'a Incoming)>;

/// Numbers them behind everything that is kept.
pub(super) async fn number<'a>(db: &mut SqliteConnection, group: &'a [Incoming]) -> Result<Numbered<'a>, sqlx::Error> {
    let first = "SELECT coalesce(max(seq), 0) + 1 FROM deliveries";
    let first: i64 = sqlx::query_scalar(first).fetch_one(db).await?;
    Ok((first..).zip(group).collect())
}

/// Marks them as seen. The insert decides; only where it took fewer rows than it was given, the table is asked which.
pub(super) async fn mark(db: &mut SqliteConnection, numbered: &Numbered<'_>) -> Result<Vec<Novelty>, sqlx::Error> {
    if insert_seen(db, numbered).await? == numbered.len() as u64 {
        return Ok(vec![Novelty::New; numbered.len()]);
    }
    let known = known(db, numbered).await?;
    let mut novelty = Vec::with_capacity(numbered.len());
    for (seq, incoming) in numbered {
        novelty.push(match known.get(&(incoming.forge, &incoming.id)) {
            Some((_, row)) if row == seq => Novelty::New,
            Some((content, _)) => again(incoming, content),
            None => mark_replay(db, *seq, incoming).await?,
        });
    }
    Ok(novelty)
}

fn again(incoming: &Incoming, content: &[u8]) -> Novelty {
    if incoming.content == content { Novelty::Duplicate } else { Novelty::OtherBody }
}

/// Rows that were new, by delivery id and by content.
async fn insert_seen(db: &mut SqliteConnection, numbered: &Numbered<'_>) -> Result<u64, sqlx::Error> {
    let mut inserted = 0;
    for chunk in chunks(numbered) {
        let sql = values(
            "INSERT INTO seen (forge, delivery, content, replay, seq) VALUES ",
            "(?, ?, ?, 0, ?)",
            chunk.len(),
            " ON CONFLICT DO NOTHING",
        );
        let mut query = sqlx::query(sql);
        for (seq, incoming) in chunk {
            query = query.bind(incoming.forge.as_str()).bind(incoming.id.as_str());
            query = query.bind(incoming.content.to_vec()).bind(seq);
        }
        inserted += query.execute(&mut *db).await?.rows_affected();
    }
    Ok(inserted)
}

type Known<'a> = HashMap<(ForgeKind, &'a DeliveryId), (Vec<u8>, i64)>;

/// Content and row of those whose id is in the table.
async fn known<'a>(db: &mut SqliteConnection, numbered: &Numbered<'a>) -> Result<Known<'a>, sqlx::Error> {
    let mut known = HashMap::new();
    for (_, incoming) in numbered {
        if let Some(row) = known_one(db, incoming).await? {
            known.insert((incoming.forge, &incoming.id), row);
        }
    }
    Ok(known)
}

async fn known_one(db: &mut SqliteConnection, incoming: &Incoming) -> Result<Option<(Vec<u8>, i64)>, sqlx::Error> {
    sqlx::query_as("SELECT content, seq FROM seen WHERE forge = ? AND delivery = ?")
        .bind(incoming.forge.as_str())
        .bind(incoming.id.as_str())
        .fetch_optional(db)
        .await
}

/// Its content is known under another id. An earlier one of this group may be the first replay under this id.
async fn mark_replay(db: &mut SqliteConnection, seq: i64, incoming: &Incoming) -> Result<Novelty, sqlx::Error> {
    let insert =
        "INSERT INTO seen (forge, delivery, content, replay, seq) VALUES (?, ?, ?, 1, ?) ON CONFLICT DO NOTHING";
    let done = sqlx::query(insert)
        .bind(incoming.forge.as_str())
        .bind(incoming.id.as_str())
        .bind(incoming.content.to_vec())
        .bind(seq)
        .execute(&mut *db)
        .await?;
    if done.rows_affected() == 1 {
        return Ok(Novelty::Replay);
    }
    let (content, _) = known_one(db, incoming).await?.ok_or(sqlx::Error::RowNotFound)?;
    Ok(again(incoming, &content))
}

/// Keeps what was said, and what became of it.
pub(super) async fn insert(
    db: &mut SqliteConnection,
    numbered: &Numbered<'_>,
    novelty: &[Novelty],
    kept: &[Kept],
) -> Result<(), sqlx::Error> {
    let rows = numbered.iter().zip(novelty).zip(kept).filter_map(|(((seq, incoming), novelty), kept)| match novelty {
        Novelty::New => Some((*seq, *incoming, Some(Arc::clone(&incoming.body)), outcome(kept))),
        Novelty::Replay => Some((*seq, *incoming, None, outcome(kept))),
        Novelty::Duplicate | Novelty::OtherBody => None,
    });
    let rows: Vec<_> = rows.collect();
    for chunk in chunks(&rows) {
        let sql = values(
            "INSERT INTO deliveries (seq, forge, delivery, hook, event, received, outcome, body) VALUES ",
            "(?, ?, ?, ?, ?, ?, ?, ?)",
            chunk.len(),
            "",
        );
        let mut query = sqlx::query(sql);
        for (seq, incoming, body, outcome) in chunk {
            query = query.bind(seq).bind(incoming.forge.as_str()).bind(incoming.id.as_str());
            query = query.bind(&incoming.hook).bind(&incoming.event).bind(micros(incoming.received));
            query = query.bind(outcome).bind(body.clone());
        }
        query.execute(&mut *db).await?;
    }
    Ok(())
}

/// The words of the `outcome` column.
fn outcome(kept: &Kept) -> String {
    match kept {
        Kept::Stored(Stored::Queued) => "queued".to_owned(),
        Kept::Stored(Stored::Coalesced) => "coalesced".to_owned(),
        Kept::Stored(Stored::Ignored(why)) => format!("ignored: {why}"),
        Kept::Stored(Stored::Duplicate) => "duplicate".to_owned(),
        Kept::OtherBody => "refused".to_owned(),
    }
}
