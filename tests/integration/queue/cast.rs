//! Who plays in these stories.

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use evidence_gate::delivery::{Delivery, Inbox as _, InboxError, Stored, WebhookSecrets};
use evidence_gate::queue::{Lease, Queue as _, RunnerId, Settled, SqliteOptions, SqliteQueue};
use evidence_gate::words::{DeliveryId, ForgeKind, HeadSha, Verdict};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde_json::json;
use sha2::Sha256;
use tempfile::TempDir;
use uuid::Uuid;

static SECRET: LazyLock<String> = LazyLock::new(|| format!("{}{}", Uuid::new_v4(), Uuid::new_v4()));

/// How long leases last in these stories.
pub const LEASE: Duration = Duration::from_mins(1);

/// So many seconds after the stories begin.
pub fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_800_000_000 + second)
}

pub fn head(letter: char) -> HeadSha {
    letter.to_string().repeat(40).parse().unwrap()
}

/// A webhook that GitHub might send about pull request `pull`.
#[derive(Clone, Debug)]
pub struct Hook {
    pub pull: u64,
    pub action: &'static str,
    pub head: char,
    pub second: i64,
    pub text: String,
}

fn hook(action: &'static str, pull: u64, head: char, second: i64) -> Hook {
    Hook { pull, action, head, second, text: format!("at {second}") }
}

pub fn opened(pull: u64, head: char, second: i64) -> Hook {
    hook("opened", pull, head, second)
}

pub fn reopened(pull: u64, head: char, second: i64) -> Hook {
    hook("reopened", pull, head, second)
}

pub fn pushed(pull: u64, head: char, second: i64) -> Hook {
    hook("synchronize", pull, head, second)
}

pub fn retargeted(pull: u64, head: char, second: i64) -> Hook {
    hook("edited", pull, head, second)
}

pub fn closed(pull: u64, head: char, second: i64) -> Hook {
    hook("closed", pull, head, second)
}

pub fn assigned(pull: u64, head: char, second: i64) -> Hook {
    hook("assigned", pull, head, second)
}

impl Hook {
    /// The same event with another text in its body.
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub fn body(&self) -> String {
        let mut body = json!({
            "action": self.action,
            "number": self.pull,
            "pull_request": {"number": self.pull, "head": {"sha": head(self.head)}, "base": {"repo": {"id": 1}}},
            "repository": {"id": 1, "full_name": "acme/widgets"},
            "installation": {"id": 5},
            "text": self.text,
        });
        if self.action == "edited" {
            body["changes"] = json!({"base": {"ref": {"from": "main"}}});
        }
        body.to_string()
    }

    /// Sent under this delivery id.
    pub fn under(&self, id: &str) -> Delivery {
        sent(id, "pull_request", self.body(), at(self.second))
    }

    /// Sent under an id of its own, which is the same each time.
    pub fn sent(&self) -> Delivery {
        self.under(&self.id())
    }

    pub fn id(&self) -> String {
        format!("{}-of-pr-{}-head-{}-at-{}", self.action, self.pull, self.head, self.second)
    }
}

/// A delivery as GitHub would sign it.
pub fn sent(id: &str, event: &str, body: impl Into<Bytes>, received: Timestamp) -> Delivery {
    let body = body.into();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(&body);
    let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("x-hub-signature-256", &signature),
        ("x-github-delivery", id),
        ("x-github-event", event),
        ("x-github-hook-id", "292430182"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    let secrets = WebhookSecrets::new(vec![SecretString::from(SECRET.as_str())]).unwrap();
    Delivery::verify_github(&headers, body, &secrets, received).unwrap()
}

/// A queue in a folder of its own.
pub struct House {
    pub folder: TempDir,
    pub queue: SqliteQueue,
}

impl House {
    pub async fn new() -> Self {
        Self::with(SqliteOptions::default()).await
    }

    pub async fn with(options: SqliteOptions) -> Self {
        let folder = TempDir::new().unwrap();
        let queue = SqliteQueue::open(folder.path(), options).await.unwrap();
        Self { folder, queue }
    }

    /// The same file, opened as another process would.
    pub async fn another_process(&self) -> SqliteQueue {
        SqliteQueue::open(self.folder.path(), SqliteOptions::default()).await.unwrap()
    }

    /// A plain connection, for what the product itself never does.
    pub async fn by_hand(&self) -> sqlx::SqliteConnection {
        use sqlx::Connection as _;
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(self.queue.path());
        sqlx::SqliteConnection::connect_with(&options).await.unwrap()
    }

    pub async fn store(&self, hook: &Hook) -> Stored {
        self.queue.store(hook.sent()).await.unwrap()
    }

    pub async fn try_store(&self, delivery: Delivery) -> Result<Stored, InboxError> {
        self.queue.store(delivery).await
    }

    pub async fn outcome(&self, id: &str) -> Option<String> {
        let id: DeliveryId = id.parse().unwrap();
        self.queue.delivery(ForgeKind::Github, &id).await.unwrap().map(|kept| kept.outcome)
    }

    pub async fn claim(&self, second: i64) -> Option<Lease> {
        claim(&self.queue, "runner-1", second).await
    }

    pub async fn retry(&self, lease: &Lease, not_before: i64, second: i64) {
        let end = Settled::Retry { not_before: at(not_before), why: "the forge answered 502".to_owned() };
        assert_eq!(self.queue.settle(lease, end, at(second)).await.unwrap(), evidence_gate::queue::Fenced::Held);
    }

    pub async fn done(&self, lease: &Lease, second: i64) {
        let fenced = self.queue.settle(lease, Settled::Done, at(second)).await.unwrap();
        assert_eq!(fenced, evidence_gate::queue::Fenced::Held);
    }

    /// Queued, running and dead jobs.
    pub async fn counts(&self) -> (u64, u64, u64) {
        let depth = self.queue.depth(at(0)).await.unwrap();
        (depth.queued, depth.running, depth.dead)
    }
}

pub async fn claim(queue: &SqliteQueue, runner: &str, second: i64) -> Option<Lease> {
    queue.claim(&RunnerId(runner.to_owned()), at(second), LEASE).await.unwrap()
}

/// Publishes what every story's evaluation comes to. Whether it was allowed to.
pub async fn publish(queue: &SqliteQueue, lease: &Lease) -> bool {
    use evidence_gate::queue::{Fenced, Superseded};
    match queue.begin_post(lease, Verdict::Hold, b"{\"schema\":1}").await.unwrap() {
        Superseded::ByNewer => false,
        Superseded::Current => queue.posted(lease).await.unwrap() == Fenced::Held,
    }
}

/// Pull request and head of a lease's job.
pub fn what(lease: &Lease) -> (u64, Option<HeadSha>) {
    (lease.job.trigger.pull.0, lease.job.trigger.head.clone())
}
