//! Signed deliveries, as many as are asked for.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use uuid::Uuid;

/// Pull requests that the deliveries are about, over [`REPOSITORIES`] repositories.
const PULLS: u64 = 1000;
const REPOSITORIES: u64 = 50;

/// Bodies that differ in a number at their end, so that signing one costs as much as hashing its last block.
pub(crate) struct Deliveries {
    secret: String,
    /// One for each pull request.
    beginnings: Vec<Beginning>,
    next: AtomicU64,
}

struct Beginning {
    bytes: Vec<u8>,
    signed: Hmac<Sha256>,
}

impl Deliveries {
    pub(crate) fn new() -> Self {
        let secret = format!("{}{}", Uuid::new_v4(), Uuid::new_v4());
        let payload = recorded_payload();
        let beginnings = (1..=PULLS).map(|pull| Beginning::new(&payload, pull, &secret)).collect();
        Self { secret, beginnings, next: AtomicU64::new(0) }
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Bytes of a body.
    pub(crate) fn length(&self) -> usize {
        self.beginnings[0].bytes.len() + ending(0).len()
    }

    /// Writes the next request into the buffer and returns its delivery id.
    pub(crate) fn write_next(&self, request: &mut Vec<u8>) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let beginning = &self.beginnings[usize::try_from(number % PULLS).unwrap()];
        let ending = ending(number);
        let mut mac = beginning.signed.clone();
        mac.update(ending.as_bytes());
        let signature = hex::encode(mac.finalize().into_bytes());
        let id = Uuid::new_v4().to_string();
        let length = beginning.bytes.len() + ending.len();
        let head = format!(
            "POST /webhooks/github HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: GitHub-Hookshot/0000000\r\naccept: */*\r\n\
             content-type: application/json\r\nx-github-event: pull_request\r\nx-github-delivery: {id}\r\n\
             x-github-hook-id: 292430182\r\nx-github-hook-installation-target-id: 1\r\n\
             x-github-hook-installation-target-type: integration\r\nx-hub-signature-256: sha256={signature}\r\n\
             content-length: {length}\r\n\r\n"
        );
        request.clear();
        request.extend_from_slice(head.as_bytes());
        request.extend_from_slice(&beginning.bytes);
        request.extend_from_slice(ending.as_bytes());
        id
    }
}

fn ending(number: u64) -> String {
    format!(",\"number_of_this_delivery\":\"{number:016}\"}}")
}

impl Beginning {
    fn new(payload: &Value, pull: u64, secret: &str) -> Self {
        let mut payload = payload.clone();
        let repository = 1 + pull % REPOSITORIES;
        payload["number"] = json!(pull);
        payload["pull_request"]["number"] = json!(pull);
        payload["repository"]["id"] = json!(repository);
        payload["pull_request"]["base"]["repo"]["id"] = json!(repository);
        payload["installation"] = json!({"id": 5, "node_id": "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9uNQ=="});
        let mut bytes = serde_json::to_vec(&payload).unwrap();
        assert_eq!(bytes.pop(), Some(b'}'));
        let mut signed = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        signed.update(&bytes);
        Self { bytes, signed }
    }
}

/// The recorded `pull_request` payload that is nearest to 24 kB, out of the package that the peers are installed with.
fn recorded_payload() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches/receiver/peers/node_modules/@octokit/webhooks-examples/api.github.com/index.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}; use run.sh", path.display()));
    let events: Vec<Value> = serde_json::from_str(&text).unwrap();
    let pull_request = events.iter().find(|event| event["name"] == "pull_request").unwrap();
    let payloads = pull_request["examples"].as_array().unwrap().iter();
    let payloads = payloads.filter(|payload| payload["action"] == "synchronize" || payload["action"] == "opened");
    payloads.min_by_key(|payload| payload.to_string().len().abs_diff(24_000)).unwrap().clone()
}
