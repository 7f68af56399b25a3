//! The policy file and its schema, and the built-in classes.
//!
//! Deliberately absent: no file is read here; a policy comes in as text with the name of where it came from, so that nothing of
//! a head can slip in as policy.

mod builtin;
mod class;
mod file;
mod lines;
mod parse;
mod pattern;
mod reference;
mod schema;
mod word;

pub use crate::words::Role;
pub use builtin::{ALWAYS, BuiltIn, Ecosystem, built_in};
pub use class::Class;
pub use file::{
    AddedTests, Authority, Classes, Commands, DeletionOnly, ExtraMarker, Fixtures, Freeze, Gate, Holds, Lane, Limits,
    MarkerKind, Markers, Oracles, Policy, Property, Proposal, Reach, Release, Require, RequireProperties, Scope,
    Snapshots, Strictness, Surface, Tests, TreeTests, Unobserved,
};
pub use lines::line_of;
pub use parse::{Fault, LARGEST, PolicyError, parse};
pub use pattern::{NamePattern, Pattern, PatternError};
pub use reference::reference;
pub use schema::schema;
pub use word::{CommandLine, Keep, PropertyId, RepoPath, Span};
