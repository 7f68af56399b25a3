//! `git diff-tree --raw -z` -> rows.

use super::{BytePath, Mode, PathChange, Side, Status};
use crate::words::ObjectId;

/// Why bytes are not the raw output of `git diff-tree -z`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row} of the raw diff {why}")]
pub struct NotRaw {
    /// The row, from 1.
    pub row: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Reads the whole output: `:old-mode SP new-mode SP old-id SP new-id SP status NUL path NUL`, with a second path for R and C
/// (<https://git-scm.com/docs/diff-format#_raw_output_format>). Strict: one byte that does not fit, or a row that is cut off, is an
/// error, because a change that we cannot read must not be scored. A letter that is not A, M, D or T is kept as
/// [`Status::Unparsed`]; so is a row whose sides do not fit its letter.
pub fn parse_raw(bytes: &[u8]) -> Result<Vec<PathChange>, NotRaw> {
    let mut parser = RawParser::default();
    parser.feed(bytes)?;
    parser.finish()
}

/// The same in pieces, so that rows are read while git still writes.
#[derive(Default)]
pub(super) struct RawParser {
    rows: Vec<PathChange>,
    rest: Vec<u8>,
}

impl RawParser {
    /// Takes the next piece, and returns the rows that it completes.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Result<&[PathChange], NotRaw> {
        let before = self.rows.len();
        if self.rest.is_empty() {
            let used = self.rows_of(piece)?;
            self.rest.extend_from_slice(&piece[used..]);
        } else {
            let mut joined = std::mem::take(&mut self.rest);
            joined.extend_from_slice(piece);
            let used = self.rows_of(&joined)?;
            joined.drain(..used);
            self.rest = joined;
        }
        Ok(&self.rows[before..])
    }

    /// All rows, if the last one is whole.
    pub(super) fn finish(self) -> Result<Vec<PathChange>, NotRaw> {
        if self.rest.is_empty() { Ok(self.rows) } else { Err(NotRaw { row: self.rows.len() + 1, why: "is cut off" }) }
    }

    /// Reads whole rows and says how many bytes they took.
    fn rows_of(&mut self, bytes: &[u8]) -> Result<usize, NotRaw> {
        let mut used = 0;
        while let Some((row, length)) =
            next_row(&bytes[used..]).map_err(|why| NotRaw { row: self.rows.len() + 1, why })?
        {
            self.rows.push(row);
            used += length;
        }
        Ok(used)
    }
}

/// One row and its length; `None` when the bytes end before it does.
fn next_row(bytes: &[u8]) -> Result<Option<(PathChange, usize)>, &'static str> {
    if bytes.first().is_some_and(|b| *b != b':') {
        return Err("does not begin with a colon");
    }
    let Some(head) = field(bytes, 0) else { return Ok(None) };
    let mut words = head[1..].split(|b| *b == b' ');
    let mut word = || words.next().ok_or("has too few fields");
    let (old_mode, new_mode) = (mode(word()?)?, mode(word()?)?);
    let (old_id, new_id) = (id(word()?)?, id(word()?)?);
    let (letter, score) = word()?.split_first().ok_or("has no status")?;
    if words.next().is_some() {
        return Err("has too many fields");
    }
    if !score.iter().all(u8::is_ascii_digit) {
        return Err("has a status that is not a letter and a number");
    }
    if old_id.as_str().len() != new_id.as_str().len() {
        return Err("mixes two kinds of object id");
    }
    let mut end = head.len() + 1;
    let Some(first) = path(bytes, &mut end)? else { return Ok(None) };
    let second = if matches!(letter, b'R' | b'C') {
        let Some(second) = path(bytes, &mut end)? else { return Ok(None) };
        second
    } else {
        first.clone()
    };
    let old = side(first, old_mode, old_id)?;
    let new = side(second, new_mode, new_id)?;
    Ok(Some((PathChange { status: status(*letter, old.as_ref(), new.as_ref()), old, new }, end)))
        .and_then(at_least_one_side)
}

fn at_least_one_side(found: Option<(PathChange, usize)>) -> Result<Option<(PathChange, usize)>, &'static str> {
    match &found {
        Some((PathChange { old: None, new: None, .. }, _)) => Err("has neither an old nor a new side"),
        _ => Ok(found),
    }
}

/// The bytes from `from` up to the next NUL.
fn field(bytes: &[u8], from: usize) -> Option<&[u8]> {
    let rest = &bytes[from..];
    rest.iter().position(|b| *b == 0).map(|end| &rest[..end])
}

fn path(bytes: &[u8], end: &mut usize) -> Result<Option<BytePath>, &'static str> {
    let Some(found) = field(bytes, *end) else { return Ok(None) };
    *end += found.len() + 1;
    if found.is_empty() { Err("has an empty path") } else { Ok(Some(BytePath::new(found))) }
}

fn mode(word: &[u8]) -> Result<Mode, &'static str> {
    let digits = word.len() == 6 && word.iter().all(|b| matches!(b, b'0'..=b'7'));
    let value = word.iter().fold(0, |value, b| value << 3 | u32::from(b.wrapping_sub(b'0')) & 7);
    digits.then_some(Mode(value)).ok_or("has a mode that is not six octal digits")
}

fn id(word: &[u8]) -> Result<ObjectId, &'static str> {
    let text = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
    text.ok_or("has an object id that is not full")
}

/// `None` where the side does not exist: mode and id are both zero. One of them alone is a lie.
fn side(path: BytePath, mode: Mode, blob: ObjectId) -> Result<Option<Side>, &'static str> {
    match (mode.0 == 0, blob.is_null()) {
        (true, true) => Ok(None),
        (false, false) => Ok(Some(Side { path, mode, blob })),
        _ => Err("has a mode without an object, or an object without a mode"),
    }
}

/// A letter is believed only when the sides say the same.
fn status(letter: u8, old: Option<&Side>, new: Option<&Side>) -> Status {
    let kind = |side: &Side| side.mode.0 & 0o170_000;
    match (letter, old, new) {
        (b'A', None, Some(_)) => Status::Added,
        (b'D', Some(_), None) => Status::Deleted,
        (b'M', Some(old), Some(new)) if kind(old) == kind(new) => Status::Modified,
        (b'T', Some(old), Some(new)) if kind(old) != kind(new) => Status::TypeChanged,
        _ => Status::Unparsed(letter),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What git would print for the rows.
    fn print(rows: &[PathChange]) -> Vec<u8> {
        let mut out = Vec::new();
        for row in rows {
            let mode = |s: Option<&Side>| s.map_or(Mode(0), |s| s.mode);
            let blob = |s: Option<&Side>| s.map_or("0".repeat(40), |s| s.blob.to_string());
            let head = format!(
                ":{} {} {} {} {}\0",
                mode(row.old.as_ref()),
                mode(row.new.as_ref()),
                blob(row.old.as_ref()),
                blob(row.new.as_ref()),
                row.status.letter()
            );
            out.extend_from_slice(head.as_bytes());
            out.extend_from_slice(row.path().as_bytes());
            out.push(0);
        }
        out
    }

    fn any_row() -> impl Strategy<Value = PathChange> {
        let path = prop::collection::vec(1_u8.., 1..40);
        let blob = "[1-9a-f][0-9a-f]{39}";
        let modes = prop::sample::select(vec![Mode::FILE, Mode::EXECUTABLE, Mode::SYMLINK, Mode::SUBMODULE]);
        let letter = prop::sample::select(b"AMDTUXZ".to_vec());
        (path, blob, blob, modes.clone(), modes, letter).prop_map(|(path, old, new, old_mode, new_mode, letter)| {
            let side =
                |mode, id: String| Some(Side { path: BytePath::new(path.clone()), mode, blob: id.parse().unwrap() });
            let (old, new) = match letter {
                b'A' => (None, side(new_mode, new)),
                b'D' => (side(old_mode, old), None),
                _ => (side(old_mode, old), side(new_mode, new)),
            };
            PathChange { status: status(letter, old.as_ref(), new.as_ref()), old, new }
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(rows in prop::collection::vec(any_row(), 0..12)) {
            prop_assert_eq!(parse_raw(&print(&rows)).unwrap(), rows);
        }

        #[test]
        fn pieces_read_like_the_whole(rows in prop::collection::vec(any_row(), 1..8), size in 1_usize..200) {
            let mut parser = RawParser::default();
            for piece in print(&rows).chunks(size) {
                parser.feed(piece).unwrap();
            }
            prop_assert_eq!(parser.finish().unwrap(), rows);
        }

        #[test]
        fn a_cut_off_output_is_an_error(rows in prop::collection::vec(any_row(), 1..4), cut in any::<prop::sample::Index>()) {
            let whole = print(&rows);
            let at = cut.index(whole.len());
            match parse_raw(&whole[..at]) {
                Ok(read) => prop_assert_eq!(&whole[..at], print(&read), "a cut between rows is a shorter output"),
                Err(error) => prop_assert!(error.row <= rows.len()),
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_raw(&bytes);
        }
    }

    fn row(head: &str) -> Result<Vec<PathChange>, NotRaw> {
        let zero = "0".repeat(40);
        let one = "1".repeat(40);
        parse_raw(head.replace("ZERO", &zero).replace("ONE", &one).as_bytes())
    }

    #[test]
    fn unknown_letters_are_kept_and_not_judged() {
        for letter in [b'U', b'X', b'B', b'Q'] {
            let rows = row(&format!(":100644 100644 ONE ONE {}\0a\0", char::from(letter))).unwrap();
            assert_eq!(rows[0].status, Status::Unparsed(letter));
        }
    }

    #[test]
    fn a_letter_that_its_sides_contradict_is_not_believed() {
        let rows =
            row(":100644 120000 ONE ONE M\0a\0:100644 100644 ONE ONE A\0b\0:000000 100644 ZERO ONE D\0c\0").unwrap();
        assert!(rows.iter().all(|row| matches!(row.status, Status::Unparsed(_))), "{rows:?}");
    }

    #[test]
    fn a_rename_keeps_both_names() {
        let rows = row(":100644 100644 ONE ONE R100\0old\0new\0").unwrap();
        assert_eq!(rows[0].status, Status::Unparsed(b'R'));
        assert_eq!(rows[0].paths().map(ToString::to_string).collect::<Vec<_>>(), ["old", "new"]);
    }

    #[test]
    fn each_malformed_row_names_its_fault() {
        for (input, why) in [
            ("100644 100644 ONE ONE M\0a\0", "does not begin with a colon"),
            (":100644 100644 ONE ONE\0a\0", "has too few fields"),
            (":100644 100644 ONE ONE M x\0a\0", "has too many fields"),
            (":10064 100644 ONE ONE M\0a\0", "has a mode that is not six octal digits"),
            (":100648 100644 ONE ONE M\0a\0", "has a mode that is not six octal digits"),
            (":100644 100644 ONE 111 M\0a\0", "has an object id that is not full"),
            (":100644 100644 ONE ONE M\0\0", "has an empty path"),
            (":100644 000000 ONE ONE M\0a\0", "has a mode without an object, or an object without a mode"),
            (":000000 000000 ZERO ZERO M\0a\0", "has neither an old nor a new side"),
            (":100644 100644 ONE ONE Mx\0a\0", "has a status that is not a letter and a number"),
            (":100644 100644 ONE ONE \0a\0", "has no status"),
            (":100644 100644 ONE ONE M\0a", "is cut off"),
            (":100644 100644 ONE", "is cut off"),
        ] {
            assert_eq!(row(input), Err(NotRaw { row: 1, why }), "{input:?}");
        }
    }
}
