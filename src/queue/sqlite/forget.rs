//! Deliveries are kept for days, not for ever.

use jiff::Timestamp;
use sqlx::SqlitePool;

use super::rows::micros;
use super::write::{Doing as _, Write};
use crate::queue::QueueError;

/// Deliveries that one transaction forgets, so that receivers never wait long.
const AT_ONCE: i64 = 500;

const DOING: &str = "forget old deliveries";

/// [`crate::queue::Queue::forget`]. Rows stand in the order in which they were kept; the first young one ends the search.
pub(super) async fn forget(writer: &SqlitePool, before: Timestamp) -> Result<u64, QueueError> {
    let mut forgotten = 0;
    loop {
        let some = forget_some(writer, before).await?;
        if some == 0 {
            return Ok(forgotten);
        }
        forgotten += some;
    }
}

async fn forget_some(writer: &SqlitePool, before: Timestamp) -> Result<u64, QueueError> {
    let mut write = Write::begin(writer).await.doing(DOING)?;
    let db = write.connection();
    let oldest: Vec<(i64, i64)> = sqlx::query_as("SELECT seq, received FROM deliveries ORDER BY seq LIMIT ?")
        .bind(AT_ONCE)
        .fetch_all(&mut *db)
        .await
        .doing(DOING)?;
    let old = oldest.iter().take_while(|(_, received)| *received < micros(before)).last();
    let Some((last, _)) = old else {
        write.undo().await.doing(DOING)?;
        return Ok(0);
    };
    let seen = "DELETE FROM seen WHERE (forge, delivery) IN (SELECT forge, delivery FROM deliveries WHERE seq <= ?)";
    sqlx::query(seen).bind(last).execute(&mut *db).await.doing(DOING)?;
    let done = sqlx::query("DELETE FROM deliveries WHERE seq <= ?").bind(last).execute(&mut *db).await.doing(DOING)?;
    write.commit().await.doing(DOING)?;
    Ok(done.rows_affected())
}
