//! One file per oracle, pure: facts -> findings.
//!
//! An oracle is one file with one `impl` of [`Oracle`] and one line in [`ORACLES`]; its rules name themselves, so that the
//! report, the schema and `docs/rules.md` follow from the same list. Deliberately absent: no I/O, no clock, no process. What an
//! oracle knows stands in [`Facts`].

mod facts;
mod finding;
pub mod grammar;
pub mod markers;
pub mod tests;
mod rule;

pub use facts::{Blob, Blobs, ClassedRow, Facts};
pub use finding::{Finding, Location};
pub use rule::{Oracle, Rule};

/// Every oracle, in the order of DESIGN section 4. The order changes nothing but the order of equal findings.
pub static ORACLES: &[&dyn Oracle] = &[];

/// Every rule that some oracle can report, in the order of the oracles.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    ORACLES.iter().flat_map(|oracle| oracle.rules().iter().copied())
}

/// Asks every oracle.
pub fn judge(facts: &Facts<'_>) -> Vec<Finding> {
    ORACLES.iter().flat_map(|oracle| oracle.judge(facts)).collect()
}
