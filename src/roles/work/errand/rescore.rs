//! GitHub's own Re-run, for a run or a whole suite, and our button (R78). All they can ask for is another evaluation.

use serde_json::json;

use super::group::mark_of;
use super::permission::Leave;
use crate::event::{Cause, Errand};
use crate::queue::ErrandLease;
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::words::{HeadSha, PullNumber};

impl Worker {
    /// Looks again at every open pull request whose head it is, for somebody who may ask.
    pub(super) async fn rescore(
        &self,
        lease: &ErrandLease,
        head: &HeadSha,
        app: Option<u64>,
        external_id: Option<&str>,
    ) -> Result<(), Failure> {
        let repository = self.place(lease)?;
        if app.is_some_and(|app| app != self.app) {
            return Ok(());
        }
        let pulls = self.pulls_behind(lease, head, external_id).await?;
        if pulls.is_empty() {
            return self.rescore_group(lease, head).await;
        }
        for number in pulls {
            let Some(pull) = self.open_pull(lease, number).await?.filter(|pull| pull.head == *head) else { continue };
            let details = json!({ "head": head.to_string(), "evaluation": external_id });
            match self.leave(lease, &pull).await? {
                Leave::Granted => {
                    let installation = lease.errand.installation;
                    self.look_at(repository, installation, number, Some(head.clone()), Cause::Asked).await?;
                    self.note(lease, "command", Some(number), "re-run", details).await?;
                }
                Leave::Refused(why) | Leave::Silence(why) => {
                    self.note(lease, "refusal", Some(number), &format!("re-run: {why}"), details).await?;
                }
            }
        }
        Ok(())
    }

    /// The pull request of the evaluation, else all that were judged on this head, else all that the forge shows with it.
    async fn pulls_behind(
        &self,
        lease: &ErrandLease,
        head: &HeadSha,
        external_id: Option<&str>,
    ) -> Result<Vec<PullNumber>, Failure> {
        let repository = self.place(lease)?;
        if let Some(id) = external_id
            && let Some((of, pull)) = self.queue.pull_of(id).await?
            && of == repository.id
        {
            return Ok(vec![pull]);
        }
        let known = self.queue.pulls_on(repository, head).await?;
        if !known.is_empty() {
            return Ok(known);
        }
        let open = self.surroundings.open_pulls(repository, lease.errand.installation, None).await?;
        Ok(open.into_iter().filter(|pull| pull.head == *head).map(|pull| pull.number).collect())
    }

    /// A merge group is judged again as it was asked for.
    async fn rescore_group(&self, lease: &ErrandLease, head: &HeadSha) -> Result<(), Failure> {
        let repository = self.place(lease)?;
        let Some((_, text)) = self.queue.mark(&mark_of(repository, head)).await? else { return Ok(()) };
        let errand: Errand = serde_json::from_str(&text).map_err(|error| Failure::GiveUp {
            why: format!("the merge group that was kept cannot be read: {error}"),
        })?;
        let who = lease.errand.by.clone().unwrap_or_default();
        let role = self.forge.role(repository, lease.errand.installation, &who).await?;
        let details = json!({ "head": head.to_string() });
        if role.is_none_or(|role| role < crate::words::Role::Write) {
            return Ok(self.note(lease, "refusal", None, "re-run of a merge group", details).await?);
        }
        self.queue.send(&[errand], (self.now)()).await?;
        Ok(self.note(lease, "command", None, "re-run of a merge group", details).await?)
    }
}
