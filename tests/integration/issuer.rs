//! A CI's issuer of tokens on loopback: its keys, its tokens, and the address at which a job asks for one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use jiff::Timestamp;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fake_forge::keys::AppKey;

/// What this gate's tokens are asked for.
pub const AUDIENCE: &str = "https://gate.example.com";
/// What a job shows when it asks for its token.
pub const REQUEST_TOKEN: &str = "the-request-token-of-a-job";

/// How the issuer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Well,
    Down,
    /// It takes a connection and never answers.
    Silent,
    Garbled,
}

pub struct Issuer {
    pub origin: String,
    inner: Arc<Inner>,
    task: tokio::task::JoinHandle<()>,
}

struct Inner {
    keys: Mutex<Vec<(String, AppKey)>>,
    mood: Mutex<Mood>,
    asked: AtomicU32,
    /// What the next job's token says.
    claims: Mutex<Value>,
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Issuer {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::new(Inner {
            keys: Mutex::new(vec![("first".to_owned(), AppKey::generate())]),
            mood: Mutex::new(Mood::Well),
            asked: AtomicU32::new(0),
            claims: Mutex::new(Value::Null),
        });
        let router = Router::new()
            .route("/.well-known/jwks", get(keys))
            .route("/oauth/discovery/keys", get(keys))
            .route("/token", get(token))
            .with_state(Arc::clone(&inner));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { origin, inner, task }
    }

    pub fn is(&self, mood: Mood) {
        *self.inner.mood.lock().unwrap() = mood;
    }

    /// How often its keys were asked for.
    pub fn asked(&self) -> u32 {
        self.inner.asked.load(Ordering::SeqCst)
    }

    /// It signs with a new key from now on, and shows the new one only.
    pub fn rotates_to(&self, kid: &str) {
        *self.inner.keys.lock().unwrap() = vec![(kid.to_owned(), AppKey::generate())];
    }

    /// The public half of its key in PEM, which everybody has.
    pub fn public_pem(&self) -> String {
        self.inner.keys.lock().unwrap()[0].1.public_pem.clone()
    }

    /// What a job's next token says.
    pub fn says_of_the_job(&self, claims: Value) {
        *self.inner.claims.lock().unwrap() = claims;
    }

    /// Signs these claims as it signs everything.
    pub fn sign(&self, claims: &Value) -> String {
        self.inner.sign(claims)
    }

    /// The claims of a job of GitHub Actions on a push to `main` of `acme/widgets`.
    pub fn github(&self, repository: u64, commit: &str, now: Timestamp) -> Value {
        let workflow = "acme/widgets/.github/workflows/coverage.yml@refs/heads/main";
        let now = now.as_second();
        json!({
            "iss": self.origin, "aud": AUDIENCE, "sub": "repo:acme/widgets:ref:refs/heads/main", "jti": Uuid::new_v4().to_string(),
            "iat": now - 10, "nbf": now - 10, "exp": now + 300, "sha": commit, "repository": "acme/widgets",
            "repository_id": repository.to_string(), "repository_owner": "acme", "repository_owner_id": "5",
            "ref": "refs/heads/main", "ref_type": "branch", "event_name": "push", "workflow_ref": workflow,
            "job_workflow_ref": workflow, "runner_environment": "github-hosted", "run_id": "77", "run_attempt": "1",
        })
    }

    /// The claims of a job of GitLab CI on a push to `main` of `acme/tools/widgets`.
    pub fn gitlab(&self, project: u64, commit: &str, now: Timestamp) -> Value {
        let now = now.as_second();
        json!({
            "iss": self.origin, "aud": AUDIENCE, "sub": "project_path:acme/tools/widgets:ref_type:branch:ref:main",
            "jti": Uuid::new_v4().to_string(), "iat": now - 10, "nbf": now - 10, "exp": now + 300, "sha": commit,
            "namespace_id": "5", "namespace_path": "acme/tools", "project_id": project.to_string(), "project_path": "acme/tools/widgets",
            "ref": "main", "ref_type": "branch", "ref_path": "refs/heads/main", "ref_protected": "true", "pipeline_source": "push",
            "job_id": "88", "pipeline_id": "87", "runner_environment": "gitlab-hosted",
            "ci_config_ref_uri": "gitlab.example.com/acme/tools/widgets//.gitlab-ci.yml@refs/heads/main",
        })
    }
}

impl Inner {
    fn sign(&self, claims: &Value) -> String {
        let keys = self.keys.lock().unwrap();
        let (kid, key) = &keys[0];
        let header = Header { kid: Some(kid.clone()), ..Header::new(Algorithm::RS256) };
        let key = EncodingKey::from_rsa_pem(key.private_pem.as_bytes()).unwrap();
        jsonwebtoken::encode(&header, claims, &key).unwrap()
    }
}

async fn keys(State(inner): State<Arc<Inner>>) -> (StatusCode, String) {
    inner.asked.fetch_add(1, Ordering::SeqCst);
    let mood = *inner.mood.lock().unwrap();
    match mood {
        Mood::Well => {}
        Mood::Down => return (StatusCode::BAD_GATEWAY, json!({}).to_string()),
        Mood::Silent => std::future::pending().await,
        Mood::Garbled => return (StatusCode::OK, json!({ "keys": "none" }).to_string()),
    }
    let mut all = vec![json!({ "kty": "EC", "kid": "of another kind", "crv": "P-256", "x": "AA", "y": "AA" })];
    for (kid, key) in inner.keys.lock().unwrap().iter() {
        let key = EncodingKey::from_rsa_pem(key.private_pem.as_bytes()).unwrap();
        let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&key, Algorithm::RS256).unwrap()).unwrap();
        jwk["kid"] = json!(kid);
        jwk["use"] = json!("sig");
        all.push(jwk);
    }
    (StatusCode::OK, json!({ "keys": all }).to_string())
}

#[derive(serde::Deserialize)]
struct Wanted {
    audience: String,
}

/// <https://docs.github.com/en/actions/reference/security/oidc#methods-for-requesting-the-oidc-token>
async fn token(
    State(inner): State<Arc<Inner>>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> (StatusCode, String) {
    let shown = headers.get("authorization").and_then(|value| value.to_str().ok());
    if shown != Some(&format!("Bearer {REQUEST_TOKEN}")) {
        return (StatusCode::UNAUTHORIZED, json!({}).to_string());
    }
    let mut claims = inner.claims.lock().unwrap().clone();
    claims["aud"] = json!(wanted.audience);
    claims["jti"] = json!(Uuid::new_v4().to_string());
    (StatusCode::OK, json!({ "value": inner.sign(&claims) }).to_string())
}
