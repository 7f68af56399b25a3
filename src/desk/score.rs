//! `evidence-gate score`: the verdict for two commits of a repository on this machine.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Failure, cache, out};
use crate::change::{Git, GitError};
use crate::config;
use crate::evidence::surface::Picture;
use crate::evidence::{ledger, lock};
use crate::maps::MapError;
use crate::pipeline::{self, LaneAsked, OperatorsFile, OperatorsMap, OperatorsPolicy, Origin, Question, Running};
use crate::report::{self, Colour};
use crate::score::Record;
use crate::words::{BaseSha, HeadSha, ObjectId, Verdict};

/// The most columns of text where the terminal does not say.
const WIDTH: usize = 100;

/// What `score` is asked.
#[derive(Clone, Debug, clap::Args)]
pub struct ScoreArgs {
    /// The repository: a working copy, one of its folders, or a bare repository. Nothing in it is written or checked out.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
    /// The tip of the branch that the change is meant for.
    #[arg(long, value_name = "REV")]
    pub base: String,
    /// The tip of the change.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub head: String,
    /// A patch on the base's tip, as `git diff` writes it, in place of a head; `-` reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "head")]
    pub patch: Option<PathBuf>,
    /// A policy of your own; it wins over the one at the base's tip.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// A fixture lock of your own; it wins over the one at the base's tip.
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// A freeze ledger of your own; it wins over the one at the base's tip.
    #[arg(long, value_name = "FILE")]
    pub freeze: Option<PathBuf>,
    /// A coverage map of your own: which test runs which line of the merge base, or of the commit that the map names.
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// Properties, samples and known-bad inputs of your own; they win over those at the base's tip.
    #[arg(long, value_name = "DIR")]
    pub oracles: Option<PathBuf>,
    /// A seed for every property, in place of the policy's: to look for a failure, or to see one again.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<i64>,
    /// Judge a change of evidence as if its pull request carried the lane's label: whether the new evidence is sound. Who lets it in can
    /// only be seen on the forge, so what is sound is a hold here.
    #[arg(long)]
    pub lane: bool,
    /// The configuration whose section `[sandbox]` says how properties and live tests are run.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write there instead of to standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What `score` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a person.
    Text,
    /// The record and nothing else.
    Json,
    /// What the check run says.
    Markdown,
    /// A page with both sides of the changed files, and who runs each line.
    Html,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for machines that show test reports.
    Junit,
    /// Workflow commands, which GitHub Actions turns into annotations.
    Github,
    /// GitLab's code quality report.
    GitlabCodequality,
}

/// Judges, prints, and returns the verdict.
pub fn score(args: &ScoreArgs, clock: fn() -> Timestamp) -> Result<Verdict, Failure> {
    let git = Git::open(&args.repo).map_err(Failure::from)?;
    let base = git.resolve(&args.base)?;
    let head = match &args.patch {
        Some(file) => patched(&git, &base, &args.base, file)?,
        None => git.resolve(&args.head)?,
    };
    let question = Question {
        origin: Origin::Local { name: folder_name(&args.repo) },
        base_ref: args.base.clone(),
        base: BaseSha(base),
        head: HeadSha(head),
        policy: args.policy.as_deref().map(read_policy).transpose()?,
        lock: args.lock.as_deref().map(read_own).transpose()?,
        ledger: args.freeze.as_deref().map(read_own).transpose()?,
        map: args.map.as_deref().map(read_map).transpose()?,
        maps: None,
        reviews: None,
        lane: if args.lane { LaneAsked::Always } else { LaneAsked::ByLabel },
        known_digests: cache::known_digests(&args.repo, &config::environment()),
        running: running(args.config.as_deref(), args.oracles.as_deref(), args.seed)?,
        runner: "local".to_owned(),
        today: None,
        clock,
    };
    if let Some(OperatorsFile { origin, bytes }) = &question.lock {
        lock::parse(bytes).map_err(|error| Failure::BadInput(format!("{origin}: {error}")))?;
    }
    if let Some(OperatorsFile { origin, bytes }) = &question.ledger {
        ledger::parse(bytes).map_err(|error| Failure::BadInput(format!("{origin}: {error}")))?;
    }
    let (record, picture) = match args.format {
        Format::Html => pipeline::score_with_picture(&git, &question),
        Format::Text
        | Format::Json
        | Format::Markdown
        | Format::Sarif
        | Format::Junit
        | Format::Github
        | Format::GitlabCodequality => pipeline::score(&git, &question).map(|record| (record, Picture::default())),
    }
    .map_err(|error| Failure::from(error.0))?;
    show(&record, &picture, args.format, args.output.as_deref())?;
    Ok(record.verdict)
}

/// The commit that a patch makes of the base. It is in no repository, so a record of it cannot be replayed.
fn patched(git: &Git, base: &ObjectId, name: &str, file: &Path) -> Result<ObjectId, Failure> {
    let origin = file.display().to_string();
    let read = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let patch = read.map_err(|source| Failure::read(&origin, source))?;
    git.patched(base, &patch).map_err(|error| match error {
        GitError::Failed { said, .. } => {
            Failure::BadInput(format!("{origin} does not apply to {name}: {said}; make it with `git diff {name}`"))
        }
        other => other.into(),
    })
}

/// Prints a record, or writes it to a file.
pub(super) fn show(record: &Record, picture: &Picture, format: Format, output: Option<&Path>) -> Result<(), Failure> {
    match output {
        Some(path) => std::fs::write(path, rendered(record, picture, format, Colour::Never))
            .map_err(|source| Failure::write(path.display(), source)),
        None => print(record, picture, format),
    }
}

/// The sandbox of the environment's configuration, with one line per oracle where a person looks. Whether there is one is part of the
/// verdict, and no failure of the command.
pub(super) fn running(file: Option<&Path>, oracles: Option<&Path>, seed: Option<i64>) -> Result<Running, Failure> {
    if let Some(folder) = oracles.filter(|folder| !folder.is_dir()) {
        return Err(Failure::Usage(format!(
            "{} is no folder: `--oracles` names the folder with `properties/`",
            folder.display()
        )));
    }
    let settings =
        config::Settings::load(file, &config::environment()).map_err(|error| Failure::BadInput(error.to_string()))?;
    let progress: fn(&str) = if std::io::stderr().is_terminal() { out::tell } else { |_| {} };
    let oracles = oracles.map(Path::to_owned);
    Ok(Running { seed, oracles, progress, ..Running::configured(&settings.sandbox) })
}

fn rendered(record: &Record, picture: &Picture, format: Format, colour: Colour) -> String {
    match format {
        Format::Text => report::text(record, colour, WIDTH),
        Format::Json => report::json(record),
        Format::Markdown => report::markdown(record, report::RULES_PAGE),
        Format::Html => report::html(record, picture, report::RULES_PAGE),
        Format::Sarif => report::sarif(record, report::RULES_PAGE),
        Format::Junit => report::junit(record),
        Format::Github => report::github(record),
        Format::GitlabCodequality => report::gitlab_codequality(record),
    }
}

fn print(record: &Record, picture: &Picture, format: Format) -> Result<(), Failure> {
    let stdout = std::io::stdout();
    let wanted = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let colour = if stdout.is_terminal() && wanted { Colour::Always } else { Colour::Never };
    out::print(&rendered(record, picture, format, colour))
}

/// The operator's copy. A policy that cannot be read is a wrong call and no verdict: it is the caller's own file.
pub(super) fn read_policy(path: &Path) -> Result<OperatorsPolicy, Failure> {
    let origin = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| Failure::read(&origin, source))?;
    super::policy::parsed(&text, &origin, super::policy::colour_of_errors())?;
    Ok(OperatorsPolicy { origin, text })
}

/// Another file of the caller's own.
pub(super) fn read_own(path: &Path) -> Result<OperatorsFile, Failure> {
    let origin = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| Failure::read(&origin, source))?;
    Ok(OperatorsFile { origin, bytes: bytes.into() })
}

/// A coverage map of the caller's own. One that is too coarse is a fact for the rules; any other fault is the caller's.
pub(super) fn read_map(path: &Path) -> Result<OperatorsMap, Failure> {
    OperatorsMap::read(path).map_err(|error| match error {
        MapError::Read { origin, source } => Failure::read(origin, source),
        other => Failure::BadInput(other.to_string()),
    })
}

/// The repository's name: the last part of its folder, wherever it was called from.
pub(super) fn folder_name(repo: &Path) -> String {
    let full = repo.canonicalize().unwrap_or_else(|_| repo.to_owned());
    full.file_name().map_or_else(|| full.display().to_string(), |name| name.to_string_lossy().into_owned())
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let text = error.to_string();
        match error {
            GitError::NotARepository { .. } | GitError::UnknownRevision { .. } => Self::Usage(text),
            _ => Self::Ours(text),
        }
    }
}
