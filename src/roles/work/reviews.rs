//! Who approves, asked of the forge at the moment of the decision.

use super::failure::Failure;
use super::worker::Worker;
use crate::evidence::authority::Reviews;
use crate::queue::Lease;
use crate::words::HeadSha;

impl Worker {
    /// The reviews of the pull request, and where somebody approves this head, what they may do now and whose the commits are. What
    /// cannot be asked is a failure, and never an approval.
    pub(super) async fn reviews(&self, lease: &Lease, head: &HeadSha) -> Result<Reviews, Failure> {
        let trigger = &lease.job.trigger;
        let (repository, installation) = (&trigger.repository, trigger.installation);
        let reviews = self.forge.reviews(repository, installation, trigger.pull).await?;
        let mut found = Reviews { reviews, ..Reviews::default() };
        let approving: Vec<String> = found
            .approving(head)
            .filter(|account| !account.is_bot)
            .map(|account| account.login.clone())
            .take(MOST_ASKED)
            .collect();
        if !approving.is_empty() {
            found.commits = self.forge.pull_commits(repository, installation, trigger.pull).await?;
        }
        for login in approving {
            if let Some(role) = self.forge.role(repository, installation, &login).await? {
                found.roles.insert(login, role);
            }
        }
        Ok(found)
    }
}

/// Of so many the role is asked; in a public repository anybody may approve.
const MOST_ASKED: usize = 50;
