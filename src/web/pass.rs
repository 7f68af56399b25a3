//! The secret part of a link in a check run.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::queue::PassHash;

/// Bytes of a pass: nobody guesses one of 2^256.
const BYTES: usize = 32;

/// A pass that was just made. The store gets its hash, the forge its link, and nobody keeps it.
#[derive(Debug)]
pub struct NewPass(SecretString);

/// The system had no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the system has no random bytes for a link")]
pub struct NoRandomness;

impl NewPass {
    /// A new one, of the system's random bytes.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut bytes = [0; BYTES];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| NoRandomness)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes).into()))
    }

    /// What the store keeps of it.
    pub fn hash(&self) -> PassHash {
        Sha256::digest(self.0.expose_secret()).into()
    }

    /// The address of the page that it opens, below the `origin` of the pages.
    pub fn link(&self, origin: &Url) -> String {
        format!("{}e/{}", origin.as_str(), self.0.expose_secret())
    }
}

/// What a text from an address hashes to; `None` for what no pass looks like.
pub fn hash_of(text: &str) -> Option<PassHash> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    (bytes.len() == BYTES).then(|| Sha256::digest(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_what_its_pass_was_kept_as() {
        let pass = NewPass::random().expect("random bytes");
        let link = pass.link(&Url::parse("https://gate.example.org").expect("an address"));
        let text = link.strip_prefix("https://gate.example.org/e/").expect("the origin comes first");
        assert_eq!(hash_of(text), Some(pass.hash()));
        assert!(!format!("{pass:?}").contains(text));
    }

    #[test]
    fn no_two_passes_are_the_same_and_nothing_else_looks_like_one() {
        let [one, other] = [(); 2].map(|()| NewPass::random().expect("random bytes").hash());
        assert_ne!(one, other);
        for text in ["", "x", "../etc", &"a".repeat(42), &"a".repeat(44), &format!("{}=", "A".repeat(43))] {
            assert_eq!(hash_of(text), None, "{text}");
        }
    }
}
