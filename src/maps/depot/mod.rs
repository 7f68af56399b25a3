//! Where uploaded maps lie, from the receiver's hands into the worker's.
//!
//! The receiver writes below `uploads/`: the bytes of each pending map as they came, and its receipt. The worker writes below `maps/`: for
//! each commit what became of its maps, the bytes of those that count (they are united with shards that come later), and the indexes.
//! Each file is written whole or not at all, and the order of writing is such that a crash between two of them is repaired by doing the
//! same again. Deliberately absent: any question to a forge, and any opinion on which commit may have a map.

mod files;
mod keep;
mod list;
mod receipt;
mod sweep;
mod take_up;

pub use files::Depot;
pub use keep::Room;
pub use list::{Known, Listed};
pub use receipt::{Fate, OfCommit, Receipt};
pub use sweep::{Retention, Swept};
pub use take_up::TakenUp;
