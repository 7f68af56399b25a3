//! Independent counterparts: the contract that GitHub publishes, and a stateful emulator that somebody else wrote.
//!
//! Installed by `sh tests/counterparts/install.sh`; without it these tests are ignored.
#![expect(clippy::disallowed_methods, reason = "the counterparts are started here")]

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::dsl::{Gate, Process, closed, opened, pr, reopened, retitled};
use crate::fake_forge::{APP, FakeForge, Happening, INSTALLATION, WIDGETS};

fn installed(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/counterparts").join(path)
}

/// A proxy that holds every request and every answer against GitHub's OpenAPI description.
struct Contract {
    prism: Process,
    /// Where it listens, without a slash at the end.
    origin: String,
}

impl Contract {
    async fn before(upstream: &str) -> Self {
        let mut command = Command::new("node");
        command.arg(installed("node_modules/@stoplight/prism-cli/dist/index.js"));
        command.args(["proxy", "-h", "127.0.0.1", "-p", "0"]).arg(installed("node_modules/github.json")).arg(upstream);
        let prism = Process::start("prism".to_owned(), command);
        let line = prism.says("Prism is listening on").await;
        let origin = line.split_once("listening on ").unwrap().1.trim().to_owned();
        Self { prism, origin }
    }

    /// What broke the contract so far.
    fn violations(&self) -> Vec<String> {
        let text = self.prism.text();
        let broken = |line: &&str| {
            ["Violation", "Did you mean", "ROUTE", "UNPROCESSABLE"].iter().any(|word| line.contains(word))
        };
        text.lines().filter(broken).map(ToOwned::to_owned).collect()
    }
}

/// Asks the fake through the contract, as the App and as an installation.
struct Asker {
    contract: Contract,
    client: reqwest::Client,
    token: String,
}

impl Asker {
    async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}{path}", self.contract.origin);
        let request = self.client.request(method.parse().unwrap(), url).bearer_auth(&self.token);
        let request = request.header("accept", "application/vnd.github+json");
        let request = if body.is_null() { request } else { request.json(&body) };
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or(Value::Null))
    }
}

#[tokio::test]
#[ignore = "needs npm ci in tests/counterparts"]
async fn every_answer_of_the_fake_fits_the_published_contract() {
    let gate = Gate::world().pull(pr(7).modifies("src/login.py")).without_receiver().start().await;
    let contract = Contract::before(&gate.forge.origin()).await;
    let client = reqwest::Client::builder().user_agent("story").build().unwrap();
    let mut asker = Asker { contract, client, token: jwt(&gate.forge) };
    let mut answers = vec![
        asker.ask("GET", "/app", Value::Null).await,
        asker.ask("GET", "/repos/acme/widgets/installation", Value::Null).await,
    ];
    let wanted = json!({
        "repository_ids": [WIDGETS],
        "permissions": { "checks": "write", "contents": "read", "pull_requests": "read" },
    });
    let path = format!("/app/installations/{INSTALLATION}/access_tokens");
    let minted = asker.ask("POST", &path, wanted).await;
    minted.1["token"].as_str().unwrap().clone_into(&mut asker.token);
    answers.push(minted);
    let head = gate.head(7);
    for path in ["", "/pulls/7", "/git/ref/heads/main"] {
        answers.push(asker.ask("GET", &format!("/repos/acme/widgets{path}"), Value::Null).await);
    }
    let body = json!({ "name": "evidence-gate", "head_sha": head, "status": "queued", "external_id": "e" });
    let run = asker.ask("POST", "/repos/acme/widgets/check-runs", body).await;
    let path = format!("/repos/acme/widgets/check-runs/{}", run.1["id"]);
    answers.push(run);
    let annotation = json!({
        "path": "src/login.py", "start_line": 1, "end_line": 2, "annotation_level": "warning", "message": "look",
    });
    let output = json!({ "title": "t", "summary": "s", "annotations": [annotation] });
    answers.push(asker.ask("PATCH", &path, json!({ "conclusion": "failure", "output": output })).await);
    answers.push(asker.ask("GET", &path, Value::Null).await);
    answers.push(asker.ask("GET", &format!("{path}/annotations"), Value::Null).await);
    let list = format!("/repos/acme/widgets/commits/{head}/check-runs?filter=all&per_page=1&app_id={APP}");
    answers.push(asker.ask("GET", &list, Value::Null).await);
    let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 201, 200, 200, 200, 201, 200, 200, 200, 200], "{answers:?}");
    assert_eq!(asker.contract.violations(), Vec::<String>::new());
    gate.runs(7);
    gate.end().await;
}

#[tokio::test]
#[ignore = "needs npm ci in tests/counterparts"]
async fn the_contract_notices_a_request_that_breaks_it() {
    let gate = Gate::world().without_receiver().start().await;
    let contract = Contract::before(&gate.forge.origin()).await;
    let client = reqwest::Client::builder().user_agent("story").build().unwrap();
    let asker = Asker { contract, client, token: "ghs_unknown".to_owned() };
    let body = json!({ "name": "evidence-gate", "head_sha": "0".repeat(40), "status": "finished" });
    assert_eq!(asker.ask("POST", "/repos/acme/widgets/check-runs", body).await.0, 401);
    let violations = asker.contract.violations();
    assert!(violations.iter().any(|line| line.contains("status")), "{violations:?}\n{}", asker.contract.prism.text());
    gate.end().await;
}

#[tokio::test]
#[ignore = "needs npm ci in tests/counterparts"]
async fn every_delivery_of_the_fake_fits_the_published_schemas() {
    let mut gate = Gate::world().pull(pr(7).modifies("src/login.py")).without_receiver().start().await;
    let text = std::fs::read_to_string(installed("node_modules/@octokit/webhooks-schemas/schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    gate.commit_to("release", &pr(0).adds("RELEASE.md"));
    let pushed = gate.push(pr(7).adds("src/more.py"));
    let retargeted = gate.retarget(7, "release");
    let happenings = [
        ("pull_request$opened", opened(7)),
        ("pull_request$reopened", reopened(7)),
        ("pull_request$synchronize", pushed),
        ("pull_request$edited", retargeted),
        ("pull_request$edited", retitled(7)),
        ("pull_request$ready_for_review", Happening::ReadyForReview(7)),
        ("installation$suspend", Happening::Suspended(INSTALLATION)),
        ("pull_request$closed", closed(7)),
    ];
    for (name, what) in happenings {
        match what {
            Happening::Closed(_) => drop(gate.close(7)),
            Happening::Suspended(id) => gate.forge.state().installations.get_mut(&id).unwrap().suspended = true,
            _ => {}
        }
        let payload = what.payload(&gate.forge.state(), WIDGETS);
        let root = json!({ "$ref": format!("#/definitions/{name}"), "definitions": schema["definitions"] });
        let validator = jsonschema::draft7::new(&root).unwrap();
        let faults: Vec<String> =
            validator.iter_errors(&payload).map(|e| format!("{name} {}: {e}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
    gate.end().await;
}

fn jwt(forge: &FakeForge) -> String {
    let state = forge.state();
    let now = state.now().as_second();
    let key = jsonwebtoken::EncodingKey::from_rsa_pem(state.app.key.private_pem.as_bytes()).unwrap();
    let claims = json!({ "iat": now - 60, "exp": now + 540, "iss": APP.to_string() });
    jsonwebtoken::encode(&jsonwebtoken::Header::new(jsonwebtoken::Algorithm::RS256), &claims, &key).unwrap()
}
