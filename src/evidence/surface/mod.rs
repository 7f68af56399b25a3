//! Subtraction of what only frozen tests observe (DESIGN 4.5): changed lines of the product, a coverage map and the freezes -> the lines
//! that lost their observer.
//!
//! Lines are counted on the merge base's side. Deliberately absent: the text of a diff, and any map format. What a map says comes in as a
//! [`Surface`](crate::maps::Surface).

mod carry;
mod code;
mod diff;
mod facts;
mod files;
mod judge;
mod lift;
mod picture;
mod subtract;

pub use carry::carried;
pub use diff::{Hunk, hunks};
pub use facts::{CodeChange, MapFacts, ReadMap, SurfaceFacts, frozen_tests};
pub use files::{FileLines, any_judged, files, old_paths, surface_blobs};
pub use judge::COVERAGE_MAP_MISSING;
pub(super) use judge::SurfaceOracle;
pub use picture::{FilePicture, Observed, Picture, PictureLine, PictureRow, picture};
pub use subtract::{ChangedLine, FileSubtraction, OverlapLine, Subtraction, subtract};
