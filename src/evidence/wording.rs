//! How findings name files: plain, short and on one line, whatever a file is called.

use std::fmt::Write as _;

use super::{ClassedRow, Finding, Location, Rule};
use crate::change::BytePath;
pub(super) use crate::words::count;

/// How many files a sentence names before it says how many more there are.
const NAMED: usize = 3;

/// How much of one path a sentence shows, in characters.
const SHOWN: usize = 120;

/// A path on one line: what is no printable text is written `\xNN`, and what is too long is cut in the middle.
pub(super) fn name(path: &BytePath) -> String {
    text(&path.to_string())
}

/// A text from a file of the change on one line, as [`name`] shows paths.
pub(super) fn text(text: &str) -> String {
    let mut shown = String::new();
    for sign in text.chars() {
        if sign.is_control()
            || matches!(sign, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            let mut bytes = [0; 4];
            for byte in sign.encode_utf8(&mut bytes).bytes() {
                write!(shown, "\\x{byte:02x}").expect("writing to a string works");
            }
        } else {
            shown.push(sign);
        }
    }
    let length = shown.chars().count();
    if length <= SHOWN {
        return shown;
    }
    let start: String = shown.chars().take(SHOWN / 2).collect();
    let end: String = shown.chars().skip(length - SHOWN / 2).collect();
    format!("{start}…{end}")
}

/// `a, b, c and 4 more`.
pub(super) fn list(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The sorted names of some rows, for a sentence.
pub(super) fn names(rows: &[&ClassedRow<'_>]) -> String {
    let mut paths: Vec<&BytePath> = rows.iter().map(|row| row.row.path()).collect();
    paths.sort();
    paths.dedup();
    list(paths.into_iter().map(name).collect())
}

/// Every place that some rows touch.
pub(super) fn places<'a>(rows: &'a [&'a ClassedRow<'a>]) -> impl Iterator<Item = Location> + 'a {
    rows.iter().flat_map(|row| row.row.paths()).map(Location::file)
}

/// One finding over the rows for which `concerns` holds, `None` when there are none. The message is made from the number of rows
/// and their names.
pub(super) fn over(
    rule: &'static Rule,
    rows: &[ClassedRow<'_>],
    concerns: impl Fn(&ClassedRow<'_>) -> bool,
    message: impl FnOnce(usize, String) -> String,
) -> Option<Finding> {
    let rows: Vec<&ClassedRow<'_>> = rows.iter().filter(|row| concerns(row)).collect();
    (!rows.is_empty()).then(|| Finding::new(rule, message(rows.len(), names(&rows))).at(places(&rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_one_line_and_short() {
        assert_eq!(name(&BytePath::new("a\nb")), "a\\x0ab");
        assert_eq!(name(&BytePath::new("a\u{202e}b")), "a\\xe2\\x80\\xaeb");
        assert_eq!(name(&BytePath::new("x".repeat(500))).chars().count(), SHOWN + 1);
    }

    #[test]
    fn a_list_says_how_many_it_leaves_out() {
        let names = |texts: &[&str]| list(texts.iter().map(ToString::to_string).collect());
        assert_eq!(names(&["a"]), "a");
        assert_eq!(names(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
