//! How a waiting worker hears of new work, also of another process's.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sqlx::SqliteConnection;
use tokio::sync::{Mutex, Notify};

/// How often another process's work is looked for. Asking costs one short read of shared memory.
const EVERY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Watch {
    /// Work that this process stored itself, or made free.
    stored: Notify,
    /// A connection of its own, since the number that it is asked for counts what all others committed.
    connection: Mutex<SqliteConnection>,
    /// The number when work was last looked for.
    looked_at: AtomicI64,
}

impl Watch {
    pub(super) fn new(connection: SqliteConnection) -> Self {
        Self { stored: Notify::new(), connection: Mutex::new(connection), looked_at: AtomicI64::new(0) }
    }

    /// Wakes one that waits, or the next one that will.
    pub(super) fn wake(&self) {
        self.stored.notify_one();
    }

    /// Call before work is looked for: a commit from here on ends the next [`Watch::wait`] at once.
    pub(super) async fn look(&self) -> Result<(), sqlx::Error> {
        let version = self.version().await?;
        self.looked_at.store(version, Ordering::Relaxed);
        Ok(())
    }

    /// Returns after a commit, or after `longest`.
    pub(super) async fn wait(&self, longest: Duration) {
        let poll = async {
            let looked_at = self.looked_at.load(Ordering::Relaxed);
            // A database that cannot be asked is for the next claim to report.
            while self.version().await.unwrap_or(looked_at) == looked_at {
                tokio::time::sleep(EVERY).await;
            }
        };
        tokio::select! {
            () = self.stored.notified() => {}
            () = poll => {}
            () = tokio::time::sleep(longest) => {}
        }
    }

    /// Changes with every commit of another connection, see <https://sqlite.org/pragma.html#pragma_data_version>.
    async fn version(&self) -> Result<i64, sqlx::Error> {
        sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut *self.connection.lock().await).await
    }
}
