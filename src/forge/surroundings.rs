//! What the worker asks of a forge besides pull requests, git and runs.

use async_trait::async_trait;

use super::{ForgeError, Output};
use crate::words::{BaseSha, HeadSha, InstallationId, ObjectId, PullNumber, RepoRef, RunId};

/// Comments, lists and the forge's own log. As with [`super::Forge`], every call carries its own authorization.
#[async_trait]
pub trait Surroundings: Send + Sync + 'static {
    /// Puts a reaction of ours on a comment. Twice is as good as once.
    async fn react(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        comment: u64,
        reaction: Reaction,
    ) -> Result<(), ForgeError>;

    /// The oldest comment of our App on a pull request whose text begins with `marker`.
    async fn find_comment(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        marker: &str,
    ) -> Result<Option<u64>, ForgeError>;

    /// Writes a comment, and returns its number. Never sent twice by itself: after [`ForgeError::Retry`] ask
    /// [`Surroundings::find_comment`] first.
    async fn comment(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        text: &str,
    ) -> Result<u64, ForgeError>;

    /// Gives a comment of ours another text. [`ForgeError::NotFound`]: somebody deleted it.
    async fn edit_comment(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        comment: u64,
        text: &str,
    ) -> Result<(), ForgeError>;

    /// Every open pull request, or those that target a branch. Asked conditionally: what did not change costs nothing of the budget.
    async fn open_pulls(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        base: Option<&str>,
    ) -> Result<Vec<OpenPull>, ForgeError>;

    /// Puts a blocking, completed run over whatever stands on a head (R31, R32).
    async fn revoke(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        head: &HeadSha,
        output: &Output,
    ) -> Result<RunId, ForgeError>;

    /// The refs that a merge queue keeps for a branch, with the commits that they point to.
    async fn queue_refs(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        branch: &str,
    ) -> Result<Vec<(String, ObjectId)>, ForgeError>;

    /// Every installation of the App that is not suspended.
    async fn installations(&self) -> Result<Vec<InstallationId>, ForgeError>;

    /// Every repository that an installation reaches.
    async fn repositories(&self, installation: InstallationId) -> Result<Vec<RepoRef>, ForgeError>;

    /// One page of the forge's log of deliveries to the App, newest first; `after` comes from the page before.
    async fn delivery_log(&self, after: Option<&str>) -> Result<LogPage, ForgeError>;

    /// Asks the forge to deliver again.
    async fn deliver_again(&self, id: u64) -> Result<(), ForgeError>;

    /// What is left of the installation's requests, as far as the last answer said.
    fn budget(&self, installation: Option<InstallationId>) -> Option<Budget>;
}

/// How a command was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It is being done.
    Eyes,
    /// It was done.
    ThumbsUp,
    /// It was refused.
    ThumbsDown,
    /// It was not understood, or is about something that is no more.
    Confused,
}

/// An open pull request as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPull {
    /// Its number.
    pub number: PullNumber,
    /// Its tip.
    pub head: HeadSha,
    /// The branch that it targets.
    pub base_branch: String,
    /// The tip of that branch when the head last moved.
    pub base: BaseSha,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// The repository by its present name.
    pub repository: RepoRef,
}

/// Part of the forge's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// Newest first.
    pub entries: Vec<LogEntry>,
    /// What asks for the next page; `None` at the end of the log.
    pub next: Option<String>,
}

/// One try of the forge to deliver something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The number of the try; grows with time.
    pub id: u64,
    /// The delivery: the same on every try.
    pub delivery: String,
    /// The status that we answered with; 0 where no answer came.
    pub status: u16,
}

/// Requests of an installation until the limit is lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What is left.
    pub remaining: u64,
    /// What there is in all.
    pub limit: u64,
    /// When it is lifted: seconds since 1970 by the forge's clock.
    pub resets: i64,
}

impl Budget {
    /// Whether work that nobody waits for may go on: a tenth is kept for what decides a success (R89).
    pub fn allows_background(self) -> bool {
        self.remaining.saturating_mul(10) > self.limit
    }
}
