//! The human lane for evidence (DESIGN 4.6): a pull request that changes evidence and nothing else, let in by authority.
//!
//! A label asks for the lane and grants nothing. While it is asked for, [`Lane::gives_way`] silences what the base's evidence says of its
//! own replacement, and [`judge`] says whether the new evidence is sound. [`conclude`] speaks last: only what is sound waits for an
//! approval, and only with one it is let in. Deliberately absent: the running of properties, which comes in as facts.

mod change;
mod facts;
mod grant;
mod judge;
mod ledger;
mod places;

pub use change::{Changed, FreezeChange, changes};
pub use facts::{EntryTest, Lane, Proposal, ProposedLedger, ProposedLock, ProposedPolicy};
pub use grant::{Grant, Labelled, grant};
pub use judge::{conclude, is_open, judge, judge_properties};
pub use ledger::entries_to_judge;
pub use places::{entry_lines, line_of};

pub(super) use judge::RULES;
