//! A commit that is the head of several pull requests has one check run: one of them is judged at a time, and the worst verdict counts
//! (R34, R40).

use std::time::Duration;

use super::failure::Failure;
use super::worker::Worker;
use crate::forge::{ForgeError, PullState};
use crate::proof::Sealed;
use crate::queue::{Audit, Lease, Reserved};
use crate::score::Record;
use crate::words::{HeadSha, PullNumber, RepoRef, RunId, Verdict};

fn beside_mark(repository: &RepoRef, pull: PullNumber) -> String {
    format!("beside/{}/{}/{pull}", repository.forge, repository.id)
}

impl Worker {
    /// Takes the right to write on this head, or waits for whoever has it.
    pub(super) async fn reserve(&self, lease: &Lease, head: &HeadSha) -> Result<(), Failure> {
        match self.queue.reserve(lease, head, (self.now)()).await? {
            Reserved::Held => Ok(()),
            Reserved::Lost => Err(Failure::LeaseLost),
            Reserved::Busy => Err(Failure::Retry {
                why: format!("another pull request with the head {head} is being judged"),
                after: Duration::from_secs(2),
            }),
        }
    }

    /// The open pull request with this very head whose verdict is worst, if it is worse than this record's.
    pub(super) async fn worse_beside(
        &self,
        lease: &Lease,
        record: &Record,
        head: &HeadSha,
    ) -> Result<Option<(PullNumber, Verdict)>, Failure> {
        let trigger = &lease.job.trigger;
        let mut others = self.queue.sharing(&trigger.repository, head, trigger.pull).await?;
        others.retain(|(_, verdict)| *verdict > record.verdict);
        others.sort_by_key(|(pull, verdict)| (std::cmp::Reverse(*verdict), *pull));
        for (pull, verdict) in others {
            let shown = match self.forge.pull(&trigger.repository, trigger.installation, pull).await {
                Err(ForgeError::NotFound { .. }) => continue,
                shown => shown?,
            };
            if shown.state == PullState::Open && shown.head == *head {
                return Ok(Some((pull, verdict)));
            }
        }
        Ok(None)
    }

    /// Keeps whose verdict the run of a pull request shows in place of its own, if another's does.
    pub(super) async fn remember_beside(
        &self,
        lease: &Lease,
        worse: Option<(PullNumber, Verdict)>,
    ) -> Result<(), Failure> {
        let trigger = &lease.job.trigger;
        let name = beside_mark(&trigger.repository, trigger.pull);
        if worse.is_none() && self.queue.mark(&name).await?.is_none() {
            return Ok(());
        }
        let other = worse.map(|(pull, _)| pull.to_string()).unwrap_or_default();
        Ok(self.queue.set_mark(&name, &other, (self.now)()).await?)
    }

    /// The pull request whose verdict is shown in place of this one's.
    pub(super) async fn beside(&self, repository: &RepoRef, pull: PullNumber) -> Result<Option<PullNumber>, Failure> {
        let kept = self.queue.mark(&beside_mark(repository, pull)).await?;
        Ok(kept.and_then(|(_, other)| other.parse().ok()).map(PullNumber))
    }

    /// A row of the audit log about a verdict (R101).
    pub(super) async fn note_verdict(
        &self,
        lease: &Lease,
        record: &Record,
        run: RunId,
        worse: Option<(PullNumber, Verdict)>,
        sealed: &Sealed,
    ) -> Result<(), Failure> {
        let trigger = &lease.job.trigger;
        let details = serde_json::json!({
            "head": record.head, "base_ref": record.base_ref, "base": record.base, "merge_base": record.merge_base,
            "digests": record.digests, "evaluation": lease.evaluation.to_string(), "run": run, "cause": trigger.cause,
            "sha256": sealed.digest, "key": sealed.key,
            "beside": worse.map(|(pull, verdict)| serde_json::json!({ "pull": pull, "verdict": verdict })),
        });
        let delivery = self.queue.delivery_of(lease).await?;
        let row = Audit {
            at: (self.now)(),
            kind: "verdict".to_owned(),
            repository: Some(trigger.repository.clone()),
            pull: Some(trigger.pull),
            who: Some(self.runner.0.clone()),
            delivery: delivery.map(|id| id.as_str().to_owned()),
            what: format!("{}: {}", record.verdict, record.title),
            details: details.to_string(),
        };
        Ok(self.queue.note(&row).await?)
    }
}
