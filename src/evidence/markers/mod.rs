//! What hides a failing test: markers, and code of the product that knows of tests.
//!
//! [`scan`] lists what one side of a file holds, with the test that each marker hides; [`balance`] says which of the head's are new.
//! Deliberately absent: no diff is read, and no verdict is given here.

mod balance;
pub mod config;
mod context;
mod lang;
mod marker;
mod text;

pub use balance::{Known, balance};
pub use context::{Scanned, scan};
pub use marker::{Condition, Marker, MarkerKind, Role};
