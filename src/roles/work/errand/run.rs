//! The loop around an errand: keep the lease alive, run it, settle it.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tracing::{error, info, warn};

use super::label::Told;
use crate::event::{Cause, Errand, Task, Trigger};
use crate::queue::{Audit, ErrandLease, Fenced, MAX_ATTEMPTS, QueueError, Settled, backoff};
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::words::{HeadSha, InstallationId, PullNumber, RepoRef};

impl Worker {
    /// One try at one errand, from lease to settlement.
    pub(in crate::roles::work) async fn work_errand(self: Arc<Self>, lease: ErrandLease) {
        let ended = tokio::select! {
            () = self.keep_errand_alive(&lease) => Err(Failure::LeaseLost),
            ended = self.bounded_errand(&lease) => ended,
        };
        if let Err(source) = self.settle_errand(&lease, ended).await {
            error!(
                error = &source as &dyn std::error::Error,
                "cannot settle an errand; its lease runs out and it is taken up again"
            );
        }
    }

    async fn bounded_errand(&self, lease: &ErrandLease) -> Result<(), Failure> {
        let deadline = self.work().deadline;
        match tokio::time::timeout(deadline, self.run_errand(lease)).await {
            Ok(ended) => ended,
            Err(_) => Err(Failure::retry(format!("the errand took longer than {} s", deadline.as_secs()))),
        }
    }

    async fn run_errand(&self, lease: &ErrandLease) -> Result<(), Failure> {
        match &lease.errand.task {
            Task::Obey { pull, comment, command } => self.obey(lease, *pull, *comment, command).await,
            Task::Rescore { head, app, external_id } => self.rescore(lease, head, *app, external_id.as_deref()).await,
            Task::CatchUp { branch } => self.catch_up(lease, branch.as_deref()).await,
            Task::JudgeGroup { .. } => self.judge_group(lease).await,
            Task::Labelled { pull, head, label, account, way } => {
                let told = Told { pull: *pull, head, label, account: *account, way: *way };
                self.labelled(lease, &told).await
            }
            Task::Freed { pull, head } => self.freed(self.place(lease)?, lease.errand.installation, *pull, head).await,
            Task::GroupGone { head } => self.group_gone(lease, head).await,
            Task::Installed => self.installed(lease).await,
            Task::Gone { repositories } => self.gone(lease, repositories).await,
            Task::ReadLog => self.read_log().await,
            Task::EndHangingRuns => self.end_hanging_runs().await,
            Task::TakeUpMaps => self.take_up_maps(lease).await,
            Task::SweepMaps => self.sweep_maps().await,
        }
    }

    async fn keep_errand_alive(&self, lease: &ErrandLease) {
        let length = self.work().lease;
        loop {
            tokio::time::sleep(length / 3).await;
            match self.queue.heartbeat_errand(lease, (self.now)(), length).await {
                Ok(Fenced::Held) => {}
                Ok(Fenced::Lost) => return,
                Err(source) => warn!(error = &source as &dyn std::error::Error, "cannot extend the lease of an errand"),
            }
        }
    }

    async fn settle_errand(&self, lease: &ErrandLease, ended: Result<(), Failure>) -> Result<(), QueueError> {
        let now = (self.now)();
        let end = match ended {
            Ok(()) => Settled::Done,
            Err(Failure::LeaseLost) => return Ok(()),
            Err(Failure::Queue(source)) => return Err(source),
            Err(Failure::Retry { why, after }) if lease.attempt < MAX_ATTEMPTS && self.is_worth_a_try(lease, after) => {
                let pause = after.max(backoff(lease.attempt, 0.5));
                warn!(pause.seconds = pause.as_secs_f64(), "an errand will be tried again: {why}");
                let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX);
                Settled::Retry { not_before: now.saturating_add(pause).unwrap_or(now), why }
            }
            Err(Failure::Retry { why, .. } | Failure::GiveUp { why }) => {
                self.say_about_group(lease, &why).await;
                if comes_again(lease) {
                    warn!("an errand cannot be done: {why}");
                    self.note(lease, "installation", None, &why, serde_json::json!({})).await?;
                    Settled::Done
                } else {
                    error!("giving an errand up: {why}");
                    Settled::Dead { why }
                }
            }
        };
        if self.queue.settle_errand(lease, end, now).await? == Fenced::Lost {
            warn!("the lease of an errand was lost before it was settled");
        }
        Ok(())
    }

    /// A row of the audit log about an errand.
    pub(super) async fn note(
        &self,
        lease: &ErrandLease,
        kind: &str,
        pull: Option<PullNumber>,
        what: &str,
        details: serde_json::Value,
    ) -> Result<(), QueueError> {
        let row = Audit {
            at: (self.now)(),
            kind: kind.to_owned(),
            repository: lease.errand.repository.clone(),
            pull,
            who: lease.errand.by.clone(),
            delivery: lease.delivery.as_ref().map(|id| id.as_str().to_owned()),
            what: what.to_owned(),
            details: details.to_string(),
        };
        info!(audit.kind = kind, "{what}");
        self.queue.note(&row).await
    }

    /// A look at a pull request, for somebody who asked or because something was found.
    pub(in crate::roles::work) async fn look_at(
        &self,
        repository: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        head: Option<HeadSha>,
        cause: Cause,
    ) -> Result<(), QueueError> {
        let trigger = Trigger { installation, repository: repository.clone(), pull, head, cause };
        self.queue.ask(&[trigger], (self.now)()).await
    }

    /// The repository that an errand is about.
    #[expect(clippy::unused_self, reason = "it reads as all other questions of an errand do")]
    pub(super) fn place<'l>(&self, lease: &'l ErrandLease) -> Result<&'l RepoRef, Failure> {
        let Errand { repository, .. } = &lease.errand;
        repository.as_ref().ok_or_else(|| Failure::GiveUp { why: "the errand names no repository".to_owned() })
    }

    /// Work that nobody waits for stops where only the reserve of the budget is left (R89).
    pub(super) fn within_budget(&self, installation: Option<InstallationId>) -> Result<(), Failure> {
        match self.surroundings.budget(installation) {
            Some(budget) if !budget.allows_background() => {
                let resets = Timestamp::from_second(budget.resets).unwrap_or_else(|_| (self.now)());
                let after = Duration::try_from(resets.duration_since((self.now)())).unwrap_or(Duration::ZERO);
                if after.is_zero() {
                    return Ok(());
                }
                let why =
                    format!("{} of {} requests are left, which are kept for verdicts", budget.remaining, budget.limit);
                Err(Failure::Retry { why, after })
            }
            _ => Ok(()),
        }
    }
}

/// A look for what was missed comes again by itself, so it leaves no dead letter behind: what is missing is said in the audit log.
fn comes_again(lease: &ErrandLease) -> bool {
    match lease.errand.task {
        Task::CatchUp { .. }
        | Task::Freed { .. }
        | Task::GroupGone { .. }
        | Task::Installed
        | Task::Gone { .. }
        | Task::EndHangingRuns
        | Task::ReadLog
        | Task::TakeUpMaps
        | Task::SweepMaps => true,
        Task::Obey { .. } | Task::Rescore { .. } | Task::JudgeGroup { .. } | Task::Labelled { .. } => false,
    }
}
