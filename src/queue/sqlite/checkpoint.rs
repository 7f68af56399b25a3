//! Carries the write-ahead log over into the file beside the writer, so that few deliveries wait while it happens.
//!
//! SQLite's own checkpoint, in the commit that finds the log long, stays in place: it finds little left to do, and it alone lets
//! the log begin anew. See <https://sqlite.org/wal.html#ckpt>.

use sqlx::SqliteConnection;
use tokio::sync::mpsc;

/// Deliveries after which the log is carried over: about 1,000 pages of it.
const EVERY: usize = 256;

/// Counts what was committed, and asks for a checkpoint now and then.
#[derive(Debug)]
pub(super) struct Checkpoint {
    due: mpsc::Sender<()>,
    committed: usize,
}

impl Checkpoint {
    /// Starts the task, on a connection of its own. It ends when this value is dropped.
    pub(super) fn spawn(connection: SqliteConnection) -> Self {
        let (due, asked) = mpsc::channel(1);
        tokio::spawn(run(connection, asked));
        Self { due, committed: 0 }
    }

    /// So many deliveries were committed.
    pub(super) fn count(&mut self, deliveries: usize) {
        self.committed += deliveries;
        if self.committed >= EVERY {
            self.committed = 0;
            // One that is under way, or asked for already, will do.
            let _asked = self.due.try_send(());
        }
    }
}

async fn run(mut connection: SqliteConnection, mut asked: mpsc::Receiver<()>) {
    while asked.recv().await.is_some() {
        // What stays in the log is carried over by the next one, or by a commit.
        if let Err(error) = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut connection).await {
            tracing::warn!(error = %error, "the write-ahead log could not be carried over: {error}");
        }
    }
}
