//! One file per oracle, pure: facts -> findings.
//!
//! An oracle is one file with one `impl` of [`Oracle`] and one line in [`ORACLES`]; its rules name themselves, so that the
//! report, the schema and `docs/rules.md` follow from the same list. Deliberately absent: no I/O, no clock, no process. What an
//! oracle knows stands in [`Facts`].

mod added_test;
mod analysis;
mod attributes_edited;
pub mod authority;
mod bad_path;
mod build_edited;
mod comparison;
mod evidence_edited;
mod evidence_shadowed;
mod facts;
mod finding;
mod generated_file;
pub mod grammar;
mod hidden_tests;
mod json;
pub mod junit;
pub mod lane;
pub mod ledger;
mod links;
pub mod lock;
pub mod markers;
mod mode_or_type_change;
mod module_shadowing;
mod moves;
mod no_policy;
mod not_observed;
pub mod property;
mod property_uncovered;
mod rule;
mod runs;
mod sandbox_unavailable;
pub mod surface;
mod test_config_edited;
mod test_removed;
mod test_rewritten;
pub mod tests;
mod too_wide;
pub mod tree_tests;
mod unclassified_path;
mod unparsed_status;
mod wording;

pub use analysis::{Analysis, FileTests, FreshMarker, analyse, analysed_blobs, wants};
pub use facts::{Blobs, ClassedRow, Comparison, Facts, Merge, RulesFrom};
pub use finding::{Finding, Location};
pub use links::{paths_to_look_up, symlink_blobs};
pub use no_policy::NO_POLICY;
pub use not_observed::not_observed;
pub use rule::{Oracle, Rule};
pub use runs::{Runs, judge_runs};
pub use sandbox_unavailable::{asks_for_properties, asks_for_runs};

pub use crate::change::{Blob, Twin};

/// Every oracle, in the order of DESIGN section 4. The order changes nothing but the order of equal findings.
pub static ORACLES: &[&dyn Oracle] = &[
    &no_policy::NoPolicy,
    &comparison::ComparisonOracle,
    &unparsed_status::UnparsedStatus,
    &evidence_edited::EvidenceEdited,
    &evidence_shadowed::EvidenceShadowed,
    &bad_path::BadPathOracle,
    &too_wide::TooWide,
    &test_removed::TestRemoved,
    &test_rewritten::TestRewritten,
    &added_test::AddedTest,
    &hidden_tests::HiddenTests,
    &test_config_edited::TestConfigEdited,
    &build_edited::BuildEdited,
    &attributes_edited::AttributesEdited,
    &unclassified_path::UnclassifiedPath,
    &module_shadowing::ModuleShadowing,
    &mode_or_type_change::ModeOrTypeChange,
    &generated_file::GeneratedFile,
    &lock::LockOracle,
    &ledger::LedgerOracle,
    &surface::SurfaceOracle,
    &property_uncovered::PropertyUncovered,
    &sandbox_unavailable::SandboxUnavailable,
];

/// Every rule that some oracle or run can report, in the order of the oracles and then of the runs, of approvals and of the lane.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    ORACLES
        .iter()
        .flat_map(|oracle| oracle.rules().iter().copied())
        .chain(runs::rules())
        .chain(authority::RULES.iter().copied())
        .chain(lane::RULES.iter().copied())
}

/// The first step of judging: asks every oracle that needs no run. The second is [`judge_runs`].
pub fn judge(facts: &Facts<'_>) -> Vec<Finding> {
    ORACLES.iter().flat_map(|oracle| oracle.judge(facts)).collect()
}
