//! What the receiver does with a coverage map: it keeps it as pending and sends a worker for it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tempfile::NamedTempFile;

use super::{RoleError, now};
use crate::config::Settings;
use crate::delivery::{Doorkeeper, Kept, KeySource, NotKept, Upload, UploadLimits, UploadStore, Uploads};
use crate::event::{Errand, Task};
use crate::forge::Issuers;
use crate::maps::{Depot, Room};
use crate::queue::Queue;

/// Keeps maps in the data directory.
struct Store {
    depot: Depot,
    room: Room,
    queue: Arc<dyn Queue>,
}

/// The uploads of a receiver, as they are configured.
pub(super) fn configured(settings: &Settings, queue: Arc<dyn Queue>) -> Result<Uploads, RoleError> {
    let maps = &settings.maps;
    let doorkeeper = doorkeeper(settings)?;
    let room = Room { unpacked: maps.max_unpacked_bytes, pending: maps.max_bytes / 2 };
    Ok(Uploads {
        doorkeeper: doorkeeper.map(Arc::new),
        store: Arc::new(Store { depot: Depot::below(&settings.data_dir), room, queue }),
        clock: Arc::new(now),
        limits: UploadLimits { packed: maps.max_upload_bytes, ..UploadLimits::default() },
    })
}

/// Decides who may upload; `None`: nobody.
pub(super) fn doorkeeper(settings: &Settings) -> Result<Option<Doorkeeper>, RoleError> {
    let source: Arc<dyn KeySource> = Arc::new(Issuers::default());
    Ok(Doorkeeper::new(&settings.maps, settings.upload_tokens()?, &source)?)
}

#[async_trait]
impl UploadStore for Store {
    fn scratch(&self) -> std::io::Result<NamedTempFile> {
        self.depot.scratch()
    }

    async fn keep(&self, upload: Upload, packed: NamedTempFile) -> Result<Kept, NotKept> {
        let (depot, room, repository) = (self.depot.clone(), self.room, upload.repository.clone());
        let kept = tokio::task::spawn_blocking(move || depot.keep(&upload, packed, &room))
            .await
            .map_err(|died| NotKept::Unavailable(died.into()))??;
        // Sent for a duplicate as well: the errand of its first time may have been what failed.
        let errand = Errand { installation: None, repository: Some(repository), by: None, task: Task::TakeUpMaps };
        self.queue.send(&[errand], now()).await.map_err(|error| NotKept::Unavailable(error.into()))?;
        Ok(kept)
    }
}

/// How many maps wait for a worker, and for how long the oldest has.
pub(super) fn describe() {
    metrics::describe_gauge!(PENDING, "Coverage maps that no worker has looked at yet.");
    metrics::describe_gauge!(OLDEST, metrics::Unit::Seconds, "Age of the oldest of them.");
}

const PENDING: &str = "evidence_gate_maps_pending";
const OLDEST: &str = "evidence_gate_maps_pending_oldest_seconds";

/// Measures them.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; nobody has 2^52 maps")]
pub(super) fn measure(depot: &Depot) -> std::io::Result<()> {
    let waiting = depot.waiting()?;
    let oldest = waiting.iter().map(|receipt| now().duration_since(receipt.received)).max().unwrap_or_default();
    metrics::gauge!(PENDING).set(waiting.len() as f64);
    metrics::gauge!(OLDEST).set(Duration::try_from(oldest).unwrap_or_default().as_secs_f64());
    Ok(())
}
