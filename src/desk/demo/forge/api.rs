//! The routes: who asks, for what, and with which permission.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::routing::{get, patch, post};
use serde_json::{Value, json};

use super::answer::{Answer, Refusal, Reply, page};
use super::auth::{as_app, may, mint};
use super::people::APP_LOGIN;
use super::server::Inner;
use super::state::Comment;
use super::{checks, git, shapes};

type Forge = State<Arc<Inner>>;

/// What the worker calls, and git for everything else.
pub(super) fn router(inner: Arc<Inner>) -> Router {
    let repo = Router::new()
        .route("/", get(repository))
        .route("/installation", get(installation))
        .route("/pulls", get(pulls))
        .route("/pulls/{number}", get(pull))
        .route("/pulls/{number}/reviews", get(reviews))
        .route("/pulls/{number}/commits", get(commits))
        .route("/issues/{number}/comments", get(comments).post(write_comment))
        .route("/issues/comments/{id}", patch(edit_comment))
        .route("/issues/comments/{id}/reactions", post(react))
        .route("/check-runs", post(create_run))
        .route("/check-runs/{id}", get(run).patch(update_run))
        .route("/check-runs/{id}/annotations", get(annotations))
        .route("/commits/{head}/check-runs", get(runs))
        .route("/collaborators/{login}/permission", get(permission))
        .route("/git/ref/{*name}", get(reference))
        .route("/git/matching-refs/{*prefix}", get(references));
    Router::new()
        .route("/app", get(app))
        .route("/app/installations", get(installations))
        .route("/app/installations/{id}/access_tokens", post(token))
        .route("/app/hook/deliveries", get(deliveries))
        .route("/app/hook/deliveries/{id}/attempts", post(deliver_again))
        .route("/installation/repositories", get(repositories))
        .nest(&format!("/repos/{}", super::server::FULL_NAME), repo)
        .fallback(git::serve)
        .with_state(inner)
}

fn json(body: &Bytes) -> Result<Value, Refusal> {
    serde_json::from_slice(body).map_err(|_| Refusal::invalid("Problems parsing JSON"))
}

async fn app(State(inner): Forge, headers: HeaderMap) -> Answer {
    as_app(&inner, &headers)?;
    Ok(Reply::ok(shapes::app()))
}

async fn installations(State(inner): Forge, headers: HeaderMap, uri: Uri) -> Answer {
    as_app(&inner, &headers)?;
    Ok(page(&inner.origin, &uri, &[shapes::installation()], Value::from))
}

async fn installation(State(inner): Forge, headers: HeaderMap) -> Answer {
    as_app(&inner, &headers)?;
    Ok(Reply::ok(shapes::installation()))
}

async fn token(State(inner): Forge, headers: HeaderMap, Path(id): Path<u64>, body: Bytes) -> Answer {
    as_app(&inner, &headers)?;
    if id != super::server::INSTALLATION {
        return Err(Refusal::NOT_FOUND);
    }
    mint(&inner, &json(&body)?)
}

async fn deliveries(State(inner): Forge, headers: HeaderMap, uri: Uri) -> Answer {
    as_app(&inner, &headers)?;
    let all: Vec<Value> = inner.state().deliveries.iter().rev().map(super::hooks::Delivery::shown).collect();
    Ok(page(&inner.origin, &uri, &all, Value::from))
}

async fn deliver_again(State(inner): Forge, headers: HeaderMap, Path(id): Path<u64>) -> Answer {
    as_app(&inner, &headers)?;
    let known = inner.state().deliveries.iter().any(|delivery| delivery.id == id);
    if !known {
        return Err(Refusal::NOT_FOUND);
    }
    tokio::spawn(async move { super::hooks::deliver_again(&inner, id).await });
    Ok(Reply::created(json!({})))
}

async fn repositories(State(inner): Forge, headers: HeaderMap, uri: Uri) -> Answer {
    may(&inner, &headers, "metadata", "read")?;
    let wrap = |page: Vec<Value>| json!({ "total_count": 1, "repositories": page });
    Ok(page(&inner.origin, &uri, &[shapes::repository()], wrap))
}

async fn repository(State(inner): Forge, headers: HeaderMap) -> Answer {
    may(&inner, &headers, "metadata", "read")?;
    Ok(Reply::ok(shapes::repository()))
}

async fn pulls(State(inner): Forge, headers: HeaderMap, uri: Uri) -> Answer {
    may(&inner, &headers, "pull_requests", "read")?;
    let query: Vec<(String, String)> =
        url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let base = query.iter().find(|(name, _)| name == "base").map(|(_, base)| base.as_str());
    let state = inner.state();
    let wanted = state.pulls.values().rev().filter(|pull| base.is_none_or(|base| base == pull.base_branch));
    let all: Vec<Value> = wanted.map(shapes::pull).collect();
    Ok(page(&inner.origin, &uri, &all, Value::from))
}

async fn pull(State(inner): Forge, headers: HeaderMap, Path(number): Path<u64>) -> Answer {
    may(&inner, &headers, "pull_requests", "read")?;
    inner.state().pulls.get(&number).map(|pull| Reply::ok(shapes::pull(pull))).ok_or(Refusal::NOT_FOUND)
}

async fn reviews(State(inner): Forge, headers: HeaderMap, Path(number): Path<u64>, uri: Uri) -> Answer {
    may(&inner, &headers, "pull_requests", "read")?;
    let state = inner.state();
    let of_pull = state.reviews.iter().filter(|review| review.pull == number);
    let all: Vec<Value> = of_pull.map(|review| shapes::review(review, "APPROVED")).collect();
    Ok(page(&inner.origin, &uri, &all, Value::from))
}

async fn commits(State(inner): Forge, headers: HeaderMap, Path(number): Path<u64>, uri: Uri) -> Answer {
    may(&inner, &headers, "pull_requests", "read")?;
    let pull = inner.state().pulls.get(&number).cloned().ok_or(Refusal::NOT_FOUND)?;
    let found = inner.store.commits(&pull.base, &pull.head).map_err(|_| Refusal::failed("git log failed"))?;
    let all: Vec<Value> = found.iter().take(250).map(shapes::commit).collect();
    Ok(page(&inner.origin, &uri, &all, Value::from))
}

async fn comments(State(inner): Forge, headers: HeaderMap, Path(number): Path<u64>, uri: Uri) -> Answer {
    may(&inner, &headers, "pull_requests", "read")?;
    let state = inner.state();
    let of_pull = state.comments.iter().filter(|(_, comment)| comment.pull == number);
    let all: Vec<Value> = of_pull.map(|(id, comment)| shapes::comment(*id, comment)).collect();
    Ok(page(&inner.origin, &uri, &all, Value::from))
}

async fn write_comment(State(inner): Forge, headers: HeaderMap, Path(number): Path<u64>, body: Bytes) -> Answer {
    may(&inner, &headers, "pull_requests", "write")?;
    let body = json(&body)?;
    let text = body["body"].as_str().filter(|text| !text.is_empty()).ok_or(Refusal::invalid("body is missing"))?;
    if !inner.state().pulls.contains_key(&number) {
        return Err(Refusal::NOT_FOUND);
    }
    let id = inner.add_comment(number, APP_LOGIN, text);
    let state = inner.state();
    Ok(Reply::created(shapes::comment(id, &state.comments[&id])))
}

/// A comment of the App's own.
fn ours(state: &mut super::state::State, id: u64) -> Result<&mut Comment, Refusal> {
    state.comments.get_mut(&id).filter(|comment| comment.author == APP_LOGIN).ok_or(Refusal::NOT_FOUND)
}

async fn edit_comment(State(inner): Forge, headers: HeaderMap, Path(id): Path<u64>, body: Bytes) -> Answer {
    may(&inner, &headers, "pull_requests", "write")?;
    let body = json(&body)?;
    let text = body["body"].as_str().ok_or(Refusal::invalid("body is missing"))?;
    let mut state = inner.state();
    let comment = ours(&mut state, id)?;
    text.clone_into(&mut comment.body);
    let shown = shapes::comment(id, comment);
    drop(state);
    inner.changed();
    Ok(Reply::ok(shown))
}

async fn react(State(inner): Forge, headers: HeaderMap, Path(id): Path<u64>, body: Bytes) -> Answer {
    const WORDS: [&str; 8] = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];
    may(&inner, &headers, "pull_requests", "write")?;
    let body = json(&body)?;
    let word = body["content"].as_str().filter(|word| WORDS.contains(word));
    let word = word.ok_or(Refusal::invalid("content is no reaction"))?.to_owned();
    let mut state = inner.state();
    state.comments.get_mut(&id).ok_or(Refusal::NOT_FOUND)?.reactions.insert(word.clone());
    drop(state);
    inner.changed();
    Ok(Reply::created(json!({ "id": id, "content": word })))
}

async fn create_run(State(inner): Forge, headers: HeaderMap, body: Bytes) -> Answer {
    may(&inner, &headers, "checks", "write")?;
    checks::create(&inner, &json(&body)?)
}

async fn update_run(State(inner): Forge, headers: HeaderMap, Path(id): Path<u64>, body: Bytes) -> Answer {
    may(&inner, &headers, "checks", "write")?;
    checks::update(&inner, id, &json(&body)?)
}

async fn run(State(inner): Forge, headers: HeaderMap, Path(id): Path<u64>) -> Answer {
    may(&inner, &headers, "checks", "read")?;
    let run = inner.state().runs.get(&id).cloned().ok_or(Refusal::NOT_FOUND)?;
    Ok(Reply::ok(shapes::run(&inner, &run)))
}

async fn annotations(State(inner): Forge, headers: HeaderMap, Path(id): Path<u64>, uri: Uri) -> Answer {
    may(&inner, &headers, "checks", "read")?;
    let all = inner.state().runs.get(&id).map(|run| run.annotations.clone()).ok_or(Refusal::NOT_FOUND)?;
    Ok(page(&inner.origin, &uri, &all, Value::from))
}

async fn runs(State(inner): Forge, headers: HeaderMap, Path(head): Path<String>, uri: Uri) -> Answer {
    may(&inner, &headers, "checks", "read")?;
    let all: Vec<Value> = inner.state().runs_on(&head).map(|run| shapes::run(&inner, run)).collect();
    let total = all.len();
    Ok(page(&inner.origin, &uri, &all, |page| json!({ "total_count": total, "check_runs": page })))
}

async fn permission(State(inner): Forge, headers: HeaderMap, Path(login): Path<String>) -> Answer {
    may(&inner, &headers, "metadata", "read")?;
    shapes::permission(&login).map(Reply::ok).ok_or(Refusal::NOT_FOUND)
}

async fn reference(State(inner): Forge, headers: HeaderMap, Path(name): Path<String>) -> Answer {
    may(&inner, &headers, "contents", "read")?;
    let name = format!("refs/{name}");
    let tip = inner.store.tip(&name).ok_or(Refusal::NOT_FOUND)?;
    Ok(Reply::ok(shapes::reference(&name, &tip)))
}

async fn references(State(inner): Forge, headers: HeaderMap, Path(prefix): Path<String>, uri: Uri) -> Answer {
    may(&inner, &headers, "contents", "read")?;
    let found = inner.store.refs(&format!("refs/{prefix}")).map_err(|_| Refusal::failed("git for-each-ref failed"))?;
    let all: Vec<Value> = found.iter().map(|(name, tip)| shapes::reference(name, tip)).collect();
    Ok(page(&inner.origin, &uri, &all, Value::from))
}
