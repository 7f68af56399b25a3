//! The freeze ledger: known flaky failures that may be ignored until a date (DESIGN 4.3).
//!
//! [`parse`] reads it strictly, [`Signature`] says when two failures are the same, [`Ledger::matching`] which freeze a failure falls
//! under. Deliberately absent: a clock and a history. Today's date, and which commits the base stands on, come in as facts.

mod facts;
mod frozen;
mod general;
mod judge;
mod matching;
mod normalise;
mod parse;
mod signature;

pub use facts::{Bound, LedgerFacts};
pub use frozen::{Freeze, FrozenFailure, Ledger, Shape};
pub use general::too_general;
pub(super) use judge::LedgerOracle;
pub use judge::{entry_faults, sound};
pub use matching::{Failure, Match};
pub use normalise::Normaliser;
pub use parse::{LARGEST_LEDGER, LedgerError, LedgerFault, parse, parse_entries};
pub use signature::{MessageDigest, NotADigest, Signature};

/// The fewest digits by which a ledger may name a commit.
pub const SHORTEST_SHA: usize = 8;
