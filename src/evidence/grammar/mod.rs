//! Bytes of one file -> its syntax, or why there is none.
//!
//! One parse a side, bounded by size, by steps and by depth, all counted and none timed, so that equal bytes always give equal
//! answers. Deliberately absent: nothing here knows what a test or a marker is, and no tree of the parser's own leaves this room.

mod canon;
mod language;
mod parse;
mod syntax;

pub use canon::Canon;
pub use language::Language;
pub use parse::{Outcome, Unparsable, parse, parse_as};
pub use syntax::{Node, Syntax};
