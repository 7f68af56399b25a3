//! The addresses of the receiver.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use futures::FutureExt;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap};
use jiff::Timestamp;
use metrics_exporter_prometheus::PrometheusHandle;
use tower_http::catch_panic::CatchPanicLayer;
use tracing::error;

use super::body::{self, BodyFault, Budget};
use super::keys;
use super::observe::{self, Seen};
use super::outcome::Outcome;
use super::signature::ClaimedDigest;
use super::{Delivery, Inbox, Limits, Refusal, WebhookSecrets};
use crate::words::with_causes;

/// A body longer than this is hashed beside the threads that answer other requests, in bytes.
const HASHED_ASIDE: usize = 256 * 1024;

/// All that a receiver knows: where to put deliveries, who may sign them, what time it is. No key or token of a forge (R16).
#[derive(Clone)]
pub struct Receiver {
    /// Where deliveries go.
    pub inbox: Arc<dyn Inbox>,
    /// The secrets of the GitHub App's hook.
    pub github: Arc<WebhookSecrets>,
    /// Tells the time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// What `/metrics` prints.
    pub metrics: PrometheusHandle,
    /// The file with the public keys that verify our records. No private key is ever near this role.
    pub public_keys: PathBuf,
    /// How much, and how long.
    pub limits: Limits,
}

/// The receiver's addresses: `POST /webhooks/github`, `GET /healthz`, `GET /readyz`, `GET /metrics`, and the public keys that
/// verify our records.
///
/// A delivery is answered with 202 once it is durable and work stands in the queue for it, and with 200 where there is nothing to do.
/// Every answer is JSON with `outcome`, the delivery id and, where there is one, a `reason`. No other service is called before the answer
/// (R7), and what is not answered within [`Limits::answer_within`] is answered with 503: the forge keeps it in its delivery log.
///
/// An address list in front of the receiver saves work and proves nothing; who may deliver is decided by the signature alone (R20).
pub fn router(receiver: Receiver) -> Router {
    observe::describe();
    let budget = Budget::new(&receiver.limits);
    Router::new()
        .route("/webhooks/github", post(github))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route(keys::PATH, get(public_keys))
        .layer(CatchPanicLayer::new())
        .with_state(Shared { receiver, budget })
}

#[derive(Clone)]
struct Shared {
    receiver: Receiver,
    budget: Budget,
}

/// Where the sender hangs up before the answer, this future is dropped wherever it stands: the delivery may be stored or not, the
/// sender counts it as failed, and its redelivery is stored or a duplicate.
async fn github(State(shared): State<Shared>, request: Request) -> Response {
    let started = Instant::now();
    let (head, body) = request.into_parts();
    let seen = Seen::of_github(&head.headers);
    let work = AssertUnwindSafe(shared.receive(&head.headers, body)).catch_unwind();
    let outcome = match tokio::time::timeout(shared.receiver.limits.answer_within, work).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => Outcome::Panicked,
        Err(_elapsed) => Outcome::TimedOut,
    };
    seen.note(&outcome, started.elapsed());
    outcome.answer(seen.id())
}

impl Shared {
    /// Reads, verifies and stores one request.
    async fn receive(&self, headers: &HeaderMap, body: Body) -> Outcome {
        // Who shows no signature at all is turned away before a byte of the body is read.
        if let Err(fault) = ClaimedDigest::of_github(headers) {
            return Outcome::Refused(Refusal::Unauthenticated(fault));
        }
        let held = match body::read(headers, body, &self.receiver.limits, &self.budget).await {
            Ok(held) => held,
            Err(BodyFault::TooLarge) => return Outcome::TooLarge,
            Err(BodyFault::Broken(error)) => return Outcome::Broken(Box::new(error)),
        };
        let delivery = match self.verify(headers, held.bytes.clone()).await {
            Ok(delivery) => delivery,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        observe::count_secret(delivery.forge(), delivery.matched_secret());
        match self.receiver.inbox.store(delivery).await {
            Ok(stored) => Outcome::Stored(stored),
            Err(error) => Outcome::NotStored(error),
        }
    }

    async fn verify(&self, headers: &HeaderMap, body: Bytes) -> Result<Delivery, Refusal> {
        let (secrets, received) = (self.receiver.github.clone(), (self.receiver.clock)());
        if body.len() <= HASHED_ASIDE {
            return Delivery::verify_github(headers, body, &secrets, received);
        }
        let headers = headers.clone();
        let verify = move || Delivery::verify_github(&headers, body, &secrets, received);
        match tokio::task::spawn_blocking(verify).await {
            Ok(verified) => verified,
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }
}

/// Whether a delivery could be stored now. The cause goes to the log.
async fn ready(State(shared): State<Shared>) -> Response {
    let asked = tokio::time::timeout(shared.receiver.limits.answer_within, shared.receiver.inbox.ready());
    match asked.await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n").into_response(),
        Ok(Err(error)) => {
            error!(cause = with_causes(&error), "not ready: the store does not answer as it should");
            (StatusCode::SERVICE_UNAVAILABLE, "not ready: the store takes no deliveries\n").into_response()
        }
        Err(_elapsed) => {
            error!("not ready: the store does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "not ready: the store does not answer\n").into_response()
        }
    }
}

async fn public_keys(State(shared): State<Shared>) -> Response {
    keys::keys(&shared.receiver.public_keys).await
}

/// The Prometheus text format, <https://prometheus.io/docs/instrumenting/exposition_formats/>.
async fn metrics(State(shared): State<Shared>) -> Response {
    shared.receiver.metrics.run_upkeep();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], shared.receiver.metrics.render()).into_response()
}
