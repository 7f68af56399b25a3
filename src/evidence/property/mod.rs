//! Properties: seeded checks kept on the evidence path (DESIGN 4.7).
//!
//! [`trials`] reads what a run left behind, the rules say what the merged tree's outcome means beside the base's.
//! Deliberately absent: trust in an exit code of 0. Only a whole trial log says that a property held.

mod facts;
mod judge;
mod log;
mod outcome;
mod table;

pub use facts::{Flaky, KnownBad, PropertyFacts, Sample, node_id};
pub(super) use judge::{FLAKY_OUTCOME, FREEZE_EXPIRED, RULES, environment_missing, judge, misses_environment, told};
pub use judge::{frozen, matching};
pub use log::{Asked, LogFault, TrialLog};
pub use outcome::{Failed, Outcome, known_bad, sample, trials};
pub use table::{Beside, Meaning, meaning};
