//! Signatures that many failures would share.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::MessageDigest;
use super::normalise::PLACEHOLDERS;

/// Why a normalised message cannot identify a failure; `None` when it can. An error code identifies it whatever the message.
pub fn too_general(normalised: &str, error_code: Option<&str>) -> Option<&'static str> {
    if error_code.is_some() {
        return None;
    }
    if normalised.is_empty() {
        return Some("its message is empty, so every failure of that type without a message would match");
    }
    let rest = PLACEHOLDERS.iter().fold(normalised.to_owned(), |text, mark| text.replace(mark, ""));
    (!rest.chars().any(char::is_alphanumeric))
        .then_some("its message has no word but placeholders, so any numbers in its place would match")
}

/// A ledger holds digests and no messages, so the emptiest messages are known by their digests.
pub(super) fn is_digest_of_nothing(digest: &MessageDigest) -> bool {
    static KNOWN: LazyLock<BTreeSet<MessageDigest>> = LazyLock::new(|| {
        let mut texts: Vec<String> = vec![String::new()];
        let joints = ["", " ", ".", ",", ", ", ":", "-", "/", " == ", " != ", " < ", " > ", "=="];
        for first in PLACEHOLDERS {
            texts.extend([first.to_owned(), format!("-{first}"), format!("({first})"), format!("'{first}'")]);
            for second in PLACEHOLDERS {
                texts.extend(joints.map(|joint| format!("{first}{joint}{second}")));
            }
        }
        texts.iter().map(|text| MessageDigest::of_normalised(text, None)).collect()
    });
    KNOWN.contains(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_a_word_of_its_own_is_too_general() {
        for text in ["", "<n>", "<n>.<n>", "-<n> != <n>", "<tmp>: <hex>", "…"] {
            assert!(too_general(text, None).is_some(), "{text:?}");
            assert_eq!(too_general(text, Some("E7")), None, "{text:?}");
        }
        for text in ["HTTP <n>", "é", "assert <n> == <n>"] {
            assert_eq!(too_general(text, None), None, "{text:?}");
        }
    }
}
