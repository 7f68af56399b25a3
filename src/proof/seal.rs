//! Record -> signed envelope.

use jiff::Timestamp;

use super::envelope::Envelope;
use super::statement::{
    PREDICATE_TYPE, Previous, SCHEMA, STATEMENT_TYPE, Statement, Subject, SubjectDigest, VerdictPredicate,
};
use super::{KeyId, PAYLOAD_TYPE, SigningKey, canonical, pae};
use crate::change::Sha256;
use crate::score::Record;

/// The place of a record among those of its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub number: u64,
    /// The digest of the one before it.
    pub previous: Option<String>,
}

impl Place {
    /// The first of its repository.
    pub fn first() -> Self {
        Self { number: 1, previous: None }
    }

    /// The one after the record of this number and digest.
    pub fn after(number: u64, digest: String) -> Self {
        Self { number: number + 1, previous: Some(digest) }
    }
}

/// A signed record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The envelope's bytes.
    pub envelope: Vec<u8>,
    /// sha256 of the payload, in hexadecimal: what the next record names.
    pub digest: String,
    /// Whose signature it is.
    pub key: KeyId,
}

/// A record that cannot be spelled.
#[derive(Debug, thiserror::Error)]
#[error("the record cannot be written as canonical JSON")]
pub struct NotSigned(#[from] serde_json::Error);

/// Signs a record. The same bytes for the same arguments.
pub fn seal(record: &Record, place: &Place, key: &SigningKey, now: Timestamp) -> Result<Sealed, NotSigned> {
    let digest = SubjectDigest { git_commit: record.head.clone() };
    let statement = Statement {
        statement_type: STATEMENT_TYPE.to_owned(),
        subject: vec![Subject { name: record.repository.name.clone(), digest }],
        predicate_type: PREDICATE_TYPE.to_owned(),
        predicate: VerdictPredicate {
            schema: SCHEMA,
            number: place.number,
            previous: place.previous.clone().map(|sha256| Previous { sha256 }),
            signed: now.to_string(),
            record: serde_json::to_value(record)?,
        },
    };
    let payload = canonical(&statement)?;
    let signature = key.sign(&pae(PAYLOAD_TYPE, &payload));
    let key = key.public().id();
    let envelope = Envelope::new(&payload, key.clone(), &signature).to_bytes();
    Ok(Sealed { envelope, digest: Sha256::of(&payload).to_string(), key })
}
