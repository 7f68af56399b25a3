//! What a ledger says once it is read.

use jiff::civil::Date;

use super::{MessageDigest, Normaliser, Signature};
use crate::policy::Keep;

/// A freeze ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Which of the shapes it has.
    pub shape: Shape,
    /// Its entries in the order of the file.
    pub freezes: Vec<Freeze>,
}

/// The shapes of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{"schema": 2, "freezes": {...}}`
    Second,
    /// `{"schema": 1, "frozen": [...]}`: node ids without a signature.
    First,
    /// `{"freezes": {...}}` without a schema: signatures, bound to no commit.
    Signatures,
    /// `{"source": ..., "nodeids": [...]}`: node ids, bound to no commit.
    NodeIds,
}

/// One entry. What an entry need not have by its shape, or lacks, is `None`: whether it may lack it is for the rules to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// The test, or `property:ID`.
    pub nodeid: String,
    /// Which failure of it; `None` in shapes without signatures: it takes the test out of the surface and excuses no failure.
    pub failure: Option<FrozenFailure>,
    /// Written by a person; never empty.
    pub reason: Option<String>,
    /// The digest of a record, or the address of a run, in which the failure was seen; never empty.
    pub citation: Option<String>,
    /// The first day on which the failure was seen.
    pub first_seen: Option<Date>,
    /// The last day of the freeze.
    pub expires_on: Option<Date>,
    /// The commit of the base branch at which the freeze was accepted: 40 or 64 digits, or the first ones of them.
    pub bound_sha: Option<String>,
}

/// Which failure of a test is frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrozenFailure {
    /// The key of the entry; it fits the fields.
    pub signature: Signature,
    /// The seed of the run.
    pub seed: Option<i64>,
    /// The exception's type.
    pub exc_type: String,
    /// The digest of the normalised message and the error code.
    pub message_digest: MessageDigest,
    /// The error code that is part of the digest.
    pub error_code: Option<String>,
    /// How the message was normalised.
    pub normaliser: Normaliser,
    /// What normalising left alone.
    pub keep: Vec<Keep>,
}

impl Freeze {
    /// Whether it still freezes: the last day is part of it. Without a last day it never ends.
    pub fn is_live(&self, today: Date) -> bool {
        self.expires_on.is_none_or(|last| today <= last)
    }
}

impl Ledger {
    /// Entries that still freeze.
    pub fn live(&self, today: Date) -> impl Iterator<Item = &Freeze> {
        self.freezes.iter().filter(move |freeze| freeze.is_live(today))
    }

    /// Whether the shape asks for more than a reason: signatures, dates and a citation.
    pub fn is_dated(&self) -> bool {
        matches!(self.shape, Shape::Second | Shape::Signatures)
    }
}
