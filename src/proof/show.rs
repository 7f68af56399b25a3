//! What a page says about an envelope that the bot itself keeps.

use jiff::Timestamp;

use super::envelope::strict;
use super::verify::{moment, open, read};
use super::{KeyId, Refused};
use crate::change::Sha256;

/// The marks of a signature, for people. Nothing here was verified: that is for whoever reads the page to do, with [`super::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Whose signature it claims to be.
    pub key: KeyId,
    /// When it was signed.
    pub signed: Timestamp,
    /// Its number in the repository.
    pub number: u64,
    /// Its digest.
    pub digest: String,
    /// The digest of the record before it.
    pub previous: Option<String>,
}

/// Reads them from an envelope.
pub fn show(envelope: &[u8]) -> Result<Shown, Refused> {
    let envelope = open(envelope)?;
    let [signature] = &*envelope.signatures else { return Err(Refused::Signatures(envelope.signatures.len())) };
    let payload = strict(&envelope.payload).ok_or(Refused::Base64("payload"))?;
    let (statement, _) = read(&payload)?;
    Ok(Shown {
        key: signature.keyid.clone(),
        signed: moment(&statement)?,
        number: statement.predicate.number,
        digest: Sha256::of(&payload).to_string(),
        previous: statement.predicate.previous.map(|previous| previous.sha256),
    })
}
