//! A small GitHub for the stories of this room: one repository, its pull request, check runs, tokens that end, and faults that
//! happen when a story says so. It checks the App's JWT with the public key, as GitHub does.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence_gate::forge::{Clock, GitHub, GitHubSettings, Pace};
use evidence_gate::words::{ForgeKind, RepoRef, RepositoryId};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::Notify;

pub const APP: u64 = 4711;
pub const INSTALLATION: u64 = 99;
pub const REPOSITORY: u64 = 1001;
pub const NOW: i64 = 1_800_000_000;

/// A fast pace, so that no story waits; each wait still happens.
pub const PACE: Pace = Pace {
    between_writes: Duration::ZERO,
    wait_in_place: Duration::from_millis(50),
    request_timeout: Duration::from_secs(5),
    before_repeat: Duration::from_millis(1),
    fresh_token: Duration::from_millis(1),
};

/// The job's repository.
pub fn widgets() -> RepoRef {
    RepoRef { forge: ForgeKind::Github, id: RepositoryId(REPOSITORY), name: "acme/widgets".parse().unwrap() }
}

/// An object id that can be told from others.
pub fn sha(digit: char) -> String {
    digit.to_string().repeat(40)
}

/// The App's key pair, made once per test run.
pub struct Keys {
    pub pkcs8: String,
    pub pkcs1: String,
    pub public: String,
}

pub fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let private: Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
        Keys {
            pkcs8: pem("PRIVATE KEY", private.as_ref()),
            // The inner key follows a header of 26 bytes; this is the form in which GitHub hands keys out.
            pkcs1: pem("RSA PRIVATE KEY", &private.as_ref()[26..]),
            public: pem("PUBLIC KEY", public.as_ref()),
        }
    })
}

pub fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Seen {
    pub line: String,
    pub authorization: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    pub at: Instant,
}

/// What happens to the next request whose line contains the words it was planned for.
#[derive(Clone)]
pub enum Fault {
    /// Answered with this and not done.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Done, and then the connection is cut in the middle of the answer.
    DoneThenCut,
    /// The connection is cut before anything is done.
    Cut,
    /// Never answered.
    Hang,
}

impl Fault {
    pub fn says(status: u16, message: &str) -> Self {
        Self::Answer(status, Vec::new(), json!({ "message": message }).to_string())
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Answer(_, headers, _) = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }
}

pub struct Granted {
    expires: Timestamp,
    permissions: Value,
    /// Refused so many times more, as a token that GitHub does not know everywhere yet.
    pub unknown_for: usize,
}

/// The state.
pub struct World {
    pub now: Timestamp,
    pub name: String,
    pub repository: u64,
    pub installed: bool,
    pub suspended: bool,
    pub pull: Value,
    pub refs: BTreeMap<String, String>,
    pub runs: Vec<Value>,
    pub tokens: BTreeMap<String, Granted>,
    pub fresh_tokens_unknown_for: usize,
    pub page_size: usize,
    /// Sent with every accepted answer.
    pub headers: Vec<(&'static str, String)>,
    pub seen: Vec<Seen>,
    faults: VecDeque<(&'static str, Fault)>,
    /// Shown in every error, to see that nothing repeats it.
    pub echo: bool,
    next_run: u64,
}

impl World {
    /// Lines of the requests that came in, in order.
    pub fn lines(&self) -> Vec<&str> {
        self.seen.iter().map(|seen| seen.line.as_str()).collect()
    }

    pub fn count(&self, words: &str) -> usize {
        self.seen.iter().filter(|seen| seen.line.contains(words)).count()
    }

    /// Bodies of the requests whose line contains the words.
    pub fn bodies(&self, words: &str) -> Vec<&Value> {
        self.seen.iter().filter(|seen| seen.line.contains(words)).map(|seen| &seen.body).collect()
    }

    pub fn fault(&mut self, words: &'static str, fault: Fault) {
        self.faults.push_back((words, fault));
    }

    pub fn add_run(&mut self, app: u64, name: &str, head: &str, external_id: &str, status: &str) -> u64 {
        self.next_run += 1;
        self.runs.push(json!({
            "id": self.next_run, "name": name, "head_sha": head, "external_id": external_id, "status": status,
            "conclusion": if status == "completed" { json!("success") } else { Value::Null },
            "app": { "id": app, "slug": "some-app" },
            "output": { "title": null, "summary": null, "text": null, "annotations_count": 0 },
        }));
        self.next_run
    }

    pub fn run(&self, id: u64) -> &Value {
        self.runs.iter().find(|run| run["id"] == id).unwrap()
    }
}

/// The server, stopped when dropped.
pub struct SmallGitHub {
    pub address: SocketAddr,
    world: Arc<Mutex<World>>,
    machine: Arc<Mutex<Timestamp>>,
    stop: Arc<Notify>,
}

impl Drop for SmallGitHub {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}

impl SmallGitHub {
    pub async fn start() -> Self {
        let now = Timestamp::from_second(NOW).unwrap();
        let world = World {
            now,
            name: "acme/widgets".to_owned(),
            repository: REPOSITORY,
            installed: true,
            suspended: false,
            pull: json!({
                "number": 7, "state": "open", "draft": false, "changed_files": 2,
                "user": { "id": 1, "login": "octocat", "type": "User" }, "labels": [{ "name": "evidence-edit" }],
                "head": { "sha": sha('a'), "ref": "feature/x", "repo": { "id": 5, "full_name": "octocat/widgets" } },
                "base": { "sha": sha('b'), "ref": "release/1.x" },
            }),
            refs: BTreeMap::from([("refs/heads/release/1.x".to_owned(), sha('c'))]),
            runs: Vec::new(),
            tokens: BTreeMap::new(),
            fresh_tokens_unknown_for: 0,
            page_size: 50,
            headers: Vec::new(),
            seen: Vec::new(),
            faults: VecDeque::new(),
            echo: false,
            next_run: 8000,
        };
        let world = Arc::new(Mutex::new(world));
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(Notify::new());
        let router = axum::Router::new().fallback(serve).with_state(Arc::clone(&world));
        let stopped = Arc::clone(&stop);
        tokio::spawn(async move {
            tokio::select! {
                served = axum::serve(listener, router) => served.unwrap(),
                () = stopped.notified() => {}
            }
        });
        Self { address, world, machine: Arc::new(Mutex::new(now)), stop }
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// How many requests came in whose line contains the words.
    pub fn count(&self, words: &str) -> usize {
        self.world().count(words)
    }

    /// Moves GitHub's clock and the machine's.
    pub fn pass(&self, seconds: i64) {
        self.world().now += SignedDuration::from_secs(seconds);
        self.shift_machine(seconds);
    }

    /// Moves the machine's clock alone.
    pub fn shift_machine(&self, seconds: i64) {
        *self.machine.lock().unwrap() += SignedDuration::from_secs(seconds);
    }

    pub fn settings(&self) -> GitHubSettings {
        let base = |path: &str| format!("http://{}{path}", self.address).parse().unwrap();
        let key = SecretString::from(keys().pkcs1.clone());
        GitHubSettings { api: base("/api/v3"), git: base("/git/"), pace: PACE, ..GitHubSettings::new(APP, key) }
    }

    pub fn clock(&self) -> Clock {
        let machine = Arc::clone(&self.machine);
        Clock::new(move || *machine.lock().unwrap())
    }

    pub fn client(&self) -> GitHub {
        self.client_at(PACE)
    }

    pub fn client_at(&self, pace: Pace) -> GitHub {
        GitHub::new(&GitHubSettings { pace, ..self.settings() }, self.clock()).unwrap()
    }
}

type Reply = (u16, Vec<(&'static str, String)>, Value);

async fn serve(State(world): State<Arc<Mutex<World>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    let headers: BTreeMap<String, String> =
        parts.headers.iter().map(|(n, v)| (n.to_string(), v.to_str().unwrap().to_owned())).collect();
    let seen = Seen {
        line: format!("{} {}", parts.method, parts.uri),
        authorization: headers.get("authorization").cloned(),
        headers,
        body,
        at: Instant::now(),
    };
    let (fault, now) = {
        let mut world = world.lock().unwrap();
        world.seen.push(seen.clone());
        let planned = world.faults.iter().position(|(words, _)| seen.line.contains(words));
        (planned.and_then(|at| world.faults.remove(at)).map(|(_, fault)| fault), world.now)
    };
    match fault {
        Some(Fault::Answer(status, headers, text)) => {
            let echo = world.lock().unwrap().echo;
            let text = if echo { text.replace("ECHO", seen.authorization.as_deref().unwrap_or("")) } else { text };
            respond(status, headers, text, now)
        }
        Some(Fault::Hang) => std::future::pending().await,
        Some(Fault::Cut) => cut(),
        Some(Fault::DoneThenCut) => {
            let (status, ..) = world.lock().unwrap().answer(&seen);
            assert!(status < 300, "{status} for {}", seen.line);
            cut()
        }
        None => {
            let (status, mut headers, body) = world.lock().unwrap().answer(&seen);
            if status < 300 {
                headers.extend(world.lock().unwrap().headers.clone());
            }
            respond(status, headers, body.to_string(), now)
        }
    }
}

fn respond(status: u16, headers: Vec<(&'static str, String)>, body: String, now: Timestamp) -> Response {
    let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&now).unwrap();
    let mut response =
        Response::builder().status(status).header("content-type", "application/json").header("date", date);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).unwrap()
}

/// Promises more than it sends.
fn cut() -> Response {
    let broken = futures::stream::iter([Ok("{\"id\":"), Err(std::io::Error::other("cut by the story"))]);
    Response::builder().header("content-length", "4000").body(Body::from_stream(broken)).unwrap()
}

fn says(status: u16, message: &str) -> Reply {
    (status, Vec::new(), json!({ "message": message, "documentation_url": "https://docs.github.com/rest" }))
}

impl World {
    fn answer(&mut self, seen: &Seen) -> Reply {
        let (method, address) = seen.line.split_once(' ').unwrap();
        let address = address.strip_prefix("/api/v3").expect("all requests are for the API");
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let query: BTreeMap<String, String> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        if let ["app", "installations", id, "access_tokens"] = segments[..] {
            return self.check_jwt(seen).unwrap_or_else(|| self.mint(id, &seen.body));
        }
        // The repository by its name, or by its number after a redirect.
        let rest = match &segments[..] {
            ["repos", owner, name, rest @ ..] if format!("{owner}/{name}") == self.name => rest,
            ["repositories", id, rest @ ..] if *id == self.repository.to_string() => rest,
            ["repos", "acme", "widgets", rest @ ..] => {
                let to = format!("/api/v3/repositories/{}/{}", self.repository, rest.join("/"));
                return (301, vec![("location", to)], json!({ "message": "Moved Permanently" }));
            }
            _ => return says(404, "Not Found"),
        };
        if rest == ["installation"] {
            let suspended_at = self.suspended.then_some("2026-01-01T00:00:00Z");
            let found = json!({ "id": INSTALLATION, "app_id": APP, "suspended_at": suspended_at });
            let reply = if self.installed { (200, Vec::new(), found) } else { says(404, "Not Found") };
            return self.check_jwt(seen).unwrap_or(reply);
        }
        let (permission, level) = match rest {
            ["pulls", ..] => ("pull_requests", "read"),
            ["git", ..] => ("contents", "read"),
            _ => ("checks", "write"),
        };
        if let Some(refused) = self.check_token(seen, permission, level) {
            return refused;
        }
        match (method, rest) {
            ("GET", ["pulls", "7"]) => {
                let mut pull = self.pull.clone();
                pull["base"]["repo"] = json!({ "id": self.repository, "full_name": self.name });
                (200, Vec::new(), pull)
            }
            ("GET", ["git", "ref", branch @ ..]) => {
                let name = format!("refs/{}", branch.join("/"));
                match self.refs.get(&name) {
                    Some(sha) => (200, Vec::new(), json!({ "ref": name, "object": { "type": "commit", "sha": sha } })),
                    None => says(404, "Not Found"),
                }
            }
            ("GET", ["commits", head, "check-runs"]) => self.list(head, seen, &query),
            ("POST", ["check-runs"]) => self.create(&seen.body),
            ("GET", ["check-runs", id]) => match self.runs.iter().find(|run| run["id"].as_u64() == id.parse().ok()) {
                Some(run) => (200, Vec::new(), run.clone()),
                None => says(404, "Not Found"),
            },
            ("PATCH", ["check-runs", id]) => self.update(id, &seen.body),
            _ => says(404, "Not Found"),
        }
    }

    fn check_jwt(&self, seen: &Seen) -> Option<Reply> {
        let jwt = seen.authorization.as_deref().and_then(|header| header.strip_prefix("Bearer "))?;
        let key = jsonwebtoken::DecodingKey::from_rsa_pem(keys().public.as_bytes()).unwrap();
        let mut rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::RS256);
        rules.validate_exp = false;
        rules.required_spec_claims.clear();
        let Ok(read) = jsonwebtoken::decode::<Value>(jwt, &key, &rules) else {
            return Some(says(401, "A JSON web token could not be decoded"));
        };
        let claim = |name: &str| read.claims[name].as_i64().unwrap_or(0);
        let now = self.now.as_second();
        if read.claims["iss"].as_str() != Some(APP.to_string().as_str()) {
            return Some(says(401, "Integration not found"));
        }
        if claim("exp") > now + 600 {
            return Some(says(401, "'Expiration time' claim ('exp') is too far in the future"));
        }
        if claim("exp") <= now {
            return Some(says(
                401,
                "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
            ));
        }
        (claim("iat") > now).then(|| {
            says(
                401,
                "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
            )
        })
    }

    fn mint(&mut self, installation: &str, asked: &Value) -> Reply {
        if !self.installed || installation != INSTALLATION.to_string() {
            return says(404, "Not Found");
        }
        if self.suspended {
            return says(403, "This installation has been suspended");
        }
        if asked["repository_ids"] != json!([self.repository]) {
            return says(
                422,
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
            );
        }
        let token = format!("ghs_canary{:0>30}", self.tokens.len());
        let expires = self.now + SignedDuration::from_hours(1);
        let granted =
            Granted { expires, permissions: asked["permissions"].clone(), unknown_for: self.fresh_tokens_unknown_for };
        self.tokens.insert(token.clone(), granted);
        (
            201,
            Vec::new(),
            json!({ "token": token, "expires_at": expires.to_string(), "permissions": asked["permissions"] }),
        )
    }

    fn check_token(&mut self, seen: &Seen, permission: &str, level: &str) -> Option<Reply> {
        let token = seen.authorization.as_deref().and_then(|header| header.strip_prefix("Bearer "));
        let now = self.now;
        let Some(granted) = token.and_then(|token| self.tokens.get_mut(token)).filter(|granted| granted.expires > now)
        else {
            return Some(says(401, "Bad credentials"));
        };
        if granted.unknown_for > 0 {
            granted.unknown_for -= 1;
            return Some(says(401, "Bad credentials"));
        }
        (granted.permissions[permission] != level).then(|| says(403, "Resource not accessible by integration"))
    }

    /// By name only: an old server does not know `app_id`, and the client must not rely on it.
    fn list(&self, head: &str, seen: &Seen, query: &BTreeMap<String, String>) -> Reply {
        let named = |run: &&Value| query.get("check_name").is_none_or(|name| run["name"] == **name);
        let all: Vec<&Value> = self.runs.iter().filter(|run| run["head_sha"] == *head).filter(named).collect();
        let page: usize = query.get("page").map_or(1, |page| page.parse().unwrap());
        let shown: Vec<&&Value> = all.iter().skip((page - 1) * self.page_size).take(self.page_size).collect();
        let mut headers = Vec::new();
        if page * self.page_size < all.len() {
            // As GitHub does, on another path than the one that was asked.
            let mut next: url::Url =
                format!("http://{}/api/v3/repositories/{}", seen.headers["host"], self.repository).parse().unwrap();
            next.path_segments_mut().unwrap().extend(["commits", head, "check-runs"]);
            next.query_pairs_mut()
                .extend_pairs(query.iter().filter(|(key, _)| *key != "page"))
                .append_pair("page", &(page + 1).to_string());
            headers.push(("link", format!("<{next}>; rel=\"next\", <{next}>; rel=\"last\"")));
        }
        (200, headers, json!({ "total_count": all.len(), "check_runs": shown }))
    }

    fn create(&mut self, asked: &Value) -> Reply {
        let text = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
        let id = self.add_run(APP, &text("name"), &text("head_sha"), &text("external_id"), &text("status"));
        (201, Vec::new(), self.run(id).clone())
    }

    fn update(&mut self, id: &str, asked: &Value) -> Reply {
        let taken = asked["output"]["annotations"].as_array().map_or(0, Vec::len);
        if taken > 50 {
            return says(422, "Invalid request. No more than 50 items are allowed");
        }
        let Some(run) = self.runs.iter_mut().find(|run| run["id"].as_u64() == id.parse().ok()) else {
            return says(404, "Not Found");
        };
        for key in ["status", "conclusion"] {
            if let Some(value) = asked.get(key) {
                run[key] = value.clone();
            }
        }
        for key in ["title", "summary", "text"] {
            if let Some(value) = asked["output"].get(key) {
                run["output"][key] = value.clone();
            }
        }
        let before = run["output"]["annotations_count"].as_u64().unwrap();
        run["output"]["annotations_count"] = json!(before + taken as u64);
        (200, Vec::new(), run.clone())
    }
}
