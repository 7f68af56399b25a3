//! `evidence-gate queue`: what waits, what failed for good, and another try.

use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;

use super::{Failure, out};
use crate::config::{self, ConfigError, Settings};
use crate::queue::{DeadErrand, Depth, Errands as _, Job, JobId, Queue as _, QueueError, SqliteOptions, SqliteQueue};
use crate::score::visible;

/// What to do with the queue.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum QueueCommand {
    /// Count what waits, runs and failed for good; list the failed jobs with their last error.
    List(QueueArgs),
    /// Put a job or errand that failed for good back into the queue.
    Retry {
        /// Where the queue is.
        #[command(flatten)]
        args: QueueArgs,
        /// Its number, as `queue list` shows it.
        #[arg(required_unless_present = "errand", conflicts_with = "errand")]
        job: Option<i64>,
        /// The number of an errand, as `queue list` shows it, in place of a job's.
        #[arg(long, value_name = "N")]
        errand: Option<i64>,
    },
}

/// Where the queue is.
#[derive(Clone, Debug, clap::Args)]
pub struct QueueArgs {
    /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
}

/// The most failed jobs that are listed.
const MOST: u32 = 100;

/// Does it.
pub fn queue(command: &QueueCommand, clock: fn() -> Timestamp) -> Result<(), Failure> {
    let (QueueCommand::List(args) | QueueCommand::Retry { args, .. }) = command;
    let settings = Settings::load(args.config.as_deref(), &config::environment())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Ours(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(async {
        let folder = &settings.data_dir;
        if !folder.is_dir() {
            return Err(Failure::Usage(format!("there is no data directory {} (`data_dir`)", folder.display())));
        }
        let queue = SqliteQueue::open(folder, SqliteOptions::default())
            .await
            .map_err(|error| Failure::OutOfReach(format!("cannot open the queue in {}: {error}", folder.display())))?;
        let text = match command {
            QueueCommand::List(_) => {
                listed(queue.depth(clock()).await?, &queue.dead(MOST).await?, &queue.dead_errands(MOST).await?)
            }
            QueueCommand::Retry { errand: Some(errand), .. } => {
                queue.revive_errand(*errand, clock()).await?;
                format!("errand {errand} is in the queue again\n")
            }
            QueueCommand::Retry { job, .. } => {
                let job = job.ok_or_else(|| Failure::Usage("name a job, or an errand with --errand".to_owned()))?;
                queue.revive(JobId(job), clock()).await?;
                format!("job {job} is in the queue again\n")
            }
        };
        queue.close().await;
        out::print(&text)
    })
}

fn listed(depth: Depth, dead: &[(Job, String)], errands: &[DeadErrand]) -> String {
    let Depth { queued, running, dead: failed, oldest_seconds } = depth;
    let mut text =
        format!("{queued} queued (the oldest for {oldest_seconds} s), {running} running, {failed} failed for good\n");
    for (job, why) in dead {
        let trigger = &job.trigger;
        let line =
            format!("job {}: {}#{} after {} tries: {why}", job.id.0, trigger.repository, trigger.pull, job.attempt);
        writeln!(text, "{}", visible(&line)).expect("writing to a String cannot fail");
    }
    for DeadErrand { id, key, tries, why } in errands {
        let line = format!("errand {id}: {key} after {tries} tries: {why}");
        writeln!(text, "{}", visible(&line)).expect("writing to a String cannot fail");
    }
    text
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::BadInput(error.to_string())
    }
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::NotDead { .. } | QueueError::NoDeadErrand { .. } => Self::Usage(error.to_string()),
            QueueError::Database { .. } | QueueError::Unreadable { .. } => Self::OutOfReach(error.to_string()),
        }
    }
}
