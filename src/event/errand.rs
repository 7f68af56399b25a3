//! Work that is not the judging of one pull request.

use serde::{Deserialize, Serialize};

use super::Command;
use crate::words::{BaseSha, HeadSha, InstallationId, PullNumber, RepoRef};

/// Something to see to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// Whose token reaches it; `None` where the hook does not say.
    pub installation: Option<InstallationId>,
    /// Where; `None` for what is about the App or an installation as a whole.
    pub repository: Option<RepoRef>,
    /// Who did what led to it, by login. Their permission is asked for when the errand is run.
    pub by: Option<String>,
    /// What.
    pub task: Task,
}

/// What an errand is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A command in a comment.
    Obey {
        /// On which pull request.
        pull: PullNumber,
        /// The number of the comment: a command is run once (R72).
        comment: u64,
        /// What it says.
        command: Command,
    },
    /// GitHub's own Re-run, or a button of ours.
    Rescore {
        /// The commit that the run or suite is on.
        head: HeadSha,
        /// The App that the run or suite is of.
        app: Option<u64>,
        /// Our evaluation's id, as far as the forge says; `None` for a whole suite.
        external_id: Option<String>,
    },
    /// Open pull requests whose head has no current answer.
    CatchUp {
        /// Only those that target this branch.
        branch: Option<String>,
    },
    /// A merge group that waits for checks.
    JudgeGroup {
        /// The commit that would become the branch's tip.
        head: HeadSha,
        /// The full name of the queue's own ref.
        reference: String,
        /// The branch that is merged into.
        branch: String,
        /// Its tip, as the queue took it.
        base: BaseSha,
    },
    /// A label of a pull request was set or taken away.
    Labelled {
        /// On which pull request.
        pull: PullNumber,
        /// Its head in that moment.
        head: HeadSha,
        /// The label's name.
        label: String,
        /// The account that did it.
        account: u64,
        /// Which of the two.
        way: Way,
    },
    /// A pull request has this commit no more, or no verdict on it that could block others.
    Freed {
        /// Which pull request.
        pull: PullNumber,
        /// The commit.
        head: HeadSha,
    },
    /// A merge group that nobody waits for any more.
    GroupGone {
        /// The commit that would have become the branch's tip.
        head: HeadSha,
    },
    /// What an installation reaches changed, or it may be reached again.
    Installed,
    /// An installation, or some of its repositories, cannot be reached any more.
    Gone {
        /// Which; empty for all.
        repositories: Vec<u64>,
    },
    /// The forge's own log of deliveries, read back to what is known.
    ReadLog,
    /// Runs that nobody works at any more.
    EndHangingRuns,
    /// Coverage maps of the repository that came in and that nobody has looked at yet.
    TakeUpMaps,
    /// Maps of all repositories that nobody asks for any more, and those that are pending still.
    SweepMaps,
}

/// What happened to a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// It was set.
    Set,
    /// It was taken away.
    Removed,
}

impl Errand {
    /// Two errands of one key do one work while neither has begun.
    pub fn key(&self) -> String {
        let place = self.repository.as_ref().map(|repo| format!("{}/{}", repo.forge, repo.id));
        let place = place
            .unwrap_or_else(|| self.installation.map_or_else(|| "app".to_owned(), |id| format!("installation/{id}")));
        let what = match &self.task {
            Task::Obey { comment, .. } => format!("obey/{comment}"),
            Task::Rescore { head, .. } => format!("rescore/{head}/{}", self.by.as_deref().unwrap_or_default()),
            Task::CatchUp { branch } => format!("catch-up/{}", branch.as_deref().unwrap_or_default()),
            Task::JudgeGroup { head, .. } => format!("group/{head}"),
            Task::Labelled { pull, head, label, account, way } => {
                format!("label/{pull}/{head}/{account}/{way:?}/{label}")
            }
            Task::Freed { pull, head } => format!("freed/{pull}/{head}"),
            Task::GroupGone { head } => format!("group-gone/{head}"),
            Task::Installed => "installed".to_owned(),
            Task::Gone { repositories } => format!("gone/{repositories:?}"),
            Task::ReadLog => "log".to_owned(),
            Task::EndHangingRuns => "hanging".to_owned(),
            Task::TakeUpMaps => "maps".to_owned(),
            Task::SweepMaps => "sweep-maps".to_owned(),
        };
        format!("{place}/{what}")
    }

    /// Whether it is run once and never again, whatever is delivered.
    pub fn is_once(&self) -> bool {
        matches!(self.task, Task::Obey { .. })
    }
}
