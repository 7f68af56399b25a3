//! How much a receiver takes, and how long.

use std::time::Duration;

/// A mebibyte.
const MIB: usize = 1024 * 1024;

/// The bounds of a receiver. The defaults fit GitHub; a test makes them small.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest body, in bytes. GitHub sends nothing at all above 25 MB
    /// (<https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap>), so 25 MiB refuses no delivery of it.
    pub body: usize,
    /// A body up to this many bytes is read at once. Nearly all deliveries are shorter.
    pub small_body: usize,
    /// All longer bodies that are held at one moment, together, in bytes. Whoever finds no room waits for it within `answer_within`.
    pub long_bodies: usize,
    /// When a request is answered at the latest. GitHub gives up after 10 seconds
    /// (<https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks#respond-within-10-seconds>).
    pub answer_within: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 25 * MIB, small_body: MIB / 16, long_bodies: 256 * MIB, answer_within: Duration::from_secs(8) }
    }
}
