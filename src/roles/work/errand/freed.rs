//! A commit that several pull requests have is freed by one of them: the others are shown by their own verdict again (R34).

use crate::event::Cause;
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::words::{HeadSha, InstallationId, PullNumber, RepoRef};

impl Worker {
    /// Looks at every other pull request whose last answer is about this commit.
    pub(in crate::roles::work) async fn freed(
        &self,
        repository: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        head: &HeadSha,
    ) -> Result<(), Failure> {
        for (other, _) in self.queue.sharing(repository, head, pull).await? {
            self.look_at(repository, installation, other, None, Cause::Missed).await?;
        }
        Ok(())
    }
}
