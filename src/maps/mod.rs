//! Which test of the base branch runs which line: coverage formats, the index that is made of them once, and what is asked of it.

mod surface;

pub use surface::{FileSurface, Surface};
