//! The index: made once of a map, so that scoring reads only what it says of the changed files.
//!
//! For each file it holds how many tests run each line, apart from that which test runs which set of lines, and the sets. A line is
//! live where more tests run it than frozen ones, so a look at a file costs what the file and the freezes are large, and not what the
//! suite is. Test ids are kept in order, in groups, so that a freeze is found by the first ids of the groups. Every
//! stretch that is read by itself has a sum, so that damage is an error and never an answer.

mod head;
mod look;
mod open;
mod shelf;
mod write;

pub use open::Index;
pub use shelf::Shelf;
