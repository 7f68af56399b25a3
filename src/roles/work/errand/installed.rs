//! What an installation reaches, and what it reaches no more.

use serde_json::json;
use tracing::warn;

use crate::event::{Errand, Task};
use crate::forge::ForgeError;
use crate::queue::ErrandLease;
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;

impl Worker {
    /// Sends a look to every repository of an installation, or of all.
    pub(super) async fn installed(&self, lease: &ErrandLease) -> Result<(), Failure> {
        let installations = match lease.errand.installation {
            Some(installation) => vec![installation],
            None => self.surroundings.installations().await?,
        };
        for installation in installations {
            let repositories = match self.surroundings.repositories(installation).await {
                // One that is suspended or removed must not keep the others waiting.
                Err(ForgeError::GiveUp { doing, why }) => {
                    let told = format!("installation {installation}: {doing}: {why}");
                    warn!("{told}");
                    self.say_once(lease, &told).await?;
                    continue;
                }
                other => other?,
            };
            let errands: Vec<Errand> = repositories
                .into_iter()
                .map(|repository| Errand {
                    installation: Some(installation),
                    repository: Some(repository),
                    by: None,
                    task: Task::CatchUp { branch: None },
                })
                .collect();
            self.queue.send(&errands, (self.now)()).await?;
            if lease.errand.installation.is_some() {
                let names: Vec<String> =
                    errands.iter().filter_map(|errand| errand.repository.as_ref()).map(ToString::to_string).collect();
                let what = format!("installation {installation} reaches {} repositories", names.len());
                self.note(lease, "installation", None, &what, json!({ "repositories": names })).await?;
            }
        }
        Ok(())
    }

    /// Drops queued work that would only fail.
    pub(super) async fn gone(&self, lease: &ErrandLease, repositories: &[u64]) -> Result<(), Failure> {
        let Some(installation) = lease.errand.installation else { return Ok(()) };
        let dropped = self.queue.drop_work(installation, repositories).await?;
        let what = format!(
            "installation {installation} is out of reach, or some of its repositories; {dropped} jobs were dropped"
        );
        Ok(self.note(lease, "installation", None, &what, json!({ "repositories": repositories })).await?)
    }

    /// Says what is missing in the audit log, once.
    pub(super) async fn say_once(&self, lease: &ErrandLease, what: &str) -> Result<(), Failure> {
        let name = format!("said/{what}");
        if self.queue.mark(&name).await?.is_some() {
            return Ok(());
        }
        self.note(lease, "installation", None, what, json!({})).await?;
        Ok(self.queue.set_mark(&name, "", (self.now)()).await?)
    }
}
