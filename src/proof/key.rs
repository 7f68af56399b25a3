//! Ed25519 keys and their names.

use std::fmt;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use super::pem;
use crate::change::Sha256;

/// What stands before the 32 bytes of an Ed25519 public key in its DER form, <https://www.rfc-editor.org/rfc/rfc8410#section-4>.
const SPKI_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

const PUBLIC: &str = "PUBLIC KEY";
const PRIVATE: &str = "PRIVATE KEY";

/// The name of a key: sha256 of its public half in DER, in hexadecimal, so that anybody can compute it from the key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct KeyId(pub String);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    /// Not the public half of an Ed25519 key.
    #[error("it is no Ed25519 public key in PEM (`-----BEGIN PUBLIC KEY-----`)")]
    Public,
    /// Not the private half of one.
    #[error("it is no Ed25519 private key in PEM (`-----BEGIN PRIVATE KEY-----`)")]
    Private,
}

/// The half that checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Reads PEM.
    pub fn from_pem(text: &str) -> Result<Self, NotAKey> {
        let der = pem::decode(PUBLIC, text).ok_or(NotAKey::Public)?;
        let key = der.strip_prefix(&SPKI_HEAD).and_then(|key| key.try_into().ok());
        key.map(Self).ok_or(NotAKey::Public)
    }

    /// As `openssl pkey -pubin` reads it.
    pub fn to_pem(self) -> String {
        pem::encode(PUBLIC, &self.to_der())
    }

    fn to_der(self) -> Vec<u8> {
        [&SPKI_HEAD[..], &self.0].concat()
    }

    /// Its name.
    pub fn id(self) -> KeyId {
        KeyId(Sha256::of(&self.to_der()).to_string())
    }

    /// Whether the other half signed exactly this.
    pub fn holds(self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }
}

/// The half that signs. It does not print.
pub struct SigningKey(Ed25519KeyPair);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(***, {})", self.public().id())
    }
}

impl SigningKey {
    /// A new one. `None`: the machine gives no random numbers.
    pub fn generate() -> Option<Self> {
        Ed25519KeyPair::generate().ok().map(Self)
    }

    /// Reads PEM.
    pub fn from_pem(text: &str) -> Result<Self, NotAKey> {
        let der = pem::decode(PRIVATE, text).ok_or(NotAKey::Private)?;
        Ed25519KeyPair::from_pkcs8(&der).map(Self).map_err(|_| NotAKey::Private)
    }

    /// As `openssl pkey` reads it. `None`: the key cannot be written down.
    pub(super) fn to_pem(&self) -> Option<String> {
        self.0.to_pkcs8v1().ok().map(|document| pem::encode(PRIVATE, document.as_ref()))
    }

    /// The other half.
    pub fn public(&self) -> PublicKey {
        let bytes = self.0.public_key().as_ref();
        PublicKey(bytes.try_into().expect("an Ed25519 public key has 32 bytes"))
    }

    /// 64 bytes; the same for the same message.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).as_ref().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_written_as_text_is_the_same_key_when_read() {
        let key = SigningKey::generate().unwrap();
        let again = SigningKey::from_pem(&key.to_pem().unwrap()).unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(PublicKey::from_pem(&key.public().to_pem()).unwrap(), key.public());
        assert_eq!(key.public().id().0.len(), 64);
    }

    #[test]
    fn the_private_half_does_not_print() {
        let key = SigningKey::generate().unwrap();
        assert_eq!(format!("{key:?}"), format!("SigningKey(***, {})", key.public().id()));
    }

    #[test]
    fn other_texts_are_no_keys() {
        let key = SigningKey::generate().unwrap();
        let (public, private) = (key.public().to_pem(), key.to_pem().unwrap());
        for text in ["", "x", &private, &format!("{public}{public}"), &public.replace('M', "N")] {
            assert_eq!(PublicKey::from_pem(text), Err(NotAKey::Public), "{text}");
        }
        assert_eq!(SigningKey::from_pem(&public).unwrap_err(), NotAKey::Private);
    }
}
