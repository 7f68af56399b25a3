//! A path as git stores it: bytes.

use std::fmt;

/// A path in a tree. Bytes, since git's paths are bytes; judged as bytes, shown as text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BytePath(Vec<u8>);

impl BytePath {
    /// Takes the bytes as they are; `classes/` says whether the path can be one at all.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, if the bytes are UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The components between slashes, empty ones included.
    pub fn components(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|b| *b == b'/')
    }
}

/// Text for people and for the record: UTF-8 as it is, any other byte as `\xNN` (DESIGN section 5). Not reversible, and not for
/// judging; control characters stay, so whoever prints it to a terminal or a page escapes it there.
impl fmt::Display for BytePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for BytePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}
