//! `evidence-gate audit`: who had what decided, asked for it, was refused, and when.

mod signed;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Failure, out};
use crate::config::{self, Settings};
use crate::queue::{Audit, AuditFilter, Errands as _, SqliteOptions, SqliteQueue};
use crate::score::visible;
use crate::words::PullNumber;

pub use signed::AuditCommand;

/// What is wanted of the audit log.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AuditArgs {
    /// Something else than the log.
    #[command(subcommand)]
    pub command: Option<AuditCommand>,
    /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// Only this repository, by the name that it had at the time.
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<String>,
    /// Only this pull request.
    #[arg(long, value_name = "NUMBER")]
    pub pull: Option<u64>,
    /// Only rows of this kind.
    #[arg(long)]
    pub kind: Option<AuditKind>,
    /// Only what this login, or this worker, did.
    #[arg(long, value_name = "LOGIN")]
    pub who: Option<String>,
    /// Only rows from this moment on, such as 2026-12-01T00:00:00Z.
    #[arg(long, value_name = "MOMENT")]
    pub since: Option<Timestamp>,
    /// The newest so many rows.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub most: u32,
    /// For people, or one JSON object a line.
    #[arg(long, default_value = "text")]
    pub format: AuditFormat,
}

/// What a row of the audit log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuditKind {
    /// An answer that was published.
    Verdict,
    /// An answer about a merge group.
    Group,
    /// A command or button that was obeyed.
    Command,
    /// One that was not.
    Refusal,
    /// A label that selects a flow was set or taken away.
    Label,
    /// A worker that started, and with what.
    Configuration,
    /// What the App reaches, and what it cannot do.
    Installation,
    /// What became of a coverage map that was uploaded.
    Map,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// One line a row.
    Text,
    /// One JSON object a line, with the digests.
    Json,
}

/// Prints the rows, newest first, or looks at the signed records. 0, or 1 where these do not hold.
pub fn audit(args: &AuditArgs) -> Result<u8, Failure> {
    if let Some(command) = &args.command {
        return signed::signed(command);
    }
    let settings = Settings::load(args.config.as_deref(), &config::environment())?;
    let kind = args.kind.and_then(|kind| kind.to_possible_value()).map(|value| value.get_name().to_owned());
    let filter = AuditFilter {
        repository: args.repo.clone(),
        pull: args.pull.map(PullNumber),
        kind,
        who: args.who.clone(),
        since: args.since,
        most: args.most,
    };
    runtime()?.block_on(async {
        let queue = opened(&settings).await?;
        let rows = queue.audit(&filter).await?;
        queue.close().await;
        let line = match args.format {
            AuditFormat::Text => in_words,
            AuditFormat::Json => in_json,
        };
        let mut text = String::new();
        for row in &rows {
            writeln!(text, "{}", line(row)).expect("writing to a String cannot fail");
        }
        out::print(&text).map(|()| 0)
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Ours(format!("cannot start the runtime: {error}")))
}

async fn opened(settings: &Settings) -> Result<SqliteQueue, Failure> {
    let folder = &settings.data_dir;
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("there is no data directory {} (`data_dir`)", folder.display())));
    }
    SqliteQueue::open(folder, SqliteOptions::default())
        .await
        .map_err(|error| Failure::OutOfReach(format!("cannot open the queue in {}: {error}", folder.display())))
}

fn in_words(row: &Audit) -> String {
    let place = match (&row.repository, row.pull) {
        (Some(repository), Some(pull)) => format!("{repository}#{pull}"),
        (Some(repository), None) => repository.to_string(),
        (None, _) => "-".to_owned(),
    };
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let line =
        format!("{} {} {place} {} {}: {}", row.at, row.kind, or_dash(&row.who), or_dash(&row.delivery), row.what);
    visible(&line)
}

fn in_json(row: &Audit) -> String {
    let details: Value = serde_json::from_str(&row.details).unwrap_or(Value::Null);
    json!({
        "at": row.at.to_string(), "kind": row.kind, "forge": row.repository.as_ref().map(|repo| repo.forge.as_str()),
        "repository": row.repository.as_ref().map(|repo| json!({ "id": repo.id, "name": repo.name })),
        "pull": row.pull, "who": row.who, "delivery": row.delivery, "what": row.what, "details": details,
    })
    .to_string()
}
