//! Which test of the base branch runs which line: coverage formats, the index that is made of them once, and what is asked of it.
//!
//! [`read_map`] reads a map as a stream and refuses what it cannot trust, [`Index`] answers for the files of one change, and [`Home`] is
//! all that another place for indexes has to offer. [`Depot`] is where uploaded maps wait for a worker and become indexes. Deliberately absent: judgement. What a [`Surface`] means is said in `evidence/`.

mod convert;
mod depot;
mod error;
mod home;
mod index;
mod inspect;
mod json;
mod limits;
mod lines;
mod map;
mod nodeid;
mod once;
mod paths;
mod price;
mod sink;
mod surface;
mod unpack;
mod write;

pub use convert::{Asked, Converted, convert};
pub use depot::{Depot, Fate, Known, Listed, OfCommit, Receipt, Retention, Room, Swept, TakenUp};
pub use error::MapError;
pub use home::Home;
pub use index::{Index, Shelf};
pub use inspect::{Inspection, Numbers, inspect};
pub use json::{read_import_lines, read_map, read_map_file};
pub use limits::Limits;
pub use lines::ranges as line_ranges;
pub use map::{About, Grain, Map};
pub use nodeid::takes_out;

pub use crate::policy::Reach;
pub use once::frozen_only;
pub use price::{Cost, Price, price};
pub use surface::{FileSurface, Surface};
