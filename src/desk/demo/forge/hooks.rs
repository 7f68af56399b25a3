//! What happens on the small forge -> signed webhooks, and the log of their deliveries.
//!
//! Facts: <https://docs.github.com/en/webhooks/webhook-events-and-payloads>

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::auth::{moment, signature};
use super::server::{APP, Inner};
use super::{people, shapes};

/// What happened.
#[derive(Clone, Debug)]
pub(in crate::desk::demo) enum Happening {
    /// The App was registered.
    Ping,
    /// A pull request was opened.
    Opened(u64),
    /// Its head moved; `before` is the old one.
    Pushed {
        /// Which.
        pull: u64,
        /// The head before.
        before: String,
    },
    /// It targets another branch.
    Retargeted {
        /// Which.
        pull: u64,
        /// The branch before.
        from: String,
    },
    /// A review was submitted.
    Reviewed(u64),
    /// A comment was written.
    Commented(u64),
}

/// One webhook, and how it went.
pub(super) struct Delivery {
    pub(super) id: u64,
    guid: String,
    event: &'static str,
    body: Bytes,
    at: Timestamp,
    /// What the receiver answered; 0 where no answer came.
    status: u16,
    redelivery: bool,
}

impl Delivery {
    /// As the App's log of deliveries shows it.
    pub(super) fn shown(&self) -> Value {
        json!({
            "id": self.id, "guid": self.guid, "delivered_at": moment(self.at), "redelivery": self.redelivery, "duration": 0.1,
            "status": if (200..300).contains(&self.status) { "OK" } else { "failed" }, "status_code": self.status,
            "event": self.event, "action": null,
        })
    }
}

/// Signs what happened, sends it, and keeps it in the log. Returns what the receiver answered; 0 where no answer came.
pub(super) async fn deliver(inner: &Inner, what: &Happening) -> u16 {
    let (event, body) = payload(inner, what);
    send(inner, uuid::Uuid::new_v4().to_string(), event, body.to_string().into(), false).await
}

/// Sends a delivery of the log once more.
pub(super) async fn deliver_again(inner: &Inner, id: u64) {
    let found = {
        let state = inner.state();
        let known = state.deliveries.iter().find(|delivery| delivery.id == id);
        known.map(|known| (known.guid.clone(), known.event, known.body.clone()))
    };
    if let Some((guid, event, body)) = found {
        send(inner, guid, event, body, true).await;
    }
}

async fn send(inner: &Inner, guid: String, event: &'static str, body: Bytes, redelivery: bool) -> u16 {
    let status = post(inner, &guid, event, body.clone()).await;
    let at = inner.now();
    let mut state = inner.state();
    let id = state.next_number();
    state.deliveries.push(Delivery { id, guid, event, body, at, status, redelivery });
    status
}

async fn post(inner: &Inner, guid: &str, event: &str, body: Bytes) -> u16 {
    let request = http::Request::post(inner.receiver())
        .header("content-type", "application/json")
        .header("user-agent", "GitHub-Hookshot/demo")
        .header("x-github-event", event)
        .header("x-github-delivery", guid)
        .header("x-github-hook-id", "1")
        .header("x-github-hook-installation-target-type", "integration")
        .header("x-github-hook-installation-target-id", APP.to_string())
        .header("x-hub-signature-256", signature(&inner.secret, &body))
        .body(Full::new(body));
    let Ok(request) = request else { return 0 };
    let client = Client::builder(TokioExecutor::new()).build_http();
    // GitHub waits ten seconds for an answer.
    match tokio::time::timeout(Duration::from_secs(10), client.request(request)).await {
        Ok(Ok(answer)) => answer.status().as_u16(),
        Ok(Err(_)) | Err(_) => 0,
    }
}

fn payload(inner: &Inner, what: &Happening) -> (&'static str, Value) {
    let state = inner.state();
    let of_pull = |action: &str, number: &u64, more: Value| {
        let pull = &state.pulls[number];
        let mut body = json!({ "action": action, "number": number, "pull_request": shapes::pull(pull) });
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        ("pull_request", shapes::envelope(body, pull.author))
    };
    match what {
        Happening::Ping => {
            ("ping", json!({ "zen": "Evidence first.", "hook_id": 1, "hook": { "type": "App", "app_id": APP } }))
        }
        Happening::Opened(number) => of_pull("opened", number, json!({})),
        Happening::Pushed { pull, before } => {
            of_pull("synchronize", pull, json!({ "before": before, "after": state.pulls[pull].head }))
        }
        Happening::Retargeted { pull, from } => {
            of_pull("edited", pull, json!({ "changes": { "base": { "ref": { "from": from } } } }))
        }
        Happening::Reviewed(id) => {
            let review =
                state.reviews.iter().find(|review| review.id == *id).expect("a review is kept before it is told of");
            let pull = shapes::pull(&state.pulls[&review.pull]);
            let body =
                json!({ "action": "submitted", "review": shapes::review(review, "approved"), "pull_request": pull });
            ("pull_request_review", shapes::envelope(body, review.author))
        }
        Happening::Commented(id) => {
            let comment = &state.comments[id];
            let issue = json!({
                "number": comment.pull, "state": "open", "user": shapes::user(people::ADA), "pull_request": {},
            });
            let body = json!({ "action": "created", "issue": issue, "comment": shapes::comment(*id, comment) });
            ("issue_comment", shapes::envelope(body, comment.author))
        }
    }
}
