//! Path change -> class. Total: every path gets exactly one class.
//!
//! Names decide here, contents never. Deliberately absent: no reading of files, no order of rows, no memory of what was asked before.

mod bad_path;
mod classifier;
mod matcher;
mod paths;

pub use bad_path::{BadPath, bad_path};
pub use classifier::{Classified, Classifier, Origin, PatternRef};
pub use paths::PathSet;
