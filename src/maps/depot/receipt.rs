//! What is written down of each map.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::change::Sha256;
use crate::delivery::{Upload, Uploader};
use crate::words::{ObjectId, RepoRef};

/// The version of the documents.
const VERSION: u32 = 1;

/// One map that was brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    v: u32,
    /// Of which repository.
    pub repository: RepoRef,
    /// Of which commit.
    pub commit: ObjectId,
    /// sha256 of the bytes as they came, in hexadecimal.
    pub digest: String,
    /// How many they are.
    pub bytes: u64,
    /// When they came.
    #[serde(with = "moment")]
    pub received: Timestamp,
    /// Who brought them.
    pub by: Uploader,
    /// What became of them.
    pub fate: Fate,
}

/// What became of a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// No worker has looked at it yet.
    Pending,
    /// It counts.
    Taken,
    /// It does not, for this reason.
    Refused(String),
}

impl Receipt {
    /// Of a map that just came.
    pub(super) fn of(upload: &Upload) -> Self {
        Self {
            v: VERSION,
            repository: upload.repository.clone(),
            commit: upload.commit.clone(),
            digest: upload.digest.clone(),
            bytes: upload.bytes,
            received: upload.received,
            by: upload.by.clone(),
            fate: Fate::Pending,
        }
    }

    /// The same with another fate.
    pub(super) fn with(mut self, fate: Fate) -> Self {
        self.fate = fate;
        self
    }

    /// Whether this program wrote it.
    pub(super) fn is_known(&self) -> bool {
        self.v == VERSION && self.digest.parse::<Sha256>().is_ok()
    }
}

/// All that is known of the maps of one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfCommit {
    v: u32,
    /// The index that is made of all maps that count, by its map's digest; `None` where none counts.
    pub index: Option<String>,
    /// When that index became another one.
    #[serde(with = "moment")]
    pub changed: Timestamp,
    /// Tests, collected or run.
    pub tests: u32,
    /// Tests about which the maps disagree.
    pub jitter: usize,
    /// Every map that was brought and looked at, in the order of their digests.
    pub receipts: Vec<Receipt>,
}

impl OfCommit {
    /// Of a commit of which nothing is known.
    pub(super) fn new(now: Timestamp) -> Self {
        Self { v: VERSION, index: None, changed: now, tests: 0, jitter: 0, receipts: Vec::new() }
    }

    /// Whether this program wrote it.
    pub(super) fn is_known(&self) -> bool {
        self.v == VERSION && self.index().is_ok() && self.receipts.iter().all(Receipt::is_known)
    }

    pub(super) fn index(&self) -> Result<Option<Sha256>, crate::change::NotASha256> {
        self.index.as_deref().map(str::parse).transpose()
    }

    /// Puts a receipt in the place of an earlier one of the same bytes.
    pub(super) fn note(&mut self, receipt: Receipt) {
        self.receipts.retain(|one| one.digest != receipt.digest);
        self.receipts.push(receipt);
        self.receipts.sort_by(|a, b| a.digest.cmp(&b.digest));
    }
}

/// A moment as text, to the microsecond or finer.
mod moment {
    use jiff::Timestamp;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(moment)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
