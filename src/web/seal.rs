//! What a browser keeps for us, so that only we can read or make it.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;

/// Seals with AES-256-GCM under a key made of the sign-in secret.
pub(super) struct Seal(LessSafeKey);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(***)")
    }
}

impl Seal {
    /// The same secret makes the same seal, in every process that shows pages.
    pub(super) fn new(secret: &SecretString) -> Self {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).expect("a key may have any length");
        mac.update(b"evidence-gate: what a browser keeps, 1");
        let key = UnboundKey::new(&AES_256_GCM, &mac.finalize().into_bytes()).expect("a sha256 is as long as a key");
        Self(LessSafeKey::new(key))
    }

    /// Seals a value for one purpose. `None`: the system has no random bytes.
    pub(super) fn close(&self, purpose: &str, value: &impl Serialize) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        aws_lc_rs::rand::fill(&mut nonce).ok()?;
        let mut bytes = serde_json::to_vec(value).ok()?;
        let aad = Aad::from(purpose.as_bytes());
        self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut bytes).ok()?;
        Some(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &bytes].concat()))
    }

    /// What was sealed for this purpose. `None` for everything else.
    pub(super) fn open<T: DeserializeOwned>(&self, purpose: &str, sealed: &str) -> Option<T> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, rest) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut rest = rest.to_vec();
        let plain = self.0.open_in_place(nonce, Aad::from(purpose.as_bytes()), &mut rest).ok()?;
        serde_json::from_slice(plain).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(secret: &str) -> Seal {
        Seal::new(&SecretString::from(secret.to_owned()))
    }

    #[test]
    fn only_the_same_secret_and_purpose_open_what_was_sealed() {
        let sealed = seal("one").close("session", &7).expect("random bytes");
        assert_eq!(seal("one").open::<u32>("session", &sealed), Some(7));
        assert_eq!(seal("one").open::<u32>("flow", &sealed), None);
        assert_eq!(seal("other").open::<u32>("session", &sealed), None);
    }

    #[test]
    fn a_changed_byte_opens_nothing() {
        let sealed = seal("one").close("session", &"ada").expect("random bytes");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert!(seal("one").open::<String>("session", &changed).is_none_or(|_| changed == sealed), "{at}");
        }
        for text in ["", "x", "AAAAAAAAAAAAAAAA"] {
            assert_eq!(seal("one").open::<String>("session", text), None);
        }
    }
}
