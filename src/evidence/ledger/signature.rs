//! When two failures are the same.

use std::fmt;
use std::str::FromStr;

use super::Normaliser;
use crate::change::Sha256;
use crate::policy::Keep;

/// The first 16 hexadecimal digits of the sha256 of a normalised message.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageDigest(String);

/// The key of a freeze: 24 hexadecimal digits over node id, seed, exception type and message digest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(String);

impl MessageDigest {
    /// The digest of a message as it was reported. An error code is part of it: `|code=CODE` behind the normalised message.
    pub fn of(message: &str, normaliser: Normaliser, keep: &[Keep], error_code: Option<&str>) -> Self {
        Self::of_normalised(&normaliser.normalise(message, keep), error_code)
    }

    /// The digest of a message that is normalised already.
    pub fn of_normalised(normalised: &str, error_code: Option<&str>) -> Self {
        let text = match error_code {
            None => normalised.to_owned(),
            Some(code) => format!("{normalised}|code={code}"),
        };
        Self(first_digits(&text, 16))
    }
}

impl Signature {
    /// The signature of a failure: the first 24 digits of the sha256 of `{nodeid}|{seed}|{exc_type}|{digest}`, with `None` for no seed.
    /// Texts can collide there, since a node id may hold the sign that parts them: whoever finds a freeze by its signature compares
    /// the fields as well.
    pub fn of(nodeid: &str, seed: Option<i64>, exc_type: &str, digest: &MessageDigest) -> Self {
        let seed = seed.map_or_else(|| "None".to_owned(), |seed| seed.to_string());
        Self(first_digits(&format!("{nodeid}|{seed}|{exc_type}|{digest}"), 24))
    }
}

fn first_digits(text: &str, digits: usize) -> String {
    let mut hex = Sha256::of(text.as_bytes()).to_string();
    hex.truncate(digits);
    hex
}

/// Why a text is no digest of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} lower-case hexadecimal digits are wanted")]
pub struct NotADigest(usize);

macro_rules! digits {
    ($name:ident, $length:literal) => {
        impl $name {
            /// The digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NotADigest;

            fn from_str(text: &str) -> Result<Self, NotADigest> {
                let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                if hex && text.len() == $length { Ok(Self(text.to_owned())) } else { Err(NotADigest($length)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

digits!(MessageDigest, 16);
digits!(Signature, 24);
