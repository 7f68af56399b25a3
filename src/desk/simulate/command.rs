//! The command `simulate`.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::ask::{Ask, History};
use super::{html, json, markdown};
use crate::change::Git;
use crate::desk::{Failure, Format, ScoreArgs, lint, out, place, policy, score};
use crate::pipeline::OperatorsPolicy;
use crate::policy::Policy;

/// What `simulate` is asked.
#[derive(Clone, Debug, clap::Args)]
pub struct SimulateArgs {
    /// The repository: a working copy, one of its folders, or a bare repository. Nothing in it is written or checked out.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
    /// The policy to try; without it the working copy's `.evidence-gate.toml`, committed or not, else the one at the tip.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The branch whose history is judged.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub tip: String,
    /// How many changes, counted along first parents: a merge is one change, and so is a squashed pull request.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub last: u32,
    /// Judge only what this commit brings to its base, and print its whole report.
    #[arg(long, value_name = "REV", conflicts_with_all = ["last", "tip"])]
    pub change: Option<String>,
    /// The base of that one change; without it the commit's first parent.
    #[arg(long, value_name = "REV", requires = "change")]
    pub base: Option<String>,
    /// Another freeze ledger for that one change.
    #[arg(long, value_name = "FILE", requires = "change")]
    pub freeze: Option<PathBuf>,
    /// Another fixture lock for that one change.
    #[arg(long, value_name = "FILE", requires = "change")]
    pub lock: Option<PathBuf>,
    /// A coverage map for that one change.
    #[arg(long, value_name = "FILE", requires = "change")]
    pub map: Option<PathBuf>,
    /// Properties, samples and known-bad inputs of your own.
    #[arg(long, value_name = "DIR")]
    pub oracles: Option<PathBuf>,
    /// Run properties and live tests in the sandbox, as `score` does. One change always runs them.
    #[arg(long)]
    pub run: bool,
    /// The configuration whose section `[sandbox]` says how they are run.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// The most seconds that one change may take; one that takes longer is listed and not counted.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = SimulateFormat::Text)]
    pub format: SimulateFormat,
    /// Write there instead of to standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What `simulate` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SimulateFormat {
    /// For a person.
    Text,
    /// One document: the numbers, and every change with its verdict.
    Json,
    /// For a pull request that brings a policy in.
    Markdown,
    /// A page that can be opened from disk.
    Html,
}

/// Judges the history and prints what came out, and returns the exit code: 0 whatever the verdicts, since a simulation gates nothing.
pub fn simulate(args: &SimulateArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let git = Git::open(&args.repo)?;
    let policy = policy_to_try(args, &git)?;
    if let Some(change) = &args.change {
        return one(args, &git, change, clock);
    }
    let running =
        if args.run { Some(score::running(args.config.as_deref(), args.oracles.as_deref(), None)?) } else { None };
    let parsed = policy::parsed(&policy.text, &policy.origin, policy::colour_of_errors())?;
    let ask = Ask {
        repo: args.repo.clone(),
        git,
        policy,
        parsed,
        tip: args.tip.clone(),
        last: args.last,
        running,
        limit: Duration::from_secs(args.timeout),
        clock,
        progress: progress(),
    };
    let history = super::run(ask)?;
    written(args.output.as_deref(), &rendered(&history, args.format))?;
    Ok(0)
}

fn rendered(history: &History, format: SimulateFormat) -> String {
    match format {
        SimulateFormat::Text => super::text(history),
        SimulateFormat::Json => json::json(history),
        SimulateFormat::Markdown => markdown::markdown(history),
        SimulateFormat::Html => html::html(history),
    }
}

/// One change is what `score` judges, with the policy that is tried.
fn one(args: &SimulateArgs, git: &Git, change: &str, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let base = args.base.clone().unwrap_or_else(|| format!("{change}^1"));
    let parent_named = git.resolve(&base);
    if args.base.is_none() && parent_named.is_err() {
        git.resolve(change)?;
        return Err(Failure::Usage(format!(
            "{change} has no parent here: name what it is to be compared with by --base"
        )));
    }
    let format = match args.format {
        SimulateFormat::Text => Format::Text,
        SimulateFormat::Json => Format::Json,
        SimulateFormat::Markdown => Format::Markdown,
        SimulateFormat::Html => Format::Html,
    };
    let asked = ScoreArgs {
        repo: args.repo.clone(),
        base,
        head: change.to_owned(),
        patch: None,
        policy: policy_file(args),
        lock: args.lock.clone(),
        freeze: args.freeze.clone(),
        map: args.map.clone(),
        oracles: args.oracles.clone(),
        seed: None,
        lane: false,
        config: args.config.clone(),
        format,
        output: args.output.clone(),
    };
    score::score(&asked, clock).map(|_| 0)
}

/// The caller's file, or the working copy's.
fn policy_file(args: &SimulateArgs) -> Option<PathBuf> {
    args.policy.clone().or_else(|| {
        let in_place = place::working_copy(&args.repo).ok()?.join(Policy::FILE);
        in_place.exists().then_some(in_place)
    })
}

fn policy_to_try(args: &SimulateArgs, git: &Git) -> Result<OperatorsPolicy, Failure> {
    if let Some(file) = policy_file(args) {
        return score::read_policy(&file);
    }
    let tip = args.change.as_ref().unwrap_or(&args.tip);
    let commit = git.resolve(tip)?;
    let origin = format!("{} at {tip}", Policy::FILE);
    let text = lint::committed(git, &commit)?;
    text.map(|text| OperatorsPolicy { origin, text }).ok_or_else(|| {
        Failure::Usage(format!(
            "there is no policy to try: {tip} has no readable {}; `evidence-gate init` writes one, and --policy names another",
            Policy::FILE
        ))
    })
}

/// Prints, or writes to a file.
pub(in crate::desk) fn written(output: Option<&Path>, text: &str) -> Result<(), Failure> {
    match output {
        Some(path) => std::fs::write(path, text).map_err(|source| Failure::write(path.display(), source)),
        None => out::print(text),
    }
}

/// A line that counts, where a person looks.
pub(in crate::desk) fn progress() -> fn(usize, usize) {
    if std::io::stderr().is_terminal() { count } else { |_, _| {} }
}

fn count(done: usize, of: usize) {
    let end = if done == of { "\r\x1b[K" } else { "" };
    // Where standard error is closed there is nobody to tell.
    let _told = write!(std::io::stderr().lock(), "\r{done} of {of} changes judged{end}");
}

/// A document, safe to print.
pub(super) fn safe_json(document: &serde_json::Value) -> String {
    crate::report::safe(&serde_json::to_string_pretty(document).expect("a JSON value can always be printed"))
}
