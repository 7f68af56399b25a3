//! What of a message stays the same from run to run.

use std::sync::LazyLock;

use regex::Regex;

use crate::policy::Keep;

/// How a message is normalised. The number stands in a ledger's entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Normaliser {
    /// `1`: white space at both ends is dropped, and each run of digits becomes `<n>`.
    #[default]
    Digits,
    /// `2`: before that, ANSI escapes are dropped, and temporary paths, UUIDs and hexadecimal addresses become `<tmp>`, `<uuid>` and
    /// `<hex>`: a message that holds one would mint a new signature on each run.
    Addresses,
}

/// Marks that take the place of what changes from run to run.
pub(super) const PLACEHOLDERS: [&str; 4] = ["<n>", "<hex>", "<uuid>", "<tmp>"];

static DIGITS: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?P<n>\d+)"));

static ADDRESSES: LazyLock<Regex> = LazyLock::new(|| {
    compiled(concat!(
        // From a slash that no word stands before, up to a sign that ends a path in a sentence; a place such as `:12` behind it is not part of it.
        r#"(?P<tmp>\B(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s'"`()\[\]<>,;:|]+"#,
        r#"|[A-Za-z]:\\(?:[^\s'"`()\[\]<>,;:|\\]+\\)*?(?i:temp|tmp)\\[^\s'"`()\[\]<>,;:|]+)"#,
        r"|(?P<uuid>[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})",
        r"|(?P<hex>0[xX][0-9a-fA-F]+)",
        r"|(?P<n>\d+)"
    ))
});

/// Control sequences (ECMA-48, 5.4 and 8.3.89): CSI, strings such as a hyperlink, and two-byte escapes.
static ESCAPES: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"(?:\x1b\[|\u{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]")
});

fn compiled(text: &str) -> Regex {
    Regex::new(text).expect("a constant expression compiles")
}

impl Normaliser {
    /// The number of an entry; `None` for any other number.
    pub fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::Digits),
            2 => Some(Self::Addresses),
            _ => None,
        }
    }

    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::Digits => 1,
            Self::Addresses => 2,
        }
    }

    /// The normalised message. What a `keep` expression matches stays as it is; digits are those of every script, and white space is
    /// what Python's `str.strip` takes for it.
    pub fn normalise(self, message: &str, keep: &[Keep]) -> String {
        let (plain, changing) = match self {
            Self::Digits => (std::borrow::Cow::Borrowed(message), &*DIGITS),
            Self::Addresses => (ESCAPES.replace_all(message, ""), &*ADDRESSES),
        };
        let text = plain.trim_matches(is_python_space);
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for (start, end) in kept(text, keep) {
            replace(changing, &text[from..start], &mut out);
            out.push_str(&text[start..end]);
            from = end;
        }
        replace(changing, &text[from..], &mut out);
        out
    }
}

/// The parts that some expression keeps, in order and without overlap.
fn kept(text: &str, keep: &[Keep]) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for keep in keep {
        spans.extend(keep.regex().find_iter(text).map(|found| (found.start(), found.end())));
    }
    spans.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (start, end) in spans {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

fn replace(changing: &Regex, text: &str, out: &mut String) {
    let mut from = 0;
    for found in changing.captures_iter(text) {
        let whole = found.get(0).expect("group 0 is the match");
        out.push_str(&text[from..whole.start()]);
        out.push_str(match () {
            () if found.name("n").is_some() => "<n>",
            () if found.name("hex").is_some() => "<hex>",
            () if found.name("uuid").is_some() => "<uuid>",
            () => "<tmp>",
        });
        from = whole.end();
    }
    out.push_str(&text[from..]);
}

/// White space as Python's `str.isspace` has it: Unicode's, and the four separators U+001C to U+001F.
/// <https://docs.python.org/3/library/stdtypes.html#str.isspace>
pub(super) fn is_python_space(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '\u{1c}'..='\u{1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(message: &str) -> String {
        Normaliser::Addresses.normalise(message, &[])
    }

    #[test]
    fn the_second_normaliser_replaces_what_changes_each_run() {
        assert_eq!(second("object at 0x7f3a9c died"), "object at <hex> died");
        assert_eq!(second("id 123e4567-e89b-12d3-a456-426614174000!"), "id <uuid>!");
        assert_eq!(second("\u{1b}[31mE assert 1\u{1b}[0m"), "E assert <n>");
        assert_eq!(second("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7} 1"), "link <n>");
        assert_eq!(second("errno ENOENT '/tmp/pytest-of-root/pytest-17/test_a0/x.json'"), "errno ENOENT '<tmp>'");
        assert_eq!(second("at /var/folders/zz/q1/T/a.py:12"), "at <tmp>:<n>");
        assert_eq!(second(r"open C:\Users\me\AppData\Local\Temp\x1\y.txt failed"), "open <tmp> failed");
        assert_eq!(second("/tmpfile and src/tmp/a"), "/tmpfile and src/tmp/a");
    }

    #[test]
    fn kept_parts_stay_and_the_rest_does_not() {
        let keep = [Keep::new(r"HTTP \d{3}").unwrap(), Keep::new(r"v\d").unwrap()];
        let first = |message: &str| Normaliser::Digits.normalise(message, &keep);
        assert_eq!(first("HTTP 404 after 12 tries of v2"), "HTTP 404 after <n> tries of v2");
        assert_eq!(first("HTTP 4041"), "HTTP 404<n>");
    }
}
