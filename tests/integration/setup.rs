//! `evidence-gate setup`: from the page on loopback to GitHub, and back with the code.
#![expect(
    clippy::disallowed_methods,
    reason = "the shipped program is started here, and the browser that a person would use"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use axum::extract::Path as Segment;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::dsl::Process;

/// What GitHub tells once.
const KEY: &str = "canary-of-the-key";
const HOOK: &str = "canary-of-the-webhook-secret-0123456789";

/// A forge that converts the code `abc123`, once.
async fn forge() -> String {
    let used = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let convert = move |Segment(code): Segment<String>| async move {
        let first = code == "abc123" && !used.swap(true, std::sync::atomic::Ordering::SeqCst);
        let body = json!({
            "id": 4711, "slug": "gate-of-acme", "html_url": "https://github.com/apps/gate-of-acme", "pem": KEY,
            "webhook_secret": HOOK, "client_id": "Iv1", "client_secret": "canary-of-the-client",
        });
        if first {
            (axum::http::StatusCode::CREATED, body.to_string())
        } else {
            (axum::http::StatusCode::NOT_FOUND, "{}".to_owned())
        }
    };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new()
        .route("/api/v3/app-manifests/{code}/conversions", post(convert))
        .route("/organizations/acme/settings/apps/new", post(register));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    origin
}

/// Takes the manifest as GitHub does once its owner has confirmed it, and sends the person back.
async fn register(axum::extract::RawQuery(query): axum::extract::RawQuery, form: String) -> axum::response::Redirect {
    let state = query.unwrap().strip_prefix("state=").unwrap().to_owned();
    let (_, manifest) = url::form_urlencoded::parse(form.as_bytes()).find(|(name, _)| name == "manifest").unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    axum::response::Redirect::to(&format!("{}?code=abc123&state={state}", manifest["redirect_url"].as_str().unwrap()))
}

struct Setup {
    process: Process,
    folder: tempfile::TempDir,
    page: String,
    client: reqwest::Client,
}

impl Setup {
    async fn start(forge: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
        command.args(["setup", "--organization", "acme", "--github-url", forge, "--directory"]);
        command.arg(folder.path().join("app"));
        let process = Process::start("setup".to_owned(), command);
        let line = process.says("Open http://").await;
        let page = line.split_once("Open ").unwrap().1.split(' ').next().unwrap().to_owned();
        let client = reqwest::Client::new();
        Self { process, folder, page, client }
    }

    fn app(&self) -> PathBuf {
        self.folder.path().join("app")
    }

    /// The second step, as the browser gets it.
    async fn lead(&self) -> String {
        let form = "name=gate-of-acme&webhook=https%3A%2F%2Fgate.example.com%2Fwebhooks%2Fgithub";
        let request =
            self.client.post(&self.page).header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("form-action 'self' http://127.0.0.1"),
            "{policy}"
        );
        answer.text().await.unwrap()
    }

    async fn back(&self, query: &str) -> (u16, String) {
        let answer = self.client.get(format!("{}back?{query}", self.page)).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    text.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {text}")).1.split_once(after).unwrap().0
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn the_way_to_github_and_back_leaves_a_configuration_and_secrets_for_their_owner_alone() {
    let setup = Setup::start(&forge().await).await;
    let page = setup.lead().await;
    let action = between(&page, "<form method=\"post\" action=\"", "\"");
    assert!(action.contains("/organizations/acme/settings/apps/new?state="), "{action}");
    let manifest = between(&page, "name=\"manifest\" value=\"", "\"").replace("&quot;", "\"");
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["hook_attributes"]["url"], "https://gate.example.com/webhooks/github");
    assert_eq!(manifest["redirect_url"], format!("{}back", setup.page));
    assert_eq!(manifest["default_permissions"]["checks"], "write");

    let state = action.split_once("state=").unwrap().1;
    assert_eq!(setup.back("code=abc123&state=another").await.0, 403);
    let (status, done) = setup.back(&format!("code=abc123&state={state}")).await;
    assert_eq!(status, 200, "{done}");
    assert!(done.contains("gate-of-acme/installations/new"), "{done}");
    setup.process.says("evidence-gate doctor --config").await;
    let (app, said, folder) = (setup.app(), setup.process.text(), setup.folder);
    assert!(setup.process.ended(String::new).await.success());
    assert_eq!([mode(&app), mode(&app.join("app.pem")), mode(&app.join("webhook-secret"))], [0o700, 0o600, 0o600]);
    assert_eq!(std::fs::read_to_string(app.join("app.pem")).unwrap(), KEY);
    let configuration = std::fs::read_to_string(app.join("evidence-gate.toml")).unwrap();
    assert!(configuration.contains("app_id = 4711"), "{configuration}");
    for text in [&page, &done, &said, &configuration] {
        assert!(!text.contains("canary"), "{text}");
    }
    let settings = evidence_gate::config::Settings::load(Some(&app.join("evidence-gate.toml")), &[].into()).unwrap();
    assert_eq!(settings.webhook_secrets(&[].into()).unwrap().len(), 1);
    drop(folder);
}

#[tokio::test]
async fn a_code_that_github_does_not_know_ends_the_command_with_an_error() {
    let setup = Setup::start(&forge().await).await;
    let page = setup.lead().await;
    let state = between(&page, "settings/apps/new?state=", "\"").to_owned();
    let (status, text) = setup.back(&format!("code=unknown&state={state}")).await;
    assert_eq!(status, 502, "{text}");
    assert!(text.contains("begin again"), "{text}");
    assert!(!setup.app().join("app.pem").exists());
    assert!(!setup.process.ended(String::new).await.success());
}

#[tokio::test]
async fn a_page_of_somebody_else_can_neither_send_the_form_nor_read_the_page() {
    let setup = Setup::start(&forge().await).await;
    let foreign = setup.client.post(&setup.page).header("origin", "http://evil.example").body("name=a&webhook=b");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    let rebound = setup.client.get(&setup.page).header("host", "evil.example");
    assert_eq!(rebound.send().await.unwrap().status(), 403);
    setup.process.kill().await;
}

#[tokio::test]
async fn a_folder_with_something_in_it_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app.pem"), "an older key").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
    let out = command.args(["setup", "--directory"]).arg(folder.path()).output().await.unwrap();
    assert_eq!(out.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&out.stderr).contains("is not empty"));
    assert_eq!(std::fs::read_to_string(folder.path().join("app.pem")).unwrap(), "an older key");
}

#[tokio::test]
#[ignore = "needs sh tests/browser/install.sh"]
async fn a_person_with_a_browser_registers_the_app_in_two_steps() {
    let forge = forge().await;
    let setup = Setup::start(&forge).await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/setup.mjs");
    let out = Command::new("node").arg(script).arg(&setup.page).arg(&forge).output().await.unwrap();
    assert!(out.status.success(), "{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    setup.process.says("evidence-gate doctor --config").await;
    assert_eq!(std::fs::read_to_string(setup.app().join("app.pem")).unwrap(), KEY);
    assert!(setup.process.ended(String::new).await.success());
}
