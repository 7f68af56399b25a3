//! The command `init`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::detect::{Detected, Signs, detect};
use super::draft::Draft;
use super::example::{Attempt, Example, FILES, Property};
use super::say;
use super::write::{NewFile, Written, is_there, write};
use crate::change::{Git, GitError};
use crate::desk::{Failure, lock, out, place, policy, simulate};
use crate::pipeline::OperatorsPolicy;
use crate::policy::{Ecosystem, Policy};
use crate::words::ObjectId;

/// The most that one change of the history may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A ledger that freezes nothing.
const EMPTY_LEDGER: &str = "{\n  \"schema\": 2,\n  \"freezes\": {}\n}\n";

/// What `init` is asked.
#[derive(Clone, Debug, clap::Args)]
pub struct InitArgs {
    /// The repository: a working copy or one of its folders; with --dry-run a bare repository too.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
    /// Show what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// How many of the last changes are judged by the new policy; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub last: u32,
    /// Write no example of a property.
    #[arg(long)]
    pub no_property: bool,
}

/// What is about to be written, and why.
struct Plan {
    detected: Detected,
    policy: OperatorsPolicy,
    parsed: Policy,
    files: Vec<NewFile>,
}

/// Writes what is missing, and says what came of it.
pub fn init(args: &InitArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let git = opened(&args.repo)?;
    let top = top_of(args)?;
    let head = git.resolve("HEAD").ok();
    let branch = default_branch(&git);
    let plan = planned(args, &git, top.as_deref(), head.as_ref(), clock)?;
    let mut files = Vec::new();
    for file in plan.files {
        let written = match &top {
            Some(top) if args.dry_run && is_there(&top.join(&file.path)) => Written::Kept,
            Some(top) if !args.dry_run => write(top, &file)?,
            Some(_) | None => Written::New,
        };
        files.push((file, written));
    }
    let place = top.as_deref().unwrap_or(&args.repo).display().to_string();
    let mut lines = say::done(&files, args.dry_run, &place);
    if head.is_some() {
        lines.extend(say::found(&plan.detected));
    } else {
        lines.push(
            "There is no commit yet, so the policy knows every language, and there is no history to try it on."
                .to_owned(),
        );
        lines.push("When there is one: `evidence-gate policy lint`, and `evidence-gate simulate`.".to_owned());
        lines.push(String::new());
    }
    out::print(&joined(&lines))?;
    if let Some((policy, _)) =
        files.iter().find(|(file, written)| args.dry_run && file.path == Policy::FILE && *written == Written::New)
    {
        let text = String::from_utf8_lossy(&policy.bytes);
        let quoted: Vec<String> = text.lines().map(|line| format!("  | {line}")).collect();
        out::print(&format!("{}\n{}\n\n", Policy::FILE, quoted.join("\n")))?;
    }
    if head.is_some() && args.last > 0 {
        out::print(&format!("{}\n", history(args, git, plan.policy, plan.parsed, clock)?))?;
    }
    out::print(&joined(&say::next(&files, args.dry_run, plan.detected.forge, branch)))?;
    Ok(0)
}

fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// The branch that pull requests are most likely meant for.
fn default_branch(git: &Git) -> &'static str {
    let there = |name: &&str| git.resolve(&format!("refs/heads/{name}")).is_ok();
    ["main", "master", "trunk", "develop"].into_iter().find(there).unwrap_or("main")
}

fn opened(repo: &Path) -> Result<Git, Failure> {
    Git::open(repo).map_err(|error| match error {
        GitError::NotARepository { dir } => Failure::Usage(format!(
            "{} is not in a git repository, and a policy belongs into one: run `git init` there, or name another folder with --repo",
            dir.display()
        )),
        other => other.into(),
    })
}

/// The top of the working copy; `None` for a bare repository that is only looked at.
fn top_of(args: &InitArgs) -> Result<Option<PathBuf>, Failure> {
    match place::working_copy(&args.repo) {
        Ok(top) => Ok(Some(top)),
        Err(_) if args.dry_run => Ok(None),
        Err(_) => Err(Failure::Usage(format!(
            "{} is a bare repository, with no working copy to write to: run this in a clone, or with --dry-run to see what would be written",
            args.repo.display()
        ))),
    }
}

fn planned(
    args: &InitArgs,
    git: &Git,
    top: Option<&Path>,
    head: Option<&ObjectId>,
    clock: fn() -> Timestamp,
) -> Result<Plan, Failure> {
    if let Some(top) = top.filter(|top| is_there(&top.join(Policy::FILE))) {
        return kept(git, top, head);
    }
    let Some(head) = head else { return fresh() };
    let paths: Vec<_> = git.files(head, &[])?.into_iter().map(|file| file.path).collect();
    let detected = detect(&paths);
    let nothing = Example::None("this is the first draft".to_owned());
    let draft = |fixtures, example: &Example| Draft { detected: &detected, fixtures, example }.text();
    let classes = parsed(&draft(0, &nothing))?;
    let fixtures = lock::fixtures(git, head, &classes)?.files;
    let lock = lock::text(&fixtures, &git.sha256(fixtures.iter().map(|file| &file.id))?);
    let property = if args.no_property {
        Err("as was asked for".to_owned())
    } else {
        Property::over(&detected.python)
            .ok_or_else(|| "the example is for Python, and there is none of the product".to_owned())
    };
    let example = match property {
        Err(why) => Example::None(why),
        Ok(property) => {
            let works = Example::Works(property);
            let attempt = Attempt { git, head, policy: draft(fixtures.len(), &works), lock: lock.clone(), clock };
            match attempt.run()? {
                Ok(()) => works,
                Err(why) => Example::None(format!("the example did not pass here: {why}")),
            }
        }
    };
    let text = draft(fixtures.len(), &example);
    let policy = parsed(&text)?;
    let mut files = vec![policy_file(&text)];
    if !fixtures.is_empty() {
        files.push(lock_file(&policy, fixtures.len(), lock));
    }
    files.push(ledger_file(&policy));
    if matches!(example, Example::Works(_)) {
        files.extend(FILES.map(|(path, text)| {
            NewFile {
                path: format!("{}/{path}", policy.oracles.root),
                bytes: text.into(),
                what: if path.starts_with("known_bad") {
                    "what the example must refuse"
                } else {
                    "an example property; it passed here"
                }
                .to_owned(),
            }
        }));
    }
    Ok(Plan { detected, policy: draft_of(text), parsed: policy, files })
}

/// A repository whose policy stays: what it names and is not there is written.
fn kept(git: &Git, top: &Path, head: Option<&ObjectId>) -> Result<Plan, Failure> {
    let path = top.join(Policy::FILE);
    let text = std::fs::read_to_string(&path).map_err(|source| Failure::read(path.display(), source))?;
    let policy = policy::parsed(&text, &path.display().to_string(), policy::colour_of_errors())?;
    let mut files = vec![policy_file(&text)];
    let mut detected = Detected::default();
    if let Some(head) = head {
        let fixtures = lock::fixtures(git, head, &policy)?.files;
        if policy.require.fixture_lock || !fixtures.is_empty() {
            let lock = lock::text(&fixtures, &git.sha256(fixtures.iter().map(|file| &file.id))?);
            files.push(lock_file(&policy, fixtures.len(), lock));
        }
        let paths: Vec<_> = git.files(head, &[])?.into_iter().map(|file| file.path).collect();
        detected = detect(&paths);
    }
    files.push(ledger_file(&policy));
    Ok(Plan { detected, policy: draft_of(text), parsed: policy, files })
}

/// A repository without a commit.
fn fresh() -> Result<Plan, Failure> {
    let every = Ecosystem::ALL.into_iter().filter(|ecosystem| *ecosystem != Ecosystem::Generic);
    let detected =
        Detected { ecosystems: every.map(|ecosystem| (ecosystem, Signs::default())).collect(), ..Detected::default() };
    let example = Example::None("there is no commit to try one on".to_owned());
    let text = Draft { detected: &detected, fixtures: 0, example: &example }.text();
    let policy = parsed(&text)?;
    let files = vec![policy_file(&text), ledger_file(&policy)];
    Ok(Plan { detected, policy: draft_of(text), parsed: policy, files })
}

fn parsed(text: &str) -> Result<Policy, Failure> {
    crate::policy::parse(text, "the drafted policy")
        .map_err(|error| Failure::Ours(format!("the drafted policy cannot be read: {}", error.one_line())))
}

fn draft_of(text: String) -> OperatorsPolicy {
    OperatorsPolicy { origin: Policy::FILE.to_owned(), text }
}

fn policy_file(text: &str) -> NewFile {
    NewFile {
        path: Policy::FILE.to_owned(),
        bytes: text.into(),
        what: "the policy, with a comment on each line of it".to_owned(),
    }
}

fn lock_file(policy: &Policy, fixtures: usize, bytes: Vec<u8>) -> NewFile {
    let files = if fixtures == 1 { "1 fixture".to_owned() } else { format!("{fixtures} fixtures") };
    NewFile { path: policy.fixtures.lock.to_string(), bytes, what: format!("the fixture lock: {files} of HEAD") }
}

fn ledger_file(policy: &Policy) -> NewFile {
    NewFile {
        path: policy.freeze.ledger.to_string(),
        bytes: EMPTY_LEDGER.into(),
        what: "the freeze ledger: empty".to_owned(),
    }
}

fn history(
    args: &InitArgs,
    git: Git,
    policy: OperatorsPolicy,
    parsed: Policy,
    clock: fn() -> Timestamp,
) -> Result<String, Failure> {
    let ask = simulate::Ask {
        repo: args.repo.clone(),
        git,
        policy,
        parsed,
        tip: "HEAD".to_owned(),
        last: args.last,
        running: None,
        limit: PATIENCE,
        clock,
        progress: simulate::progress(),
    };
    Ok(simulate::text(&simulate::run(ask)?))
}
