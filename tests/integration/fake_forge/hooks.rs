//! State -> webhook deliveries, signed as the forge signs them. The fields are those of the recorded deliveries in
//! `@octokit/webhooks-examples`; a contract test holds them against the published schemas.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::shapes;
use super::state::State;

/// What happened, in the words of the forge.
#[derive(Clone, Debug)]
pub enum Happening {
    Opened(u64),
    Reopened(u64),
    /// The head moved; `before` is the old tip.
    Pushed {
        pull: u64,
        before: String,
    },
    /// The target branch is another one.
    Retargeted {
        pull: u64,
        from_branch: String,
        from_sha: String,
    },
    /// Only the title is another one.
    Retitled(u64),
    ReadyForReview(u64),
    ConvertedToDraft(u64),
    Labeled(u64, String),
    Closed(u64),
    Ping,
    Suspended(u64),
}

/// A delivery, ready to be sent as often as a story wants.
#[derive(Clone, Debug)]
pub struct Signed {
    pub id: String,
    pub event: &'static str,
    pub body: Vec<u8>,
    pub signature: String,
}

impl Happening {
    fn event(&self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::Suspended(_) => "installation",
            _ => "pull_request",
        }
    }

    /// The body, from the state as it is now.
    pub fn payload(&self, state: &State, repo: u64) -> Value {
        let of_pull = |action: &str, number: u64| {
            let mut out = json!({
                "action": action, "number": number, "pull_request": shapes::pull(state, repo, number),
                "repository": shapes::repository(state, repo),
                "sender": shapes::user(state, &state.pulls[&(repo, number)].author),
            });
            if let Some((id, _)) = state.installation_of(repo) {
                out["installation"] = json!({ "id": id, "node_id": format!("MDIz{id}") });
            }
            out
        };
        match self {
            Self::Opened(number) => of_pull("opened", *number),
            Self::Reopened(number) => of_pull("reopened", *number),
            Self::ReadyForReview(number) => of_pull("ready_for_review", *number),
            Self::ConvertedToDraft(number) => of_pull("converted_to_draft", *number),
            Self::Closed(number) => of_pull("closed", *number),
            Self::Labeled(number, name) => {
                let mut out = of_pull("labeled", *number);
                let labels = out["pull_request"]["labels"].as_array().cloned().unwrap_or_default();
                out["label"] = labels.into_iter().find(|l| l["name"] == *name).expect("the story set the label first");
                out
            }
            Self::Pushed { pull, before } => {
                let mut out = of_pull("synchronize", *pull);
                out["before"] = before.clone().into();
                out["after"] = out["pull_request"]["head"]["sha"].clone();
                out
            }
            Self::Retargeted { pull, from_branch, from_sha } => {
                let mut out = of_pull("edited", *pull);
                out["changes"] = json!({ "base": { "ref": { "from": from_branch }, "sha": { "from": from_sha } } });
                out
            }
            Self::Retitled(number) => {
                let mut out = of_pull("edited", *number);
                out["changes"] = json!({ "title": { "from": "an older title" } });
                out
            }
            Self::Ping => json!({
                "zen": "Keep it logically awesome.", "hook_id": 1,
                "hook": {
                    "type": "App", "id": 1, "name": "web", "active": true, "app_id": state.app.id,
                    "events": ["pull_request"],
                    "config": { "content_type": "json", "insecure_ssl": "0", "secret": "********",
                                "url": "http://127.0.0.1/webhooks/github" },
                    "updated_at": "2026-01-05T08:00:00Z", "created_at": "2026-01-05T08:00:00Z",
                    "deliveries_url": format!("{}/app/hook/deliveries", state.origin),
                },
            }),
            Self::Suspended(id) => {
                let of = &state.installations[id];
                json!({
                    "action": "suspend", "installation": shapes::installation(state, *id, of),
                    "sender": shapes::user(state, &of.account),
                })
            }
        }
    }

    /// The delivery, under a fresh id.
    pub fn sign(&self, state: &State, repo: u64) -> Signed {
        let body = self.payload(state, repo).to_string().into_bytes();
        Signed {
            id: uuid::Uuid::new_v4().to_string(),
            event: self.event(),
            signature: signature(&state.app.hook_secret, &body),
            body,
        }
    }
}

/// <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>
pub fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

impl Signed {
    /// The same body under another id, as a replay would come.
    pub fn replayed(&self) -> Self {
        Self { id: uuid::Uuid::new_v4().to_string(), ..self.clone() }
    }

    /// The request, not yet sent.
    pub fn request(&self, client: &reqwest::Client, to: &url::Url, app: u64) -> reqwest::RequestBuilder {
        client
            .post(to.clone())
            .header("content-type", "application/json")
            .header("accept", "*/*")
            .header("user-agent", "GitHub-Hookshot/044aadd")
            .header("x-github-event", self.event)
            .header("x-github-delivery", &self.id)
            .header("x-github-hook-id", "1")
            .header("x-github-hook-installation-target-type", "integration")
            .header("x-github-hook-installation-target-id", app.to_string())
            .header("x-hub-signature-256", &self.signature)
            .body(self.body.clone())
    }
}
