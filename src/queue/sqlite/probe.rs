//! Whether a delivery could be stored now, found out by storing something.

use sqlx::SqlitePool;

use super::write::Write;

/// As large as a large webhook is when compressed.
const BYTES: i64 = 64 << 10;

pub(super) async fn ready(writer: &SqlitePool) -> Result<(), sqlx::Error> {
    let mut write = Write::begin(writer).await?;
    let db = write.connection();
    sqlx::query("INSERT INTO probe (bytes) VALUES (zeroblob(?))").bind(BYTES).execute(&mut *db).await?;
    sqlx::query("DELETE FROM probe").execute(&mut *db).await?;
    write.commit().await
}
