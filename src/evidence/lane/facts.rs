//! What the rules of the lane may know.

use std::collections::BTreeMap;

use super::Grant;
use crate::change::BytePath;
use crate::evidence::Finding;
use crate::evidence::ledger::{Bound, Freeze, Ledger, LedgerFault};
use crate::evidence::lock::{Lock, LockedTrees};
use crate::maps::Price;
use crate::policy::Policy;

/// A pull request that asks for the lane and changes evidence.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The label that asks.
    pub label: String,
    /// What it proposes; `None` when it changes something else as well.
    pub proposal: Option<Box<Proposal>>,
}

/// A change of evidence alone.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Why its author is no person; `None` for a person.
    pub agent: Option<String>,
    /// Who lets it in.
    pub grant: Grant,
    /// The policy in the merged tree.
    pub policy: ProposedPolicy,
    /// The fixture lock in the merged tree.
    pub lock: ProposedLock,
    /// The freeze ledger in the merged tree.
    pub ledger: ProposedLedger,
}

/// What becomes of the policy.
#[derive(Clone, Debug)]
pub enum ProposedPolicy {
    /// It stays.
    Untouched,
    /// It is taken away.
    Gone,
    /// It cannot be read: why.
    Unreadable(String),
    /// It has faults: line and what is wrong.
    Faulty(Vec<(u32, String)>),
    /// It becomes this.
    Read(Box<Policy>),
}

/// What becomes of the lock and of what it lists.
#[derive(Clone, Debug)]
pub enum ProposedLock {
    /// Nothing that it speaks about changes.
    Untouched,
    /// There is none, at this path: whether one is asked for.
    Absent {
        /// Where it would be.
        path: BytePath,
        /// Whether the policy requires one, or this change takes it away.
        missed: bool,
    },
    /// It cannot be read: at which line, where that is known, and why.
    Unreadable {
        /// Where it is.
        path: BytePath,
        /// From 1.
        line: Option<u32>,
        /// What is wrong with it.
        why: String,
    },
    /// It was read.
    Read {
        /// Where it is.
        path: BytePath,
        /// What it lists.
        lock: Lock,
        /// The merged tree in place of the base's, and the rows between the base's tip and it.
        trees: LockedTrees,
        /// The line of each path that it lists, where it is written line by line.
        lines: BTreeMap<BytePath, u32>,
    },
}

/// What becomes of the freeze ledger.
#[derive(Clone, Debug)]
pub enum ProposedLedger {
    /// It stays.
    Untouched,
    /// It is taken away, with these entries.
    Gone(Vec<Freeze>),
    /// It cannot be read as a whole: why.
    Unreadable {
        /// Where it is.
        path: BytePath,
        /// What is wrong with it.
        why: String,
    },
    /// It was read, entry by entry.
    Read {
        /// Where it is.
        path: BytePath,
        /// The entries of the base's ledger, where that can be read.
        before: Vec<Freeze>,
        /// The entries that can be read.
        after: Ledger,
        /// What is wrong with the others.
        faults: Vec<LedgerFault>,
        /// The line of each entry, by its key or number.
        lines: BTreeMap<String, u32>,
        /// What each `bound_sha` names.
        bound: BTreeMap<String, Bound>,
        /// Whether the base has the tests of the entries that are judged.
        tests: BTreeMap<String, EntryTest>,
        /// What the added and changed entries cost, where a coverage map is known.
        price: Option<Box<Price>>,
    },
}

/// Whether the test of an entry is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryTest {
    /// A coverage map or the policy knows it; or there is no map, and the base's file names it.
    Known,
    /// There is a coverage map, and it does not know it, although the base has the file that its id names.
    InNoMap,
    /// There is no coverage map, and its id names no file.
    Untold,
    /// Its id names a file that the base does not have, or a test that this file does not have.
    NotOnBase,
    /// It is the id of a property that the policy does not have.
    NoProperty,
}

impl Lane {
    /// Whether a finding about the base's evidence is silent here, because the change replaces that evidence and is judged by what it
    /// puts in its place.
    pub fn gives_way(&self, finding: &Finding) -> bool {
        let Some(proposal) = &self.proposal else { return false };
        match finding.rule.id {
            "evidence-edited" => true,
            "fixture-mismatch"
            | "fixture-not-locked"
            | "fixture-lock-missing"
            | "lock-stale-on-base"
            | "lock-unreadable" => !matches!(proposal.lock, ProposedLock::Untouched),
            "ledger-unreadable" | "freeze-unbound" | "freeze-incomplete" | "freeze-over-budget" => {
                !matches!(proposal.ledger, ProposedLedger::Untouched)
            }
            _ => false,
        }
    }
}
