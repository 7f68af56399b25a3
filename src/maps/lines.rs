//! Sets of lines: how they are written in a map, and how they are kept in little space.

use roaring::RoaringBitmap;

/// Reads `1-3,7`. An empty text has no lines. Numbers go up from 1 to `most`; spaces around them are allowed.
pub(super) fn parse_ranges(text: &str, most: u32, into: &mut Vec<u32>) -> Result<(), String> {
    if text.trim().is_empty() {
        return Ok(());
    }
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first, most)?, number(last, most)?);
        if last < first {
            return Err(format!("the range {} runs backwards", part.trim()));
        }
        if into.len() + (last - first) as usize > most as usize {
            return Err("a file has more lines than a file can have".to_owned());
        }
        into.extend(first..=last);
    }
    Ok(())
}

fn number(text: &str, most: u32) -> Result<u32, String> {
    let text = text.trim();
    let line = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    checked(line.ok_or_else(|| format!("\"{}\" is no line number", text.chars().take(40).collect::<String>()))?, most)
}

/// A line number within its bounds.
pub(super) fn checked(line: u64, most: u32) -> Result<u32, String> {
    match u32::try_from(line) {
        Ok(0) => Err("there is no line 0: lines are counted from 1".to_owned()),
        Ok(line) if line <= most => Ok(line),
        _ => Err(format!("line {line} is beyond {most}, more than a file can have")),
    }
}

/// Writes an ascending set as `1-3,7`.
pub fn ranges(lines: impl IntoIterator<Item = u32>) -> String {
    let mut text = String::new();
    for (first, last) in runs(lines) {
        use std::fmt::Write as _;
        let comma = if text.is_empty() { "" } else { "," };
        let written =
            if first == last { write!(text, "{comma}{first}") } else { write!(text, "{comma}{first}-{last}") };
        written.expect("writing to a String cannot fail");
    }
    text
}

/// Joins neighbours of an ascending sequence into runs, both ends included.
pub(super) fn runs(lines: impl IntoIterator<Item = u32>) -> impl Iterator<Item = (u32, u32)> {
    let mut lines = lines.into_iter().peekable();
    std::iter::from_fn(move || {
        let first = lines.next()?;
        let mut last = first;
        while let Some(next) = lines.next_if(|next| last.checked_add(1) == Some(*next)) {
            last = next;
        }
        Some((first, last))
    })
}

/// Ascending, each once.
pub(super) fn tidy(lines: &mut Vec<u32>) {
    if !lines.is_sorted_by(|a, b| a < b) {
        lines.sort_unstable();
        lines.dedup();
    }
}

/// Appends a number, seven bits a byte, the low ones first.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes a number from the front; `None` where the bytes end or the number has more than 64 bits.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if part.checked_shl(shift)? >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes a number that must fit 32 bits.
pub(super) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes)?.try_into().ok()
}

/// Appends an ascending set: for each run how far it lies behind the last one, and its length less one.
pub(super) fn encode(lines: impl IntoIterator<Item = u32>, into: &mut Vec<u8>) {
    let mut end = 0_u32;
    for (first, last) in runs(lines) {
        put(into, u64::from(first - end));
        put(into, u64::from(last - first));
        end = last;
    }
}

/// The runs of an encoded set, both ends included; `None` as an item where the bytes are no set.
pub(super) fn decode(mut bytes: &[u8]) -> impl Iterator<Item = Option<(u32, u32)>> {
    let mut end = 0_u32;
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let run = (|| {
            let first = end.checked_add(take_u32(&mut bytes)?)?;
            let last = first.checked_add(take_u32(&mut bytes)?)?;
            Some((first, last))
        })();
        match run {
            Some((_, last)) => end = last,
            None => bytes = &[],
        }
        Some(run)
    })
}

/// An encoded set as a bitmap; `None` where the bytes are no set.
pub(super) fn bitmap(bytes: &[u8]) -> Option<RoaringBitmap> {
    let mut lines = RoaringBitmap::new();
    for run in decode(bytes) {
        let (first, last) = run?;
        lines.insert_range(first..=last);
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_they_are_written() {
        let read = |text: &str| {
            let mut lines = Vec::new();
            parse_ranges(text, 100, &mut lines).map(|()| lines)
        };
        assert_eq!(read("1-3,7"), Ok(vec![1, 2, 3, 7]));
        assert_eq!(read(""), Ok(vec![]));
        assert_eq!(ranges([1, 2, 3, 7]), "1-3,7");
        for (wrong, why) in [
            ("0", "there is no line 0: lines are counted from 1"),
            ("3-1", "the range 3-1 runs backwards"),
            ("101", "line 101 is beyond 100, more than a file can have"),
            ("1,,2", "\"\" is no line number"),
            ("-4", "\"\" is no line number"),
            ("one", "\"one\" is no line number"),
        ] {
            assert_eq!(read(wrong), Err(why.to_owned()));
        }
    }

    #[test]
    fn a_set_comes_back_from_its_bytes_and_cut_bytes_are_no_set() {
        let lines = [1_u32, 2, 3, 7, 900, 901, 70_000];
        let mut bytes = Vec::new();
        encode(lines, &mut bytes);
        assert_eq!(bitmap(&bytes).map(|set| set.iter().collect::<Vec<_>>()), Some(lines.to_vec()));
        assert_eq!(bitmap(&bytes[..bytes.len() - 1]), None);
        assert_eq!(take(&mut &[0xff; 11][..]), None);
    }
}
