//! What `receive`, `work`, `web` and `serve` do between the command line and the role itself.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tracing::info;

use super::receive::open_queue;
use super::serve::Pages;
use super::work::{Until, Worker};
use super::{RoleError, now, signals, telemetry};
use crate::config::{self, Settings};
use crate::delivery::WebhookSecrets;
use crate::forge::{Clock, GitHub, GitHubSettings, Pace};
use crate::proof::Keys;
use crate::queue::RunnerId;

/// What every role is told on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct RoleArgs {
    /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// End when the parent process ends.
    #[arg(long, hide = true)]
    pub stop_with_parent: bool,
}

/// What `work` is told.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkArgs {
    /// The role's own.
    #[command(flatten)]
    pub role: RoleArgs,
    /// The name of this worker in records.
    #[arg(long, value_name = "ID")]
    pub runner_id: Option<String>,
    /// Work until nothing is queued or running, retries that are due later included; then exit.
    #[arg(long)]
    pub drain: bool,
    /// Look first for what was missed: failed deliveries, pull requests without a current verdict, runs that hang. Without
    /// `--drain` that is done in any case.
    #[arg(long)]
    pub reconcile: bool,
}

/// Runs `receive` until it is told to stop.
pub fn run_receive(args: &RoleArgs) -> Result<(), RoleError> {
    let environment = config::environment();
    let settings = settings(args)?;
    runtime()?.block_on(async {
        let stop = stop_token(args)?;
        super::receive::receive(&settings, &environment, stop).await
    })
}

/// Runs `work` until it is told to stop, or until nothing is left to do.
pub fn run_work(args: &WorkArgs) -> Result<(), RoleError> {
    let settings = settings(&args.role)?;
    if let Some(web) = &settings.web {
        web.origin()?;
    }
    let github = github(&settings)?;
    let runner = RunnerId(args.runner_id.clone().unwrap_or_else(|| settings.work.runner_id.clone()));
    let until = if args.drain { Until::Drained } else { Until::Stopped };
    runtime()?.block_on(async {
        let stop = stop_token(&args.role)?;
        let forge = Arc::new(GitHub::new(&github, Clock::new(now))?);
        let queue = Arc::new(open_queue(&settings).await?);
        let key = Keys::at(settings.keys()).ensure(now())?;
        info!(key.id = %key.public().id(), "records are signed with the key {}", key.public().id());
        info!(runner.id = %runner.0, "working as {}", runner.0);
        let app = github.app_id;
        let worker = Arc::new(Worker::new(queue.clone(), forge.clone(), forge, app, settings, runner, now));
        worker.note_configuration().await?;
        if args.reconcile {
            worker.send_every_duty().await?;
        }
        let ended = worker.run(until, stop).await;
        queue.close().await;
        Ok(ended?)
    })
}

/// Runs `web` until it is told to stop.
pub fn run_web(args: &RoleArgs) -> Result<(), RoleError> {
    let environment = config::environment();
    let settings = Settings::load(args.config.as_deref(), &environment)?;
    settings.web()?;
    telemetry::start(&settings.log)?;
    runtime()?.block_on(async { super::web::web(&settings, &environment, stop_token(args)?).await })
}

/// Runs the roles as child processes until it is told to stop.
pub fn run_serve(args: &RoleArgs) -> Result<(), RoleError> {
    let environment = config::environment();
    // A wrong configuration is said once here, and not by two children again and again.
    let settings = settings(args)?;
    WebhookSecrets::new(settings.webhook_secrets(&environment)?)?;
    drop(super::uploads::doorkeeper(&settings)?);
    let github = github(&settings)?;
    let pages = match &settings.web {
        Some(web) => {
            web.origin()?;
            settings.web_secrets(&environment)?;
            Pages::Shown
        }
        None => Pages::None,
    };
    let program =
        std::env::current_exe().map_err(|error| RoleError::Ours(format!("cannot find this program: {error}")))?;
    runtime()?.block_on(async {
        drop(GitHub::new(&github, Clock::new(now))?);
        super::serve::serve(program, args.config.clone(), environment, pages, stop_token(args)?).await;
        Ok(())
    })
}

fn settings(args: &RoleArgs) -> Result<Settings, RoleError> {
    let settings = Settings::load(args.config.as_deref(), &config::environment())?;
    settings.github()?;
    telemetry::start(&settings.log)?;
    Ok(settings)
}

fn github(settings: &Settings) -> Result<GitHubSettings, RoleError> {
    let section = settings.github()?;
    let key = settings.app_key(&config::environment())?;
    Ok(GitHubSettings {
        api: section.api_url.clone(),
        git: section.git_url.clone(),
        check_name: section.check_name.clone(),
        pace: Pace { between_writes: section.write_interval, ..Pace::default() },
        ..GitHubSettings::new(section.app_id, key)
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, RoleError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| RoleError::Ours(format!("cannot start the runtime: {error}")))
}

fn stop_token(args: &RoleArgs) -> Result<CancellationToken, RoleError> {
    let ours = |error: std::io::Error| RoleError::Ours(format!("cannot listen for signals: {error}"));
    if args.stop_with_parent {
        signals::stop_with_parent().map_err(ours)?;
    }
    signals::stop_on_signal().map_err(ours)
}
