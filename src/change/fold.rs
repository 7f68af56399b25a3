//! When two names are one name to a file system or to a person.

use icu_casemap::CaseMapper;
use unicode_normalization::UnicodeNormalization as _;

/// The key under which names fall together: NFC, full Unicode case folding, NFC again (R55). Bytes that are no UTF-8 stay as they
/// are, between folded text. Equal bytes give equal keys; folding a key changes nothing.
pub fn folded(name: &[u8]) -> Vec<u8> {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let mut key = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let composed: String = chunk.valid().nfc().collect();
        let folded = CaseMapper::new().fold_string(&composed);
        // Folding can take a composed letter apart, and what it leaves can fold once more.
        let composed: String = folded.nfd().collect::<String>().nfc().collect();
        let again: String = CaseMapper::new().fold_string(&composed).nfc().collect();
        key.extend_from_slice(again.as_bytes());
        key.extend_from_slice(chunk.invalid());
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_look_alike_fall_together() {
        for (one, other) in [
            ("Tests/Golden.json", "tests/golden.json"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("STRASSE", "stra\u{df}e"),
            ("\u{3a3}\u{391}\u{3a3}", "\u{3c3}\u{3b1}\u{3c2}"),
            ("\u{212a}elvin", "kelvin"),
            ("\u{c5}ngstr\u{f6}m", "\u{212b}NGSTRO\u{308}M"),
            ("\u{1e9e}", "ss"),
        ] {
            assert_eq!(folded(one.as_bytes()), folded(other.as_bytes()), "{one} {other}");
        }
    }

    #[test]
    fn names_that_differ_stay_apart() {
        for (one, other) in [("a/b", "a-b"), ("e", "\u{e9}"), ("i", "\u{131}"), ("a", "\u{430}")] {
            assert_ne!(folded(one.as_bytes()), folded(other.as_bytes()), "{one} {other}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        assert_eq!(folded(b"A\xffB\xc3"), b"a\xffb\xc3");
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key(name in "\\PC{0,20}") {
            let key = folded(name.as_bytes());
            prop_assert_eq!(folded(&key), key);
        }

        #[test]
        fn normalisation_and_case_do_not_change_the_key(name in "\\PC{0,20}") {
            let decomposed: String = name.nfd().collect();
            prop_assert_eq!(folded(decomposed.as_bytes()), folded(name.as_bytes()));
            let lower = CaseMapper::new().fold_string(&name).into_owned();
            prop_assert_eq!(folded(lower.as_bytes()), folded(name.as_bytes()));
        }
    }
}
