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
    Unlabeled(u64, String),
    Closed(u64),
    /// A review, by its number.
    Reviewed(u64),
    /// A review was dismissed.
    ReviewDismissed(u64),
    Ping,
    Suspended(u64),
    /// A comment was written; the state has it already.
    Commented(u64),
    /// A comment was edited.
    CommentEdited(u64),
    /// Somebody pressed GitHub's own Re-run at one run.
    Rerequested {
        run: u64,
        by: &'static str,
    },
    /// Somebody pressed our button.
    Button {
        run: u64,
        by: &'static str,
    },
    /// Somebody pressed Re-run at all runs of a commit.
    SuiteRerequested {
        head: String,
        by: &'static str,
    },
    /// A branch of the repository moved.
    BasePushed {
        branch: String,
        before: String,
        after: String,
    },
    /// The merge queue asks for checks.
    GroupFormed {
        branch: String,
        base: String,
        head: String,
        reference: String,
    },
    /// The merge queue took a group apart.
    GroupDestroyed(Box<Happening>),
    /// The repository has another name or owner.
    Renamed {
        from: String,
    },
    /// The App was installed, or may be used again.
    Installed(u64),
    /// A repository was taken out of an installation.
    RepositoryRemoved {
        installation: u64,
        repo: u64,
    },
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
            Self::Suspended(_) | Self::Installed(_) => "installation",
            Self::RepositoryRemoved { .. } => "installation_repositories",
            Self::Commented(_) | Self::CommentEdited(_) => "issue_comment",
            Self::Reviewed(_) | Self::ReviewDismissed(_) => "pull_request_review",
            Self::Rerequested { .. } | Self::Button { .. } => "check_run",
            Self::SuiteRerequested { .. } => "check_suite",
            Self::BasePushed { .. } => "push",
            Self::GroupFormed { .. } | Self::GroupDestroyed(_) => "merge_group",
            Self::Renamed { .. } => "repository",
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
        let in_repo = |mut out: Value, by: &str| {
            out["repository"] = shapes::repository(state, repo);
            out["sender"] = shapes::user(state, by);
            if let Some((id, _)) = state.installation_of(repo) {
                out["installation"] = json!({ "id": id, "node_id": format!("MDIz{id}") });
            }
            out
        };
        let of_comment = |action: &str, id: u64| {
            let comment = &state.comments[&id];
            let by = comment.author.clone().unwrap_or_else(|| "evidence-gate[bot]".to_owned());
            let out = json!({
                "action": action, "issue": shapes::issue(state, repo, comment.issue), "comment": shapes::comment(state, id),
            });
            in_repo(out, &by)
        };
        let of_review = |action: &str, id: u64| {
            let review = state.reviews.iter().find(|review| review.id == id).expect("the story wrote the review");
            // The pull request of a review event lacks what only the single answer counts.
            let mut pull = shapes::object(shapes::pull(state, repo, review.pull));
            let counted = ["changed_files", "commits", "additions", "deletions", "mergeable", "merged", "comments"];
            pull.retain(|key, _| !counted.contains(&key.as_str()));
            let shown = super::reviews::shown(state, review, &review.state.to_lowercase());
            in_repo(json!({ "action": action, "review": shown, "pull_request": pull }), &review.author)
        };
        match self {
            Self::Reviewed(id) => of_review("submitted", *id),
            Self::ReviewDismissed(id) => of_review("dismissed", *id),
            Self::Commented(id) => of_comment("created", *id),
            Self::CommentEdited(id) => {
                let mut out = of_comment("edited", *id);
                out["changes"] = json!({ "body": { "from": "an older text" } });
                out
            }
            Self::Rerequested { run, by } => {
                in_repo(json!({ "action": "rerequested", "check_run": shapes::run(state, &state.runs[run]) }), by)
            }
            Self::Button { run, by } => {
                let out = json!({
                    "action": "requested_action", "check_run": shapes::run(state, &state.runs[run]),
                    "requested_action": { "identifier": "rescore" },
                });
                in_repo(out, by)
            }
            Self::SuiteRerequested { head, by } => {
                let out = json!({
                    "action": "rerequested",
                    "check_suite": { "id": 5_000_000 + repo, "head_sha": head, "app": shapes::app(state), "pull_requests": [] },
                });
                in_repo(out, by)
            }
            Self::BasePushed { branch, before, after } => {
                let out = json!({
                    "ref": format!("refs/heads/{branch}"), "before": before, "after": after, "created": false,
                    "deleted": false, "forced": false, "base_ref": null, "compare": "", "commits": [], "head_commit": null,
                    "pusher": { "name": "mia", "email": null },
                });
                in_repo(out, "mia")
            }
            Self::GroupFormed { branch, base, head, reference } => {
                let out = json!({
                    "action": "checks_requested",
                    "merge_group": { "head_sha": head, "head_ref": reference, "base_sha": base,
                                     "base_ref": format!("refs/heads/{branch}"), "head_commit": {} },
                });
                in_repo(out, "mia")
            }
            Self::GroupDestroyed(group) => {
                let mut out = group.payload(state, repo);
                out["action"] = "destroyed".into();
                out["reason"] = "dequeued".into();
                out
            }
            Self::Renamed { from } => {
                let out = json!({ "action": "renamed", "changes": { "repository": { "name": { "from": from } } } });
                in_repo(out, "mia")
            }
            Self::Installed(id) => {
                let of = &state.installations[id];
                json!({
                    "action": "created", "installation": shapes::installation(state, *id, of), "repositories": [],
                    "sender": shapes::user(state, &of.account),
                })
            }
            Self::RepositoryRemoved { installation, repo } => {
                let of = &state.installations[installation];
                json!({
                    "action": "removed", "installation": shapes::installation(state, *installation, of),
                    "repository_selection": "selected", "repositories_added": [],
                    "repositories_removed": [{ "id": repo, "full_name": state.repos[repo].full_name() }],
                    "sender": shapes::user(state, &of.account),
                })
            }
            Self::Opened(number) => of_pull("opened", *number),
            Self::Reopened(number) => of_pull("reopened", *number),
            Self::ReadyForReview(number) => of_pull("ready_for_review", *number),
            Self::ConvertedToDraft(number) => of_pull("converted_to_draft", *number),
            Self::Closed(number) => of_pull("closed", *number),
            Self::Labeled(number, name) => {
                let mut out = of_pull("labeled", *number);
                let labels = out["pull_request"]["labels"].as_array().cloned().unwrap_or_default();
                out["label"] = labels.into_iter().find(|l| l["name"] == *name).expect("the story set the label first");
                out["sender"] = shapes::user(state, &super::labels::actor(state, repo, *number, name));
                out
            }
            Self::Unlabeled(number, name) => {
                let mut out = of_pull("unlabeled", *number);
                out["label"] = shapes::label(state, &state.repos[&repo].full_name(), name);
                out["sender"] = shapes::user(state, &super::labels::actor(state, repo, *number, name));
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
