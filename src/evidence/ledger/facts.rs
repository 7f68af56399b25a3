//! What the ledger's oracle may know.

use std::collections::BTreeMap;

use super::Ledger;
use crate::words::ObjectId;

/// The freeze ledger of the base's tip, or the operator's.
#[derive(Clone, Debug, Default)]
pub enum LedgerFacts {
    /// Neither the base's tip nor the operator has one.
    #[default]
    Absent,
    /// There is one, and it cannot be read: where, and why in one line.
    Unreadable {
        /// Where it is.
        origin: String,
        /// What is wrong with it.
        why: String,
    },
    /// It was read.
    Read {
        /// Where it is.
        origin: String,
        /// What it says.
        ledger: Ledger,
        /// What each `bound_sha` names among the commits that the base's tip stands on.
        bound: BTreeMap<String, Bound>,
    },
}

/// What a `bound_sha` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// This commit, and the base's tip stands on it.
    Ancestor(ObjectId),
    /// No commit that the base's tip stands on.
    Nothing,
    /// Several of them.
    Several(usize),
    /// Nothing that is here, and the history is cut off.
    CutOff,
}
