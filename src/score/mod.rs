//! Findings -> verdict -> [`Record`]. Pure.
//!
//! Deliberately absent: no way to a success but through [`Record::passed`], which looks at a complete record (R27); no clock, so
//! that equal inputs make equal records but for [`Run`].

#![warn(clippy::wildcard_enum_match_arm)]

mod build;
mod failure;
mod passed;
mod record;
mod schema;
mod title;
mod visible;

pub use build::{Judged, Scope, Subject, decide};
pub use failure::{COULD_NOT_JUDGE, FAILURES, GROUP_MEMBER, RECORD_INCOMPLETE, all_rules};
pub use passed::Passed;
pub use record::{
    Acknowledged, Citation, Digests, FindingRow, FreezePrice, FreezeRow, Lane, LaneSurface, LocationRow, OverlapRow,
    Product, PropertyRow, Record, RecordRow, RepositoryRow, Run, Tests, UnobservedRow,
};
pub use schema::record_schema;
pub use visible::{elided, visible};
