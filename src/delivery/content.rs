//! What makes two deliveries the same but for their id.

use sha2::{Digest as _, Sha256};

use super::Delivery;

impl Delivery {
    /// The sha256 of forge, hook, event and body (R8). The same under every delivery id; each part is preceded by its length, so
    /// that no two lists of parts run together to the same bytes.
    pub fn content(&self) -> [u8; 32] {
        let parts = [self.forge.as_str().as_bytes(), self.hook.as_bytes(), self.event.as_bytes(), &self.body];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}
