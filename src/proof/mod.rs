//! [`Record`](crate::score::Record) -> a signed envelope that anybody can check without us, and back.
//!
//! A record is put into an in-toto statement about the head commit, spelled in the one way of RFC 8785, and signed in a DSSE envelope.
//! Each statement names the digest of the one before it in its repository, so that none can be taken out unseen. The room stands right
//! after `score/`, because it signs what `score/` made and knows nothing of reports, queues or forges; everything that shows or
//! keeps a proof comes later.
//!
//! Deliberately absent: a second spelling. An envelope that means the same in other bytes is refused. And no clock: the moment of
//! signing comes in as an argument. Only [`Keys`] touches files.

mod canon;
mod chain;
mod envelope;
mod key;
mod keys;
mod keyset;
mod pem;
mod seal;
mod show;
mod statement;
mod verify;

pub use canon::canonical;
pub use chain::{Broken, Linked, Walk};
pub use envelope::{Envelope, PAYLOAD_TYPE, pae};
pub use key::{KeyId, NotAKey, PublicKey, SigningKey};
pub use keys::{KeyError, Keys};
pub use keyset::{Keyset, Life, NotAKeyset, PUBLIC_KEYS_PATH, Trusted};
pub use seal::{NotSigned, Place, Sealed, seal};
pub use show::{Shown, show};
pub use statement::{
    PREDICATE_TYPE, Previous, STATEMENT_TYPE, Statement, Subject, SubjectDigest, VerdictPredicate, statement_schema,
};
pub use verify::{Expected, Refused, Verified, verify};
