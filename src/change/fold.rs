//! When two paths are one file on some machine.

use icu_casemap::CaseMapper;
use unicode_normalization::UnicodeNormalization as _;

use crate::change::BytePath;

/// The path as a file system sees it that neither keeps case apart nor ways to write the same letter: canonical composition (NFC)
/// around full Unicode case folding (R55), as macOS and Windows do by default, give or take a few letters. Bytes that are no UTF-8
/// stay as they are. Two paths with the same fold may be one file on a checkout; for judging only, never for reading.
pub fn fold(path: &BytePath) -> BytePath {
    BytePath::new(fold_bytes(path.as_bytes()))
}

/// [`fold`] for one name or a whole path as bytes.
pub(super) fn fold_bytes(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_ascii() {
        return bytes.to_ascii_lowercase();
    }
    let mut folded = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        folded.extend(fold_text(chunk.valid()).into_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    folded
}

/// [`fold`] for a text.
pub fn fold_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mapper = CaseMapper::new();
    let composed: String = text.nfc().collect();
    // Folding can take a composed letter apart, and what it leaves can compose and fold once more.
    let once: String = mapper.fold_string(&composed).nfc().collect();
    mapper.fold_string(&once).nfc().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            ("\u{1e9e}", "ss"),
            ("\u{3a3}\u{391}\u{3a3}", "\u{3c3}\u{3b1}\u{3c2}"),
            ("\u{c5}ngstr\u{f6}m", "\u{212b}NGSTRO\u{308}M"),
        ] {
            assert_eq!(fold(&BytePath::new(one)), fold(&BytePath::new(other)), "{one} {other}");
        }
    }

    #[test]
    fn names_that_differ_stay_apart() {
        for (one, other) in [("a/b", "a-b"), ("e", "\u{e9}"), ("i", "\u{131}"), ("a", "\u{430}")] {
            assert_ne!(fold_text(one), fold_text(other), "{one} {other}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        assert_eq!(fold(&BytePath::new(*b"A\xffB\xc3")).as_bytes(), b"a\xffb\xc3");
    }

    #[test]
    fn folding_twice_is_folding_once() {
        for text in ["\u{130}stanbul", "\u{3a3}\u{3c2}", "\u{1e9e}", "a\u{345}"] {
            assert_eq!(fold_text(&fold_text(text)), fold_text(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_fold_is_its_own_fold(text in "\\PC{0,20}") {
            let folded = fold_text(&text);
            prop_assert_eq!(fold_text(&folded), folded);
        }

        #[test]
        fn how_letters_are_composed_does_not_change_the_fold(text in "\\PC{0,20}") {
            let apart: String = text.nfd().collect();
            prop_assert_eq!(fold_text(&apart), fold_text(&text));
        }
    }
}
