//! What the rules about properties may know.

use super::Outcome;
use crate::policy::PropertyId;

/// What came of one property.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyFacts {
    /// Its id in the policy.
    pub id: PropertyId,
    /// The seed that it was asked to draw from.
    pub seed: i64,
    /// What the merged tree did.
    pub merged: Outcome,
    /// What the base did with the same seed; `None` when it was not run, since the merged tree did not fail or its failure is frozen.
    pub base: Option<Outcome>,
    /// The answer of sample mode; `None` when the oracles hold no sample of it.
    pub sample: Option<Sample>,
    /// The answer of known-bad mode; `None` when the oracles hold no known-bad inputs of it.
    pub known_bad: Option<KnownBad>,
    /// That an earlier run with the same inputs ended in another way.
    pub flaky: Option<Flaky>,
}

/// Two runs with the same inputs that did not end alike. The worse one stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaky {
    /// How one of them ended, in a few words.
    pub stands: String,
    /// How the other one ended.
    pub other: String,
}

/// The answer of sample mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    /// What was recomputed is what the oracles hold.
    Same,
    /// It is not: the first difference, in one phrase.
    Stale(String),
    /// It could not be recomputed: why.
    Incomplete(String),
}

/// The answer of known-bad mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownBad {
    /// Every one of so many inputs was rejected.
    Rejected(usize),
    /// Inputs that it accepted, by their number from 1.
    Accepted(Vec<usize>),
    /// They were not judged to an end: why.
    Incomplete(String),
}

/// What a freeze ledger calls a property.
pub fn node_id(id: &PropertyId) -> String {
    format!("property:{id}")
}
