//! Who may ask.

use jiff::SignedDuration;

use crate::forge::Pull;
use crate::pipeline::{self, Standing};
use crate::queue::ErrandLease;
use crate::report;
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::words::{PullNumber, RepoRef};

/// Requests of one person in a repository, and on one pull request, in an hour (R79).
const MOST_OF_ONE_PERSON: u64 = 20;
const MOST_ON_ONE_PULL: u64 = 30;

/// What is to be done with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// Do it.
    Granted,
    /// Say no once.
    Refused(String),
    /// There were so many that not even an answer is written.
    Silence(String),
}

impl Worker {
    /// Asks the forge, now, whether the person of this errand may ask for work on this pull request. Its author may.
    pub(super) async fn leave(&self, lease: &ErrandLease, pull: &Pull) -> Result<Leave, Failure> {
        let repository = self.place(lease)?;
        let Some(who) = &lease.errand.by else { return Ok(Leave::Silence("nobody is named".to_owned())) };
        let hour_ago = (self.now)().saturating_sub(SignedDuration::from_hours(1)).unwrap_or(jiff::Timestamp::MIN);
        let (his, here) = self.queue.commands(repository, pull.number, who, hour_ago).await?;
        if his >= MOST_OF_ONE_PERSON || here >= MOST_ON_ONE_PULL {
            let why = format!("{his} requests of {who} and {here} on this pull request within an hour");
            let first = his == MOST_OF_ONE_PERSON || here == MOST_ON_ONE_PULL;
            return Ok(if first { Leave::Refused(why) } else { Leave::Silence(why) });
        }
        if *who == pull.author.login {
            return Ok(Leave::Granted);
        }
        let role = self.forge.role(repository, lease.errand.installation, who).await?;
        let least = self.rules_now(lease, repository, pull).await?.policy.commands.min_role;
        Ok(if role.is_some_and(|role| role >= least) {
            Leave::Granted
        } else {
            Leave::Refused(report::lacks(role, least))
        })
    }

    /// What a verdict on the pull request would stand for now, with the policy.
    pub(super) async fn rules_now(
        &self,
        lease: &ErrandLease,
        repository: &RepoRef,
        pull: &Pull,
    ) -> Result<Standing, Failure> {
        let base = self.forge.branch_tip(repository, lease.errand.installation, &pull.base_branch).await?;
        let present = RepoRef { name: pull.repo_name.clone(), ..repository.clone() };
        let remote = self.forge.remote(&present, lease.errand.installation).await?;
        let origin = Self::origin_of(repository, pull);
        let question = self.question(repository, origin, pull.base_branch.clone(), base, pull.head.clone())?;
        let data_dir = self.settings.data_dir.clone();
        self.away(move || pipeline::standing(&data_dir, &remote, &question)).await
    }

    /// A request that came after its pull request was closed asks for nothing.
    pub(super) async fn open_pull(&self, lease: &ErrandLease, pull: PullNumber) -> Result<Option<Pull>, Failure> {
        let repository = self.place(lease)?;
        let pull = self.forge.pull(repository, lease.errand.installation, pull).await?;
        Ok((pull.state == crate::forge::PullState::Open).then_some(pull))
    }
}
