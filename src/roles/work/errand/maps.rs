//! Coverage maps that came in: those of commits that the default branch stands on become indexes, and what waited for them is judged
//! again. The others are refused, with the reason kept where `coverage list` shows it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use serde_json::json;
use tracing::{info, warn};

use crate::change::{Mirror, Want};
use crate::event::{Errand, Task};
use crate::maps::{Depot, Fate, Limits, MapError, Receipt, Retention, TakenUp};
use crate::pipeline::PipelineError;
use crate::queue::ErrandLease;
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::words::{ForgeKind, InstallationId, ObjectId, RepoRef, with_causes};

impl From<MapError> for Failure {
    fn from(error: MapError) -> Self {
        warn!(error = &error as &dyn std::error::Error, "the coverage maps cannot be kept");
        Self::retry(format!("the coverage maps cannot be kept: {}", with_causes(&error)))
    }
}

impl Worker {
    /// Looks at every pending map of one repository.
    pub(super) async fn take_up_maps(&self, lease: &ErrandLease) -> Result<(), Failure> {
        let repository = self.place(lease)?.clone();
        let of = repository.clone();
        let mut pending: BTreeMap<ObjectId, Vec<Receipt>> = BTreeMap::new();
        for receipt in self.at_the_depot(move |depot| depot.pending(&of).map_err(reading)).await? {
            pending.entry(receipt.commit.clone()).or_default().push(receipt);
        }
        if pending.is_empty() {
            return Ok(());
        }
        let Some((present, installation)) = self.reached(&repository).await? else {
            let why = format!("the App is not installed on the repository {} ({repository})", repository.id);
            for (commit, receipts) in pending {
                self.refuse_maps(lease, &repository, commit, receipts, why.clone()).await?;
            }
            return Ok(());
        };
        let (branch, on_branch) = self.on_default_branch(&present, installation, pending.keys().cloned()).await?;
        let mut changed = false;
        for (commit, receipts) in pending {
            changed |= self.judge_maps(lease, &repository, &branch, &on_branch, (commit, receipts)).await?;
        }
        if changed {
            let task = Task::CatchUp { branch: None };
            let errand = Errand { installation, repository: Some(present), by: None, task };
            self.queue.send(&[errand], (self.now)()).await?;
        }
        Ok(())
    }

    /// Whether the commit has another index now.
    async fn judge_maps(
        &self,
        lease: &ErrandLease,
        repository: &RepoRef,
        branch: &Want,
        on_branch: &BTreeSet<ObjectId>,
        (commit, receipts): (ObjectId, Vec<Receipt>),
    ) -> Result<bool, Failure> {
        if !on_branch.contains(&commit) {
            let why = format!("{commit} is not among the newest commits of the default branch {}", branch.reference);
            self.refuse_maps(lease, repository, commit, receipts, why).await?;
            return Ok(false);
        }
        let ran_elsewhere =
            |one: &Receipt| one.by.reference.as_ref().is_some_and(|reference| *reference != branch.reference);
        let (elsewhere, receipts): (Vec<_>, Vec<_>) = receipts.into_iter().partition(ran_elsewhere);
        if !elsewhere.is_empty() {
            let why = format!("its job ran on another branch than the default branch {}", branch.reference);
            self.refuse_maps(lease, repository, commit.clone(), elsewhere, why).await?;
        }
        if receipts.is_empty() {
            return Ok(false);
        }
        let limits = Limits { unpacked: self.settings.maps.max_unpacked_bytes, ..Limits::default() };
        let (of, at, now) = (repository.clone(), commit.clone(), (self.now)());
        let taken = self.at_the_depot(move |depot| depot.take_up(&of, &at, receipts, limits, now)).await?;
        let changed = taken.changed;
        self.tell_maps(lease, &commit, &taken).await?;
        Ok(changed)
    }

    async fn refuse_maps(
        &self,
        lease: &ErrandLease,
        repository: &RepoRef,
        commit: ObjectId,
        receipts: Vec<Receipt>,
        why: String,
    ) -> Result<(), Failure> {
        let (of, at, now) = (repository.clone(), commit.clone(), (self.now)());
        let refused = self.at_the_depot(move |depot| depot.refuse(&of, &at, receipts, &why, now)).await?;
        self.tell_maps(lease, &commit, &refused).await
    }

    /// A row of the audit log for each map.
    async fn tell_maps(&self, lease: &ErrandLease, commit: &ObjectId, taken: &TakenUp) -> Result<(), Failure> {
        for receipt in &taken.receipts {
            let details =
                json!({ "commit": commit, "sha256": receipt.digest, "by": receipt.by.what, "jitter": taken.jitter });
            let what = match &receipt.fate {
                Fate::Refused(why) => {
                    warn!("a map of {commit} from {} is refused: {why}", receipt.by.what);
                    format!("a map of {} is refused: {why}", commit.short())
                }
                Fate::Taken | Fate::Pending => format!("a map of {} counts", commit.short()),
            };
            self.note(lease, "map", None, &what, details).await?;
        }
        Ok(())
    }

    /// The repository by its present name, and whose token reaches it; `None` where the App is not installed there. An upload says
    /// neither, and the forge knows both.
    async fn reached(&self, repository: &RepoRef) -> Result<Option<(RepoRef, Option<InstallationId>)>, Failure> {
        if repository.forge != ForgeKind::Github {
            return Ok(Some((repository.clone(), None)));
        }
        for installation in self.surroundings.installations().await? {
            let all = self.surroundings.repositories(installation).await?;
            if let Some(found) = all.into_iter().find(|one| one.id == repository.id) {
                return Ok(Some((found, Some(installation))));
            }
        }
        Ok(None)
    }

    /// The default branch as git says now, and those of some commits that it stands on.
    async fn on_default_branch(
        &self,
        repository: &RepoRef,
        installation: Option<InstallationId>,
        commits: impl Iterator<Item = ObjectId>,
    ) -> Result<(Want, BTreeSet<ObjectId>), Failure> {
        let remote = self.forge.remote(repository, installation).await?;
        let (data_dir, repository) = (self.settings.data_dir.clone(), repository.clone());
        let commits: BTreeSet<ObjectId> = commits.collect();
        self.away(move || {
            let mirror = Mirror::open(&data_dir, repository.forge, repository.id).map_err(PipelineError)?;
            let branch = mirror.default_branch(&remote)?;
            let on_branch = mirror.on_branch(&remote, &branch, &commits)?;
            Ok((branch, on_branch))
        })
        .await
    }

    /// Removes maps that nobody asks for any more, and sends for those that are pending still.
    pub(super) async fn sweep_maps(&self) -> Result<(), Failure> {
        let maps = &self.settings.maps;
        let retention = Retention {
            keep: SignedDuration::try_from(maps.keep).unwrap_or(SignedDuration::MAX),
            newest: maps.keep_newest,
            bytes: maps.max_bytes,
        };
        let now = (self.now)();
        let swept = self.at_the_depot(move |depot| depot.sweep(&retention, now).map_err(reading)).await?;
        if swept.commits > 0 {
            info!(
                commits = swept.commits,
                bytes.left = swept.bytes,
                "removed the coverage maps of {} commits",
                swept.commits
            );
        }
        let waiting = self.at_the_depot(|depot| depot.repositories_with_pending().map_err(reading)).await?;
        let errand =
            |repository| Errand { installation: None, repository: Some(repository), by: None, task: Task::TakeUpMaps };
        let errands: Vec<Errand> = waiting.into_iter().map(errand).collect();
        Ok(self.queue.send(&errands, now).await?)
    }

    /// Reads and writes maps away from the threads that talk to the network.
    async fn at_the_depot<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Depot) -> Result<T, MapError> + Send + 'static,
    ) -> Result<T, Failure> {
        let depot = Depot::below(&self.settings.data_dir);
        match tokio::task::spawn_blocking(move || work(&depot)).await {
            Ok(done) => Ok(done?),
            Err(died) => Err(Failure::retry(format!("reading coverage maps died: {died}"))),
        }
    }
}

fn reading(source: std::io::Error) -> MapError {
    MapError::Read { origin: "the coverage maps of the data directory".to_owned(), source }
}
