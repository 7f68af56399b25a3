//! `evidence-gate receive`: the public role. It verifies and stores; it judges nothing and knows no key of a forge (R16).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{RoleError, now, uploads};
use crate::config::Settings;
use crate::delivery::{self, Limits, Receiver, WebhookSecrets};
use crate::maps::Depot;
use crate::proof::Keys;
use crate::queue::{Queue, SqliteOptions, SqliteQueue};

/// The file below the data directory that holds the address that was bound: with port 0 nobody else knows it.
const ADDRESS_FILE: &str = "receive.addr";

/// How often the length of the queue is measured.
const MEASURE: Duration = Duration::from_secs(5);

/// How long a delivery is remembered: past the forge's own time for redelivery, three days on github.com and seven on GHES (R8).
const REMEMBER: jiff::SignedDuration = jiff::SignedDuration::from_hours(14 * 24);

/// Receives until `stop`.
pub(super) async fn receive(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    stop: CancellationToken,
) -> Result<(), RoleError> {
    let secrets = WebhookSecrets::new(settings.webhook_secrets(environment)?)?;
    let queue = Arc::new(open_queue(settings).await?);
    let uploads = uploads::configured(settings, queue.clone())?;
    let metrics = PrometheusBuilder::new().install_recorder().map_err(|error| RoleError::Ours(error.to_string()))?;
    let listen = settings.receive.listen;
    let listener =
        TcpListener::bind(listen).await.map_err(|source| RoleError::Bind { listen, key: "receive.listen", source })?;
    let bound = listener.local_addr().map_err(|source| RoleError::Bind { listen, key: "receive.listen", source })?;
    note_address(&settings.data_dir, ADDRESS_FILE, &bound.to_string())?;
    info!(net.address = %bound, "receiving webhooks on http://{bound}/webhooks/github");
    let receiver = Receiver {
        inbox: Arc::clone(&queue) as Arc<dyn delivery::Inbox>,
        github: Arc::new(secrets),
        clock: Arc::new(now),
        metrics,
        public_keys: settings.receive.public_keys.clone().unwrap_or_else(|| Keys::public_file(&settings.keys())),
        limits: Limits::default(),
    };
    let depot = Depot::below(&settings.data_dir);
    let housekeeping = tokio::spawn(keep_house(Arc::clone(&queue), depot, stop.clone()));
    let router = delivery::router(receiver).merge(delivery::uploads(uploads));
    let stopped = delivery::serve(listener, router, stop.cancelled_owned()).await;
    info!("stopped receiving: {stopped:?}");
    housekeeping.abort();
    queue.close().await;
    Ok(())
}

/// The one database of this host.
pub(super) async fn open_queue(settings: &Settings) -> Result<SqliteQueue, RoleError> {
    std::fs::create_dir_all(&settings.data_dir)
        .map_err(|source| RoleError::DataDir { path: settings.data_dir.display().to_string(), source })?;
    let options = SqliteOptions { max_bytes: settings.receive.max_database_bytes, ..SqliteOptions::default() };
    Ok(SqliteQueue::open(&settings.data_dir, options).await?)
}

/// Written whole and then renamed, so that whoever waits for it never reads half an address.
pub(super) fn note_address(data_dir: &Path, file: &str, address: &str) -> Result<(), RoleError> {
    let path = data_dir.join(file);
    let half = path.with_extension("new");
    std::fs::write(&half, address)
        .and_then(|()| std::fs::rename(&half, &path))
        .map_err(|source| RoleError::DataDir { path: path.display().to_string(), source })
}

/// Keeps the gauges true and forgets old deliveries.
async fn keep_house(queue: Arc<SqliteQueue>, depot: Depot, stop: CancellationToken) {
    uploads::describe();
    metrics::describe_gauge!("evidence_gate_queue_jobs", "Jobs by state.");
    metrics::describe_gauge!(
        "evidence_gate_queue_oldest_seconds",
        metrics::Unit::Seconds,
        "Age of the oldest queued job."
    );
    let mut tick = tokio::time::interval(MEASURE);
    let mut forgotten_at = now();
    while !stop.is_cancelled() {
        tick.tick().await;
        match queue.depth(now()).await {
            Ok(depth) => show(depth),
            Err(error) => warn!(error = &error as &dyn std::error::Error, "cannot measure the queue"),
        }
        if let Err(error) = uploads::measure(&depot) {
            warn!(error = &error as &dyn std::error::Error, "cannot measure the maps that wait");
        }
        if now().duration_since(forgotten_at).as_hours() >= 1 {
            forgotten_at = now();
            match queue.forget(forgotten_at.saturating_sub(REMEMBER).unwrap_or(jiff::Timestamp::MIN)).await {
                Ok(0) => {}
                Ok(count) => info!(deliveries.forgotten = count, "forgot {count} deliveries older than 14 days"),
                Err(error) => warn!(error = &error as &dyn std::error::Error, "cannot forget old deliveries"),
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; nobody has 2^52 jobs")]
fn show(depth: crate::queue::Depth) {
    for (state, count) in [("queued", depth.queued), ("running", depth.running), ("dead", depth.dead)] {
        metrics::gauge!("evidence_gate_queue_jobs", "state" => state).set(count as f64);
    }
    metrics::gauge!("evidence_gate_queue_oldest_seconds").set(depth.oldest_seconds as f64);
}
