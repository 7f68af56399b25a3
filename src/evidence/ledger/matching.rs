//! Which freeze a failure falls under.

use jiff::civil::Date;

use super::{Freeze, FrozenFailure, Ledger, MessageDigest};

/// A failure that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    /// The test, or `property:ID`.
    pub nodeid: &'a str,
    /// The seed of the run.
    pub seed: Option<i64>,
    /// The exception's type.
    pub exc_type: &'a str,
    /// The message as it was reported.
    pub message: &'a str,
    /// The error code, where the failure has one.
    pub error_code: Option<&'a str>,
}

/// What a ledger says of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match<'a> {
    /// It is frozen.
    Live(&'a Freeze),
    /// It was, and the freeze has ended.
    Expired(&'a Freeze),
    /// It is not.
    None,
}

impl Ledger {
    /// The freeze that a failure falls under today. Every field must match, not only the signature that they make together. A live
    /// freeze wins over an expired one.
    pub fn matching(&self, failure: &Failure<'_>, today: Date) -> Match<'_> {
        let mut found = Match::None;
        for freeze in self.freezes.iter().filter(|freeze| freeze.nodeid == failure.nodeid) {
            if freeze.failure.as_ref().is_some_and(|frozen| is_same(frozen, failure)) {
                if freeze.is_live(today) {
                    return Match::Live(freeze);
                }
                found = Match::Expired(freeze);
            }
        }
        found
    }
}

fn is_same(frozen: &FrozenFailure, failure: &Failure<'_>) -> bool {
    frozen.seed == failure.seed
        && frozen.exc_type == failure.exc_type
        && frozen.error_code.as_deref() == failure.error_code
        && frozen.message_digest
            == MessageDigest::of(failure.message, frozen.normaliser, &frozen.keep, failure.error_code)
}
