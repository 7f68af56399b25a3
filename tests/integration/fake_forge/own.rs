//! The fake keeps the forge's rules: what GitHub refuses, it refuses.

use serde_json::{Value, json};

use super::{APP, FakeForge, Fault, INSTALLATION, Route, WIDGETS};
use crate::fake_forge::store::{Edit, Mode};

/// A forge, a commit in it, and a client with a token for it.
struct World {
    forge: FakeForge,
    _folder: tempfile::TempDir,
    client: reqwest::Client,
    head: String,
    token: String,
}

async fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let forge = FakeForge::start(folder.path().to_owned()).await;
    let edit = Edit::Write { path: b"a\n\"b".to_vec(), mode: Mode::File, bytes: b"text\n".to_vec() };
    let head = forge.store().commit("acme/widgets", "main", &[], &[edit]);
    let client = reqwest::Client::builder().user_agent("story").build().unwrap();
    let mut world = World { forge, _folder: folder, client, head, token: String::new() };
    let path = format!("/app/installations/{INSTALLATION}/access_tokens");
    let asked = json!({ "repository_ids": [WIDGETS], "permissions": { "checks": "write", "contents": "read" } });
    world.token = world.jwt(APP, 0);
    let (status, minted) = world.ask("POST", &path, &asked).await;
    assert_eq!(status, 201, "{minted}");
    minted["token"].as_str().unwrap().clone_into(&mut world.token);
    world
}

impl World {
    fn jwt(&self, issuer: u64, late: i64) -> String {
        let state = self.forge.state();
        let now = state.now().as_second() + late;
        let key = jsonwebtoken::EncodingKey::from_rsa_pem(state.app.key.private_pem.as_bytes()).unwrap();
        let claims = json!({ "iat": now - 60, "exp": now + 540, "iss": issuer.to_string() });
        jsonwebtoken::encode(&jsonwebtoken::Header::new(jsonwebtoken::Algorithm::RS256), &claims, &key).unwrap()
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let url = format!("{}{path}", self.forge.origin());
        let request = self.client.request(method.parse().unwrap(), url).bearer_auth(&self.token);
        let request = if body.is_null() { request } else { request.json(body) };
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or(Value::Null))
    }

    async fn create(&self, more: Value) -> (u16, Value) {
        let mut body = json!({ "name": "evidence-gate", "head_sha": self.head });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask("POST", "/repos/acme/widgets/check-runs", &body).await
    }
}

#[tokio::test]
async fn a_run_that_breaks_a_rule_of_the_forge_is_refused() {
    let world = world().await;
    let annotation =
        json!({ "path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m" });
    let output = |summary: String, annotations: Vec<Value>| json!({ "output": { "title": "t", "summary": summary, "annotations": annotations } });
    for (why, body) in [
        ("an unknown commit", json!({ "head_sha": "0".repeat(40) })),
        ("completed without a conclusion", json!({ "status": "completed" })),
        ("a conclusion of another forge", json!({ "conclusion": "failed" })),
        ("51 annotations", output("s".to_owned(), vec![annotation.clone(); 51])),
        ("a summary of 65,536 bytes in 32,768 characters", output("é".repeat(32_768), Vec::new())),
        ("no title", json!({ "output": { "summary": "s" } })),
        ("four buttons", json!({ "actions": vec![json!({ "label": "l", "description": "d", "identifier": "i" }); 4] })),
    ] {
        let (status, answer) = world.create(body).await;
        assert_eq!(status, 422, "{why}: {answer}");
    }
    let (status, answer) = world.create(output("s".to_owned(), vec![annotation; 50])).await;
    assert_eq!((status, &answer["output"]["annotations_count"]), (201, &json!(50)));
}

#[tokio::test]
async fn a_completed_run_stays_completed_and_the_try_is_written_down() {
    let world = world().await;
    let (_, run) = world.create(json!({ "status": "in_progress" })).await;
    let path = format!("/repos/acme/widgets/check-runs/{}", run["id"]);
    assert_eq!(world.ask("PATCH", &path, &json!({ "conclusion": "failure" })).await.0, 200);
    assert_eq!(world.ask("PATCH", &path, &json!({ "status": "in_progress" })).await.0, 422);
    let state = world.forge.state();
    assert_eq!(state.violations.len(), 1, "{:?}", state.violations);
    assert_eq!(state.runs.values().next().unwrap().stations, ["in_progress", "completed/failure"]);
}

#[tokio::test]
async fn a_key_of_another_app_an_old_jwt_and_an_unknown_token_are_refused() {
    let mut world = world().await;
    let path = format!("/app/installations/{INSTALLATION}/access_tokens");
    for (why, jwt) in [
        ("another App", world.jwt(APP + 1, 0)),
        ("too old", world.jwt(APP, -601)),
        ("from the future", world.jwt(APP, 300)),
        ("garbage", "eyJ.eyJ.x".to_owned()),
    ] {
        world.token = jwt;
        assert_eq!(world.ask("POST", &path, &json!({})).await.0, 401, "{why}");
    }
    world.token = "ghs_unknown".to_owned();
    assert_eq!(world.ask("GET", "/repos/acme/widgets", &Value::Null).await.0, 401);
}

#[tokio::test]
async fn a_token_that_is_too_narrow_or_too_old_is_refused() {
    let world = world().await;
    assert_eq!(world.ask("GET", "/repos/acme/widgets/pulls/7", &Value::Null).await.0, 403);
    assert_eq!(world.ask("GET", "/repos/acme/gadgets", &Value::Null).await.0, 404);
    world.forge.state().ahead = jiff::SignedDuration::from_mins(61);
    assert_eq!(world.ask("GET", "/repos/acme/widgets", &Value::Null).await.0, 401);
}

#[tokio::test]
async fn a_list_comes_in_pages_and_shows_the_newest_run_of_a_name() {
    let world = world().await;
    for _ in 0..3 {
        world.create(json!({})).await;
    }
    let path = format!("/repos/acme/widgets/commits/{}/check-runs", world.head);
    let (_, latest) = world.ask("GET", &format!("{path}?check_name=evidence-gate&app_id={APP}"), &Value::Null).await;
    assert_eq!((&latest["total_count"], &latest["check_runs"][0]["id"]), (&json!(1), &json!(70_003)));
    let (_, second) = world.ask("GET", &format!("{path}?filter=all&per_page=2&page=2"), &Value::Null).await;
    assert_eq!((&second["total_count"], &second["check_runs"][0]["id"]), (&json!(3), &json!(70_001)));
}

#[tokio::test]
async fn a_connection_that_is_cut_after_the_work_leaves_the_work_done() {
    let world = world().await;
    let body = json!({ "name": "evidence-gate", "head_sha": world.head });
    for (fault, runs) in [(Fault::CutBefore, 0), (Fault::CutAfter, 1)] {
        world.forge.once(Route::CreateRun, fault);
        let url = format!("{}/repos/acme/widgets/check-runs", world.forge.origin());
        let sent = world.client.post(url).bearer_auth(&world.token).json(&body).send().await;
        assert!(sent.is_err(), "{sent:?}");
        assert_eq!(world.forge.state().runs.len(), runs);
    }
}

#[tokio::test]
async fn a_renamed_repository_is_found_by_its_number() {
    let world = world().await;
    {
        let mut state = world.forge.state();
        let repo = state.repos.get_mut(&WIDGETS).unwrap();
        repo.former_names.push("acme/widgets".to_owned());
        repo.name = "gadgets".to_owned();
    }
    let (status, answer) = world.ask("GET", "/repos/acme/widgets", &Value::Null).await;
    assert_eq!((status, &answer["full_name"]), (200, &json!("acme/gadgets")));
}
