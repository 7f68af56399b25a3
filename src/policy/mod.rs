//! The policy file and its schema, and the built-in classes.
//!
//! Deliberately absent: no file is read here; a policy comes in as text with the name of where it came from, so that nothing of
//! a head can slip in as policy.

mod class;
mod file;

pub use class::Class;
pub use file::Policy;
