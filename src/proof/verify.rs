//! Envelope -> what it proves, or which of its promises does not hold.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::envelope::{Envelope, PAYLOAD_TYPE, pae, strict};
use super::statement::{PREDICATE_TYPE, SCHEMA, STATEMENT_TYPE, Statement};
use super::{KeyId, Life, Trusted, canonical};
use crate::change::Sha256;
use crate::score::RepositoryRow;
use crate::words::{ForgeKind, PullNumber, Verdict};

/// What the record must be about; what is `None` is not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The repository's name, or its number on the forge.
    pub repository: Option<String>,
    /// The full object id of the head commit.
    pub head: Option<String>,
}

/// What a good envelope proves.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The forge.
    pub forge: ForgeKind,
    /// The repository.
    pub repository: RepositoryRow,
    /// The pull request.
    pub pull: Option<PullNumber>,
    /// The head commit.
    pub head: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Its title.
    pub title: String,
    /// When it was signed.
    pub signed: Timestamp,
    /// By which key.
    pub key: KeyId,
    /// The key's life, where it is known.
    pub life: Option<Life>,
    /// Its number in the repository.
    pub number: u64,
    /// The digest of the record before it.
    pub previous: Option<String>,
    /// Its own digest.
    pub digest: String,
    /// The whole record.
    pub record: Value,
}

/// Why an envelope proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A record that nobody signed.
    #[error(
        "this is a plain record without a signature: anybody can write one. Signed ones are kept by the bot \
         (`evidence-gate audit envelope`)"
    )]
    Unsigned,
    /// Not JSON, or other JSON.
    #[error("this is no signed record: {0}")]
    NotAnEnvelope(String),
    /// None, or more than one.
    #[error("the envelope has {0} signatures, and a signed record has exactly one")]
    Signatures(usize),
    /// Another kind of payload.
    #[error("the payload's type is {0:?}, and that of a signed record is {PAYLOAD_TYPE:?}")]
    PayloadType(String),
    /// Base64 that decodes and is not what encoding writes, or that does not decode.
    #[error("the {0} is not in the standard base64 spelling of its bytes")]
    Base64(&'static str),
    /// The same meaning in other bytes.
    #[error("the envelope is not in its one spelling (RFC 8785): bytes were added, moved or written in another way")]
    Spelling,
    /// A key that is not trusted.
    #[error("the signature is of the key {0}, which is not among the trusted ones")]
    UnknownKey(KeyId),
    /// Signed by nobody, or altered since.
    #[error("the signature of key {0} does not hold: the record was altered after it was signed")]
    Signature(KeyId),
    /// Signed at a moment at which the key does not count.
    #[error("it was signed at {signed}, and the key {key} counts from {} to {}", life.from, until(*life))]
    OutOfLife {
        /// The key.
        key: KeyId,
        /// When it was signed.
        signed: Timestamp,
        /// When it counts.
        life: Life,
    },
    /// Signed, and no statement that this version knows.
    #[error("the signed payload is not a verdict that this version reads: {0}")]
    Statement(String),
    /// About another repository.
    #[error("it is about the repository {found}, and not about {wanted}")]
    Repository {
        /// Asked for.
        wanted: String,
        /// In the record.
        found: String,
    },
    /// About another commit.
    #[error("it is about the commit {found}, and not about {wanted}")]
    Head {
        /// Asked for.
        wanted: String,
        /// In the record.
        found: String,
    },
}

fn until(life: Life) -> String {
    life.to.map_or_else(|| "no end".to_owned(), |to| to.to_string())
}

/// The fields of a record by which it is told apart.
#[derive(Deserialize)]
pub(super) struct About {
    forge: ForgeKind,
    repository: RepositoryRow,
    pull: Option<PullNumber>,
    head: String,
    verdict: Verdict,
    title: String,
}

/// Checks an envelope. Needs nothing but its arguments.
pub fn verify(bytes: &[u8], trusted: &[Trusted], expected: &Expected) -> Result<Verified, Refused> {
    let envelope = open(bytes)?;
    let [signature] = &*envelope.signatures else { return Err(Refused::Signatures(envelope.signatures.len())) };
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(Refused::PayloadType(envelope.payload_type));
    }
    let payload = strict(&envelope.payload).ok_or(Refused::Base64("payload"))?;
    let sig = strict(&signature.sig).ok_or(Refused::Base64("signature"))?;
    if envelope.to_bytes() != bytes {
        return Err(Refused::Spelling);
    }
    let known = trusted.iter().find(|known| known.key.id() == signature.keyid);
    let known = known.ok_or_else(|| Refused::UnknownKey(signature.keyid.clone()))?;
    if !known.key.holds(&pae(PAYLOAD_TYPE, &payload), &sig) {
        return Err(Refused::Signature(signature.keyid.clone()));
    }
    let (statement, about) = read(&payload)?;
    let signed = moment(&statement)?;
    if let Some(life) = known.life.filter(|life| !life.holds(signed)) {
        return Err(Refused::OutOfLife { key: signature.keyid.clone(), signed, life });
    }
    expected.hold(&about)?;
    Ok(Verified {
        forge: about.forge,
        repository: about.repository,
        pull: about.pull,
        head: about.head,
        verdict: about.verdict,
        title: about.title,
        signed,
        key: signature.keyid.clone(),
        life: known.life,
        number: statement.predicate.number,
        previous: statement.predicate.previous.map(|previous| previous.sha256),
        digest: Sha256::of(&payload).to_string(),
        record: statement.predicate.record,
    })
}

/// The envelope in these bytes, whatever it is worth.
pub(super) fn open(bytes: &[u8]) -> Result<Envelope, Refused> {
    serde_json::from_slice(bytes).map_err(|error| match serde_json::from_slice::<About>(bytes) {
        Ok(_) => Refused::Unsigned,
        Err(_) => Refused::NotAnEnvelope(error.to_string()),
    })
}

/// The statement in a payload, in its one spelling, about one commit: that of its record.
pub(super) fn read(payload: &[u8]) -> Result<(Statement, Box<About>), Refused> {
    let wrong = |why: &str| Refused::Statement(why.to_owned());
    let statement: Statement =
        serde_json::from_slice(payload).map_err(|error| Refused::Statement(error.to_string()))?;
    if statement.statement_type != STATEMENT_TYPE {
        return Err(wrong("it is no in-toto statement of version 1"));
    }
    if statement.predicate_type != PREDICATE_TYPE || statement.predicate.schema != SCHEMA {
        return Err(Refused::Statement(format!("its predicate is {:?}", statement.predicate_type)));
    }
    if canonical(&statement).ok().as_deref() != Some(payload) {
        return Err(wrong("it is not in its one spelling (RFC 8785)"));
    }
    let about: About = About::deserialize(&statement.predicate.record)
        .map_err(|error| Refused::Statement(format!("its record: {error}")))?;
    match &*statement.subject {
        [subject] if subject.digest.git_commit == about.head && subject.name == about.repository.name => {}
        _ => return Err(wrong("its subject is not the head commit of its record")),
    }
    Ok((statement, Box::new(about)))
}

/// When a statement says that it was signed.
pub(super) fn moment(statement: &Statement) -> Result<Timestamp, Refused> {
    let signed = &statement.predicate.signed;
    signed.parse().map_err(|error| Refused::Statement(format!("it was signed at {signed:?}: {error}")))
}

impl Expected {
    fn hold(&self, about: &About) -> Result<(), Refused> {
        let number = about.repository.id.map(|id| id.to_string());
        if let Some(wanted) = &self.repository
            && *wanted != about.repository.name
            && Some(wanted) != number.as_ref()
        {
            let found = about.repository.name.clone();
            return Err(Refused::Repository { wanted: wanted.clone(), found });
        }
        if let Some(wanted) = &self.head
            && *wanted != about.head
        {
            return Err(Refused::Head { wanted: wanted.clone(), found: about.head.clone() });
        }
        Ok(())
    }
}
