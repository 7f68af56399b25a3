//! The public keys of an issuer: fetched, kept, and fetched again when they change.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;

/// For so long keys are used without asking again: what an issuer takes back is refused after it at the latest.
const FRESH: SignedDuration = SignedDuration::from_hours(1);

/// For so long keys are used while the issuer does not answer.
const STALE: SignedDuration = SignedDuration::from_hours(24);

/// The issuer is asked at most once in this time, whatever key a token names.
const PAUSE: SignedDuration = SignedDuration::from_secs(10);

/// Bytes of the modulus of a key: 2048 to 8192 bits.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

/// Brings an issuer's document of keys. `forge/` keeps the promise, so that this room speaks to nobody.
#[async_trait]
pub trait KeySource: Send + Sync + 'static {
    /// The document at this address, within bounds of time and size and without following a redirect; or why not, in one line.
    async fn fetch(&self, url: &Url) -> Result<Bytes, String>;
}

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoKey {
    /// The issuer has no such key.
    Unknown,
    /// The issuer could not be asked: another try may work.
    Unreachable(String),
}

/// The keys of one issuer.
pub(super) struct Keys {
    url: Url,
    source: Arc<dyn KeySource>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    by_id: BTreeMap<String, DecodingKey>,
    fetched: Option<Timestamp>,
    tried: Option<Timestamp>,
}

impl Keys {
    pub(super) fn new(url: Url, source: Arc<dyn KeySource>) -> Self {
        Self { url, source, held: Mutex::new(Held::default()) }
    }

    /// The key of this id. Whoever comes while the issuer is asked waits for the one answer.
    pub(super) async fn get(&self, id: &str, now: Timestamp) -> Result<DecodingKey, NoKey> {
        let mut held = self.held.lock().await;
        if let Some(key) = held.younger_than(FRESH, id, now) {
            return Ok(key);
        }
        if held.tried.is_some_and(|at| now.duration_since(at).abs() < PAUSE) {
            let why = || NoKey::Unreachable("the issuer was asked for its keys a moment ago".to_owned());
            return held.younger_than(STALE, id, now).ok_or_else(why);
        }
        held.tried = Some(now);
        let fetched = self.source.fetch(&self.url).await;
        match fetched.and_then(|document| read(&document)) {
            Ok(by_id) => {
                (held.by_id, held.fetched) = (by_id, Some(now));
                held.by_id.get(id).cloned().ok_or(NoKey::Unknown)
            }
            Err(why) => held.younger_than(STALE, id, now).ok_or(NoKey::Unreachable(why)),
        }
    }
}

impl Held {
    fn younger_than(&self, age: SignedDuration, id: &str, now: Timestamp) -> Option<DecodingKey> {
        let young = self.fetched.is_some_and(|at| now.duration_since(at) < age);
        self.by_id.get(id).filter(|_| young).cloned()
    }
}

/// A JSON Web Key Set, <https://www.rfc-editor.org/rfc/rfc7517#section-5>.
#[derive(Deserialize)]
struct Document {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

/// The RSA keys that sign with RS256. Keys of other kinds are left out; nothing is signed with them here.
fn read(document: &[u8]) -> Result<BTreeMap<String, DecodingKey>, String> {
    let document: Document =
        serde_json::from_slice(document).map_err(|error| format!("its keys are no JSON Web Key Set: {error}"))?;
    let mut keys = BTreeMap::new();
    for key in document.keys {
        let signs = key.purpose.is_none_or(|purpose| purpose == "sig") && key.alg.is_none_or(|alg| alg == "RS256");
        let (Some(id), Some(n), Some(e), true, "RSA") = (key.kid, key.n, key.e, signs, key.kty.as_str()) else {
            continue;
        };
        let long_enough = URL_SAFE_NO_PAD.decode(&n).is_ok_and(|modulus| MODULUS.contains(&modulus.len()));
        if let (true, Ok(read)) = (long_enough, DecodingKey::from_rsa_components(&n, &e)) {
            keys.insert(id, read);
        }
    }
    Ok(keys)
}
