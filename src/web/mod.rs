//! Stored records -> pages for people: server-rendered, without scripts, readable on a phone, in light and dark.
//!
//! Deliberately absent: no judgement, no writing to the store, no key of a forge. What is private is shown to whoever brings a pass
//! from a check run, or is signed in and may read the repository by the forge's own word; everybody else gets one and the same answer.
//! No text of a pull request is printed as it came: it goes through [`visible`](crate::score::visible), and never into markup.

mod access;
mod answer;
mod chart;
mod evaluation;
mod exhibit;
mod operators;
mod overview;
mod page;
mod pass;
mod repository;
mod router;
mod rules;
mod seal;
mod session;
mod sign_in;

pub use access::Entrance;
pub use exhibit::{Exhibit, FileView, FreezeView, FreezesView, LineView, RowView, SeenView, UnreadableExhibit};
pub use pass::{NewPass, NoRandomness, hash_of};
pub use router::{Site, router};
