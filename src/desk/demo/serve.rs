//! `evidence-gate serve` as a child process: the shipped receiver and worker, with a configuration of their own.
#![expect(clippy::disallowed_methods, reason = "it starts this very program and nothing of a pull request")]

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::house::House;
use crate::config::{self, INHERITED};
use crate::desk::Failure;

/// How long the receiver may take until it listens.
const START: Duration = Duration::from_secs(30);
/// How long it may take to end; longer than `serve` gives its own children.
const GRACE: Duration = Duration::from_secs(35);

/// Receiver and worker. They end with this value, or with this process.
pub(super) struct Served {
    child: Child,
    log: PathBuf,
}

impl Served {
    /// Starts them. What they log goes to a file, and none of this process's own configuration reaches them.
    pub(super) fn start(house: &House) -> Result<Self, Failure> {
        let program =
            std::env::current_exe().map_err(|error| Failure::Ours(format!("cannot find this program: {error}")))?;
        let log = house.log();
        let written = File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
        let (out, err) = written.map_err(|source| Failure::write(log.display(), source))?;
        let environment = config::environment();
        let child = Command::new(&program)
            .args(["serve", "--stop-with-parent", "--config"])
            .arg(house.config())
            .env_clear()
            .envs(environment.iter().filter(|(name, _)| INHERITED.contains(&name.as_str())))
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            // Ctrl-C on the terminal reaches this process alone; it tells the child.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Failure::Ours(format!("cannot start {}: {error}", program.display())))?;
        Ok(Self { child, log })
    }

    /// The address of the webhook, once the receiver listens.
    pub(super) async fn receiver(&mut self, house: &House) -> Result<String, Failure> {
        let file = house.receiver_file();
        let started = tokio::time::Instant::now();
        loop {
            if let Ok(address) = std::fs::read_to_string(&file) {
                return Ok(format!("http://{address}/webhooks/github"));
            }
            if started.elapsed() > START {
                return Err(self.failed("the receiver did not begin to listen"));
            }
            tokio::select! {
                failure = self.ended() => return Err(failure),
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
        }
    }

    /// Waits until it ends by itself, which it should not.
    pub(super) async fn ended(&mut self) -> Failure {
        let how = match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        self.failed(&format!("receiver and worker ended: {how}"))
    }

    fn failed(&self, what: &str) -> Failure {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let last: Vec<&str> = log.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        Failure::Ours(format!("{what}; the end of their log:\n{}", crate::score::visible(&last.join("\n"))))
    }

    /// Tells both to finish, and waits for them.
    pub(super) async fn stop(mut self) {
        let told = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(id) = told {
            // One that is gone already needs no signal.
            let _told = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
            // What cannot be killed has ended meanwhile.
            let _killed = self.child.kill().await;
        }
    }
}
