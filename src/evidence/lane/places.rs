//! Where things stand in a text that was read already.

use std::collections::BTreeMap;

/// The line of each entry of a freeze ledger, by its key, or by its number from 1 where the ledger is a list. The text must be JSON; of
/// one that is none the answer means nothing.
pub fn entry_lines(text: &[u8]) -> BTreeMap<String, u32> {
    let mut scan = Scan::default();
    for (at, byte) in text.iter().enumerate() {
        scan.step(text, at, *byte);
    }
    scan.found
}

/// The line that ends with this, or holds it, from 1.
pub fn line_of(text: &[u8], sought: &[u8]) -> Option<u32> {
    let holds = |line: &[u8]| line.windows(sought.len().max(1)).any(|part| part == sought);
    let lines = || (1_u32..).zip(text.split(|byte| *byte == b'\n'));
    let exact = lines().find(|(_, line)| line.trim_ascii_end().ends_with(sought));
    exact.or_else(|| lines().find(|(_, line)| holds(line))).map(|(number, _)| number)
}

/// How many characters of a key stand in a fault.
const SHOWN: usize = 80;

struct Scan {
    found: BTreeMap<String, u32>,
    line: u32,
    depth: usize,
    /// Where the string that is read began.
    string: Option<usize>,
    escaped: bool,
    /// Whether the container of entries is a list.
    list: bool,
    /// Entries of the list so far.
    number: u32,
    /// Whether the next token at the depth of entries is a key or an item.
    expected: bool,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            found: BTreeMap::new(),
            line: 1,
            depth: 0,
            string: None,
            escaped: false,
            list: false,
            number: 0,
            expected: false,
        }
    }
}

impl Scan {
    fn step(&mut self, text: &[u8], at: usize, byte: u8) {
        if let Some(start) = self.string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.string = None;
                    self.key(&text[start..=at]);
                }
                _ => {}
            }
            return;
        }
        if self.expected && self.list && self.depth == 2 && !byte.is_ascii_whitespace() && byte != b']' {
            self.expected = false;
            self.number += 1;
            self.found.insert(self.number.to_string(), self.line);
        }
        match byte {
            b'\n' => self.line += 1,
            b'"' => self.string = Some(at),
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth == 2 {
                    self.list = byte == b'[';
                    self.expected = true;
                    self.number = 0;
                }
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' if self.depth == 2 => self.expected = true,
            _ => {}
        }
    }

    /// A string has ended; it is an entry's key where one is expected.
    fn key(&mut self, quoted: &[u8]) {
        if self.depth != 2 || self.list || !self.expected {
            return;
        }
        self.expected = false;
        if let Ok(key) = serde_json::from_slice::<String>(quoted) {
            self.found.insert(key.chars().take(SHOWN).collect(), self.line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(String, u32)> {
        entry_lines(text.as_bytes()).into_iter().collect()
    }

    #[test]
    fn each_entry_of_an_object_stands_on_the_line_of_its_key() {
        let text = "{\"schema\": 2,\n \"freezes\": {\n  \"a}\\\"b\": {\"nodeid\": \"x\",\n \"keep\": [\"y\"]},\n\n  \"c\": {}}}\n";
        assert_eq!(lines(text), [("a}\"b".to_owned(), 3), ("c".to_owned(), 6)]);
    }

    #[test]
    fn each_entry_of_a_list_has_a_number() {
        let text = "{\"schema\": 1, \"frozen\": [\n{\"nodeid\": \"a,b\"},\n\n {\"nodeid\": \"c\"}\n]}";
        assert_eq!(lines(text), [("1".to_owned(), 2), ("2".to_owned(), 4)]);
        assert_eq!(
            lines("{\"nodeids\": [\"a\",\n\"b\"], \"source\": \"x\"}"),
            [("1".to_owned(), 1), ("2".to_owned(), 2)]
        );
        assert!(lines("{\"nodeids\": []}").is_empty());
    }

    #[test]
    fn the_line_that_ends_with_a_path_is_found_before_one_that_holds_it() {
        let text = b"1  a/b.json\n2  a/b\n";
        assert_eq!((line_of(text, b"a/b"), line_of(text, b"b.json"), line_of(text, b"z")), (Some(2), Some(1), None));
    }
}
