//! The keyed digest over the raw bytes of a body.

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use sha2::Sha256;

use super::refusal::SignatureFault;
use super::secrets::WebhookSecrets;

/// The one signature header that counts. GitHub's older `X-Hub-Signature` (SHA-1) is not read.
pub(super) const GITHUB_SIGNATURE: &str = "x-hub-signature-256";

/// The digest that a request claims for its body.
#[derive(Clone, Copy)]
pub(super) struct ClaimedDigest([u8; 32]);

impl ClaimedDigest {
    /// Reads the one `sha256=` header with 64 lower-case hexadecimal digits. GitHub writes them in lower case, and taking
    /// one spelling alone leaves a body exactly one signature.
    pub(super) fn of_github(headers: &HeaderMap) -> Result<Self, SignatureFault> {
        let mut values = headers.get_all(GITHUB_SIGNATURE).iter();
        let value = values.next().ok_or(SignatureFault::Missing)?;
        if values.next().is_some() {
            return Err(SignatureFault::Repeated);
        }
        let digits = value.as_bytes().strip_prefix(b"sha256=").ok_or(SignatureFault::Shape)?;
        if digits.iter().any(u8::is_ascii_uppercase) {
            return Err(SignatureFault::Shape);
        }
        let mut digest = [0; 32];
        hex::decode_to_slice(digits, &mut digest).map_err(|_| SignatureFault::Shape)?;
        Ok(Self(digest))
    }

    /// Which secret made this digest over exactly these bytes, counted from 0. Every secret is tried, in constant time each,
    /// so the time taken tells nothing about which one matched.
    pub(super) fn verify(self, body: &[u8], secrets: &WebhookSecrets) -> Result<usize, SignatureFault> {
        let mut matched = None;
        for (index, key) in secrets.keys().enumerate() {
            let holds = self.was_made_with(key, body);
            matched = if holds { Some(index) } else { matched };
        }
        matched.ok_or(SignatureFault::Mismatch)
    }

    fn was_made_with(self, key: &[u8], body: &[u8]) -> bool {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
        mac.update(body);
        mac.verify_slice(&self.0).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example on <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>. Its secret is a known default
    /// and therefore never gets into [`WebhookSecrets`], so the digest is tested below it.
    #[test]
    fn the_published_vector_of_github_holds() {
        let mut headers = HeaderMap::new();
        let published = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        headers.insert(GITHUB_SIGNATURE, published.parse().expect("a header value"));
        let digest = ClaimedDigest::of_github(&headers).expect("a digest");
        assert!(digest.was_made_with(b"It's a Secret to Everybody", b"Hello, World!"));
        assert!(!digest.was_made_with(b"It's a Secret to Everybody", b"Hello, World?"));
        assert!(!digest.was_made_with(b"It's a Secret to Nobody!!!", b"Hello, World!"));
    }
}
