//! A merge group: judged on its own head, and only as good as each of its members (R80 to R82).

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;
use tracing::{info, warn};
use uuid::Uuid;

use crate::event::Task;
use crate::forge::{NewRun, PullState, RunUpdate};
use crate::pipeline::{self, Member, Origin, Question};
use crate::queue::{self, ErrandLease, EvaluationId};
use crate::report::{self, Posting, Target};
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::score::{Record, Subject};
use crate::words::{BaseSha, HeadSha, InstallationId, ObjectId, PullNumber, RepoRef, RunId, Verdict};

/// A queue waits an hour unless it is told otherwise; a report must be there before it gives up (R82).
const LONGEST: SignedDuration = SignedDuration::from_mins(20);

/// How long after the group came a member's own verdict is waited for.
const FOR_A_MEMBER: SignedDuration = SignedDuration::from_mins(10);

/// Where the errand of a group is kept, for a re-run.
pub(super) fn mark_of(repository: &RepoRef, head: &HeadSha) -> String {
    format!("group/{}/{}/{head}", repository.forge, repository.id)
}

/// Where it is kept that a group was taken apart.
fn gone_mark(repository: &RepoRef, head: &HeadSha) -> String {
    format!("{}/gone", mark_of(repository, head))
}

/// A merge group as its errand names it.
struct Group<'l> {
    repository: &'l RepoRef,
    installation: Option<InstallationId>,
    head: &'l HeadSha,
    reference: &'l str,
    branch: &'l str,
    base: &'l BaseSha,
}

impl<'l> Group<'l> {
    fn of(lease: &'l ErrandLease) -> Option<Self> {
        let (Task::JudgeGroup { head, reference, branch, base }, Some(repository)) =
            (&lease.errand.task, &lease.errand.repository)
        else {
            return None;
        };
        Some(Self { repository, installation: lease.errand.installation, head, reference, branch, base })
    }

    /// The name of this evaluation: the same on every try, so that a run which was opened before a crash is found again.
    fn external_id(lease: &ErrandLease) -> String {
        Self::evaluation(lease).to_string()
    }

    fn evaluation(lease: &ErrandLease) -> EvaluationId {
        EvaluationId(Uuid::from_u128(lease.id.unsigned_abs().into()))
    }
}

impl Worker {
    /// Opens a run on the group's head, judges, and completes it.
    pub(super) async fn judge_group(&self, lease: &ErrandLease) -> Result<(), Failure> {
        let group =
            Group::of(lease).ok_or_else(|| Failure::GiveUp { why: "the errand names no merge group".to_owned() })?;
        if self.queue.mark(&gone_mark(group.repository, group.head)).await?.is_some() {
            info!("the merge group was taken apart: nothing to judge");
            return self.end_group_run(lease, &group).await;
        }
        let kept = serde_json::to_string(&lease.errand).map_err(|error| Failure::GiveUp { why: error.to_string() })?;
        self.queue.set_mark(&mark_of(group.repository, group.head), &kept, (self.now)()).await?;
        let run = self.open_group_run(lease, &group).await?;
        let members = self.members(lease, &group).await?;
        let question = self.group_question(&group, members)?;
        let remote = self.forge.remote(group.repository, group.installation).await?;
        let data_dir = self.settings.data_dir.clone();
        let record = self.away(move || pipeline::score_mirrored(&data_dir, &remote, &question)).await?;
        let record = self.without_stale_members(&group, record, lease).await?;
        self.publish_group(lease, &group, run, &record).await
    }

    /// Nobody waits for this group any more: what is queued for it ends without a judgement.
    pub(super) async fn group_gone(&self, lease: &ErrandLease, head: &HeadSha) -> Result<(), Failure> {
        let repository = self.place(lease)?;
        self.queue.set_mark(&gone_mark(repository, head), "", (self.now)()).await?;
        let what = format!("the merge group {head} was taken apart");
        Ok(self.note(lease, "group", None, &what, json!({ "head": head })).await?)
    }

    /// A run that an earlier try opened must not wait for ever.
    async fn end_group_run(&self, lease: &ErrandLease, group: &Group<'_>) -> Result<(), Failure> {
        let Group { repository, installation, head, .. } = *group;
        let found = self.forge.find_run(repository, installation, head, &Group::external_id(lease)).await?;
        if let Some(open) = found.filter(|run| !run.completed) {
            let update = report::superseded("the merge group was taken apart");
            self.forge.update_run(repository, installation, open.id, &update).await?;
        }
        Ok(())
    }

    async fn open_group_run(&self, lease: &ErrandLease, group: &Group<'_>) -> Result<RunId, Failure> {
        let Group { repository, installation, head, .. } = *group;
        let external_id = Group::external_id(lease);
        let found = if lease.attempt > 1 {
            self.forge.find_run(repository, installation, head, &external_id).await?
        } else {
            None
        };
        let run = if let Some(open) = found.filter(|run| !run.completed) {
            open.id
        } else {
            let new = NewRun { head: head.clone(), external_id, output: report::waiting(group.branch, head) };
            self.forge.open_run(repository, installation, &new).await?
        };
        self.forge.update_run(repository, installation, run, &RunUpdate::Started).await?;
        Ok(run)
    }

    fn group_question(&self, group: &Group<'_>, members: Vec<Member>) -> Result<Question, Failure> {
        let origin =
            Origin::Group { repository: group.repository.clone(), reference: group.reference.to_owned(), members };
        self.question(group.repository, origin, group.branch.to_owned(), group.base.clone(), group.head.clone())
    }

    /// The pull requests in the group: the queue keeps a ref for each, and its tip is that pull request's place in the chain.
    async fn members(&self, lease: &ErrandLease, group: &Group<'_>) -> Result<Vec<Member>, Failure> {
        let Group { repository, installation, head, reference, branch, .. } = *group;
        let refs = self.surroundings.queue_refs(repository, installation, branch).await?;
        let refs = refs.into_iter().chain([(reference.to_owned(), head.id().clone())]);
        let tips: BTreeMap<ObjectId, PullNumber> =
            refs.filter_map(|(name, tip)| Some((tip, pull_in(&name, branch)?))).collect();
        let question = self.group_question(group, Vec::new())?;
        let remote = self.forge.remote(repository, installation).await?;
        let data_dir = self.settings.data_dir.clone();
        let chain = self.away(move || pipeline::chain(&data_dir, &remote, &question)).await?;
        let numbers: Vec<PullNumber> = chain.iter().rev().filter_map(|commit| tips.get(commit).copied()).collect();
        let mut members = Vec::new();
        for pull in numbers {
            members.push(Member { pull, record: self.member(lease, group, pull).await? });
        }
        Ok(members)
    }

    /// The record of a member's own verdict, if it is about what would be merged.
    async fn member(
        &self,
        lease: &ErrandLease,
        group: &Group<'_>,
        number: PullNumber,
    ) -> Result<Result<Box<Record>, String>, Failure> {
        let Group { repository, installation, branch, .. } = *group;
        let pull = self.forge.pull(repository, installation, number).await?;
        if pull.state != PullState::Open || pull.base_branch != branch {
            return Ok(Err("it is not open, or targets another branch".to_owned()));
        }
        let waited = (self.now)().duration_since(lease.queued);
        if self.queue.standing(repository, number).await? == queue::Standing::Live && waited < FOR_A_MEMBER {
            let why = format!("pull request #{number} of the merge group is still being judged");
            return Err(Failure::Retry { why, after: Duration::from_secs(5) });
        }
        let Some(answer) = self.queue.answer(repository, number).await? else {
            return Ok(Err("it has no verdict of its own".to_owned()));
        };
        if answer.head != pull.head {
            return Ok(Err("its own verdict is about another head".to_owned()));
        }
        match serde_json::from_slice::<Record>(&answer.record) {
            Ok(record) if record.base_ref == branch => Ok(Ok(Box::new(record))),
            Ok(_) => Ok(Err("its own verdict is about another branch".to_owned())),
            Err(error) => Ok(Err(format!("the record of its own verdict cannot be read ({error})"))),
        }
    }

    /// A member's verdict counts only under the rules that the group is judged by.
    async fn without_stale_members(
        &self,
        group: &Group<'_>,
        record: Record,
        lease: &ErrandLease,
    ) -> Result<Record, Failure> {
        if record.verdict != Verdict::Review {
            return Ok(record);
        }
        for member in self.members(lease, group).await? {
            let same = member.record.as_ref().is_ok_and(|own| own.digests == record.digests);
            if !same {
                let why = format!(
                    "the verdict of pull request #{} was made under other rules than the base has now",
                    member.pull
                );
                return Ok(self.unscored_group(group, &why, lease));
            }
        }
        Ok(record)
    }

    fn unscored_group(&self, group: &Group<'_>, why: &str, lease: &ErrandLease) -> Record {
        let subject = Subject {
            forge: group.repository.forge,
            repository: pipeline::repository_row(group.repository),
            pull: None,
            base_ref: group.branch.to_owned(),
            base: group.base.clone(),
            head: group.head.clone(),
            merge_base: None,
            merged_tree: None,
        };
        Record::unscored(subject, why, pipeline::run_row(&self.runner.0, lease.queued, (self.now)()))
    }

    async fn publish_group(
        &self,
        lease: &ErrandLease,
        group: &Group<'_>,
        run: RunId,
        record: &Record,
    ) -> Result<(), Failure> {
        let target = Target {
            repo: group.repository,
            installation: group.installation,
            run,
            head: group.head,
            external_id: &Group::external_id(lease),
        };
        let sealed = self.sign(group.repository, Group::evaluation(lease), record).await?;
        let details = json!({
            "head": record.head, "base": record.base, "merge_base": record.merge_base, "digests": record.digests, "run": run,
            "sha256": sealed.digest, "key": sealed.key,
        });
        self.note(lease, "group", None, &format!("{}: {}", record.verdict, record.title), details).await?;
        report::post(self.forge.as_ref(), &target, &Posting::of(record, &self.work().rules_url)).await?;
        info!(verdict = %record.verdict, run.id = %run, "scored the merge group {}", group.reference);
        Ok(())
    }

    /// Whether a group's errand may be tried once more before the queue gives up. Everything else may.
    pub(super) fn is_worth_a_try(&self, lease: &ErrandLease, after: Duration) -> bool {
        let pause = SignedDuration::try_from(after).unwrap_or(SignedDuration::MAX);
        let waited = (self.now)().duration_since(lease.queued).saturating_add(pause);
        Group::of(lease).is_none() || waited < LONGEST
    }

    /// Says on a group's head that it could not be judged (R82). What fails here is logged: the queue's own time ends it.
    pub(super) async fn say_about_group(&self, lease: &ErrandLease, why: &str) {
        let Some(group) = Group::of(lease) else { return };
        let record = self.unscored_group(&group, why, lease);
        let said = async {
            let run = self.open_group_run(lease, &group).await?;
            self.publish_group(lease, &group, run, &record).await
        };
        if let Err(error) = said.await {
            warn!(error = &error as &dyn std::error::Error, "cannot say so on the merge group: {error}");
        }
    }
}

/// The pull request of a queue's ref: `refs/heads/gh-readonly-queue/BRANCH/pr-NUMBER-SHA`.
fn pull_in(reference: &str, branch: &str) -> Option<PullNumber> {
    let rest = reference.trim_start_matches("refs/heads/").strip_prefix("gh-readonly-queue/")?;
    let rest = rest.strip_prefix(branch)?.strip_prefix("/pr-")?;
    let (number, sha) = rest.split_once('-')?;
    sha.parse::<ObjectId>().ok()?;
    number.parse().ok().map(PullNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queues_own_ref_names_the_pull_request() {
        let sha = "a".repeat(40);
        let name = |branch: &str| format!("refs/heads/gh-readonly-queue/{branch}/pr-104-{sha}");
        assert_eq!(pull_in(&name("main"), "main"), Some(PullNumber(104)));
        assert_eq!(pull_in(&name("release/2.x"), "release/2.x"), Some(PullNumber(104)));
        assert_eq!(pull_in(&name("main"), "mai"), None);
        assert_eq!(pull_in("refs/heads/main", "main"), None);
        assert_eq!(pull_in("refs/heads/gh-readonly-queue/main/pr-7-x", "main"), None);
    }
}
