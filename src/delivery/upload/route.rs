//! The address of uploads.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::put;
use futures::FutureExt as _;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_ENCODING};
use jiff::Timestamp;
use metrics::{counter, histogram};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tracing::{error, info, warn};

use super::body::{self, NotReceived};
use super::doorkeeper::{Denied, Doorkeeper};
use super::outcome::UploadOutcome;
use super::store::{NotKept, Place, Upload, UploadStore};
use crate::words::{ForgeKind, RepoRef, RepositoryId};

/// All that uploads need.
#[derive(Clone)]
pub struct Uploads {
    /// Decides who may; `None`: nobody.
    pub doorkeeper: Option<Arc<Doorkeeper>>,
    /// Where maps go.
    pub store: Arc<dyn UploadStore>,
    /// Tells the time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// How much, and how long.
    pub limits: UploadLimits,
}

/// The bounds of uploads.
#[derive(Clone, Copy, Debug)]
pub struct UploadLimits {
    /// The most bytes of a map as it is sent.
    pub packed: u64,
    /// Maps that come in at one moment.
    pub at_once: usize,
    /// How long nothing may come of one that is coming in.
    pub silence: Duration,
    /// How long one may take.
    pub whole: Duration,
    /// How much, and how long, is read of one that was refused already.
    pub refused: (u64, Duration),
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self {
            packed: 256 << 20,
            at_once: 8,
            silence: Duration::from_secs(30),
            whole: Duration::from_mins(15),
            refused: (8 << 20, Duration::from_secs(5)),
        }
    }
}

/// Uploads by forge and outcome.
const UPLOADS: &str = "evidence_gate_uploads_total";
/// Bytes of kept maps, as they came.
const BYTES: &str = "evidence_gate_upload_bytes_total";
/// Seconds from an upload's head to its answer.
const SECONDS: &str = "evidence_gate_upload_seconds";

/// `PUT /v1/{forge}/{repository id}/coverage/{commit}`: a coverage map, packed or not, of one commit of the default branch.
///
/// 202: it is here and pending, and a worker will look at it; 200: it was here before. Every answer is JSON with `outcome` and, where
/// it was not kept, a `reason`. What may work on another try is answered with 503 and `Retry-After`. An upload that breaks off leaves
/// nothing behind.
pub fn uploads(uploads: Uploads) -> Router {
    metrics::describe_counter!(UPLOADS, "Uploads of coverage maps by forge and outcome.");
    metrics::describe_counter!(BYTES, metrics::Unit::Bytes, "Bytes of the coverage maps that were kept, as they came.");
    metrics::describe_histogram!(SECONDS, metrics::Unit::Seconds, "From an upload's head to its answer.");
    let places = Arc::new(Semaphore::new(uploads.limits.at_once));
    Router::new()
        .route("/v1/{forge}/{repository}/coverage/{commit}", put(take))
        .layer(CatchPanicLayer::new())
        .with_state(Shared { uploads, places })
}

#[derive(Clone)]
struct Shared {
    uploads: Uploads,
    places: Arc<Semaphore>,
}

async fn take(
    State(shared): State<Shared>,
    Path((forge, repository, commit)): Path<(String, String, String)>,
    request: Request,
) -> Response {
    let started = Instant::now();
    let (head, body) = request.into_parts();
    let place = place(&forge, &repository, &commit);
    let whole = shared.uploads.limits.whole;
    let outcome = match &place {
        Err(why) => UploadOutcome::BadAddress(why.clone()),
        Ok(place) => {
            let work = AssertUnwindSafe(shared.receive(place, &head.headers, body)).catch_unwind();
            match tokio::time::timeout(whole, work).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(_panic)) => UploadOutcome::Failed("the receiver panicked".to_owned()),
                Err(_elapsed) => UploadOutcome::Broken(format!("the upload took longer than {} s", whole.as_secs())),
            }
        }
    };
    note(place.as_ref().ok(), &outcome, started.elapsed());
    outcome.answer()
}

fn place(forge: &str, repository: &str, commit: &str) -> Result<Place, String> {
    let forge = match forge {
        "github" => ForgeKind::Github,
        "gitlab" => ForgeKind::Gitlab,
        _ => return Err("the address names no forge: it begins with /v1/github/ or /v1/gitlab/".to_owned()),
    };
    let number = repository.parse().map_err(|_| "the address names no repository by its number".to_owned())?;
    let commit = commit.parse().map_err(|error| format!("the address names no commit: {error}"))?;
    Ok(Place { forge, repository: RepositoryId(number), commit })
}

impl Shared {
    /// Who, then how, then the bytes: whoever may not upload is turned away before anything is kept.
    async fn receive(&self, place: &Place, headers: &HeaderMap, body: Body) -> UploadOutcome {
        let limits = &self.uploads.limits;
        let Some(doorkeeper) = &self.uploads.doorkeeper else { return UploadOutcome::Off };
        let Some(token) = bearer(headers) else { return UploadOutcome::NoToken };
        let now = (self.uploads.clock)();
        let by = match doorkeeper.admit(token, place, now).await {
            Ok(by) => by,
            Err(denied @ Denied::Unauthenticated(_)) => return UploadOutcome::Denied(denied),
            Err(denied) => {
                body::pour_away(body, limits.refused.0, limits.refused.1).await;
                return UploadOutcome::Denied(denied);
            }
        };
        if let Err(why) = encoding(headers) {
            return UploadOutcome::Encoding(why);
        }
        let Ok(_place) = self.places.try_acquire() else {
            body::pour_away(body, limits.refused.0, limits.refused.1).await;
            return UploadOutcome::Busy;
        };
        let scratch = match self.uploads.store.scratch() {
            Ok(scratch) => scratch,
            Err(error) => return UploadOutcome::NotKept(NotKept::Unavailable(error.into())),
        };
        let received = match body::receive(headers, body, scratch, limits.packed, limits.silence).await {
            Ok(received) => received,
            Err(not) => return self.not_received(not),
        };
        let repository = RepoRef { forge: place.forge, id: place.repository, name: by.name.clone() };
        let (commit, digest, bytes) = (place.commit.clone(), received.digest, received.bytes);
        let upload = Upload { repository, commit, by, received: now, digest: digest.clone(), bytes };
        match self.uploads.store.keep(upload, received.packed).await {
            Ok(kept) => {
                counter!(BYTES, "forge" => place.forge.as_str()).increment(bytes);
                UploadOutcome::Kept(kept, digest)
            }
            Err(error) => UploadOutcome::NotKept(error),
        }
    }

    fn not_received(&self, not: NotReceived) -> UploadOutcome {
        match not {
            NotReceived::TooLarge => UploadOutcome::TooLarge(self.uploads.limits.packed),
            NotReceived::Broken(error) => UploadOutcome::Cut(error),
            NotReceived::Silence => UploadOutcome::Broken("nothing came for too long; send it again".to_owned()),
            NotReceived::Empty => UploadOutcome::Broken("there is nothing in the upload".to_owned()),
            NotReceived::Disk(error) => UploadOutcome::NotKept(NotKept::Unavailable(error.into())),
        }
    }
}

/// The token of `Authorization: Bearer TOKEN`, where there is exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// How the bytes are packed shows in their first ones; the header must only not name what is not read.
fn encoding(headers: &HeaderMap) -> Result<(), String> {
    for value in headers.get_all(CONTENT_ENCODING) {
        let name = String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
        if !matches!(&*name, "gzip" | "x-gzip" | "zstd" | "identity") {
            let name: String = name.chars().take(40).collect();
            return Err(format!("a map comes with gzip, with zstd or plain, and not as {name:?}"));
        }
    }
    Ok(())
}

fn note(place: Option<&Place>, outcome: &UploadOutcome, took: Duration) {
    let label = outcome.label();
    let forge = place.map_or("unknown", |place| place.forge.as_str());
    counter!(UPLOADS, "forge" => forge, "outcome" => label).increment(1);
    histogram!(SECONDS, "outcome" => label).record(took.as_secs_f64());
    let (repository, commit) = place.map_or((0, String::new()), |place| (place.repository.0, place.commit.to_string()));
    let cause = outcome.cause().unwrap_or_default();
    let seconds = took.as_secs_f64();
    if outcome.is_alarm() {
        error!(forge, repo.id = repository, commit = %commit, outcome = label, cause, took.seconds = seconds, "a map was not kept");
    } else if outcome.status().is_success() {
        info!(forge, repo.id = repository, commit = %commit, outcome = label, took.seconds = seconds, "a map of {commit}: {label}");
    } else {
        warn!(forge, repo.id = repository, commit = %commit, outcome = label, cause, took.seconds = seconds, "a map was refused: {label}");
    }
}
