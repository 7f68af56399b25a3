//! The Dead Simple Signing Envelope, <https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md>.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{KeyId, canonical};

/// What in-toto statements are called in an envelope, <https://github.com/in-toto/attestation/blob/main/spec/v1/envelope.md>.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// An envelope as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Envelope {
    /// What the payload is.
    pub payload_type: String,
    /// Its bytes in base64.
    pub payload: String,
    /// Who signed.
    pub signatures: Vec<Signature>,
}

/// One signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The key's name.
    pub keyid: KeyId,
    /// The signature's bytes in base64.
    pub sig: String,
}

impl Envelope {
    /// An envelope with one signature.
    pub(super) fn new(payload: &[u8], keyid: KeyId, signature: &[u8]) -> Self {
        Self {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: vec![Signature { keyid, sig: STANDARD.encode(signature) }],
        }
    }

    /// Its one spelling.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        canonical(self).expect("an envelope holds only strings")
    }
}

/// The bytes of base64 text, if that is how these bytes are written: `None` for another alphabet, missing padding or stray bits.
pub(super) fn strict(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok().filter(|bytes| STANDARD.encode(bytes) == text)
}

/// What is signed: type and payload, each with its length, so that neither can be taken for a part of the other.
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_what_the_protocol_says() {
        assert_eq!(
            pae("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
        assert_eq!(pae("", b""), b"DSSEv1 0  0 ");
        assert_eq!(pae("ä", "ö".as_bytes()), "DSSEv1 2 ä 2 ö".as_bytes());
    }
}
