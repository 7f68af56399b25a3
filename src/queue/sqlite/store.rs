//! The store itself: connections, and which file answers which call.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqlitePool;
use tokio::sync::mpsc;

use super::open::{OpenError, SqliteOptions};
use super::rows::StoredDelivery;
use super::write::Doing as _;
use super::{claim, evaluations, forget, group, letters, open, probe, rows, settle, watch};
use crate::delivery::{Delivery, Inbox, InboxError, Stored};
use crate::queue::{
    Depth, Evaluation, EvaluationId, Fenced, Job, JobId, Lease, Queue, QueueError, RunnerId, Settled, Superseded,
};
use crate::words::{DeliveryId, ForgeKind, HeadSha, RunId, Verdict};

/// [`Queue`] and [`Inbox`] in one SQLite file. Any number of processes may open the same file; clones share their connections.
#[derive(Clone, Debug)]
pub struct SqliteQueue {
    pub(super) path: PathBuf,
    /// One connection: whoever holds it writes.
    pub(super) writer: SqlitePool,
    pub(super) readers: SqlitePool,
    pub(super) intake: mpsc::Sender<group::Incoming>,
    pub(super) watch: Arc<watch::Watch>,
}

impl SqliteQueue {
    /// Opens the database in this folder, makes the folder and the file where they are missing (for this user only), and brings an
    /// older file to the present shape.
    ///
    /// # Errors
    /// [`OpenError`]: the folder cannot be written, the file is no database of ours, or a newer version wrote it.
    pub async fn open(folder: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        open::open(folder, options).await
    }

    /// Whether a folder has a database of ours; nothing is opened or made.
    pub fn is_in(folder: &Path) -> bool {
        open::file_in(folder).is_file()
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends all connections; deliveries that wait for their turn are answered [`InboxError::Unavailable`].
    pub async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }

    /// A delivery that was kept, with its body. `None`: never seen, or forgotten since.
    ///
    /// # Errors
    /// The database cannot be read, or the row is damaged.
    pub async fn delivery(&self, forge: ForgeKind, id: &DeliveryId) -> Result<Option<StoredDelivery>, QueueError> {
        rows::delivery(&self.readers, forge, id).await
    }
}

#[async_trait]
impl Inbox for SqliteQueue {
    async fn store(&self, delivery: Delivery) -> Result<Stored, InboxError> {
        group::store(&self.intake, delivery).await
    }

    async fn ready(&self) -> Result<(), InboxError> {
        probe::ready(&self.writer).await.map_err(|error| InboxError::Unavailable(Box::new(error)))
    }
}

#[async_trait]
impl Queue for SqliteQueue {
    async fn claim(&self, runner: &RunnerId, now: Timestamp, lease: Duration) -> Result<Option<Lease>, QueueError> {
        self.watch.look().await.doing("look for work")?;
        let claimed = claim::claim(&self.readers, &self.writer, runner, now, lease).await?;
        if claimed.is_some() {
            // There may be more of it, and one waking wakes one worker.
            self.watch.wake();
        }
        Ok(claimed)
    }

    async fn heartbeat(&self, lease: &Lease, now: Timestamp, length: Duration) -> Result<Fenced, QueueError> {
        settle::heartbeat(&self.writer, lease, now, length).await
    }

    async fn settle(&self, lease: &Lease, end: Settled, now: Timestamp) -> Result<Fenced, QueueError> {
        let fenced = settle::settle(&self.writer, lease, end, now).await?;
        // The pull request is free again, and a job of it may have waited for that.
        self.watch.wake();
        Ok(fenced)
    }

    async fn run_opened(&self, lease: &Lease, head: &HeadSha, run: RunId) -> Result<Fenced, QueueError> {
        evaluations::run_opened(&self.writer, lease, head, run).await
    }

    async fn begin_post(&self, lease: &Lease, verdict: Verdict, record: &[u8]) -> Result<Superseded, QueueError> {
        evaluations::begin_post(&self.writer, lease, verdict, record).await
    }

    async fn posted(&self, lease: &Lease) -> Result<Fenced, QueueError> {
        evaluations::posted(&self.writer, lease).await
    }

    async fn evaluation(&self, id: EvaluationId) -> Result<Option<Evaluation>, QueueError> {
        evaluations::evaluation(&self.readers, id).await
    }

    async fn depth(&self, now: Timestamp) -> Result<Depth, QueueError> {
        letters::depth(&self.readers, now).await
    }

    async fn dead(&self, most: u32) -> Result<Vec<(Job, String)>, QueueError> {
        letters::dead(&self.readers, most).await
    }

    async fn revive(&self, job: JobId, now: Timestamp) -> Result<(), QueueError> {
        letters::revive(&self.writer, job, now).await?;
        self.watch.wake();
        Ok(())
    }

    async fn forget(&self, before: Timestamp) -> Result<u64, QueueError> {
        forget::forget(&self.writer, before).await
    }

    async fn wait(&self, longest: Duration) {
        self.watch.wait(longest).await;
    }
}
