//! What the receiver needs of whoever keeps the maps. `maps/` keeps the promise.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::words::{ForgeKind, ObjectId, RepoName, RepoRef, RepositoryId};

/// What a map is of, as the address says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which forge.
    pub forge: ForgeKind,
    /// The forge's number of the repository.
    pub repository: RepositoryId,
    /// The commit on which the tests ran.
    pub commit: ObjectId,
}

/// Who brought a map, as far as the token proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uploader {
    /// The repository's name, for addresses and for people.
    pub name: RepoName,
    /// The full name of the ref on which the job ran; `None` where a token of the operator's own says nothing of it.
    pub reference: Option<String>,
    /// Which job, or which of the operator's tokens, in one line for people.
    pub what: String,
    /// sha256 of the issuer's name of the token: one token brings one map. `None` for a token of the operator's own.
    pub token: Option<String>,
}

/// A map whose bytes have all come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Of which repository.
    pub repository: RepoRef,
    /// Of which commit.
    pub commit: ObjectId,
    /// Who brought it.
    pub by: Uploader,
    /// When.
    pub received: Timestamp,
    /// sha256 of the bytes as they came, in hexadecimal.
    pub digest: String,
    /// How many they are.
    pub bytes: u64,
}

/// Keeps maps until a worker has looked at them.
#[async_trait]
pub trait UploadStore: Send + Sync + 'static {
    /// An empty file in which the bytes are gathered. It is gone when it is dropped.
    fn scratch(&self) -> std::io::Result<NamedTempFile>;

    /// Keeps a map as pending; durable when it returns, and a worker will look at it.
    async fn keep(&self, upload: Upload, packed: NamedTempFile) -> Result<Kept, NotKept>;
}

/// What became of a map that is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is new, and pending.
    Pending,
    /// These bytes are here for this commit already.
    Duplicate,
}

/// Why a map was not kept. Nothing of it is here.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// It is larger when unpacked than a map may be.
    #[error("{0}")]
    TooLarge(String),
    /// It cannot be unpacked.
    #[error("{0}")]
    Damaged(String),
    /// The token brought another map before.
    #[error("this token has brought another map already: ask for a new token for each map")]
    TokenUsed,
    /// There is no room for more.
    #[error("{0}")]
    Full(String),
    /// The store failed.
    #[error("the store did not take the map")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
