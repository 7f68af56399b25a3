//! Signing in: who gets in, what they see then, and what everybody else sees.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::world;
use crate::dsl::{Gate, Page, Pages, opened, pr};

const TOKEN: &str = "operators-token-that-nobody-can-guess";
const SECRET: &str = "a-secret-that-seals-cookies-and-more";
const CLIENT_SECRET: &str = "client-secret-of-the-app";
const ORIGIN: &str = "https://gate.example.org";

/// A judged pull request, and pages to which people can sign in.
async fn judged(more: &[(&str, &str)]) -> Gate {
    let mut world = world().pull(pr(7).modifies("tests/fixtures/users.json"));
    world = world.set("WEB__SIGN_IN_SECRET", SECRET).set("WEB__OPERATOR_TOKEN", TOKEN);
    for (name, value) in more {
        world = world.set(name, value);
    }
    let mut gate = world.start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    gate.look_at_all_runs();
    gate
}

/// What the browser keeps of an answer.
fn cookie(page: &Page) -> String {
    let set = page.headers.iter().filter(|(name, value)| name == "set-cookie" && !value.contains("Max-Age=0"));
    set.map(|(_, value)| value.split(';').next().unwrap().to_owned()).next().unwrap_or_default()
}

async fn as_operator(pages: &Pages) -> String {
    let page = pages.post("/sign-in/operator", ORIGIN, "", &format!("token={TOKEN}")).await;
    assert_eq!((page.status, page.header("location")), (303, Some("/")), "{}", page.body);
    cookie(&page)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sees_repositories_evaluations_and_the_queue() {
    let mut gate = judged(&[]).await;
    let id = gate.runs(7)[0].external_id.clone().unwrap();
    let pages = gate.start_pages().await;
    let kept = as_operator(&pages).await;
    assert!(kept.starts_with("__Host-evidence-gate-session="), "{kept}");
    let home = pages.get_with("/", &kept).await;
    assert!(home.body.contains("acme/widgets") && home.body.contains("/repositories/github/"), "{}", home.body);
    let address = home.body.split('"').find(|text| text.starts_with("/repositories/")).unwrap().to_owned();
    let repository = pages.get_with(&address, &kept).await;
    for words in ["unscored share", "Most frequently held paths", "Freezes", &format!("/evaluations/{id}")] {
        assert!(repository.body.contains(words), "{words:?} is missing from\n{}", repository.body);
    }
    assert_eq!(pages.get_with(&format!("/evaluations/{id}"), &kept).await.status, 200);
    assert_eq!(pages.get_with(&format!("/evaluations/{id}/record.json"), &kept).await.status, 200);
    assert!(pages.get_with("/queue", &kept).await.body.contains("Nothing failed for good."));
    let out = pages.post("/sign-out", ORIGIN, &kept, "").await;
    assert_eq!((out.status, cookie(&out)), (303, String::new()));
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_not_signed_in_cannot_tell_what_is_there_from_what_is_not() {
    let mut gate = judged(&[]).await;
    let id = gate.runs(7)[0].external_id.clone().unwrap();
    let pages = gate.start_pages().await;
    let nowhere = pages.get("/nowhere/at/all").await;
    assert_eq!(nowhere.status, 404);
    let repository = "/repositories/github/1296269";
    let unknown = "/evaluations/01890000-0000-7000-8000-000000000000";
    let real = format!("/evaluations/{id}");
    let record = format!("/evaluations/{id}/record.json");
    for path in [repository, unknown, &real, &record, "/queue", "/evaluations/x", "/repositories/gitlab/1"] {
        assert_eq!(pages.get(path).await, nowhere, "{path}");
        assert_eq!(pages.get_with(path, "__Host-evidence-gate-session=AAAA").await, nowhere, "{path}");
    }
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_and_a_form_of_another_site_get_nobody_in() {
    let mut gate = judged(&[]).await;
    let pages = gate.start_pages().await;
    for (origin, form) in [(ORIGIN, "token=wrong"), (ORIGIN, ""), ("https://evil.example", &format!("token={TOKEN}"))] {
        let page = pages.post("/sign-in/operator", origin, "", form).await;
        assert_eq!((page.status, cookie(&page)), (403, String::new()), "{origin} {form}");
        assert!(!page.body.contains(TOKEN));
    }
    pages.stop().await;
    assert!(!gate.log().contains(TOKEN) && !gate.log().contains(SECRET));
    gate.end().await;
}

/// As much of GitHub as signing in takes.
#[derive(Default)]
struct SmallGitHub {
    challenge: Mutex<String>,
    readable: Mutex<BTreeMap<u64, bool>>,
    login: Mutex<String>,
}

async fn access_token(State(github): State<Arc<SmallGitHub>>, body: Bytes) -> impl IntoResponse {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
    let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(text("code_verifier")));
    let good = text("code") == "good" && proof == *github.challenge.lock().unwrap();
    let ours = text("client_id") == "Iv1.abc" && text("client_secret") == CLIENT_SECRET;
    if good && ours && text("redirect_uri") == format!("{ORIGIN}/sign-in/back") {
        return json!({"access_token": "ghu_of_ada", "token_type": "bearer", "scope": ""}).to_string();
    }
    json!({"error": "bad_verification_code", "error_description": "The code passed is incorrect or expired."})
        .to_string()
}

fn is_ada(headers: &HeaderMap) -> bool {
    headers.get("authorization").is_some_and(|value| value == "Bearer ghu_of_ada")
}

async fn user(State(github): State<Arc<SmallGitHub>>, headers: HeaderMap) -> impl IntoResponse {
    if is_ada(&headers) {
        return (StatusCode::OK, json!({"id": 42, "login": *github.login.lock().unwrap()}).to_string());
    }
    (StatusCode::UNAUTHORIZED, json!({"message": "Bad credentials"}).to_string())
}

async fn repository(
    State(github): State<Arc<SmallGitHub>>,
    Path(id): Path<u64>,
    headers: HeaderMap,
) -> impl IntoResponse {
    if is_ada(&headers) && github.readable.lock().unwrap().get(&id) == Some(&true) {
        return (StatusCode::OK, json!({"id": id}).to_string());
    }
    (StatusCode::NOT_FOUND, json!({"message": "Not Found"}).to_string())
}

async fn small_github(login: &str) -> (Arc<SmallGitHub>, String) {
    let github = Arc::new(SmallGitHub { login: Mutex::new(login.to_owned()), ..SmallGitHub::default() });
    let router = axum::Router::new()
        .route("/login/oauth/access_token", post(access_token))
        .route("/user", get(user))
        .route("/repositories/{id}", get(repository))
        .with_state(Arc::clone(&github));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (github, address)
}

/// Pages that send people to a small GitHub.
async fn pages_beside(gate: &mut Gate, address: &str) -> Pages {
    for (name, value) in [
        ("GITHUB__GIT_URL", address),
        ("GITHUB__API_URL", address),
        ("WEB__CLIENT_ID", "Iv1.abc"),
        ("WEB__CLIENT_SECRET", CLIENT_SECRET),
        ("WEB__OPERATORS", "grace"),
    ] {
        gate.set(name, value);
    }
    gate.start_pages().await
}

/// Goes to the forge; answers what is kept meanwhile, and the state that must come back.
async fn leave(pages: &Pages, github: &SmallGitHub) -> (String, String) {
    let page = pages.get("/sign-in/forge").await;
    assert_eq!(page.status, 303);
    let address: url::Url = page.header("location").unwrap().parse().unwrap();
    let query: BTreeMap<String, String> = address.query_pairs().into_owned().collect();
    assert_eq!((address.path(), query["code_challenge_method"].as_str()), ("/login/oauth/authorize", "S256"));
    query["code_challenge"].clone_into(&mut github.challenge.lock().unwrap());
    (cookie(&page), query["state"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_what_the_forge_lets_them_read_and_nothing_else() {
    let mut gate = judged(&[]).await;
    let id = gate.runs(7)[0].external_id.clone().unwrap();
    let (github, address) = small_github("ada").await;
    let pages = pages_beside(&mut gate, &address).await;
    let (flow, state) = leave(&pages, &github).await;
    let page = pages.get_with(&format!("/sign-in/back?code=good&state={state}"), &flow).await;
    assert_eq!((page.status, page.header("location")), (303, Some("/")), "{}\n{}", page.body, gate.told());
    let kept = cookie(&page);
    let evaluation = format!("/evaluations/{id}");
    assert_eq!(pages.get_with(&evaluation, &kept).await.status, 404);
    assert!(!pages.get_with("/", &kept).await.body.contains("acme/widgets"));
    assert_eq!(pages.get_with("/queue", &kept).await.status, 404);
    pages.stop().await;

    github.readable.lock().unwrap().insert(crate::fake_forge::WIDGETS, true);
    let pages = gate.start_pages().await;
    assert_eq!(pages.get_with(&evaluation, &kept).await.status, 200, "another process reads the same cookie");
    assert!(pages.get_with("/", &kept).await.body.contains("acme/widgets"));
    assert_eq!(pages.get_with("/queue", &kept).await.status, 404);
    pages.stop().await;
    assert!(!gate.log().contains("ghu_of_ada") && !gate.log().contains(CLIENT_SECRET), "{}", gate.told());
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_did_not_leave_from_this_browser_does_not_come_in() {
    let mut gate = judged(&[]).await;
    let (github, address) = small_github("ada").await;
    let pages = pages_beside(&mut gate, &address).await;
    let (flow, state) = leave(&pages, &github).await;
    for (path, kept) in [
        (format!("/sign-in/back?code=good&state={state}"), ""),
        ("/sign-in/back?code=good&state=other".to_owned(), flow.as_str()),
        (format!("/sign-in/back?state={state}"), flow.as_str()),
        ("/sign-in/back?error=access_denied".to_owned(), flow.as_str()),
        (format!("/sign-in/back?code=bad&state={state}"), flow.as_str()),
    ] {
        let page = pages.get_with(&path, kept).await;
        assert_eq!((page.status, cookie(&page)), (403, String::new()), "{path}");
    }
    github.challenge.lock().unwrap().push('x');
    let page = pages.get_with(&format!("/sign-in/back?code=good&state={state}"), &flow).await;
    assert_eq!(page.status, 403, "a code without the proof is worth nothing");
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_person_is_an_operator() {
    let mut gate = judged(&[]).await;
    let (github, address) = small_github("Grace").await;
    let pages = pages_beside(&mut gate, &address).await;
    let (flow, state) = leave(&pages, &github).await;
    let kept = cookie(&pages.get_with(&format!("/sign-in/back?code=good&state={state}"), &flow).await);
    assert_eq!(pages.get_with("/queue", &kept).await.status, 200);
    assert!(pages.get_with("/", &kept).await.body.contains("acme/widgets"));
    pages.stop().await;
    gate.end().await;
}
