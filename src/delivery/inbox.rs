//! What a receiver needs of the store behind it. `queue/` keeps the promise.

use async_trait::async_trait;

use super::Delivery;

/// Keeps verified deliveries. The receiver answers 2xx only after [`Inbox::store`] came back with [`Ok`].
#[async_trait]
pub trait Inbox: Send + Sync + 'static {
    /// Stores the delivery and the job it asks for in one transaction; durable when it returns (R7).
    async fn store(&self, delivery: Delivery) -> Result<Stored, InboxError>;

    /// Whether a delivery could be stored now; asked by `/readyz`.
    async fn ready(&self) -> Result<(), InboxError>;
}

/// What became of a delivery that was kept. All of these answer 2xx.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A job stands in the queue because of it.
    Queued,
    /// It asks for what a queued job will do anyway.
    Coalesced,
    /// Nothing of ours; the reason is in the words of `event/`.
    Ignored(String),
    /// This delivery id was stored before, with this body.
    Duplicate,
}

/// Why a verified delivery was not kept.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// The event header and the body disagree, or the body is no JSON of the promised shape (R13): 400.
    #[error("the body is not what the event header says")]
    Malformed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// This delivery id was stored before with another body (R9): 409 and an alarm.
    #[error("delivery id seen before with another body")]
    OtherBody,
    /// The store failed; nothing was kept: 503, and the forge's delivery log still has it.
    #[error("the store did not take the delivery")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
