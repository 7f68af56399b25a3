//! Independent counterparts: the contract that GitHub publishes, and a stateful emulator that somebody else wrote.
//!
//! Installed by `sh tests/counterparts/install.sh`; without it these tests are ignored.
#![expect(clippy::disallowed_methods, reason = "the counterparts are started here")]

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::dsl::{Change, Gate, Process, closed, opened, pr, reopened, retitled};
use crate::fake_forge::git_http::serve_git;
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
    let pushed = gate.push(&pr(7).adds("src/more.py"));
    let retargeted = gate.retarget(7, "release");
    let happenings = [
        ("pull_request$opened", opened(7)),
        ("pull_request$reopened", reopened(7)),
        ("pull_request$synchronize", pushed),
        ("pull_request$edited", retargeted),
        ("pull_request$edited", retitled(7)),
        ("pull_request$ready_for_review", Happening::ReadyForReview(7)),
        ("pull_request$converted_to_draft", Happening::ConvertedToDraft(7)),
        ("pull_request$labeled", Happening::Labeled(7, "evidence-edit".to_owned())),
        ("installation$suspend", Happening::Suspended(INSTALLATION)),
        ("pull_request$closed", closed(7)),
    ];
    for (name, what) in happenings {
        match what {
            Happening::Closed(_) => drop(gate.close(7)),
            Happening::ReadyForReview(_) => gate.change_pull(7, |pull| pull.draft = false),
            Happening::ConvertedToDraft(_) => gate.change_pull(7, |pull| pull.draft = true),
            Happening::Labeled(_, ref name) => gate.change_pull(7, |pull| pull.labels.push(name.clone())),
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

#[tokio::test]
#[ignore = "needs npm ci in tests/counterparts"]
async fn the_worker_and_the_fake_speak_within_the_published_contract() {
    for change in
        [pr(7).modifies("src/login.py"), pr(7).modifies("tests/fixtures/users.json").removes("tests/test_a.py")]
    {
        let mut gate = Gate::with(change).await;
        let contract = Contract::before(&gate.forge.origin()).await;
        gate.set("GITHUB__API_URL", &contract.origin);
        gate.deliver(opened(7)).await;
        gate.drain().await;
        let pushed = gate.push(&pr(7).adds("src/more.py"));
        gate.deliver(pushed).await;
        gate.drain().await;
        assert_eq!(gate.runs(7).len(), 1, "{}", gate.told());
        assert!(gate.verdict(7).starts_with("completed/"), "{}", gate.told());
        let violations = contract.violations();
        assert!(violations.is_empty(), "{}\n{}\n{}", violations.join("\n"), contract.prism.text(), gate.told());
        gate.look_at_all_runs();
        gate.end().await;
    }
}

/// The emulator, with one pull request in it.
struct Emulator {
    shim: Process,
    origin: String,
    client: reqwest::Client,
}

impl Emulator {
    /// Starts it; it delivers to the gate's receiver and knows the gate's App.
    async fn beside(gate: &Gate) -> Self {
        let mut command = Command::new("node");
        command.arg(installed("emulate/shim.mjs"));
        let mut shim = Process::start("emulator".to_owned(), command);
        let told = {
            let state = gate.forge.state();
            json!({
                "appId": APP, "privateKey": state.app.key.private_pem, "webhookSecret": state.app.hook_secret,
                "webhookUrl": gate.address("/webhooks/github"),
            })
        };
        shim.tell(&format!("{told}\n")).await;
        let line: Value = serde_json::from_str(&shim.says("\"origin\"").await).unwrap();
        Self { shim, origin: line["origin"].as_str().unwrap().to_owned(), client: reqwest::Client::new() }
    }

    /// Opens a pull request of these commits, and answers the receiver's status.
    async fn open_pull(&self, base: &str, head: &str, paths: &[&str]) -> u64 {
        let body = json!({ "base": base, "head": head, "paths": paths });
        let answer = self.client.post(format!("{}/_story/pull", self.origin)).json(&body).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["number"], 1, "{answer}\n{}", self.shim.text());
        answer["delivered"].as_u64().unwrap()
    }

    /// Requests, deliveries and check runs.
    async fn story(&self) -> Value {
        self.client.get(format!("{}/_story", self.origin)).send().await.unwrap().json().await.unwrap()
    }
}

/// The shipped program against a GitHub that knows nothing of this repository's fake, and real git beside it.
async fn judged_by_the_emulator(change: Change, paths: &[&str]) -> Value {
    let mut gate = Gate::with(change).await;
    let emulator = Emulator::beside(&gate).await;
    let git = serve_git(gate.forge.store().root().to_owned(), None).await;
    gate.set("GITHUB__API_URL", &emulator.origin);
    gate.set("GITHUB__GIT_URL", git.url.as_str());
    let (base, head) = (gate.pull(1).base, gate.head(1));
    assert_eq!(emulator.open_pull(&base, &head, paths).await, 202, "{}", gate.told());
    gate.drain().await;
    let story = emulator.story().await;
    for what in ["requests", "deliveries"] {
        let refused: Vec<&Value> = story[what]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["status"].as_u64().is_none_or(|s| s >= 300))
            .collect();
        assert!(refused.is_empty(), "{what} that were refused: {refused:?}\n{}{}", emulator.shim.text(), gate.told());
    }
    let runs = story["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1, "{story:#}");
    assert_eq!((&runs[0]["head_sha"], &runs[0]["name"]), (&json!(head), &json!("evidence-gate")));
    gate.end().await;
    runs[0].clone()
}

#[tokio::test]
#[ignore = "needs npm ci in tests/counterparts"]
async fn an_independent_github_shows_a_rejection() {
    let change = pr(1).modifies("src/login.py").modifies("tests/fixtures/users.json");
    let run = judged_by_the_emulator(change, &["src/login.py", "tests/fixtures/users.json"]).await;
    assert_eq!((&run["status"], &run["conclusion"]), (&json!("completed"), &json!("failure")), "{run:#}");
}

#[tokio::test]
#[ignore = "needs npm ci in tests/counterparts"]
async fn an_independent_github_shows_a_success() {
    let run = judged_by_the_emulator(pr(1).modifies("src/login.py"), &["src/login.py"]).await;
    assert_eq!((&run["status"], &run["conclusion"]), (&json!("completed"), &json!("success")), "{run:#}");
}

fn jwt(forge: &FakeForge) -> String {
    let state = forge.state();
    let now = state.now().as_second();
    let key = jsonwebtoken::EncodingKey::from_rsa_pem(state.app.key.private_pem.as_bytes()).unwrap();
    let claims = json!({ "iat": now - 60, "exp": now + 540, "iss": APP.to_string() });
    jsonwebtoken::encode(&jsonwebtoken::Header::new(jsonwebtoken::Algorithm::RS256), &claims, &key).unwrap()
}
