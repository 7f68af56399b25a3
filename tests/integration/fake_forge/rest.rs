//! The fake's HTTP: who asks, for what, and which rule answers.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State as Shared};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::faults::{Fault, Route};
use super::state::{Asked, Entry, Green, State, Token};
use super::wire::Scissors;
use super::{Inner, checks, lists, looks, people, reviews, shapes};

/// What a rule answers: status and body, or a refusal.
pub type Answer = Result<(u16, Value), Refusal>;

/// An answer that is not what was asked for.
#[derive(Debug)]
pub struct Refusal {
    pub status: u16,
    pub body: Value,
    pub location: Option<String>,
}

impl Refusal {
    pub fn plain(status: u16, message: &str) -> Self {
        let body = json!({
            "message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string(),
        });
        Self { status, body, location: None }
    }

    pub fn not_found() -> Self {
        Self::plain(404, "Not Found")
    }

    fn bad_credentials() -> Self {
        Self::plain(401, "Bad credentials")
    }

    fn not_accessible() -> Self {
        Self::plain(403, "Resource not accessible by integration")
    }

    fn moved(location: String) -> Self {
        let mut moved = Self::plain(301, "Moved Permanently");
        moved.body["url"] = location.clone().into();
        moved.location = Some(location);
        moved
    }
}

/// A path, taken apart.
enum Target {
    Mint { installation: u64 },
    App,
    Installations,
    Repositories,
    DeliveryLog,
    HookConfig,
    DeliverAgain(u64),
    Installation { repo: String },
    InRepo { repo: Named, rest: InRepo },
    Git { repo: String },
    Unknown,
}

/// How a path names a repository.
enum Named {
    Name(String),
    Id(u64),
}

enum InRepo {
    Itself,
    Pull(u64),
    Reviews(u64),
    PullCommits(u64),
    Runs,
    Run(u64),
    Annotations(u64),
    RunsOn(String),
    Branch(String),
    Permission(String),
    Pulls,
    Comments(u64),
    Comment(u64),
    Reactions(u64),
    MatchingRefs(String),
    Rules,
    Protected(String),
}

impl Target {
    fn of(path: &str) -> Self {
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let number = |text: &str| text.parse::<u64>().ok();
        let (named, rest) = match parts.as_slice() {
            ["app"] => return Self::App,
            ["app", "installations"] => return Self::Installations,
            ["installation", "repositories"] => return Self::Repositories,
            ["app", "hook", "config"] => return Self::HookConfig,
            ["app", "hook", "deliveries"] => return Self::DeliveryLog,
            ["app", "hook", "deliveries", id, "attempts"] => {
                return number(id).map_or(Self::Unknown, Self::DeliverAgain);
            }
            ["app", "installations", id, "access_tokens"] => {
                return number(id).map_or(Self::Unknown, |installation| Self::Mint { installation });
            }
            ["repos", owner, repo, "installation"] => return Self::Installation { repo: format!("{owner}/{repo}") },
            ["repos", owner, repo, rest @ ..] => (Named::Name(format!("{owner}/{repo}")), rest),
            ["repositories", id, rest @ ..] => match number(id) {
                Some(id) => (Named::Id(id), rest),
                None => return Self::Unknown,
            },
            [owner, repo, _, ..] => {
                let bare = repo.strip_suffix(".git").map(|name| format!("{owner}/{name}"));
                return bare.map_or(Self::Unknown, |repo| Self::Git { repo });
            }
            _ => return Self::Unknown,
        };
        let rest = match rest {
            [] => Some(InRepo::Itself),
            ["pulls"] => Some(InRepo::Pulls),
            ["issues", "comments", id] => number(id).map(InRepo::Comment),
            ["issues", "comments", id, "reactions"] => number(id).map(InRepo::Reactions),
            ["issues", n, "comments"] => number(n).map(InRepo::Comments),
            ["git", "matching-refs", "heads", prefix @ ..] => Some(InRepo::MatchingRefs(prefix.join("/"))),
            ["rules", "branches", _, ..] => Some(InRepo::Rules),
            ["branches", branch @ ..] if !branch.is_empty() => Some(InRepo::Protected(branch.join("/"))),
            ["pulls", n] => number(n).map(InRepo::Pull),
            ["pulls", n, "reviews"] => number(n).map(InRepo::Reviews),
            ["pulls", n, "commits"] => number(n).map(InRepo::PullCommits),
            ["check-runs"] => Some(InRepo::Runs),
            ["check-runs", id] => number(id).map(InRepo::Run),
            ["check-runs", id, "annotations"] => number(id).map(InRepo::Annotations),
            ["git", "ref", "heads", branch @ ..] if !branch.is_empty() => Some(InRepo::Branch(branch.join("/"))),
            ["collaborators", login, "permission"] => Some(InRepo::Permission((*login).to_owned())),
            ["commits", reference, "check-runs"] => Some(InRepo::RunsOn((*reference).to_owned())),
            _ => None,
        };
        rest.map_or(Self::Unknown, |rest| Self::InRepo { repo: named, rest })
    }

    fn route(&self, method: &Method) -> Route {
        let get = method == Method::GET;
        match self {
            Self::Mint { .. } if method == Method::POST => Route::MintToken,
            Self::App if get => Route::App,
            Self::Installations if get => Route::Installations,
            Self::Repositories if get => Route::Repositories,
            Self::HookConfig if get => Route::HookConfig,
            Self::DeliveryLog if get => Route::DeliveryLog,
            Self::DeliverAgain(_) if method == Method::POST => Route::DeliverAgain,
            Self::Installation { .. } if get => Route::FindInstallation,
            Self::Git { .. } => Route::Git,
            Self::InRepo { rest, .. } => match rest {
                InRepo::Itself if get => Route::Repository,
                InRepo::Pull(_) if get => Route::Pull,
                InRepo::Reviews(_) if get => Route::Reviews,
                InRepo::PullCommits(_) if get => Route::PullCommits,
                InRepo::Runs if method == Method::POST => Route::CreateRun,
                InRepo::Run(_) if method == Method::PATCH => Route::UpdateRun,
                InRepo::Run(_) if get => Route::ReadRun,
                InRepo::Annotations(_) if get => Route::Annotations,
                InRepo::RunsOn(_) if get => Route::ListRuns,
                InRepo::Branch(_) if get => Route::BranchTip,
                InRepo::Permission(_) if get => Route::Permission,
                InRepo::Pulls if get => Route::OpenPulls,
                InRepo::Comments(_) if get || method == Method::POST => Route::Comments,
                InRepo::Comment(_) if method == Method::PATCH => Route::EditComment,
                InRepo::Reactions(_) if method == Method::POST => Route::React,
                InRepo::Rules if get => Route::BranchRules,
                InRepo::Protected(_) if get => Route::ProtectedBranch,
                InRepo::MatchingRefs(_) if get => Route::MatchingRefs,
                _ => Route::Unknown,
            },
            _ => Route::Unknown,
        }
    }
}

/// One request from the first byte to the last.
pub async fn serve(
    Shared(inner): Shared<Arc<Inner>>,
    ConnectInfo(scissors): ConnectInfo<Scissors>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 64 << 20).await.unwrap_or_default();
    let target = Target::of(parts.uri.path());
    let route = target.route(&parts.method);
    let place = note(&inner, route, &parts, &bytes);
    let fault = inner.script.lock().unwrap().next(route);
    let (mut answer, after) = match fault {
        Some(Fault::Answer { status, headers, body }) => (scripted(status, &headers, body), None),
        Some(Fault::CutBefore) => {
            scissors.cut();
            (Response::default(), None)
        }
        Some(Fault::HoldBefore(held)) => {
            held.stand().await;
            (work(&inner, &target, route, &parts, &bytes).await, None)
        }
        after => (work(&inner, &target, route, &parts, &bytes).await, after),
    };
    let mut status = Some(answer.status().as_u16());
    match after {
        Some(Fault::CutAfter) => {
            scissors.cut();
            status = None;
        }
        Some(Fault::Garble) => *answer.body_mut() = Body::from("{\"id\": "),
        Some(Fault::HoldAfter(held)) => held.stand().await,
        _ => {}
    }
    let mut state = inner.state.lock().unwrap();
    state.history[place].status = status;
    answer
}

fn note(inner: &Inner, route: Route, parts: &Parts, bytes: &Bytes) -> usize {
    let target = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let body = if route == Route::Git { Value::Null } else { serde_json::from_slice(bytes).unwrap_or(Value::Null) };
    let mut what = format!("{} {target}", parts.method);
    for key in ["status", "conclusion", "external_id"] {
        if let Some(word) = body.get(key).and_then(Value::as_str) {
            write!(what, " {key}={word}").unwrap();
        }
    }
    let mut state = inner.state.lock().unwrap();
    if route == Route::Unknown {
        state.violations.push(format!("the forge knows no {what}"));
    }
    let asked = Asked { route, body };
    state.history.push(Entry { what, request: Some(asked), status: None });
    state.history.len() - 1
}

async fn work(inner: &Inner, target: &Target, route: Route, parts: &Parts, bytes: &Bytes) -> Response<Body> {
    let (now, remaining) = {
        let state = inner.state.lock().unwrap();
        (state.now(), state.remaining)
    };
    if let Target::Git { repo } = target {
        return git(inner, repo, parts, bytes).await;
    }
    let query: Vec<(String, String)> =
        url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let answer = if route == Route::Unknown {
        Err(Refusal::not_found())
    } else if parts.headers.get("user-agent").is_none() {
        Err(Refusal::plain(
            403,
            "Request forbidden by administrative rules. Please make sure your request has a User-Agent header",
        ))
    } else {
        let body = if bytes.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(bytes) };
        match body {
            Ok(body) => answer(inner, target, parts, &query, &body),
            Err(_) => Err(Refusal::plain(400, "Problems parsing JSON")),
        }
    };
    let (mut status, body, location, link) = match answer {
        Ok((status, body, link)) => (status, body, None, link),
        Err(refusal) => (refusal.status, refusal.body, refusal.location, None),
    };
    let mut text = body.to_string();
    let etag = format!("W/\"{}\"", hex::encode(Sha256::digest(text.as_bytes())));
    if route == Route::OpenPulls && parts.headers.get("if-none-match").is_some_and(|known| known == etag.as_str()) {
        status = 304;
        text.clear();
    }
    let mut response = Response::builder()
        .status(status)
        .header("etag", etag)
        .header("content-type", "application/json; charset=utf-8")
        .header("date", now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
        .header("x-github-request-id", uuid::Uuid::new_v4().to_string())
        .header("x-ratelimit-limit", "5000")
        .header("x-ratelimit-remaining", remaining.to_string())
        .header("x-ratelimit-resource", "core")
        .header("x-ratelimit-reset", (now.as_second() + 3600).to_string());
    if let Some(location) = location {
        response = response.header("location", location);
    }
    if let Some(link) = link {
        response = response.header("link", link);
    }
    response.body(Body::from(text)).unwrap()
}

fn scripted(status: u16, headers: &[(&'static str, String)], body: String) -> Response<Body> {
    let mut response = Response::builder().status(status);
    if headers.iter().all(|(name, _)| *name != "content-type") {
        response = response.header("content-type", "application/json; charset=utf-8");
    }
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.body(Body::from(body)).unwrap()
}

type Paged = Result<(u16, Value, Option<String>), Refusal>;

fn answer(inner: &Inner, target: &Target, parts: &Parts, query: &[(String, String)], body: &Value) -> Paged {
    let mut state = inner.state.lock().unwrap();
    let state = &mut *state;
    let whole = |(status, body)| (status, body, None);
    match target {
        Target::Mint { installation } => {
            as_app(state, &parts.headers)?;
            mint(state, *installation, body).map(whole)
        }
        Target::App => {
            as_app(state, &parts.headers)?;
            Ok((200, shapes::app(state), None))
        }
        Target::Installations => {
            as_app(state, &parts.headers)?;
            let all = lists::installations(state);
            let (page, link) = page(state, parts, query, &all)?;
            Ok((200, page.into(), link))
        }
        Target::HookConfig => {
            as_app(state, &parts.headers)?;
            Ok((200, state.looks.hook.clone(), None))
        }
        Target::DeliveryLog => {
            as_app(state, &parts.headers)?;
            let all = lists::deliveries(state);
            let (page, link) = page(state, parts, query, &all)?;
            Ok((200, page.into(), link))
        }
        Target::DeliverAgain(id) => {
            as_app(state, &parts.headers)?;
            state.asked_again.push(*id);
            Ok((202, json!({}), None))
        }
        Target::Repositories => {
            let token = as_installation(state, &parts.headers)?;
            let of = &state.installations[&token.installation];
            let all: Vec<Value> = of.repos.iter().map(|id| shapes::repository(state, *id)).collect();
            let (page, link) = page(state, parts, query, &all)?;
            Ok((
                200,
                json!({ "total_count": all.len(), "repository_selection": "selected", "repositories": page }),
                link,
            ))
        }
        Target::Installation { repo } => {
            as_app(state, &parts.headers)?;
            let id = named(state, parts, &Named::Name(repo.clone()))?;
            let (id, found) = state.installation_of(id).ok_or_else(Refusal::not_found)?;
            Ok((200, shapes::installation(state, id, found), None))
        }
        Target::InRepo { repo, rest } => {
            let token = as_installation(state, &parts.headers)?;
            let repo = named(state, parts, repo)?;
            if !token.repos.contains(&repo) && state.repos[&repo].private {
                return Err(Refusal::not_found());
            }
            in_repo(inner, state, &token, repo, rest, parts, query, body)
        }
        Target::Git { .. } | Target::Unknown => Err(Refusal::not_found()),
    }
}

#[expect(clippy::too_many_arguments, reason = "one request, taken apart once")]
fn in_repo(
    inner: &Inner,
    state: &mut State,
    token: &Token,
    repo: u64,
    rest: &InRepo,
    parts: &Parts,
    query: &[(String, String)],
    body: &Value,
) -> Paged {
    let whole = |(status, body)| (status, body, None);
    let may = |permission: &str, level: &str| {
        let granted = token.permissions.get(permission).map(String::as_str);
        let enough = granted == Some("write") || granted == Some(level);
        if enough && token.repos.contains(&repo) { Ok(()) } else { Err(Refusal::not_accessible()) }
    };
    match rest {
        InRepo::Itself => {
            may("metadata", "read")?;
            Ok((200, shapes::full_repository(state, repo), None))
        }
        InRepo::Pull(number) => {
            may("pull_requests", "read")?;
            if !state.pulls.contains_key(&(repo, *number)) {
                return Err(Refusal::not_found());
            }
            Ok((200, shapes::pull(state, repo, *number), None))
        }
        InRepo::Runs => {
            may("checks", "write")?;
            let full = state.repos[&repo].full_name();
            checks::create(state, repo, body, &|sha| inner.store.has_commit(&full, sha)).map(whole)
        }
        InRepo::Run(id) if parts.method == Method::PATCH => {
            may("checks", "write")?;
            let answer = checks::update(state, repo, *id, body).map(whole)?;
            if state.watch_greens {
                watch(inner, state, repo, *id);
            }
            Ok(answer)
        }
        InRepo::Run(id) => {
            may("checks", "read")?;
            let run = state.runs.get(id).filter(|run| run.repo == repo).ok_or_else(Refusal::not_found)?;
            Ok((200, shapes::run(state, run), None))
        }
        InRepo::Annotations(id) => {
            may("checks", "read")?;
            let run = state.runs.get(id).filter(|run| run.repo == repo).ok_or_else(Refusal::not_found)?;
            let (page, link) = page(state, parts, query, &run.annotations)?;
            Ok((200, page.iter().map(shapes::annotation).collect(), link))
        }
        InRepo::Branch(branch) => {
            may("contents", "read")?;
            let full = state.repos[&repo].full_name();
            let tip = inner.store.read_ref(&full, &format!("refs/heads/{branch}")).ok_or_else(Refusal::not_found)?;
            Ok((200, shapes::branch(state, repo, branch, &tip), None))
        }
        InRepo::Pulls => {
            may("pull_requests", "read")?;
            let all = lists::pulls(state, repo, query);
            let (page, link) = page(state, parts, query, &all)?;
            Ok((200, page.into(), link))
        }
        InRepo::Reviews(number) | InRepo::PullCommits(number) => {
            may("pull_requests", "read")?;
            if !state.pulls.contains_key(&(repo, *number)) {
                return Err(Refusal::not_found());
            }
            let all = match rest {
                InRepo::Reviews(_) => reviews::reviews(state, repo, *number),
                _ => reviews::commits(state, &inner.store, repo, *number),
            };
            let (page, link) = page(state, parts, query, &all)?;
            Ok((200, page.into(), link))
        }
        InRepo::Comments(number) if parts.method == Method::POST => {
            may("pull_requests", "write")?;
            people::comment(state, repo, *number, body).map(whole)
        }
        InRepo::Comments(number) => {
            may("pull_requests", "read")?;
            let ids = state.comments.iter().filter(|(_, c)| c.repo == repo && c.issue == *number).map(|(id, _)| *id);
            let all: Vec<Value> = ids.map(|id| shapes::comment(state, id)).collect();
            let (page, link) = page(state, parts, query, &all)?;
            Ok((200, page.into(), link))
        }
        InRepo::Comment(id) => {
            may("pull_requests", "write")?;
            people::edit(state, repo, *id, body).map(whole)
        }
        InRepo::Reactions(id) => {
            may("pull_requests", "write")?;
            people::react(state, repo, *id, body).map(whole)
        }
        InRepo::Rules => {
            may("metadata", "read")?;
            Ok((200, state.looks.rules.clone(), None))
        }
        InRepo::Protected(branch) => {
            may("contents", "read")?;
            let full = state.repos[&repo].full_name();
            let tip = inner.store.read_ref(&full, &format!("refs/heads/{branch}")).ok_or_else(Refusal::not_found)?;
            Ok((200, looks::branch(state, branch, &tip), None))
        }
        InRepo::MatchingRefs(prefix) => {
            may("contents", "read")?;
            let all = lists::refs(state, &inner.store, repo, prefix);
            let (page, link) = page(state, parts, query, &all)?;
            Ok((200, page.into(), link))
        }
        InRepo::Permission(login) => {
            may("metadata", "read")?;
            people::permission(state, repo, login).map(whole)
        }
        InRepo::RunsOn(reference) => {
            may("checks", "read")?;
            let runs = checks::list(state, repo, reference, query)?;
            let (page, link) = page(state, parts, query, &runs)?;
            let shown: Vec<Value> = page.iter().map(|run| shapes::run(state, run)).collect();
            Ok((200, json!({ "total_count": runs.len(), "check_runs": shown }), link))
        }
    }
}

/// Keeps a success with what it stands on now.
fn watch(inner: &Inner, state: &mut State, repo: u64, id: u64) {
    let full = state.repos[&repo].full_name();
    let run = &state.runs[&id];
    if run.conclusion.as_deref() != Some("success") {
        return;
    }
    let head = run.head.clone();
    let at = |branch: &str| inner.store.read_file(&full, &format!("refs/heads/{branch}"), ".evidence-gate.toml");
    let open = state.pulls.iter().filter(|((of, _), pull)| *of == repo && pull.open && pull.head == head);
    let pulls = open.map(|((_, number), pull)| (*number, at(&pull.base_branch))).collect();
    state.greens.push(Green { run: id, head, pulls });
}

/// The asked page of a list, and the header that names the others.
fn page<'l, T>(
    state: &State,
    parts: &Parts,
    query: &[(String, String)],
    all: &'l [T],
) -> Result<(&'l [T], Option<String>), Refusal> {
    let number = |key: &str, default: usize| match query.iter().find(|(name, _)| name == key) {
        None => Ok(default),
        Some((_, text)) => {
            text.parse().ok().filter(|n| *n >= 1).ok_or_else(|| Refusal::plain(422, "Validation Failed"))
        }
    };
    let (per_page, page) = (number("per_page", 30)?.min(100), number("page", 1)?);
    let from = ((page - 1) * per_page).min(all.len());
    let to = (from + per_page).min(all.len());
    let link = (to < all.len()).then(|| {
        let mut next = url::Url::parse(&format!("{}{}", state.origin, parts.uri.path())).unwrap();
        let others = query.iter().filter(|(name, _)| name != "page");
        next.query_pairs_mut().extend_pairs(others).append_pair("page", &(page + 1).to_string());
        format!("<{next}>; rel=\"next\"")
    });
    Ok((&all[from..to], link))
}

/// The repository that a path names. A former name is answered by a redirect to the number.
fn named(state: &State, parts: &Parts, by: &Named) -> Result<u64, Refusal> {
    match by {
        Named::Id(id) => state.repos.contains_key(id).then_some(*id).ok_or_else(Refusal::not_found),
        Named::Name(name) => {
            if let Some((id, _)) = state.repo_by_name(name) {
                return Ok(id);
            }
            let id = state.repo_by_former_name(name).ok_or_else(Refusal::not_found)?;
            let rest = parts.uri.path_and_query().map_or("", |p| p.as_str()).trim_start_matches("/repos/");
            let rest = rest.strip_prefix(name.as_str()).unwrap_or_default();
            Err(Refusal::moved(format!("{}/repositories/{id}{rest}", state.origin)))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("authorization")?.to_str().ok()?;
    value.strip_prefix("Bearer ").or_else(|| value.strip_prefix("token "))
}

fn as_app(state: &mut State, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(token) = bearer(headers) else {
        state.violations.push("a request of the App came without a JWT".to_owned());
        return Err(Refusal::plain(401, "Requires authentication"));
    };
    let now = state.now().as_second();
    match state.app.key.refuses(token, state.app.id, now) {
        None => Ok(()),
        Some(why) => Err(Refusal::plain(401, why)),
    }
}

fn as_installation(state: &mut State, headers: &HeaderMap) -> Result<Token, Refusal> {
    let Some(sent) = bearer(headers) else {
        state.violations.push("a request came without authorization".to_owned());
        return Err(Refusal::plain(401, "Requires authentication"));
    };
    let now = state.now();
    let token =
        state.tokens.get(sent).filter(|token| token.expires > now).cloned().ok_or_else(Refusal::bad_credentials)?;
    if state.installations.get(&token.installation).is_none_or(|i| i.suspended) {
        return Err(Refusal::plain(403, "This installation has been suspended"));
    }
    Ok(token)
}

/// <https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app>
fn mint(state: &mut State, installation: u64, body: &Value) -> Answer {
    let of = state.installations.get(&installation).cloned().ok_or_else(Refusal::not_found)?;
    if of.suspended {
        return Err(Refusal::plain(403, "This installation has been suspended"));
    }
    let wrong = |what: &str| Refusal::plain(422, what);
    let mut repos = of.repos.clone();
    if let Some(ids) = body.get("repository_ids").and_then(Value::as_array) {
        repos = ids.iter().filter_map(Value::as_u64).collect();
        if repos.len() != ids.len() || !repos.is_subset(&of.repos) {
            return Err(wrong(
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
            ));
        }
    } else if body.get("repositories").is_none() && body["permissions"] != json!({ "metadata": "read" }) {
        state.violations.push("a token was asked for without naming its repository".to_owned());
    }
    let mut permissions = state.app.permissions.clone();
    match body.get("permissions").and_then(Value::as_object) {
        None => state.violations.push("a token was asked for without naming its permissions".to_owned()),
        Some(asked) => {
            permissions.clear();
            for (name, level) in asked {
                let granted = state.app.permissions.get(name).map(String::as_str);
                let level = level.as_str().filter(|level| matches!(*level, "read" | "write"));
                let level = level.ok_or_else(|| wrong("The permission level is unknown"))?;
                if granted != Some("write") && granted != Some(level) {
                    return Err(wrong("The permissions requested are not granted to this installation."));
                }
                permissions.insert(name.clone(), level.to_owned());
            }
            permissions.insert("metadata".to_owned(), "read".to_owned());
        }
    }
    let token = format!("ghs_{}", uuid::Uuid::new_v4().simple());
    let expires = state.now() + jiff::SignedDuration::from_hours(1);
    let shown: Vec<Value> = repos.iter().map(|id| shapes::repository(state, *id)).collect();
    let answer = json!({
        "token": token, "expires_at": expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), "permissions": permissions,
        "repository_selection": "selected", "repositories": shown,
    });
    state.tokens.insert(token, Token { installation, repos, permissions, expires });
    Ok((201, answer))
}

/// Git over HTTP, for who may read the contents.
async fn git(inner: &Inner, repo: &str, parts: &Parts, bytes: &Bytes) -> Response<Body> {
    let refused = |status: u16| {
        let response = Response::builder().status(status).header("content-type", "text/plain");
        response.header("www-authenticate", "Basic realm=\"GitHub\"").body(Body::from("refused\n")).unwrap()
    };
    let sent = parts.headers.get("authorization").and_then(|v| v.to_str().ok()).and_then(|v| v.strip_prefix("Basic "));
    let pair = sent.and_then(|text| STANDARD.decode(text).ok()).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(token) = pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, token)| token) else {
        return refused(401);
    };
    {
        let state = inner.state.lock().unwrap();
        if let Some(id) = state.repo_by_former_name(repo) {
            let rest = parts.uri.path_and_query().map_or("", |p| p.as_str()).trim_start_matches('/');
            let rest = rest.strip_prefix(repo).unwrap_or_default();
            let location = format!("{}/{}{rest}", state.origin, state.repos[&id].full_name());
            return Response::builder().status(301).header("location", location).body(Body::empty()).unwrap();
        }
        let now = state.now();
        let Some(token) = state.tokens.get(token).filter(|t| t.expires > now) else { return refused(401) };
        if state.installations.get(&token.installation).is_none_or(|i| i.suspended) {
            return refused(403);
        }
        let id = state.repo_by_name(repo).map(|(id, _)| id);
        let readable = token.permissions.contains_key("contents");
        if !id.is_some_and(|id| readable && token.repos.contains(&id)) {
            return refused(404);
        }
    }
    inner.git.answer(parts, bytes).await
}
