//! Maps from what tools write. One file per format; [`convert`] tells formats apart by their first bytes, never by a file's name.
//!
//! Deliberately absent: guesses. Output that does not say which test ran which line is refused by name, with what to run instead.

mod coarse;
mod contexts;
mod coverage_json;
mod coverage_sqlite;
mod go;
mod istanbul;
mod lcov;
mod per_test;
mod phpunit;
mod run;
mod sniff;
mod stryker;
mod tarpaulin;
mod testwise;

pub use run::{Asked, Converted, convert};
