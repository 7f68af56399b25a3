//! One write transaction.

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection, SqlitePool};

use crate::queue::QueueError;

/// A transaction that holds the right to write from its first statement on, so that what it reads stays true until its end.
///
/// Dropped without an end, for instance by an error or with a cancelled future, it takes its connection down with it: SQLite
/// may or may not have rolled back by itself by then, and a new connection is sure to be in no transaction.
pub(super) struct Write {
    connection: PoolConnection<Sqlite>,
    ended: bool,
}

impl Write {
    pub(super) async fn begin(writer: &SqlitePool) -> Result<Self, sqlx::Error> {
        let connection = writer.acquire().await?;
        let mut write = Self { connection, ended: false };
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *write.connection).await?;
        Ok(write)
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    /// Makes everything durable.
    pub(super) async fn commit(self) -> Result<(), sqlx::Error> {
        self.end("COMMIT").await
    }

    /// Makes everything undone.
    pub(super) async fn undo(self) -> Result<(), sqlx::Error> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, how: &'static str) -> Result<(), sqlx::Error> {
        sqlx::query(how).execute(&mut *self.connection).await?;
        self.ended = true;
        Ok(())
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if !self.ended {
            self.connection.close_on_drop();
        }
    }
}

/// Says what was being done when the database failed.
pub(super) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, QueueError>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, doing: &'static str) -> Result<T, QueueError> {
        self.map_err(|source| QueueError::Database { doing, source })
    }
}
