//! Group commit: deliveries that arrive while one transaction is being made durable share the next one.

use std::sync::Arc;

use jiff::Timestamp;
use sqlx::SqlitePool;
use tokio::sync::{mpsc, oneshot};

use super::checkpoint::Checkpoint;
use super::watch::Watch;
use super::{batch, body};
use crate::delivery::{Delivery, InboxError, Stored};
use crate::event::{self, Event};
use crate::words::{DeliveryId, ForgeKind};

/// Deliveries in one transaction at most.
const MOST: usize = 256;

/// Compressed bytes after which no further delivery is taken into a transaction.
const MOST_BYTES: usize = 16 << 20;

/// Deliveries that may wait for the writer before senders wait too.
const WAITING: usize = 1024;

/// Above this many bytes compression would hold up other requests of the same thread.
const LARGE: usize = 256 << 10;

/// A delivery that was read and compressed, and the caller that waits for it.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) forge: ForgeKind,
    pub(super) id: DeliveryId,
    pub(super) hook: String,
    pub(super) event: String,
    pub(super) content: [u8; 32],
    pub(super) body: Arc<Vec<u8>>,
    pub(super) received: Timestamp,
    pub(super) asks: Event,
    answer: oneshot::Sender<Answer>,
}

type Answer = Result<Kept, Arc<sqlx::Error>>;

/// What the transaction made of one delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Stored(Stored),
    /// Refused: this id is known with other content. Nothing was kept of it.
    OtherBody,
}

/// The writer is gone: the process is shutting down.
#[derive(Debug, thiserror::Error)]
#[error("the queue is closed")]
struct Closed;

/// Reads and compresses on the caller's side, then waits for the writer.
pub(super) async fn store(intake: &mpsc::Sender<Incoming>, delivery: Delivery) -> Result<Stored, InboxError> {
    let (answer, answered) = oneshot::channel();
    let incoming = if delivery.body().len() > LARGE {
        let reading = tokio::task::spawn_blocking(move || Incoming::read(&delivery, answer));
        reading.await.map_err(|error| InboxError::Unavailable(Box::new(error)))??
    } else {
        Incoming::read(&delivery, answer)?
    };
    intake.send(incoming).await.map_err(|_| InboxError::Unavailable(Box::new(Closed)))?;
    match answered.await {
        Ok(Ok(Kept::Stored(stored))) => Ok(stored),
        Ok(Ok(Kept::OtherBody)) => Err(InboxError::OtherBody),
        Ok(Err(error)) => Err(InboxError::Unavailable(Box::new(error))),
        Err(_) => Err(InboxError::Unavailable(Box::new(Closed))),
    }
}

impl Incoming {
    fn read(delivery: &Delivery, answer: oneshot::Sender<Answer>) -> Result<Self, InboxError> {
        let asks = event::parse(delivery).map_err(|error| InboxError::Malformed(Box::new(error)))?;
        let body = body::pack(delivery.body()).map_err(|error| InboxError::Unavailable(Box::new(error)))?;
        Ok(Self {
            forge: delivery.forge(),
            id: delivery.id().clone(),
            hook: delivery.hook().to_owned(),
            event: delivery.event().to_owned(),
            content: delivery.content(),
            body: Arc::new(body),
            received: delivery.received(),
            asks,
            answer,
        })
    }
}

/// Starts the one task that writes deliveries; it ends when the last sender is gone.
pub(super) fn spawn(writer: SqlitePool, watch: Arc<Watch>, checkpoint: Checkpoint) -> mpsc::Sender<Incoming> {
    let (intake, waiting) = mpsc::channel(WAITING);
    tokio::spawn(run(writer, watch, checkpoint, waiting));
    intake
}

async fn run(writer: SqlitePool, watch: Arc<Watch>, mut checkpoint: Checkpoint, mut waiting: mpsc::Receiver<Incoming>) {
    while let Some(first) = waiting.recv().await {
        let group = gather(first, &mut waiting);
        let deliveries = group.len();
        commit(&writer, &watch, group).await;
        checkpoint.count(deliveries);
    }
}

/// Everything that waits already, within bounds. Nobody is waited for: under load the next group fills while this one is written.
fn gather(first: Incoming, waiting: &mut mpsc::Receiver<Incoming>) -> Vec<Incoming> {
    let mut bytes = first.body.len();
    let mut group = vec![first];
    while group.len() < MOST && bytes < MOST_BYTES {
        let Ok(next) = waiting.try_recv() else { break };
        bytes += next.body.len();
        group.push(next);
    }
    group
}

/// Answers every caller, after its delivery is durable or certainly not kept.
async fn commit(writer: &SqlitePool, watch: &Watch, group: Vec<Incoming>) {
    match batch::keep(writer, &group).await {
        Ok(kept) => {
            if kept.contains(&Kept::Stored(Stored::Queued)) {
                watch.wake();
            }
            for (incoming, kept) in group.into_iter().zip(kept) {
                incoming.answer(Ok(kept));
            }
        }
        // One delivery may be more than the disk has room for, and the others need not suffer for it.
        Err(error) if group.len() > 1 && is_about_one_delivery(&error) => {
            for incoming in group {
                Box::pin(commit(writer, watch, vec![incoming])).await;
            }
        }
        Err(error) => {
            tracing::error!(deliveries = group.len(), error = %error, "deliveries could not be stored: {error}");
            let error = Arc::new(error);
            for incoming in group {
                incoming.answer(Err(Arc::clone(&error)));
            }
        }
    }
}

/// Whether a smaller transaction may succeed where this one failed. A database that is locked, read-only or out of reach fails for all.
fn is_about_one_delivery(error: &sqlx::Error) -> bool {
    /// Result codes of <https://sqlite.org/rescode.html>.
    const FULL: i64 = 13;
    const TOO_BIG: i64 = 18;
    const CONSTRAINT: i64 = 19;
    const MISMATCH: i64 = 20;
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i64>().ok());
    code.is_some_and(|code| matches!(code & 0xff, FULL | TOO_BIG | CONSTRAINT | MISMATCH))
}

impl Incoming {
    /// A caller that went away in the meantime needs no answer.
    fn answer(self, answer: Answer) {
        let _gone = self.answer.send(answer);
    }
}
