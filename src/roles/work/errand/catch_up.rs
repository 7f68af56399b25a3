//! Open pull requests without a current answer: after a push to their base, after a coverage map came, and whenever something may have been missed.
//!
//! An answer is current when it is about the present head and base, and the merge base and the digests that it was made of are
//! those of now (R66, R104). Every green that is not is covered by a blocking run before anything is judged (R32).

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use tracing::{info, warn};

use crate::event::{Cause, Trigger};
use crate::forge::{Account, ForgeError, OpenPull};
use crate::pipeline::{self, Origin, Standing};
use crate::queue::{self, Answer, ErrandLease};
use crate::report;
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::score::Record;
use crate::words::{BaseSha, HeadSha, PullNumber, Verdict};

/// A pull request whose last job failed for good is not tried again before this time by a look that nobody asked for.
const AFTER_A_FAILURE: SignedDuration = SignedDuration::from_hours(6);

/// What was found about a pull request.
enum Found {
    Current,
    /// There is no answer about its head.
    Missing,
    /// There is one, and it no longer holds.
    Void(Answer, &'static str),
    /// There is one, and what people say is not what it was made of.
    Others(Answer, &'static str),
}

impl Worker {
    /// Looks at all open pull requests of the repository, or at those that target a branch.
    pub(super) async fn catch_up(&self, lease: &ErrandLease, branch: Option<&str>) -> Result<(), Failure> {
        let repository = self.place(lease)?;
        let installation = lease.errand.installation;
        self.within_budget(installation)?;
        let pulls = self.surroundings.open_pulls(repository, installation, branch).await?;
        let open: BTreeMap<PullNumber, HeadSha> = pulls.iter().map(|pull| (pull.number, pull.head.clone())).collect();
        let mut tips = BTreeMap::new();
        let mut void = Vec::new();
        let mut missing = Vec::new();
        for pull in pulls {
            let found = match self.found(lease, &pull, &mut tips).await? {
                Found::Current if branch.is_none() => self.others(lease, &pull, &open).await?,
                found => found,
            };
            match found {
                Found::Current => {}
                Found::Missing => missing.push(pull),
                Found::Others(answer, why) => {
                    info!(pull.number = %pull.number, "looking again: {why}");
                    self.revoke(lease, &answer, why, &pull).await?;
                    missing.push(pull);
                }
                Found::Void(answer, why) => void.push((answer, why, pull)),
            }
        }
        void.sort_by_key(|(answer, _, _)| answer.started);
        for (answer, why, pull) in &void {
            self.revoke(lease, answer, why, pull).await?;
        }
        let trigger = |pull: &OpenPull, cause| Trigger {
            installation,
            repository: pull.repository.clone(),
            pull: pull.number,
            head: None,
            cause,
        };
        let void = void.iter().map(|(_, _, pull)| trigger(pull, Cause::BaseChanged));
        let asked: Vec<Trigger> = void.chain(missing.iter().map(|pull| trigger(pull, Cause::Missed))).collect();
        if !asked.is_empty() {
            info!(pulls = asked.len(), "{} pull requests of {repository} have no current verdict", asked.len());
        }
        Ok(self.queue.ask(&asked, (self.now)()).await?)
    }

    async fn found(
        &self,
        lease: &ErrandLease,
        pull: &OpenPull,
        tips: &mut BTreeMap<String, BaseSha>,
    ) -> Result<Found, Failure> {
        let standing = self.queue.standing(&pull.repository, pull.number).await?;
        let answer = self.queue.answer(&pull.repository, pull.number).await?;
        let record = answer.as_ref().and_then(|answer| serde_json::from_slice::<Record>(&answer.record).ok());
        let (Some(answer), Some(record)) = (answer.filter(|answer| answer.head == pull.head), record) else {
            // Whoever judges it looks at the present state, at the end once more.
            let waits = standing == queue::Standing::Live || self.failed_lately(standing);
            return Ok(if waits { Found::Current } else { Found::Missing });
        };
        if record.base_ref != pull.base_branch {
            return Ok(Found::Void(answer, "it targets another branch now"));
        }
        let tip = if let Some(tip) = tips.get(&pull.base_branch) {
            tip.clone()
        } else {
            let installation = lease.errand.installation;
            let tip = self.forge.branch_tip(&pull.repository, installation, &pull.base_branch).await?;
            tips.insert(pull.base_branch.clone(), tip.clone());
            tip
        };
        // What was judged after the last map had come was held against it, so a map is asked about once.
        let newer_map = self.known_maps(&pull.repository)?.1.is_some_and(|changed| changed > answer.started);
        if record.base == tip.to_string() && !newer_map {
            return Ok(Found::Current);
        }
        let now = self.standing_of(lease, pull, tip).await?;
        let same_map = !newer_map || now.has_map_of(&record);
        Ok(if now.bears(&record) && same_map {
            Found::Current
        } else if now.bears(&record) {
            Found::Void(answer, "the base branch has another coverage map now")
        } else if now.has_digests_of(&record) {
            Found::Void(answer, "its merge base is another one now")
        } else {
            Found::Void(answer, "the base branch has another policy, ledger, lock or oracle now")
        })
    }

    /// Whether people say something else of a pull request with a current answer than they had said, or another pull request's verdict is
    /// shown in its place that has its commit no more.
    async fn others(
        &self,
        lease: &ErrandLease,
        pull: &OpenPull,
        open: &BTreeMap<PullNumber, HeadSha>,
    ) -> Result<Found, Failure> {
        if self.queue.standing(&pull.repository, pull.number).await? == queue::Standing::Live {
            return Ok(Found::Current);
        }
        if let Some(other) = self.beside(&pull.repository, pull.number).await?
            && open.get(&other) != Some(&pull.head)
        {
            return Ok(Found::Missing);
        }
        let Some(answer) = self.queue.answer(&pull.repository, pull.number).await? else { return Ok(Found::Current) };
        let Ok(record) = serde_json::from_slice::<Record>(&answer.record) else { return Ok(Found::Current) };
        let changed = self.people_changed(lease.errand.installation, pull, &record).await?;
        Ok(changed.map_or(Found::Current, |why| Found::Others(answer, why)))
    }

    fn failed_lately(&self, standing: queue::Standing) -> bool {
        let now: Timestamp = (self.now)();
        matches!(standing, queue::Standing::Dead(at) if now.duration_since(at) < AFTER_A_FAILURE)
    }

    async fn standing_of(&self, lease: &ErrandLease, pull: &OpenPull, tip: BaseSha) -> Result<Standing, Failure> {
        let remote = self.forge.remote(&pull.repository, lease.errand.installation).await?;
        let origin = Origin::Pull {
            repository: pull.repository.clone(),
            pull: pull.number,
            author: Account { id: 0, login: String::new(), is_bot: false },
            branch: String::new(),
            labels: Vec::new(),
        };
        let question = self.question(&pull.repository, origin, pull.base_branch.clone(), tip, pull.head.clone())?;
        let data_dir = self.settings.data_dir.clone();
        self.away(move || pipeline::standing(&data_dir, &remote, &question)).await
    }

    /// Covers a green that no longer holds. What blocks already needs no cover.
    async fn revoke(&self, lease: &ErrandLease, answer: &Answer, why: &str, pull: &OpenPull) -> Result<(), Failure> {
        if answer.verdict != Verdict::Review {
            return Ok(());
        }
        let installation = lease.errand.installation;
        // An earlier try may have covered it, or a job that runs.
        let live = self.queue.standing(&pull.repository, pull.number).await? == queue::Standing::Live;
        if live || lease.attempt > 1 {
            let newest = self.forge.newest_run(&pull.repository, installation, &pull.head).await?;
            if newest.is_some_and(|run| run.conclusion.as_deref() != Some("success")) {
                return Ok(());
            }
        }
        match self.surroundings.revoke(&pull.repository, installation, &pull.head, &report::revoked(why)).await {
            // The commit is gone, and its check run with it.
            Err(error @ ForgeError::NotFound { .. }) => warn!("{error}"),
            other => drop(other?),
        }
        Ok(())
    }
}
