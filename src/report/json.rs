//! The record as text.

use std::fmt::Write;

use crate::score::{Record, visible};

/// The record, pretty-printed, and a newline. The same bytes for equal records, and [`safe`] to print.
pub fn json(record: &Record) -> String {
    safe(&serde_json::to_string_pretty(record).expect("a record holds only strings, numbers and lists of them"))
}

/// A JSON document and a newline. Characters that hide or reorder text, and the `#` of what a log could take for a command, are written
/// as JSON escapes, so that the text is safe to print and means the same.
pub fn safe(plain: &str) -> String {
    let mut safe = String::with_capacity(plain.len() + 1);
    for c in plain.chars() {
        match c {
            '[' if safe.ends_with("##") => {
                safe.pop();
                safe.push_str("\\u0023[");
            }
            '\n' | ' '..='~' => safe.push(c),
            c if visible(c.encode_utf8(&mut [0; 4])).starts_with('\\') => escape(&mut safe, c),
            c => safe.push(c),
        }
    }
    safe.push('\n');
    safe
}

fn escape(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        write!(out, "\\u{unit:04x}").expect("writing to a String cannot fail");
    }
}
