//! The addresses of the pages.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::StreamExt as _;
use http::{HeaderMap, StatusCode};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::error;
use url::Url;
use uuid::Uuid;

use super::access::{Access, Entrance};
use super::answer::{asset, download, failed, guarded, nothing, shown};
use super::evaluation::{Evaluation, evaluation};
use super::exhibit::Exhibit;
use super::operators::{Work, work};
use super::overview::{overview, welcome};
use super::page::{ICON, STYLE, Visitor, style_digest};
use super::pass::hash_of;
use super::repository::{Repository, repository};
use super::rules::rules;
use super::session::Who;
use super::sign_in;
use crate::queue::{EvaluationId, KnownRepository, Pages, QueueError, RepositoryKey, Shown};
use crate::score::Record;
use crate::words::{ForgeKind, RepositoryId, with_causes};

/// All that the pages know.
pub struct Site {
    /// The store, to read.
    pub pages: Arc<dyn Pages>,
    /// Under which address people reach the pages.
    pub origin: Url,
    /// How people sign in; `None`: the links of check runs are the only way in.
    pub entrance: Option<Entrance>,
    /// Tells the time.
    pub clock: fn() -> Timestamp,
}

/// A [`Site`] at work.
pub(super) struct Shared {
    pub(super) pages: Arc<dyn Pages>,
    pub(super) origin: Url,
    pub(super) access: Option<Access>,
    pub(super) clock: fn() -> Timestamp,
}

/// The longest form that is read, bytes.
const LONGEST_FORM: usize = 8 << 10;

/// Published verdicts that a repository's page counts, and records that it reads.
const VERDICTS: u32 = 1_000;
const RECORDS: u32 = 100;

/// Repositories in an overview: all for an operator, and as many as the forge is asked about for anybody else.
const LISTED: u32 = 500;
const ASKED: usize = 60;

/// The days that an overview counts.
const COUNTED: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Rows of the queue's page.
const ROWS: u32 = 200;

/// The pages' addresses. Every answer carries a strict content security policy, and is kept nowhere save the style sheet and the icon.
pub fn router(site: Site) -> Router {
    let Site { pages, origin, entrance, clock } = site;
    let https = origin.scheme() == "https";
    let access = entrance.map(|entrance| Access::new(entrance, https));
    Router::new()
        .route("/", get(home))
        .route("/e/{pass}", get(passed))
        .route("/e/{pass}/record.json", get(passed_record))
        .route("/evaluations/{id}", get(known_evaluation))
        .route("/evaluations/{id}/record.json", get(known_record))
        .route("/repositories/{forge}/{id}", get(one_repository))
        .route("/queue", get(queue))
        .route("/sign-in", get(sign_in::ways_in))
        .route("/sign-in/forge", get(sign_in::leave))
        .route("/sign-in/back", get(sign_in::back))
        .route("/sign-in/operator", post(sign_in::operator))
        .route("/sign-out", post(sign_in::out))
        .route("/rules", get(all_rules))
        .route("/icon.svg", get(|| async { asset("image/svg+xml", ICON) }))
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }))
        .route("/{style}", get(style))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .fallback(lost)
        .layer(DefaultBodyLimit::max(LONGEST_FORM))
        .layer(CatchPanicLayer::new())
        .layer(axum::middleware::map_response(move |response: Response| async move { guarded(response, https) }))
        .with_state(Arc::new(Shared { pages, origin, access, clock }))
}

type Of = State<Arc<Shared>>;

impl Shared {
    fn who(&self, headers: &HeaderMap) -> Option<Who> {
        self.access.as_ref()?.who(headers, (self.clock)())
    }

    fn visitor(&self, who: Option<&Who>) -> Visitor {
        self.access.as_ref().map_or_else(Visitor::default, |access| access.visitor(who))
    }

    async fn may_read(&self, who: Option<&Who>, repository: RepositoryKey) -> bool {
        match (&self.access, who) {
            (Some(access), Some(who)) => access.may_read(who, repository).await,
            _ => false,
        }
    }
}

/// The answer where the store fails.
fn unread(error: &QueueError, visitor: &Visitor) -> Response {
    error!(cause = with_causes(error), "a page cannot be read from the store");
    failed(visitor)
}

async fn lost(State(site): Of, headers: HeaderMap) -> Response {
    nothing(&site.visitor(site.who(&headers).as_ref()))
}

async fn all_rules(State(site): Of, headers: HeaderMap) -> Response {
    shown(rules(&site.visitor(site.who(&headers).as_ref())))
}

/// The style sheet under the address that holds its digest, and under no other.
async fn style(State(site): Of, headers: HeaderMap, Path(name): Path<String>) -> Response {
    if name == format!("style-{}.css", style_digest()) {
        asset("text/css; charset=utf-8", STYLE)
    } else {
        lost(State(site), headers).await
    }
}

async fn passed(State(site): Of, headers: HeaderMap, Path(pass): Path<String>) -> Response {
    let who = site.who(&headers);
    let visitor = site.visitor(who.as_ref());
    match opened(&site, &pass).await {
        Ok(Some(found)) => {
            let address = repository_address(found.past.repository);
            let whole = site.may_read(who.as_ref(), found.past.repository).await.then_some(address.as_str());
            show(&found, &format!("/e/{pass}/record.json"), whole, &visitor)
        }
        Ok(None) => nothing(&visitor),
        Err(error) => unread(&error, &visitor),
    }
}

async fn passed_record(State(site): Of, headers: HeaderMap, Path(pass): Path<String>) -> Response {
    let visitor = site.visitor(site.who(&headers).as_ref());
    match opened(&site, &pass).await {
        Ok(Some(found)) => record_of(found, &visitor),
        Ok(None) => nothing(&visitor),
        Err(error) => unread(&error, &visitor),
    }
}

/// What a pass opens. The lookup is by its hash, so that neither the answer nor its time tells how near a guess came.
async fn opened(site: &Shared, pass: &str) -> Result<Option<Shown>, QueueError> {
    match hash_of(pass) {
        Some(hash) => site.pages.opened_by(hash, (site.clock)()).await,
        None => Ok(None),
    }
}

async fn known_evaluation(State(site): Of, headers: HeaderMap, Path(id): Path<String>) -> Response {
    let who = site.who(&headers);
    let visitor = site.visitor(who.as_ref());
    match allowed(&site, who.as_ref(), &id).await {
        Ok(Some(found)) => {
            let address = repository_address(found.past.repository);
            show(&found, &format!("/evaluations/{}/record.json", found.past.id), Some(&address), &visitor)
        }
        Ok(None) => nothing(&visitor),
        Err(error) => unread(&error, &visitor),
    }
}

async fn known_record(State(site): Of, headers: HeaderMap, Path(id): Path<String>) -> Response {
    let who = site.who(&headers);
    let visitor = site.visitor(who.as_ref());
    match allowed(&site, who.as_ref(), &id).await {
        Ok(Some(found)) => record_of(found, &visitor),
        Ok(None) => nothing(&visitor),
        Err(error) => unread(&error, &visitor),
    }
}

/// The evaluation of this name, for somebody who may read its repository. Whoever is not signed in costs the store nothing.
async fn allowed(site: &Shared, who: Option<&Who>, id: &str) -> Result<Option<Shown>, QueueError> {
    let (Some(who), Ok(id)) = (who, id.parse::<Uuid>()) else { return Ok(None) };
    let Some(found) = site.pages.shown(EvaluationId(id)).await? else { return Ok(None) };
    Ok(site.may_read(Some(who), found.past.repository).await.then_some(found))
}

/// The page of an evaluation that whoever asks may see.
fn show(found: &Shown, record_address: &str, repository_address: Option<&str>, visitor: &Visitor) -> Response {
    let Some(bytes) = &found.record else { return nothing(visitor) };
    let record: Record = match serde_json::from_slice(bytes) {
        Ok(record) => record,
        Err(error) => {
            error!(evaluation.id = %found.past.id, "a record cannot be shown: {error}");
            return failed(visitor);
        }
    };
    let exhibit = found.exhibit.as_deref().map(|kept| Exhibit::read(kept).map_err(|error| error.to_string()));
    let of = Evaluation { past: &found.past, record: &record, bytes, exhibit, record_address, repository_address };
    shown(evaluation(&of, visitor))
}

/// The record's own bytes.
fn record_of(found: Shown, visitor: &Visitor) -> Response {
    let name = format!("evidence-gate-{}-{}.json", found.past.pull, found.past.id);
    found.record.map_or_else(|| nothing(visitor), |record| download(&name, record))
}

fn repository_address(key: RepositoryKey) -> String {
    format!("/repositories/{}/{}", key.forge.as_str(), key.id)
}

async fn one_repository(State(site): Of, headers: HeaderMap, Path((forge, id)): Path<(String, String)>) -> Response {
    let who = site.who(&headers);
    let visitor = site.visitor(who.as_ref());
    let all = [ForgeKind::Github, ForgeKind::Gitlab, ForgeKind::Local];
    let forge = all.into_iter().find(|kind| kind.as_str() == forge);
    let (Some(forge), Ok(id)) = (forge, id.parse()) else { return nothing(&visitor) };
    let key = RepositoryKey { forge, id: RepositoryId(id) };
    if !site.may_read(who.as_ref(), key).await {
        return nothing(&visitor);
    }
    match page_of(&site, key, &visitor).await {
        Ok(response) => response,
        Err(error) => unread(&error, &visitor),
    }
}

async fn page_of(site: &Shared, key: RepositoryKey, visitor: &Visitor) -> Result<Response, QueueError> {
    let past = site.pages.history(key, VERDICTS).await?;
    let Some(newest) = past.first() else { return Ok(nothing(visitor)) };
    // Records of a shape that this version does not read are left out of the counts.
    let records = site.pages.records(key, RECORDS).await?;
    let records: Vec<Record> = records.iter().filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    let exhibit = site.pages.last_exhibit(key).await?.and_then(|found| found.exhibit);
    let freezes = exhibit.and_then(|kept| Exhibit::read(&kept).ok()).and_then(|exhibit| exhibit.freezes);
    let today = Offset::UTC.to_datetime((site.clock)()).date();
    let of = Repository {
        key,
        name: newest.name.as_deref(),
        past: &past,
        records: &records,
        freezes: freezes.as_ref(),
        today,
    };
    Ok(shown(repository(&of, visitor)))
}

async fn home(State(site): Of, headers: HeaderMap) -> Response {
    let who = site.who(&headers);
    let visitor = site.visitor(who.as_ref());
    let (Some(access), Some(who)) = (&site.access, who) else { return shown(welcome(&visitor)) };
    let since = (site.clock)().saturating_sub(COUNTED).unwrap_or(Timestamp::MIN);
    let known = match site.pages.known(since, LISTED).await {
        Ok(known) => known,
        Err(error) => return unread(&error, &visitor),
    };
    if access.is_operator(&who) {
        return shown(overview(&known, 0, &visitor));
    }
    let left_out = known.len().saturating_sub(ASKED);
    let asked = futures::stream::iter(known.into_iter().take(ASKED))
        .map(|repository| async { access.may_read(&who, repository.key).await.then_some(repository) });
    let readable: Vec<Option<KnownRepository>> = asked.buffered(8).collect().await;
    let readable: Vec<KnownRepository> = readable.into_iter().flatten().collect();
    shown(overview(&readable, left_out, &visitor))
}

async fn queue(State(site): Of, headers: HeaderMap) -> Response {
    let who = site.who(&headers);
    let visitor = site.visitor(who.as_ref());
    if !visitor.operator {
        return nothing(&visitor);
    }
    match queue_page(&site, &visitor).await {
        Ok(response) => response,
        Err(error) => unread(&error, &visitor),
    }
}

async fn queue_page(site: &Shared, visitor: &Visitor) -> Result<Response, QueueError> {
    let now = (site.clock)();
    let depth = site.pages.depth(now).await?;
    let live = site.pages.live(ROWS).await?;
    let letters = site.pages.letters(ROWS).await?;
    let errands = site.pages.lost_errands(ROWS).await?;
    Ok(shown(work(&Work { depth, live: &live, letters: &letters, errands: &errands, now }, visitor)))
}

/// Whether the store answers.
async fn ready(State(site): Of) -> Response {
    match site.pages.depth((site.clock)()).await {
        Ok(_) => (StatusCode::OK, "ready\n").into_response(),
        Err(error) => {
            error!(cause = with_causes(&error), "not ready: the store does not answer as it should");
            (StatusCode::SERVICE_UNAVAILABLE, "not ready: the store does not answer\n").into_response()
        }
    }
}
