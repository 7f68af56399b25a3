//! One evaluation, from the present state of a pull request to a published run.
//!
//! The order is the point: the state is read from the forge, a new run takes the place of whatever stood there (R31, R32), the
//! change is judged from git objects, the state is read once more (R60), the intent to post is noted (R39), and only then is the
//! answer posted and read back (R33). A crash between any two steps is repaired by the next try.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::SignedDuration;
use tracing::{info, warn};

use super::failure::Failure;
use super::worker::Worker;
use crate::config::Unconfigured;
use crate::event::Cause;
use crate::evidence::NO_POLICY;
use crate::evidence::authority::Reviews;
use crate::forge::{NewRun, Pull, PullState, RunUpdate};
use crate::pipeline;
use crate::queue::{Evaluation, EvaluationState, Fenced, Lease, Superseded};
use crate::report::{self, PostError, Posting, Target};
use crate::score::{Record, Subject};
use crate::web::Exhibit;
use crate::words::{BaseSha, HeadSha, RepoRef, RunId};

/// How often a change is judged anew because the base moved meanwhile, within one try.
const ROUNDS: u32 = 4;

/// What the forge says now.
struct Seen {
    pull: Pull,
    base: BaseSha,
}

impl Seen {
    /// Whether an answer for `self` still answers for `later`; base tip and labels apart, which are compared by themselves.
    fn same_question(&self, later: &Self) -> bool {
        let key = |seen: &Self| (seen.pull.state, seen.pull.head.clone(), seen.pull.base_branch.clone());
        key(self) == key(later)
    }
}

impl Worker {
    /// One try. Ends well when the newest state has a published answer, or when there is nothing to answer.
    pub(super) async fn evaluate(&self, lease: &Lease) -> Result<(), Failure> {
        if lease.job.trigger.cause == Cause::Closed {
            return Ok(());
        }
        let earlier = self.queue.evaluation(lease.evaluation).await?;
        let mut seen = self.look(lease).await?;
        if seen.pull.state == PullState::Closed {
            info!("the pull request is closed: nothing to judge");
            return self.end_superseded(lease, earlier.as_ref(), "the pull request was closed").await;
        }
        if already_answered(earlier.as_ref(), &seen) {
            return Ok(());
        }
        self.end_run_on_another_head(lease, earlier.as_ref(), &seen).await?;
        self.reserve(lease, &seen.pull.head).await?;
        if self.finish_interrupted_post(lease, earlier.as_ref(), &seen).await? {
            return self.agree_on_head(lease, &seen);
        }
        let silent = self.work().unconfigured == Unconfigured::Silent;
        let mut run = if silent { None } else { Some(self.open_run(lease, earlier.as_ref(), &seen).await?) };
        let mut rounds = 0;
        let (record, exhibit, reviews) = loop {
            rounds += 1;
            let reviews = self.reviews_of(lease, &seen).await?;
            let maps = self.known_maps(&lease.job.trigger.repository)?.1;
            let (record, exhibit) = self.judge(lease, &seen, reviews.clone()).await?;
            let later = self.look(lease).await?;
            if !seen.same_question(&later) {
                // A newer job may take this one's place, and knows nothing of its run: it must not wait for ever.
                if let Some(run) = run {
                    self.complete_superseded(lease, run).await?;
                }
                return Err(Failure::retry("the pull request changed while it was judged"));
            }
            if labels(&later) != labels(&seen) {
                info!("the labels changed meanwhile: judging again");
            } else if self.known_maps(&lease.job.trigger.repository)?.1 != maps {
                info!("a coverage map came meanwhile: judging again");
            } else if later.base == seen.base {
                // A success that stands on an approval or a label: it must still be there.
                if !stands_on_somebody(&record) || self.reviews_of(lease, &later).await? == reviews {
                    break (record, exhibit, reviews);
                }
                info!("the reviews changed meanwhile: judging again");
            } else {
                info!(base.before = %seen.base, base.now = %later.base, "the base branch moved meanwhile: judging again");
            }
            if rounds == ROUNDS {
                return Err(Failure::retry(
                    "the base branch, the labels, the reviews or the maps changed each time the change was judged",
                ));
            }
            seen = later;
        };
        if silent && is_without_policy(&record) {
            info!("the repository has no policy, and `work.unconfigured` is \"silent\"");
            return Ok(());
        }
        if run.is_none() {
            run = Some(self.open_run(lease, earlier.as_ref(), &seen).await?);
        }
        self.remember_people(&lease.job.trigger.repository, &seen.pull, &reviews).await?;
        let run = run.expect("a run was opened on either way here");
        self.publish(lease, &seen, run, &record, &exhibit).await?;
        self.agree_on_head(lease, &seen)
    }

    async fn reviews_of(&self, lease: &Lease, seen: &Seen) -> Result<Reviews, Failure> {
        let trigger = &lease.job.trigger;
        let Pull { number, head, labels, .. } = &seen.pull;
        self.reviews(&trigger.repository, trigger.installation, (*number, head, labels)).await
    }

    /// Reads the pull request, and the tip of the branch that it targets.
    async fn look(&self, lease: &Lease) -> Result<Seen, Failure> {
        let trigger = &lease.job.trigger;
        let pull = self.forge.pull(&trigger.repository, trigger.installation, trigger.pull).await?;
        let base = self.forge.branch_tip(&trigger.repository, trigger.installation, &pull.base_branch).await?;
        Ok(Seen { pull, base })
    }

    /// Opens the run that takes the place of whatever stood on this head, or finds the one that an earlier try opened.
    async fn open_run(&self, lease: &Lease, earlier: Option<&Evaluation>, seen: &Seen) -> Result<RunId, Failure> {
        let trigger = &lease.job.trigger;
        let head = &seen.pull.head;
        let known = earlier.filter(|e| e.head.as_ref() == Some(head)).and_then(|e| e.run);
        let external_id = lease.evaluation.to_string();
        let posted = if known.is_some() || lease.job.attempt > 1 {
            self.forge.find_run(&trigger.repository, trigger.installation, head, &external_id).await?
        } else {
            None
        };
        let run = if let Some(open) = posted.filter(|run| !run.completed) {
            open.id
        } else {
            let new = NewRun { head: head.clone(), external_id, output: report::waiting(&seen.pull.base_branch, head) };
            self.forge.open_run(&trigger.repository, trigger.installation, &new).await?
        };
        held(self.queue.run_opened(lease, head, run).await?)?;
        self.forge.update_run(&trigger.repository, trigger.installation, run, &RunUpdate::Started).await?;
        Ok(run)
    }

    /// Fetches the exact commits and judges them, away from the threads that talk to the network.
    async fn judge(&self, lease: &Lease, seen: &Seen, reviews: Reviews) -> Result<(Record, Exhibit), Failure> {
        let trigger = &lease.job.trigger;
        // The name in the delivery may be an old one; the API follows it, git does not (R87).
        let present = RepoRef { name: seen.pull.repo_name.clone(), ..trigger.repository.clone() };
        let remote = self.forge.remote(&present, trigger.installation).await?;
        let origin = Self::origin_of(&trigger.repository, &seen.pull);
        let pull = &seen.pull;
        let mut question =
            self.question(&trigger.repository, origin, pull.base_branch.clone(), seen.base.clone(), pull.head.clone())?;
        question.reviews = Some(reviews);
        let data_dir = self.settings.data_dir.clone();
        self.away(move || pipeline::score_mirrored_with_exhibit(&data_dir, &remote, &question)).await
    }

    /// Notes the intent, posts, reads back.
    async fn publish(
        &self,
        lease: &Lease,
        seen: &Seen,
        run: RunId,
        record: &Record,
        exhibit: &Exhibit,
    ) -> Result<(), Failure> {
        let trigger = &lease.job.trigger;
        let bytes = report::json(record);
        match self.queue.begin_post(lease, record.verdict, bytes.as_bytes()).await? {
            Superseded::Current => {}
            Superseded::ByNewer => {
                info!("newer work exists: the result is recorded and not published");
                self.complete_superseded(lease, run).await?;
                return Ok(());
            }
        }
        let target = Target {
            repo: &trigger.repository,
            installation: trigger.installation,
            run,
            head: &seen.pull.head,
            external_id: &lease.evaluation.to_string(),
        };
        let before = self.queue.answer(&trigger.repository, trigger.pull).await?;
        let worse = self.worse_beside(lease, record, &seen.pull.head).await?;
        let sealed = self.sign(&trigger.repository, lease.evaluation, record).await?;
        self.note_verdict(lease, record, run, worse, &sealed).await?;
        self.remember_beside(lease, worse).await?;
        let details = self.exhibit(lease, exhibit).await?;
        let posting = Posting::beside(record, &self.work().rules_url, worse).with_details(details);
        report::post(self.forge.as_ref(), &target, &posting).await?;
        held(self.queue.posted(lease).await?)?;
        // Whoever shared the commit was shown this pull request's verdict where it was worse.
        if let Some(before) =
            before.filter(|before| (&before.head, before.verdict) != (&seen.pull.head, record.verdict))
        {
            self.freed(&trigger.repository, trigger.installation, trigger.pull, &before.head).await?;
        }
        info!(verdict = %record.verdict, run.id = %run, "scored {}#{}: {}", trigger.repository, trigger.pull, record.title);
        Ok(())
    }

    /// An earlier try noted its intent to post and was cut off. If the forge shows the run completed, only the note is missing.
    async fn finish_interrupted_post(
        &self,
        lease: &Lease,
        earlier: Option<&Evaluation>,
        seen: &Seen,
    ) -> Result<bool, Failure> {
        let Some(earlier) =
            earlier.filter(|e| e.state == EvaluationState::Posting && e.head.as_ref() == Some(&seen.pull.head))
        else {
            return Ok(false);
        };
        let trigger = &lease.job.trigger;
        let id = earlier.id.to_string();
        let found = self.forge.find_run(&trigger.repository, trigger.installation, &seen.pull.head, &id).await?;
        if !found.is_some_and(|run| run.completed) {
            return Ok(false);
        }
        held(self.queue.posted(lease).await?)?;
        info!("an earlier try had posted the answer: noted");
        Ok(true)
    }

    /// An earlier try of this job opened a run on a head that is no longer the head: it must not wait for ever.
    async fn end_run_on_another_head(
        &self,
        lease: &Lease,
        earlier: Option<&Evaluation>,
        seen: &Seen,
    ) -> Result<(), Failure> {
        match earlier.and_then(|e| e.head.as_ref()) {
            Some(head) if *head != seen.pull.head => {
                self.end_superseded(lease, earlier, "the pull request has a newer head").await
            }
            _ => Ok(()),
        }
    }

    /// Completes the run that an earlier try left open, as blocking, with the reason.
    async fn end_superseded(&self, lease: &Lease, earlier: Option<&Evaluation>, why: &str) -> Result<(), Failure> {
        let Some((head, run)) = earlier.and_then(|e| Some((e.head.clone()?, e.run?))) else { return Ok(()) };
        let trigger = &lease.job.trigger;
        let id = lease.evaluation.to_string();
        let found = self.forge.find_run(&trigger.repository, trigger.installation, &head, &id).await?;
        if found.is_some_and(|open| open.id == run && !open.completed) {
            self.forge.update_run(&trigger.repository, trigger.installation, run, &report::superseded(why)).await?;
        }
        Ok(())
    }

    /// Completes this try's own run, as blocking: a newer evaluation speaks.
    async fn complete_superseded(&self, lease: &Lease, run: RunId) -> Result<(), Failure> {
        let trigger = &lease.job.trigger;
        let update = report::superseded("a newer evaluation of this pull request replaces this one");
        Ok(self.forge.update_run(&trigger.repository, trigger.installation, run, &update).await?)
    }

    /// The webhook may know a head that the forge does not show yet, or an older one that arrived late. While neither is certain
    /// the job is looked at again, after the answer for the head that the forge and git agree on was published (R59).
    fn agree_on_head(&self, lease: &Lease, seen: &Seen) -> Result<(), Failure> {
        let Some(hint) = lease.job.trigger.head.as_ref().filter(|hint| **hint != seen.pull.head) else { return Ok(()) };
        let window = SignedDuration::try_from(self.work().head_agreement).unwrap_or(SignedDuration::MAX);
        let left = window.saturating_sub((self.now)().duration_since(lease.job.queued));
        if !left.is_positive() {
            return Ok(());
        }
        let after = Duration::try_from(left).unwrap_or(Duration::ZERO);
        Err(Failure::Retry {
            why: format!("the webhook named the head {hint}, the forge has {}", seen.pull.head),
            after,
        })
    }

    /// Says on the pull request that it could not be judged (R28). What fails here is logged: the job is a dead letter already.
    pub(super) async fn say_unscored(&self, lease: &Lease, why: &str) {
        if let Err(error) = self.try_to_say_unscored(lease, why).await {
            warn!(error = &error as &dyn std::error::Error, "cannot say so on the pull request: {error}");
        }
    }

    async fn try_to_say_unscored(&self, lease: &Lease, why: &str) -> Result<(), Failure> {
        let earlier = self.queue.evaluation(lease.evaluation).await?;
        let seen = match self.look(lease).await {
            Err(Failure::Retry { why, .. } | Failure::GiveUp { why }) => return Err(Failure::GiveUp { why }),
            other => other?,
        };
        if seen.pull.state == PullState::Closed || already_answered(earlier.as_ref(), &seen) {
            return Ok(());
        }
        let run = self.open_run(lease, earlier.as_ref(), &seen).await?;
        let record = Record::unscored(
            subject(lease, &seen),
            why,
            pipeline::run_row(&self.runner.0, lease.job.queued, (self.now)()),
        );
        self.publish(lease, &seen, run, &record, &Exhibit::default()).await
    }
}

/// What a record of a failure is about.
fn subject(lease: &Lease, seen: &Seen) -> Subject {
    let trigger = &lease.job.trigger;
    Subject {
        forge: trigger.repository.forge,
        repository: pipeline::repository_row(&trigger.repository),
        pull: Some(trigger.pull),
        base_ref: seen.pull.base_branch.clone(),
        base: seen.base.clone(),
        head: seen.pull.head.clone(),
        merge_base: None,
        merged_tree: None,
    }
}

/// Whether the repository has no policy, whatever else was found.
fn is_without_policy(record: &Record) -> bool {
    record.findings.iter().any(|finding| finding.rule == NO_POLICY.id)
}

/// Whether somebody's word made this record what it is.
pub(super) fn stands_on_somebody(record: &Record) -> bool {
    !record.acknowledged.is_empty() || record.lane.as_ref().is_some_and(|lane| lane.approved_by.is_some())
}

fn labels(seen: &Seen) -> BTreeSet<&str> {
    seen.pull.labels.iter().map(String::as_str).collect()
}

/// Whether this very evaluation was published on the present head.
fn already_answered(earlier: Option<&Evaluation>, seen: &Seen) -> bool {
    let on = |head: &HeadSha| *head == seen.pull.head;
    earlier.is_some_and(|e| e.state == EvaluationState::Published && e.head.as_ref().is_some_and(on))
}

fn held(fenced: Fenced) -> Result<(), Failure> {
    match fenced {
        Fenced::Held => Ok(()),
        Fenced::Lost => Err(Failure::LeaseLost),
    }
}

impl From<PostError> for Failure {
    fn from(error: PostError) -> Self {
        let why =
            std::error::Error::source(&error).map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
        match error.retry_after() {
            Some(after) => Self::Retry { why, after },
            None => Self::GiveUp { why },
        }
    }
}
