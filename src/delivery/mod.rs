//! Bytes -> [`Delivery`]: HTTP, size limit, signature. Nothing else sees a raw request.
//!
//! Deliberately absent: no body is parsed before its signature holds, no key or token of a forge is known here, and no
//! call leaves this room but the one that stores the delivery ([`Inbox`]).

mod content;
mod github;
mod inbox;
mod refusal;
mod secrets;
mod signature;
mod verified;

pub use inbox::{Inbox, InboxError, Stored};
pub use refusal::{HeaderFault, Refusal, SignatureFault};
pub use secrets::{WeakSecret, WebhookSecrets};
pub use verified::Delivery;
