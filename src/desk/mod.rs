//! What a person runs on the command line.

pub mod policy;
