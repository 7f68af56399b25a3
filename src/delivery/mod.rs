//! Bytes -> [`Delivery`]: HTTP, size limit, signature. Nothing else sees a raw request.
//!
//! Deliberately absent: no body is parsed before its signature holds, no key or token of a forge is known here, and no
//! call leaves this room but the one that stores the delivery ([`Inbox`]) or the coverage map ([`UploadStore`]), and the one that has an
//! issuer's keys fetched ([`KeySource`]).

mod body;
mod content;
mod github;
mod inbox;
mod keys;
mod limits;
mod observe;
mod outcome;
mod refusal;
mod router;
mod secrets;
mod serve;
mod signature;
mod upload;
mod verified;

pub use inbox::{Inbox, InboxError, Stored};
pub use limits::Limits;
pub use refusal::{HeaderFault, Refusal, SignatureFault};
pub use router::{Receiver, router};
pub use secrets::{WeakSecret, WebhookSecrets};
pub use serve::{Stopped, serve, serve_within};
pub use upload::{
    Doorkeeper, Kept, KeySource, NotKept, Place, Upload, UploadLimits, UploadStore, Uploader, Uploads, WrongUploads,
    uploads,
};
pub use verified::Delivery;
