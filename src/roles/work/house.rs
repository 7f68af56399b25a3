//! Regular duties of a worker: they are sent as errands, so that several workers share them and none is lost with a process.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::worker::Worker;
use crate::event::{Errand, Task};
use crate::queue::{Audit, QueueError};

/// How often it is looked whether a duty is due.
const TICK: Duration = Duration::from_secs(30);

/// How often the forge's log of deliveries is read (R21).
const LOG: Duration = Duration::from_hours(1);

/// How often old coverage maps are removed, and pending ones are looked for that nobody was told of.
const MAPS: Duration = Duration::from_hours(1);

/// How often runs that hang are looked for.
const HANGING: Duration = Duration::from_mins(1);

/// How often expired links to pages are forgotten, and what they opened.
const PASSES: Duration = Duration::from_hours(1);

fn errand(task: Task) -> Errand {
    Errand { installation: None, repository: None, by: None, task }
}

impl Worker {
    /// Sends every duty at once: at the start nobody knows what was missed (R23).
    pub(in crate::roles) async fn send_every_duty(&self) -> Result<(), QueueError> {
        let all = [Task::EndHangingRuns, Task::ReadLog, Task::Installed, Task::SweepMaps].map(errand);
        self.queue.send(&all, (self.now)()).await
    }

    /// One row for each start: which program, as whom, with what.
    pub(in crate::roles) async fn note_configuration(&self) -> Result<(), QueueError> {
        let work = self.work();
        let details = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"), "app": self.app, "policies": work.policies, "unconfigured": format!("{:?}", work.unconfigured),
            "concurrency": work.concurrency, "deadline_seconds": work.deadline.as_secs(),
        });
        let row = Audit {
            at: (self.now)(),
            kind: "configuration".to_owned(),
            repository: None,
            pull: None,
            who: Some(self.runner.0.clone()),
            delivery: None,
            what: format!("worker {} started with version {}", self.runner.0, env!("CARGO_PKG_VERSION")),
            details: details.to_string(),
        };
        self.queue.note(&row).await
    }

    /// Sends duties when they are due, until `stop`.
    pub(super) async fn keep_house(self: Arc<Self>, stop: CancellationToken) {
        if let Err(error) = self.send_every_duty().await {
            warn!(error = &error as &dyn std::error::Error, "cannot send the duties of a start");
        }
        while !stop.is_cancelled() {
            tokio::select! {
                () = tokio::time::sleep(TICK) => {}
                () = stop.cancelled() => return,
            }
            let duties = [
                ("hanging", HANGING, Task::EndHangingRuns),
                ("log", LOG, Task::ReadLog),
                ("maps", MAPS, Task::SweepMaps),
                ("sweep", self.work().sweep, Task::Installed),
            ];
            for (name, every, task) in duties {
                if let Err(error) = self.send_if_due(name, every, task).await {
                    warn!(error = &error as &dyn std::error::Error, "cannot send the duty {name}");
                }
            }
            if let Err(error) = self.sweep_passes().await {
                warn!(error = &error as &dyn std::error::Error, "cannot forget expired links to pages");
            }
        }
    }

    async fn sweep_passes(&self) -> Result<(), QueueError> {
        if self.queue.take_duty("passes", (self.now)(), PASSES).await? {
            let gone = self.queue.sweep((self.now)()).await?;
            if gone > 0 {
                info!(passes.forgotten = gone, "forgot {gone} expired links to pages");
            }
        }
        Ok(())
    }

    async fn send_if_due(&self, name: &str, every: Duration, task: Task) -> Result<(), QueueError> {
        if self.queue.take_duty(name, (self.now)(), every).await? {
            self.queue.send(&[errand(task)], (self.now)()).await?;
        }
        Ok(())
    }
}
