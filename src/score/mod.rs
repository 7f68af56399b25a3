//! Findings -> verdict -> [`Record`]. Pure.
//!
//! Deliberately absent: no way to a success but through [`Record::passed`], which looks at a complete record (R27).

mod record;

pub use record::{
    Acknowledged, Citation, Digests, FindingRow, Lane, LocationRow, OverlapRow, Product, PropertyRow, Record,
    RecordRow, RepositoryRow, Run, Tests, UnobservedRow,
};
