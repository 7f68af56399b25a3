//! Who approves, asked of the forge at the moment of the decision.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::worker::Worker;
use crate::evidence::authority::Reviews;
use crate::evidence::lane::Labelled;
use crate::words::{HeadSha, InstallationId, PullNumber, RepoRef};

/// Of so many the role is asked; in a public repository anybody may approve.
const MOST_ASKED: usize = 50;

/// What a delivery told of a label: who set it, and on which head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LabelMark {
    pub(super) account: u64,
    pub(super) head: HeadSha,
}

/// Where that is kept.
pub(super) fn label_mark(repository: &RepoRef, pull: PullNumber, label: &str) -> String {
    format!("label/{}/{}/{pull}/{}", repository.forge, repository.id, label.to_lowercase())
}

impl Worker {
    /// The reviews of the pull request and the labels that may grant something, and where somebody approves this head, what they may do
    /// now and whose the commits are. What cannot be asked is a failure, and never an approval.
    pub(super) async fn reviews(
        &self,
        repository: &RepoRef,
        installation: Option<InstallationId>,
        (pull, head, labels): (PullNumber, &HeadSha, &[String]),
    ) -> Result<Reviews, Failure> {
        let reviews = self.forge.reviews(repository, installation, pull).await?;
        let mut found = Reviews { reviews, ..Reviews::default() };
        found.labels = self.labels(repository, installation, pull, labels).await?;
        let mut people: Vec<String> = found
            .approving(head)
            .filter(|account| !account.is_bot)
            .map(|account| account.login.clone())
            .take(MOST_ASKED)
            .collect();
        if !people.is_empty() {
            found.commits = self.forge.pull_commits(repository, installation, pull).await?;
        }
        people.extend(found.labels.values().map(|label| label.by.login.clone()));
        people.sort();
        people.dedup();
        for login in people {
            if let Some(role) = self.forge.role(repository, installation, &login).await? {
                found.roles.insert(login, role);
            }
        }
        Ok(found)
    }

    /// Each label that a delivery told of and that the forge says the same account set, newest setting first.
    async fn labels(
        &self,
        repository: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        labels: &[String],
    ) -> Result<BTreeMap<String, Labelled>, Failure> {
        let mut found = BTreeMap::new();
        for label in labels {
            let kept = self.queue.mark(&label_mark(repository, pull, label)).await?;
            let Some(mark) = kept.and_then(|(_, text)| serde_json::from_str::<LabelMark>(&text).ok()) else { continue };
            let setter = self.forge.label_setter(repository, installation, pull, label).await?;
            if let Some(by) = setter.filter(|account| account.id == mark.account) {
                found.insert(label.clone(), Labelled { by, head: mark.head });
            }
        }
        Ok(found)
    }
}
