//! Signed records, kept in the order in which they were signed. What is in an envelope is nothing to the store.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{EvaluationId, QueueError};
use crate::words::RepoRef;

/// A signed record, and its place among those of its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Whose, under the name of the time.
    pub repository: RepoRef,
    /// Counted from 1, without a gap.
    pub number: u64,
    /// The evaluation that it answers. One that was cut off may have several; the last counts.
    pub evaluation: EvaluationId,
    /// The digest by which the next one names it.
    pub digest: String,
    /// When it was signed.
    pub signed: Timestamp,
    /// The envelope's bytes.
    pub envelope: Vec<u8>,
}

/// Whether a link was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Added {
    /// It is durable.
    Kept,
    /// Its number was taken meanwhile: make another that names the one which took it.
    Taken,
}

/// Links are only ever added. Every method is one transaction.
#[async_trait]
pub trait Envelopes: Send + Sync + 'static {
    /// Number and digest of a repository's last link.
    async fn last_link(&self, repository: &RepoRef) -> Result<Option<(u64, String)>, QueueError>;

    /// Adds a link behind the last one.
    async fn add_link(&self, link: &Link) -> Result<Added, QueueError>;

    /// The last link of an evaluation.
    async fn link_of(&self, evaluation: EvaluationId) -> Result<Option<Link>, QueueError>;

    /// A repository's links whose number is greater than this, in order.
    async fn links(&self, repository: &RepoRef, after: u64, most: u32) -> Result<Vec<Link>, QueueError>;

    /// Every repository that has links, by its latest name.
    async fn linked(&self) -> Result<Vec<RepoRef>, QueueError>;
}
