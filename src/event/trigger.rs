//! What a delivery asks for.

use serde::{Deserialize, Serialize};

use super::{Errand, Task};
use crate::words::{ForgeKind, HeadSha, InstallationId, PullNumber, RepoRef};

/// What was made of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Work to do.
    Trigger(Trigger),
    /// Something else to see to.
    Errand(Errand),
    /// Nothing to do, and why.
    Ignored(Ignored),
}

/// A request to look at one pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Whose token reaches the repository; `None` where the hook does not say.
    pub installation: Option<InstallationId>,
    /// The repository that the pull request targets.
    pub repository: RepoRef,
    /// Which pull request.
    pub pull: PullNumber,
    /// The head as the delivery saw it; a hint that must agree with the forge and with git before anything is judged (R59).
    pub head: Option<HeadSha>,
    /// Why.
    pub cause: Cause,
}

impl Trigger {
    /// What else this asks for: a closing frees its commit for other pull requests that have it too (R34).
    pub fn also(&self) -> Option<Errand> {
        let head = self.head.clone().filter(|_| self.cause == Cause::Closed)?;
        let task = Task::Freed { pull: self.pull, head };
        Some(Errand { installation: self.installation, repository: Some(self.repository.clone()), by: None, task })
    }
}

/// Why a pull request is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The pull request was opened.
    Opened,
    /// It was opened again; its base may have moved meanwhile.
    Reopened,
    /// Its head moved.
    Pushed,
    /// Its target branch is another one: an earlier verdict is void at once.
    Retargeted,
    /// It became a draft or ceased to be one; drafts are scored too.
    DraftFlipped,
    /// A body that was seen before came under another delivery id (R8): one fresh look at the present state.
    Replayed,
    /// Somebody who may asked for it.
    Asked,
    /// The base has another policy, ledger, lock or oracles: an earlier verdict is void.
    BaseChanged,
    /// It was found without a current answer.
    Missed,
    /// Somebody reviewed it, or a review was dismissed: whether its holds are acknowledged is asked anew.
    Reviewed,
    /// The label of the evidence lane, or one that the policy's scope names, was set or taken away.
    Labelled,
    /// It was closed or merged: queued work for it is dropped.
    Closed,
}

/// Why a delivery is none of ours. The text is stored beside the delivery.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ignored {
    /// The hook's own handshake.
    #[error("ping")]
    Ping,
    /// An event that no rule of ours reads.
    #[error("event {0:?}")]
    Event(String),
    /// An action of a known event that changes no verdict.
    #[error("event {event:?}, action {action:?}")]
    Action {
        /// The event header.
        event: String,
        /// The body's `action`.
        action: String,
    },
    /// A pull request was edited, and its base was not.
    #[error("edited, with the base as it was")]
    BaseUnchanged,
    /// A review that neither approves nor objects.
    #[error("a review that only comments")]
    OnlyComments,
    /// A comment on an issue, or on a pull request that is closed.
    #[error("a comment on what is no open pull request")]
    NoOpenPull,
    /// A comment of an App or a bot.
    #[error("a comment that a program wrote")]
    Program,
    /// A comment without a command.
    #[error("a comment without a command")]
    NoCommand,
    /// A push to what is no branch, or the end of a branch.
    #[error("a push that moves no branch")]
    NoBranch,
    /// A run or suite without its App or head.
    #[error("a button that is none of ours")]
    ForeignButton,
    /// A forge of which no event is read.
    #[error("events of {0}")]
    Forge(ForgeKind),
}
