//! Record -> check run, text, Markdown, JSON, HTML: rendering is pure, [`conclusion`] is one exhaustive match, [`post()`] speaks to the forge.
//!
//! Deliberately absent: no judgement, no clock, and no text of a pull request that is printed as it came: names go through
//! [`visible`](crate::score::visible), and in Markdown into code spans.

#![warn(clippy::wildcard_enum_match_arm)]

mod annotate;
mod budget;
mod conclusion;
mod html;
mod json;
mod markdown;
mod notice;
mod post;
mod render;
mod reply;
mod shared;
mod surface;
mod text;

pub use annotate::{MOST_ANNOTATIONS, annotations, buttons};
pub use conclusion::{conclusion, word};
pub use html::html;
pub use json::json;
pub use notice::{revoked, superseded};
pub use post::{PostError, Posting, Target, post, read_back};
pub use render::{MOST_BYTES, RULES_PAGE, fallback, markdown, output, waiting};
pub use reply::{MARKER, Reply, lacks, reply, said};
pub use surface::{Lines, overlap, unobserved};
pub use text::{Colour, text};
