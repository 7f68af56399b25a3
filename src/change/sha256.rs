//! sha256 of what blobs hold, without holding it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256 as Hasher};

use super::error::GitError;
use super::git::Git;
use crate::words::ObjectId;

/// sha256 of some bytes; printed and read as 64 hexadecimal digits, of either case when read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256(pub [u8; 32]);

impl Sha256 {
    /// The digest of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Hasher::digest(bytes).into())
    }

    /// The digest of a stream, read to its end.
    pub fn of_reader(reader: &mut impl std::io::Read) -> std::io::Result<Self> {
        let mut hasher = Hasher::new();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(Self(hasher.finalize().into())),
                Ok(read) => hasher.update(&buffer[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl FromStr for Sha256 {
    type Err = NotASha256;

    fn from_str(text: &str) -> Result<Self, NotASha256> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| NotASha256)?;
        Ok(Self(bytes))
    }
}

/// Why a text is no sha256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("64 hexadecimal digits are wanted")]
pub struct NotASha256;

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// How many bytes one git process is asked for: its wall clock is bounded, so what is many times as large needs several.
const PORTION: u64 = 512 << 20;

const DOING: &str = "hashing contents";

impl Git {
    /// sha256 of each blob's bytes, as git stores them. They are read piece by piece and never held as a whole. A missing object is
    /// an error, and so is one that is no blob.
    pub fn sha256<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a ObjectId>,
    ) -> Result<BTreeMap<ObjectId, Sha256>, GitError> {
        let ids: Vec<_> = ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut found = BTreeMap::new();
        if ids.is_empty() {
            return Ok(found);
        }
        let mut sizes = Vec::with_capacity(ids.len());
        for (id, header) in ids.iter().zip(self.objects()?.headers(&ids)?) {
            match header {
                None => return Err(GitError::MissingObject { doing: DOING, id: (*id).clone() }),
                Some((kind, size)) if kind == "blob" => sizes.push(size),
                Some((kind, _)) => {
                    return Err(GitError::WrongKind { doing: DOING, id: (*id).clone(), found: kind, wanted: "blob" });
                }
            }
        }
        let mut from = 0;
        while from < ids.len() {
            let mut bytes = 0_u64;
            let more = sizes[from..].iter().take_while(|size| {
                let fits = bytes == 0 || bytes.saturating_add(**size) <= PORTION;
                bytes = bytes.saturating_add(**size);
                fits
            });
            let to = from + more.count();
            let portion = &ids[from..to];
            let digests = self.objects()?.each("contents", portion, |objects| {
                let mut hasher = Hasher::new();
                objects.body_in_pieces(|piece| hasher.update(piece))?;
                Ok(Sha256(hasher.finalize().into()))
            })?;
            found.extend(portion.iter().map(|id| (*id).clone()).zip(digests));
            from = to;
        }
        Ok(found)
    }
}
