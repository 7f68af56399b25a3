//! When two paths are one file on some machine.

use unicode_normalization::UnicodeNormalization;

use crate::change::BytePath;

/// The path as a file system sees it that neither keeps case apart nor ways to write the same letter: canonical composition (NFC)
/// around a full change of case, as macOS and Windows do by default, give or take a few letters. Bytes that are no UTF-8 stay as
/// they are. Two paths with the same fold may be one file on a checkout; for judging only, never for reading.
pub fn fold(path: &BytePath) -> BytePath {
    let mut folded = Vec::with_capacity(path.as_bytes().len());
    for chunk in path.as_bytes().utf8_chunks() {
        if chunk.valid().is_ascii() {
            folded.extend(chunk.valid().bytes().map(|byte| byte.to_ascii_lowercase()));
        } else {
            folded.extend(fold_text(chunk.valid()).into_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
    BytePath::new(folded)
}

/// [`fold`] for a text.
pub fn fold_text(text: &str) -> String {
    // Down, up and down again, so that letters with several forms (long s, final sigma, both sharp s) meet in one.
    let small = text.nfc().flat_map(char::to_lowercase);
    let large = small.flat_map(char::to_uppercase);
    large.flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_one_file_elsewhere_fold_to_one() {
        for (one, other) in [
            ("Tests/Fixtures", "tests/fixtures"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("CAF\u{c9}", "cafe\u{301}"),
            ("\u{17f}nap", "snap"),
            ("\u{212a}ey", "key"),
            ("stra\u{df}e", "STRASSE"),
        ] {
            assert_eq!(fold(&BytePath::new(one)), fold(&BytePath::new(other)), "{one} {other}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        assert_eq!(fold(&BytePath::new(*b"A\xffB")).as_bytes(), b"a\xffb");
    }

    #[test]
    fn folding_twice_is_folding_once() {
        for text in ["\u{130}stanbul", "\u{3a3}\u{3c2}", "\u{1e9e}", "a\u{345}"] {
            assert_eq!(fold_text(&fold_text(text)), fold_text(text), "{text}");
        }
    }
}
