//! Record -> check run, text, Markdown, JSON, HTML, SARIF, JUnit and what CI reads: rendering is pure, [`conclusion`] is one exhaustive match, [`post()`] speaks to the forge.
//!
//! Deliberately absent: no judgement, no clock, and no text of a pull request that is printed as it came: names go through
//! [`visible`](crate::score::visible), and in Markdown into code spans.

#![warn(clippy::wildcard_enum_match_arm)]

mod annotate;
mod budget;
mod conclusion;
mod freezes;
mod github;
mod gitlab;
mod html;
mod json;
mod junit;
mod markdown;
mod notice;
mod places;
mod post;
mod render;
mod reply;
mod sarif;
mod shared;
mod surface;
mod text;

pub use annotate::{MOST_ANNOTATIONS, annotations, buttons};
pub use conclusion::{conclusion, word};
pub use github::github;
pub use gitlab::gitlab_codequality;
pub use html::html;
pub use json::{json, safe};
pub use junit::junit;
pub use markdown::{cell as code_cell, code as code_span};
pub use notice::{revoked, superseded};
pub use post::{PostError, Posting, Target, post, read_back};
pub use render::{MOST_BYTES, RULES_PAGE, fallback, markdown, output, waiting};
pub use reply::{MARKER, Reply, lacks, reply, said};
pub use sarif::sarif;
pub use surface::{Lines, overlap, unobserved};
pub use text::{Colour, text};
