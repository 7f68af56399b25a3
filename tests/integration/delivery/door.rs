//! A running receiver, an inbox in memory behind it, and a sender who signs like GitHub.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use evidence_gate::delivery::{
    Delivery, Inbox, InboxError, Limits, Receiver, Stopped, Stored, WebhookSecrets, router, serve_within,
};
use evidence_gate::event::{self, Event};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName};
use jiff::Timestamp;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use secrecy::SecretString;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A secret as an operator would draw it.
pub fn drawn_secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// The secrets of a receiver.
pub fn secrets(secrets: &[&str]) -> WebhookSecrets {
    WebhookSecrets::new(secrets.iter().map(|secret| SecretString::from(*secret)).collect()).unwrap()
}

/// GitHub's signature header over these bytes.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// The headers that GitHub sends with a body.
pub fn github_headers(secret: &str, event: &str, id: &str, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("user-agent", "GitHub-Hookshot/044aadd"),
        ("x-github-event", event),
        ("x-github-delivery", id),
        ("x-github-hook-id", "292430182"),
        ("x-github-hook-installation-target-type", "integration"),
        ("x-github-hook-installation-target-id", "79929171"),
        ("x-hub-signature-256", &signature(secret, body)),
    ] {
        headers.insert(HeaderName::from_static(name), value.parse().unwrap());
    }
    headers
}

/// The moment at which every delivery of these tests arrives.
pub fn arrival() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// A delivery as the receiver would make it.
pub fn delivered(event: &str, body: &[u8]) -> Delivery {
    let secret = drawn_secret();
    let headers = github_headers(&secret, event, &Uuid::new_v4().to_string(), body);
    Delivery::verify_github(&headers, Bytes::copy_from_slice(body), &secrets(&[&secret]), arrival()).unwrap()
}

/// What GitHub says once to a new hook.
pub fn ping() -> Vec<u8> {
    json!({"zen": "Design for failure.", "hook_id": 292_430_182, "hook": {}}).to_string().into_bytes()
}

/// A `ping` that is exactly this long.
pub fn ping_of(length: usize) -> Vec<u8> {
    let around = json!({"zen": "", "hook_id": 1}).to_string().len();
    json!({"zen": "z".repeat(length - around), "hook_id": 1}).to_string().into_bytes()
}

/// A `pull_request` body with the fields that are read.
pub fn pull_request(action: &str) -> Value {
    json!({
        "action": action,
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": {"sha": "7e1f0000000000000000000000000000000000a7", "repo": {"id": 20}},
            "base": {"sha": "ba5e0000000000000000000000000000000000a7", "repo": {"id": 10}},
        },
        "repository": {"id": 10, "full_name": "acme/widgets"},
        "installation": {"id": 99},
    })
}

/// Keeps deliveries in memory, and can be told to misbehave.
#[derive(Default)]
pub struct Memory {
    kept: Mutex<BTreeMap<String, Delivery>>,
    mood: Mutex<Mood>,
    /// Told when a delivery arrives at the store.
    pub entered: Notify,
    /// Lets a held delivery go on.
    pub released: Notify,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub enum Mood {
    #[default]
    Well,
    /// Every call fails, as on a full disk.
    Full,
    /// Holds each delivery until it is released.
    Holding,
    Panicking,
}

impl Memory {
    pub fn kept(&self) -> Vec<Delivery> {
        self.kept.lock().unwrap().values().cloned().collect()
    }

    pub fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

#[async_trait]
impl Inbox for Memory {
    async fn store(&self, delivery: Delivery) -> Result<Stored, InboxError> {
        let mood = *self.mood.lock().unwrap();
        self.entered.notify_one();
        match mood {
            Mood::Well => {}
            Mood::Full => return Err(InboxError::Unavailable("no space left on device".into())),
            Mood::Holding => self.released.notified().await,
            Mood::Panicking => panic!("the store fell over, as this test asked"),
        }
        let mut kept = self.kept.lock().unwrap();
        if let Some(before) = kept.get(delivery.id().as_str()) {
            return if before.body() == delivery.body() { Ok(Stored::Duplicate) } else { Err(InboxError::OtherBody) };
        }
        let event = event::parse(&delivery).map_err(|malformed| InboxError::Malformed(malformed.into()))?;
        kept.insert(delivery.id().to_string(), delivery);
        Ok(match event {
            Event::Trigger(_) | Event::Errand(_) => Stored::Queued,
            Event::Ignored(reason) => Stored::Ignored(reason.to_string()),
        })
    }

    async fn ready(&self) -> Result<(), InboxError> {
        match *self.mood.lock().unwrap() {
            Mood::Full => Err(InboxError::Unavailable("no space left on device".into())),
            _ => Ok(()),
        }
    }
}

/// A running receiver and one sender who knows its secret.
pub struct Door {
    pub address: SocketAddr,
    pub inbox: Arc<Memory>,
    pub secret: String,
    pub metrics: PrometheusHandle,
    pub client: reqwest::Client,
    pub stop: CancellationToken,
    pub serving: JoinHandle<Stopped>,
    _recorder: metrics::LocalRecorderGuard<'static>,
}

pub struct Answer {
    pub status: u16,
    pub id: Option<String>,
    pub body: Value,
}

impl Answer {
    pub fn outcome(&self) -> (u16, &str) {
        (self.status, self.body["outcome"].as_str().unwrap())
    }
}

impl Door {
    pub async fn open() -> Self {
        Self::with(Limits::default(), Duration::from_secs(10)).await
    }

    pub async fn with(limits: Limits, grace: Duration) -> Self {
        let secret = drawn_secret();
        let recorder = Box::leak(Box::new(PrometheusBuilder::new().build_recorder()));
        let metrics = recorder.handle();
        let guard = metrics::set_default_local_recorder(recorder);
        let inbox = Arc::new(Memory::default());
        let receiver = Receiver {
            public_keys: "no/such/file".into(),
            inbox: inbox.clone(),
            // The first is the one being phased in.
            github: Arc::new(secrets(&[&drawn_secret(), &secret])),
            clock: Arc::new(arrival),
            metrics: metrics.clone(),
            limits,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let shutdown = stop.clone().cancelled_owned();
        let serving = tokio::spawn(serve_within(listener, router(receiver), shutdown, grace));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { address, inbox, secret, metrics, client, stop, serving, _recorder: guard }
    }

    pub fn headers(&self, event: &str, body: &[u8]) -> HeaderMap {
        github_headers(&self.secret, event, &Uuid::new_v4().to_string(), body)
    }

    pub async fn post(&self, headers: HeaderMap, body: Vec<u8>) -> Answer {
        let url = format!("http://{}/webhooks/github", self.address);
        let response = self.client.post(url).headers(headers).body(body).send().await.unwrap();
        let id = response.headers().get("x-github-delivery").map(|id| id.to_str().unwrap().to_owned());
        Answer { status: response.status().as_u16(), id, body: response.json().await.unwrap() }
    }

    pub async fn deliver(&self, event: &str, body: impl Into<Vec<u8>>) -> Answer {
        let body = body.into();
        self.post(self.headers(event, &body), body).await
    }

    pub async fn get(&self, path: &str) -> (u16, String) {
        let response = self.client.get(format!("http://{}{path}", self.address)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Opens a connection and writes the head of a delivery, as a sender does who writes by hand.
    pub async fn head(&self, headers: &HeaderMap, framing: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("POST /webhooks/github HTTP/1.1\r\nhost: gate\r\n{framing}\r\n");
        for (name, value) in headers {
            write!(head, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
        stream
    }

    pub async fn stop(self) -> Stopped {
        self.stop.cancel();
        self.serving.await.unwrap()
    }
}

/// The status and the JSON of the answer on a connection that was written by hand.
pub async fn answer(stream: &mut TcpStream) -> Answer {
    let mut read = Vec::new();
    let (status, body) = loop {
        let mut chunk = [0; 4096];
        let length = stream.read(&mut chunk).await.unwrap();
        assert!(length > 0, "the connection ended before the answer: {:?}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8(read.clone()).unwrap();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            break (head[9..12].parse().unwrap(), body);
        }
    };
    Answer { status, id: None, body }
}
