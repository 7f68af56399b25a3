//! A delivery whose signature holds.

use bytes::Bytes;
use jiff::Timestamp;

use crate::words::{DeliveryId, ForgeKind};

/// One webhook request whose signature was verified over its raw bytes. Only this room can make one.
#[derive(Clone)]
pub struct Delivery {
    pub(super) forge: ForgeKind,
    pub(super) id: DeliveryId,
    pub(super) event: String,
    pub(super) hook: String,
    pub(super) body: Bytes,
    pub(super) received: Timestamp,
    pub(super) matched_secret: usize,
}

impl Delivery {
    /// Which forge signed it.
    pub fn forge(&self) -> ForgeKind {
        self.forge
    }

    /// The forge's id of it; the same on redelivery.
    pub fn id(&self) -> &DeliveryId {
        &self.id
    }

    /// The event header. No signature covers it on GitHub, so `event/` holds it against the body (R13).
    pub fn event(&self) -> &str {
        &self.event
    }

    /// Which hook sent it: GitHub's hook id header, or the name in GitLab's address. Empty where the header is absent.
    pub fn hook(&self) -> &str {
        &self.hook
    }

    /// The raw bytes that were signed.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// When the receiver had it whole.
    pub fn received(&self) -> Timestamp {
        self.received
    }

    /// Which of the active secrets signed it, counted from 0: while a secret is changed, this tells when the old one is idle (R2).
    pub fn matched_secret(&self) -> usize {
        self.matched_secret
    }
}

impl std::fmt::Debug for Delivery {
    /// Never the body: it may hold private text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Delivery({} {} {}, {} bytes)", self.forge, self.event, self.id, self.body.len())
    }
}
