//! `evidence-gate serve`: the roles as child processes of one parent, each with its own secrets (R16).
//!
//! The parent holds no secret of its own and judges nothing. A child that dies is started again; when the parent stops, all
//! children are told to finish and waited for. Deliberately absent: threads that share memory between a public role and one that
//! holds the App's key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::config::{ENV_PREFIX, INHERITED, RECEIVER_SECRETS, WEB_SECRETS, WORKER_SECRETS};

/// How long a child may take to finish after it was told to stop.
const GRACE: Duration = Duration::from_secs(30);

/// A child that lived this long starts the count of failures anew.
const STEADY: Duration = Duration::from_mins(1);

/// The longest pause before a child is started again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A role that runs as a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Receive,
    Work,
    Web,
}

/// Whether there are pages for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    Shown,
    None,
}

impl Role {
    fn subcommand(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::Work => "work",
            Self::Web => "web",
        }
    }

    /// Variables of the other roles, which this one must not see.
    fn foreign_secrets(self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Receive => [WORKER_SECRETS, WEB_SECRETS],
            Self::Work => [RECEIVER_SECRETS, WEB_SECRETS],
            Self::Web => [RECEIVER_SECRETS, WORKER_SECRETS],
        }
    }

    /// What this role inherits: the few variables that programs need, and ours without the other role's secrets.
    fn environment(self, ours: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        ours.iter()
            .filter(|(name, _)| INHERITED.contains(&name.as_str()) || name.starts_with(ENV_PREFIX))
            .filter(|(name, _)| !self.foreign_secrets().iter().any(|of| of.contains(&name.as_str())))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// Runs the roles until `stop`. Returns when all have ended.
pub(super) async fn serve(
    program: PathBuf,
    config: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    pages: Pages,
    stop: CancellationToken,
) {
    let keep = |role: Role| keep_running(role, &program, config.as_deref(), role.environment(&environment), &stop);
    let show = async {
        if pages == Pages::Shown {
            keep(Role::Web).await;
        }
    };
    tokio::join!(keep(Role::Receive), keep(Role::Work), show);
    info!("all roles have ended");
}

/// Starts the role again whenever it dies, with a growing pause, until `stop`.
async fn keep_running(
    role: Role,
    program: &Path,
    config: Option<&Path>,
    environment: BTreeMap<String, String>,
    stop: &CancellationToken,
) {
    let mut failures = 0_u32;
    while !stop.is_cancelled() {
        let started = Instant::now();
        match spawn(role, program, config, &environment) {
            Err(source) => error!(role = role.subcommand(), "cannot start {}: {source}", role.subcommand()),
            Ok(mut child) => {
                info!(role = role.subcommand(), process.id = child.id(), "started {}", role.subcommand());
                tokio::select! {
                    ended = child.wait() => report_end(role, ended),
                    () = stop.cancelled() => return finish(role, child).await,
                }
            }
        }
        failures = if started.elapsed() >= STEADY { 1 } else { failures + 1 };
        let pause = pause_after(failures);
        warn!(role = role.subcommand(), pause.seconds = pause.as_secs_f64(), "starting {} again", role.subcommand());
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.cancelled() => {}
        }
    }
}

/// 0.5 s after the first failure, doubled with each further one, up to [`LONGEST_PAUSE`].
fn pause_after(failures: u32) -> Duration {
    Duration::from_millis(500).saturating_mul(1 << failures.saturating_sub(1).min(10)).min(LONGEST_PAUSE)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that starts the roles; it runs this very program and nothing of a pull request"
)]
fn spawn(
    role: Role,
    program: &Path,
    config: Option<&Path>,
    environment: &BTreeMap<String, String>,
) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.arg(role.subcommand()).arg("--stop-with-parent");
    if let Some(config) = config {
        command.arg("--config").arg(config);
    }
    command.env_clear().envs(environment).stdin(Stdio::null()).kill_on_drop(true).spawn()
}

fn report_end(role: Role, ended: std::io::Result<ExitStatus>) {
    match ended {
        Ok(status) => error!(role = role.subcommand(), "{} ended: {status}", role.subcommand()),
        Err(source) => error!(role = role.subcommand(), "lost sight of {}: {source}", role.subcommand()),
    }
}

/// Tells the child to stop, and kills it if it has not after [`GRACE`].
async fn finish(role: Role, mut child: Child) {
    let told = child
        .id()
        .and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()))
        .map_or(Ok(()), |id| rustix::process::kill_process(id, rustix::process::Signal::TERM));
    if let Err(source) = told {
        warn!(role = role.subcommand(), "cannot tell {} to stop: {source}", role.subcommand());
    }
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        warn!(role = role.subcommand(), "{} did not stop in {} s and is killed", role.subcommand(), GRACE.as_secs());
        if let Err(source) = child.kill().await {
            error!(role = role.subcommand(), "cannot kill {}: {source}", role.subcommand());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(names: &[&str]) -> BTreeMap<String, String> {
        names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect()
    }

    #[test]
    fn no_role_sees_the_secrets_of_the_other() {
        let ours = environment(&[
            "PATH",
            "AWS_SECRET_ACCESS_KEY",
            "EVIDENCE_GATE_DATA_DIR",
            "EVIDENCE_GATE_GITHUB__PRIVATE_KEY",
            "EVIDENCE_GATE_GITHUB__WEBHOOK_SECRETS",
            "EVIDENCE_GATE_WEB__CLIENT_SECRET",
        ]);
        let seen = |role: Role| role.environment(&ours).into_keys().collect::<Vec<_>>();
        assert_eq!(seen(Role::Receive), ["EVIDENCE_GATE_DATA_DIR", "EVIDENCE_GATE_GITHUB__WEBHOOK_SECRETS", "PATH"]);
        assert_eq!(seen(Role::Work), ["EVIDENCE_GATE_DATA_DIR", "EVIDENCE_GATE_GITHUB__PRIVATE_KEY", "PATH"]);
        assert_eq!(seen(Role::Web), ["EVIDENCE_GATE_DATA_DIR", "EVIDENCE_GATE_WEB__CLIENT_SECRET", "PATH"]);
    }

    #[test]
    fn the_pause_before_a_restart_grows_and_is_bounded() {
        let pauses: Vec<_> = [1, 2, 3, 7, 200].into_iter().map(|n| pause_after(n).as_millis()).collect();
        assert_eq!(pauses, [500, 1000, 2000, 30_000, 30_000]);
    }
}
