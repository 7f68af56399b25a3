//! Two lists of lines -> what lies between them.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// One place at which two lists differ. Both ranges count from 0; between two hunks there is at least one line that both lists hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// What the old list has there.
    pub old: Range<usize>,
    /// What the new list has there.
    pub new: Range<usize>,
}

/// Every difference between two lists of lines, in order. Equal lists always give equal hunks; no attribute, configuration or text of a
/// diff takes part.
pub fn hunks(old: &[&[u8]], new: &[&[u8]]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let wide = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Hunk { old: wide(hunk.before), new: wide(hunk.after) }).collect()
}

/// The lines of a file without their ends. A last line without an end is a line.
pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_what_differs_and_nothing_else() {
        let old: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];
        let new: [&[u8]; 4] = [b"a", b"x", b"c", b"e"];
        assert_eq!(hunks(&old, &old), []);
        assert_eq!(hunks(&old, &new), [Hunk { old: 1..2, new: 1..2 }, Hunk { old: 3..4, new: 3..4 }]);
        assert_eq!(hunks(&[], &new), [Hunk { old: 0..0, new: 0..4 }]);
    }

    #[test]
    fn the_end_of_the_last_line_is_no_line() {
        assert_eq!(lines(b"a\nb\n"), lines(b"a\nb"));
        assert_eq!(lines(b""), [b""; 0]);
        assert_eq!(lines(b"\n"), [b""]);
    }
}
