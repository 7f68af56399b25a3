//! The loop: claim, keep the lease alive, settle.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, error, info, info_span, warn};

use super::failure::Failure;
use crate::config::{Settings, Work};
use crate::forge::{Forge, Surroundings};
use crate::queue::{Fenced, Lease, MAX_ATTEMPTS, Queue, QueueError, RunnerId, Settled, backoff};

/// How long running jobs may go on after the worker was told to stop. Past it they are dropped; their leases run out.
const GRACE: Duration = Duration::from_secs(25);

/// When the loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::roles) enum Until {
    /// When it is told to stop.
    Stopped,
    /// When no job is queued or running, waiting for retries that are due later.
    Drained,
}

/// One worker process.
pub(in crate::roles) struct Worker {
    pub(super) queue: Arc<dyn Queue>,
    pub(super) forge: Arc<dyn Forge>,
    pub(super) surroundings: Arc<dyn Surroundings>,
    /// The App's number: runs of others are not ours to touch.
    pub(super) app: u64,
    pub(super) settings: Settings,
    pub(super) runner: RunnerId,
    pub(super) now: fn() -> Timestamp,
}

impl Worker {
    /// A worker that is not yet working.
    pub(in crate::roles) fn new(
        queue: Arc<dyn Queue>,
        forge: Arc<dyn Forge>,
        surroundings: Arc<dyn Surroundings>,
        app: u64,
        settings: Settings,
        runner: RunnerId,
        now: fn() -> Timestamp,
    ) -> Self {
        Self { queue, forge, surroundings, app, settings, runner, now }
    }

    pub(super) fn work(&self) -> &Work {
        &self.settings.work
    }

    /// Works until then. An error is the queue's: nothing can be done without it.
    pub(in crate::roles) async fn run(
        self: Arc<Self>,
        until: Until,
        stop: CancellationToken,
    ) -> Result<(), QueueError> {
        let mut jobs = JoinSet::new();
        let house = (until == Until::Stopped).then(|| tokio::spawn(Arc::clone(&self).keep_house(stop.clone())));
        while !stop.is_cancelled() {
            let idle = !self.claim_while_there_is_room(&mut jobs).await?;
            if idle && jobs.is_empty() && until == Until::Drained && self.is_drained().await? {
                return Ok(());
            }
            tokio::select! {
                Some(ended) = jobs.join_next() => report_panic(ended),
                () = self.queue.wait(self.work().poll), if jobs.len() < self.work().concurrency => {}
                () = stop.cancelled() => {}
            }
        }
        info!(jobs.running = jobs.len(), "stopping; running jobs may finish for {} s", GRACE.as_secs());
        let finish = async {
            while let Some(ended) = jobs.join_next().await {
                report_panic(ended);
            }
        };
        if tokio::time::timeout(GRACE, finish).await.is_err() {
            warn!("jobs are still running and are dropped; their leases run out and they are taken up again");
        }
        if let Some(house) = house {
            house.abort();
        }
        Ok(())
    }

    /// Whether at least one job was taken.
    async fn claim_while_there_is_room(self: &Arc<Self>, jobs: &mut JoinSet<()>) -> Result<bool, QueueError> {
        let mut took = false;
        while jobs.len() < self.work().concurrency.max(1) {
            // Asked before the jobs, since most of them are quick and people wait; and after, so that none is passed over.
            if self.claim_errand(jobs).await? {
                took = true;
                continue;
            }
            let claimed = self.queue.claim(&self.runner, (self.now)(), self.work().lease).await?;
            let Some(lease) = claimed else {
                if self.claim_errand(jobs).await? {
                    took = true;
                    continue;
                }
                break;
            };
            took = true;
            let trigger = &lease.job.trigger;
            let span = info_span!(
                "job",
                repo.name = %trigger.repository,
                pull.number = %trigger.pull,
                job.generation = lease.generation.0,
                job.attempt = lease.job.attempt,
                evaluation.id = %lease.evaluation,
            );
            jobs.spawn(Arc::clone(self).work_one(lease).instrument(span));
        }
        Ok(took)
    }

    async fn claim_errand(self: &Arc<Self>, jobs: &mut JoinSet<()>) -> Result<bool, QueueError> {
        let claimed = self.queue.claim_errand(&self.runner, (self.now)(), self.work().lease).await?;
        let Some(lease) = claimed else { return Ok(false) };
        let key = lease.errand.key();
        let span = info_span!("errand", errand.key = %key, errand.attempt = lease.attempt);
        jobs.spawn(Arc::clone(self).work_errand(lease).instrument(span));
        Ok(true)
    }

    async fn is_drained(&self) -> Result<bool, QueueError> {
        let depth = self.queue.depth((self.now)()).await?;
        Ok(depth.queued == 0 && depth.running == 0)
    }

    /// One try at one job, from lease to settlement.
    async fn work_one(self: Arc<Self>, lease: Lease) {
        let ended = tokio::select! {
            () = self.keep_alive(&lease) => Err(Failure::LeaseLost),
            ended = self.bounded(&lease) => ended,
        };
        if let Err(source) = self.settle(&lease, ended).await {
            error!(
                error = &source as &dyn std::error::Error,
                "cannot settle the job; its lease runs out and it is taken up again"
            );
        }
    }

    /// The evaluation, within the deadline.
    async fn bounded(&self, lease: &Lease) -> Result<(), Failure> {
        let deadline = self.work().deadline;
        match tokio::time::timeout(deadline, self.evaluate(lease)).await {
            Ok(ended) => ended,
            Err(_) => Err(Failure::retry(format!("the evaluation took longer than {} s", deadline.as_secs()))),
        }
    }

    /// Extends the lease at a third of its length, and returns when it is lost.
    async fn keep_alive(&self, lease: &Lease) {
        let length = self.work().lease;
        let mut lost_at = (self.now)().saturating_add(signed(length)).unwrap_or(Timestamp::MAX);
        loop {
            tokio::time::sleep(length / 3).await;
            let now = (self.now)();
            match self.queue.heartbeat(lease, now, length).await {
                Ok(Fenced::Held) => lost_at = now.saturating_add(signed(length)).unwrap_or(Timestamp::MAX),
                Ok(Fenced::Lost) => return,
                Err(source) => {
                    warn!(error = &source as &dyn std::error::Error, "cannot extend the lease");
                    if now >= lost_at {
                        return;
                    }
                }
            }
        }
    }

    async fn settle(&self, lease: &Lease, ended: Result<(), Failure>) -> Result<(), QueueError> {
        let now = (self.now)();
        let end = match ended {
            Ok(()) => Settled::Done,
            Err(Failure::LeaseLost) => {
                warn!("the lease was lost: somebody else has the job, or newer work replaced it");
                return Ok(());
            }
            Err(Failure::Queue(source)) => return Err(source),
            Err(Failure::Retry { why, after }) if lease.job.attempt < MAX_ATTEMPTS => {
                let pause = after.max(backoff(lease.job.attempt, jitter(lease)));
                warn!(pause.seconds = pause.as_secs_f64(), "will try again: {why}");
                Settled::Retry { not_before: now.saturating_add(signed(pause)).unwrap_or(now), why }
            }
            Err(Failure::Retry { why, .. } | Failure::GiveUp { why }) => {
                error!("giving up: {why}");
                self.say_unscored(lease, &why).await;
                Settled::Dead { why }
            }
        };
        if self.queue.settle(lease, end, now).await? == Fenced::Lost {
            warn!("the lease was lost before the job was settled");
        }
        Ok(())
    }
}

/// From 0 to 1, another for each evaluation: its id ends in random bits.
fn jitter(lease: &Lease) -> f64 {
    let [.., last] = *lease.evaluation.0.as_bytes();
    f64::from(last) / 255.0
}

fn signed(length: Duration) -> SignedDuration {
    SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX)
}

fn report_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(source) = ended {
        error!(error = &source as &dyn std::error::Error, "a job died; its lease runs out and it is taken up again");
    }
}
