//! The public keys of a scoring host, and from when until when each counts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{KeyId, NotAKey, PublicKey};

/// Where a receiver publishes them.
pub const PUBLIC_KEYS_PATH: &str = "/.well-known/evidence-gate/keys";

const SCHEMA: u32 = 1;
const ALGORITHM: &str = "ed25519";

/// From when until when signatures of a key count, both moments included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The first moment.
    pub from: Timestamp,
    /// The last one; `None` while no end is set.
    pub to: Option<Timestamp>,
}

impl Life {
    /// Whether a signature of this moment counts.
    pub fn holds(self, at: Timestamp) -> bool {
        self.from <= at && self.to.is_none_or(|to| at <= to)
    }
}

/// A key that a verifier trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trusted {
    /// The key.
    pub key: PublicKey,
    /// `None`: a bare key, of whose life nothing is known.
    pub life: Option<Life>,
}

impl Trusted {
    /// A bare key in PEM.
    pub fn bare(pem: &str) -> Result<Self, NotAKey> {
        Ok(Self { key: PublicKey::from_pem(pem)?, life: None })
    }
}

/// Every key of a scoring host, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyset {
    keys: Vec<(PublicKey, Life)>,
}

/// Why a document is no keyset.
#[derive(Debug, thiserror::Error)]
pub enum NotAKeyset {
    /// Another document.
    #[error("it is no keyset of evidence-gate: {0}")]
    Json(#[from] serde_json::Error),
    /// Of a version that this one does not know.
    #[error("it is a keyset of schema {found}, and this version reads schema {SCHEMA}")]
    Schema {
        /// Its schema.
        found: u32,
    },
    /// One of its keys cannot be read.
    #[error("its key {id}: {why}")]
    Key {
        /// The key's name.
        id: KeyId,
        /// What is wrong.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    schema: u32,
    keys: Vec<WireKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireKey {
    keyid: KeyId,
    algorithm: String,
    public_key: String,
    from: String,
    to: Option<String>,
}

impl Keyset {
    /// Reads the document. Every key must be named by its own digest, so that a name cannot stand for another key.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAKeyset> {
        let wire: Wire = serde_json::from_slice(bytes)?;
        if wire.schema != SCHEMA {
            return Err(NotAKeyset::Schema { found: wire.schema });
        }
        let keys = wire.keys.into_iter().map(WireKey::read).collect::<Result<_, _>>()?;
        Ok(Self { keys })
    }

    /// The document, for people and programs.
    pub fn to_json(&self) -> String {
        let keys = self.keys.iter().map(|(key, life)| WireKey {
            keyid: key.id(),
            algorithm: ALGORITHM.to_owned(),
            public_key: key.to_pem(),
            from: life.from.to_string(),
            to: life.to.map(|to| to.to_string()),
        });
        let wire = Wire { schema: SCHEMA, keys: keys.collect() };
        serde_json::to_string_pretty(&wire).expect("a keyset holds only strings and numbers") + "\n"
    }

    /// Every key with its life, oldest first.
    pub fn keys(&self) -> &[(PublicKey, Life)] {
        &self.keys
    }

    /// The same for a verifier.
    pub fn trusted(&self) -> Vec<Trusted> {
        self.keys.iter().map(|(key, life)| Trusted { key: *key, life: Some(*life) }).collect()
    }

    /// The life of a key. `None`: it is not in the set.
    pub fn life(&self, id: &KeyId) -> Option<Life> {
        self.keys.iter().find(|(key, _)| key.id() == *id).map(|(_, life)| *life)
    }

    /// Adds a key that counts from now on, and ends every key that has no end yet at `until`, or has a later one.
    pub(super) fn succeed(&mut self, key: PublicKey, now: Timestamp, until: Timestamp) {
        for (_, life) in &mut self.keys {
            life.to = Some(life.to.map_or(until, |to| to.min(until)));
        }
        self.keys.push((key, Life { from: now, to: None }));
    }
}

impl WireKey {
    fn read(self) -> Result<(PublicKey, Life), NotAKeyset> {
        let wrong = |why: String| NotAKeyset::Key { id: self.keyid.clone(), why };
        if self.algorithm != ALGORITHM {
            return Err(wrong(format!("its algorithm is {:?}, and only {ALGORITHM:?} is known", self.algorithm)));
        }
        let key = PublicKey::from_pem(&self.public_key).map_err(|error| wrong(error.to_string()))?;
        if key.id() != self.keyid {
            return Err(wrong(format!("its name is not its own digest, which is {}", key.id())));
        }
        let moment = |text: &String| text.parse().map_err(|error| wrong(format!("the moment {text:?}: {error}")));
        let life = Life { from: moment(&self.from)?, to: self.to.as_ref().map(moment).transpose()? };
        Ok((key, life))
    }
}
