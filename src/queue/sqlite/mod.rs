//! The queue in one SQLite file, shared by the receiver's process and the workers'.
//!
//! Writing goes through one connection per process, because SQLite has one writer at a time; deliveries reach it in groups
//! (`group.rs`). Nothing is decided in SQL that another database would have to decide again: see `coalesce.rs` and `backoff.rs`.

mod batch;
mod body;
mod checkpoint;
mod claim;
mod envelopes;
mod errands;
mod evaluations;
mod forget;
mod group;
mod letters;
mod life;
mod many;
mod open;
mod pages;
mod probe;
mod rows;
mod seen;
mod settle;
mod store;
mod watch;
mod work;
mod write;

pub use open::{OpenError, SqliteOptions};
pub use pages::SqlitePages;
pub use rows::StoredDelivery;
pub use store::SqliteQueue;
