//! A coverage map that the base branch's own CI brings: who brings it, and its bytes as they come.
//!
//! [`uploads`] is the address, [`Doorkeeper`] decides who may bring a map for which commit, and [`UploadStore`] is where the bytes go.
//! Deliberately absent: judgement. Nothing here reads a map, asks a forge about a commit, or knows which branch is the default one;
//! all of that is the worker's, and until it has looked a map is pending.

mod body;
mod claims;
mod doorkeeper;
mod keys;
mod outcome;
mod route;
mod store;

pub use doorkeeper::{Doorkeeper, WrongUploads};
pub use keys::KeySource;
pub use route::{UploadLimits, Uploads, uploads};
pub use store::{Kept, NotKept, Place, Upload, UploadStore, Uploader};
