//! `evidence-gate coverage`: maps from what tools write, and what is in one.

mod list;
mod push;

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::Offset;
use serde_json::json;

use super::{Failure, out, place};
use crate::change::Git;
use crate::evidence::ledger;
use crate::maps::{self, Asked, Cost, Grain, Index, Inspection, Limits, MapError, Numbers, Price, Reach};
use crate::score::visible;
use crate::words::ObjectId;

pub use list::ListArgs;
pub use push::PushArgs;

/// What to do with coverage.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum CoverageCommand {
    /// Make a map of what a tool wrote: which test ran which line.
    ///
    /// Formats are known by their content. Output that counts all tests together is refused by name, with what to run instead;
    /// docs/coverage.md has the commands for each ecosystem. Run it in the working copy in which the tests ran.
    Convert(ConvertArgs),
    /// Count tests, files and lines of a map, and say what a list of freezes would take out of it.
    Inspect(InspectArgs),
    /// Bring a map from a CI job to the gate, with the job's own token.
    Push(PushArgs),
    /// Show the maps that were uploaded to this host: which are pending, which count, which were refused and why.
    List(ListArgs),
}

/// What to convert.
#[derive(Clone, Debug, clap::Args)]
pub struct ConvertArgs {
    /// Files, or folders with a file per test; several are taken as the output of one run.
    #[arg(required = true, value_name = "PATH")]
    pub inputs: Vec<PathBuf>,
    /// Write there instead of to standard output; packed where the name ends in `.gz` or `.zst`.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What the tool's paths begin with: the folder in which the tree lay, or the module of Go. Without it the working copy, and the
    /// module that its `go.mod` names.
    #[arg(long, value_name = "PREFIX")]
    pub root: Vec<String>,
    /// The folder of sources in which paths of packages lie, such as `src/main/java`.
    #[arg(long, value_name = "DIR")]
    pub source: Vec<String>,
    /// The working copy in which the tests ran; the map's files must be there.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub tree: PathBuf,
    /// Do not hold the map against a working copy.
    #[arg(long, conflicts_with = "tree")]
    pub no_tree: bool,
    /// The commit on which the tests ran, in full; without it the working copy's.
    #[arg(long, value_name = "SHA")]
    pub base_sha: Option<ObjectId>,
    /// Lines that ran at import, `{file: lines}`, where they stand in a file of their own.
    #[arg(long, value_name = "FILE")]
    pub import_lines: Option<PathBuf>,
}

/// Which map.
#[derive(Clone, Debug, clap::Args)]
pub struct InspectArgs {
    /// A map, packed or not, or an index; several are united.
    #[arg(required = true, value_name = "MAP")]
    pub maps: Vec<PathBuf>,
    /// A freeze ledger: says what its live entries take out of the surface.
    #[arg(long, value_name = "FILE")]
    pub freeze: Option<PathBuf>,
    /// The policy, whose `freeze.reach` says how much an entry may name; without it the working copy's, where there is one.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Text for people, or JSON.
    #[arg(long, value_enum, default_value_t = InspectFormat::Text)]
    pub format: InspectFormat,
}

/// How a map's numbers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InspectFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Does it.
pub fn coverage(command: &CoverageCommand, clock: fn() -> Timestamp) -> Result<(), Failure> {
    match command {
        CoverageCommand::Convert(args) => convert(args),
        CoverageCommand::Inspect(args) => inspect(args, clock),
        CoverageCommand::Push(args) => push::push(args),
        CoverageCommand::List(args) => list::list(args, clock()),
    }
}

impl From<MapError> for Failure {
    fn from(error: MapError) -> Self {
        match error {
            MapError::Read { origin, source } => Self::read(visible(&origin), source),
            MapError::Write { path, source } => Self::write(visible(&path), source),
            other => Self::BadInput(visible(&other.to_string())),
        }
    }
}

fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    let tree = (!args.no_tree).then(|| args.tree.clone());
    let roots = if args.root.is_empty() { roots_of(&args.tree) } else { args.root.clone() };
    let base_sha = args.base_sha.clone().or_else(|| tree.as_deref().and_then(head_of));
    let asked = Asked {
        inputs: args.inputs.clone(),
        roots,
        sources: args.source.clone(),
        tree,
        base_sha: base_sha.as_ref().map(ToString::to_string),
        limits: Limits::default(),
    };
    let mut converted = maps::convert(&asked)?;
    if let Some(path) = &args.import_lines {
        let file = std::fs::File::open(path).map_err(|source| Failure::read(path.display(), source))?;
        maps::read_import_lines(&path.display().to_string(), file, &mut converted.map)?;
    }
    tell_some("outside the tree are left out", &converted.outside);
    tell_some("are in the map and not in the working copy", &converted.absent);
    if converted.map.about.base_sha.is_none() {
        out::tell("the map names no commit: name it with --base-sha before it is uploaded");
    }
    let write = |out: &mut dyn Write| converted.map.write_json(BufWriter::new(out));
    match &args.output {
        None => {
            let mut bytes = Vec::new();
            write(&mut bytes).expect("writing to memory cannot fail");
            out::print_bytes(&bytes)
        }
        Some(path) => {
            let bytes = packed(path, &write).map_err(|source| Failure::write(path.display(), source))?;
            place::replace(path, &bytes)
        }
    }
}

/// The document's bytes, packed as the file's name says.
fn packed(path: &Path, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<Vec<u8>> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            write(&mut packer)?;
            packer.finish()
        }
        Some("zst") => {
            let mut packer = zstd::Encoder::new(Vec::new(), 0)?;
            write(&mut packer)?;
            packer.finish()
        }
        _ => {
            let mut bytes = Vec::new();
            write(&mut bytes)?;
            Ok(bytes)
        }
    }
}

fn tell_some(what: &str, paths: &[String]) {
    if let Some(first) = paths.first() {
        let files = if paths.len() == 1 { "1 file".to_owned() } else { format!("{} files", paths.len()) };
        out::tell(&format!("{files} {what}, \"{first}\" for one"));
    }
}

/// What paths of a tool that ran in this working copy begin with.
fn roots_of(tree: &Path) -> Vec<String> {
    let mut roots = Vec::new();
    if let Ok(full) = tree.canonicalize() {
        roots.extend(full.to_str().map(str::to_owned));
    }
    if let Ok(text) = std::fs::read_to_string(tree.join("go.mod")) {
        let module = text.lines().find_map(|line| line.trim().strip_prefix("module "));
        roots.extend(module.map(|name| name.trim().trim_matches('"').to_owned()));
    }
    roots
}

/// The commit that a working copy is at; `None` where it is none.
fn head_of(tree: &Path) -> Option<ObjectId> {
    place::working_copy(tree).ok().and_then(|top| Git::open(&top).ok()?.resolve("HEAD").ok())
}

/// Opens a map; several are united.
pub(super) fn open(paths: &[PathBuf]) -> Result<Index, Failure> {
    match paths {
        [only] => Ok(Index::read(only)?),
        several => {
            let mut read = Vec::new();
            for path in several {
                read.push((path.display().to_string(), maps::read_map_file(path)?));
            }
            Ok(Index::in_memory("the united map", maps::Map::united(read)?)?)
        }
    }
}

/// How much an entry of a ledger may name: by the policy that is named, else by that of the working copy, where there is one.
pub(super) fn reach(policy: Option<&Path>, repo: &Path) -> Result<Reach, Failure> {
    let top = match place::working_copy(repo) {
        Ok(top) => top,
        // A map can be looked into anywhere.
        Err(_) if policy.is_none() => return Ok(Reach::Function),
        Err(_) => repo.to_owned(),
    };
    Ok(place::policy(policy, &top)?.freeze.reach)
}

fn inspect(args: &InspectArgs, clock: fn() -> Timestamp) -> Result<(), Failure> {
    let index = open(&args.maps)?;
    let found = maps::inspect(&index)?;
    let price = match &args.freeze {
        None => None,
        Some(path) => {
            let bytes = std::fs::read(path).map_err(|source| Failure::read(path.display(), source))?;
            let ledger = ledger::parse(&bytes)
                .map_err(|error| Failure::BadInput(visible(&format!("{}: {error}", path.display()))))?;
            let today = Offset::UTC.to_datetime(clock()).date();
            let frozen: Vec<String> = ledger.live(today).map(|freeze| freeze.nodeid.clone()).collect();
            Some(maps::price(&index, &[], &frozen, reach(args.policy.as_deref(), Path::new("."))?)?)
        }
    };
    match args.format {
        InspectFormat::Text => out::print(&as_text(&index, &found, price.as_ref())),
        InspectFormat::Json => {
            let document = as_json(&index, &found, price.as_ref());
            out::print(&format!(
                "{}\n",
                serde_json::to_string_pretty(&document).expect("a JSON value can always be printed")
            ))
        }
    }
}

fn as_text(index: &Index, found: &Inspection, price: Option<&Price>) -> String {
    let mut text = String::new();
    let about = index.about();
    let mut line = |text_of: String| {
        text.push_str(&visible(&text_of));
        text.push('\n');
    };
    line(format!("commit      {}", about.base_sha.as_deref().unwrap_or("not named")));
    line(format!("tool        {}", about.tool.as_deref().unwrap_or("not named")));
    line(format!("sha256      {}", index.digest()));
    line(format!("tests       {}", found.tests));
    line(format!("files       {}", found.files.len()));
    line(format!("lines       {} that tests run", found.all.covered));
    line(format!("            {} with one observer", found.all.one_observer));
    line(format!("            {} that run at import", found.all.import));
    if let Some(unobserved) = found.all.unobserved {
        line(format!("            {unobserved} that nothing runs"));
    }
    if about.partial {
        line("partial     the tool does not see every line that a test runs".to_owned());
    }
    if let Grain::TooCoarse(why) = &found.grain {
        line(format!("too coarse  {why}"));
    }
    if !found.jitter.is_empty() {
        line(format!(
            "jitter      {} tests of which united maps disagree, {} for one",
            found.jitter.len(),
            found.jitter[0]
        ));
    }
    line(String::new());
    line("    lines  one observer  at import  file".to_owned());
    for (path, numbers) in &found.files {
        line(format!("{:>9}  {:>12}  {:>9}  {path}", numbers.covered, numbers.one_observer, numbers.import));
    }
    if let Some(price) = price {
        text.push('\n');
        text.push_str(&price_text(price));
    }
    text
}

/// What freezes cost, for people.
pub(super) fn price_text(price: &Price) -> String {
    let mut text = String::new();
    let mut line = |text_of: String| writeln!(text, "{}", visible(&text_of)).expect("writing to a String cannot fail");
    for cost in &price.each {
        let unknown =
            if price.unknown.contains(&cost.nodeid) { ", not in the map: its lines are not known" } else { "" };
        line(format!("{}: {}{unknown}", cost.nodeid, sentence(cost)));
        for (path, lines) in &cost.lines {
            let lost = if cost.files.contains(path) { " (the whole file)" } else { "" };
            line(format!("  {path}: {}{lost}", maps::line_ranges(lines)));
        }
    }
    if price.each.len() > 1 {
        line(format!("together: {}", sentence(&price.together)));
    }
    let share = price.share_left() * 100.0;
    line(format!("observed lines: {} before, {} after, {share:.2} percent are left", price.before, price.after));
    text
}

fn sentence(cost: &Cost) -> String {
    let count = |number: u64, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    format!(
        "{} frozen, {} and {} lose their only observer",
        count(cost.tests, "test", "tests"),
        count(cost.line_count(), "line", "lines"),
        count(cost.files.len() as u64, "file", "files"),
    )
}

fn as_json(index: &Index, found: &Inspection, price: Option<&Price>) -> serde_json::Value {
    let numbers = |numbers: &Numbers| {
        json!({
            "covered": numbers.covered, "one_observer": numbers.one_observer, "import": numbers.import,
            "executable": numbers.executable, "unobserved": numbers.unobserved,
        })
    };
    let files: serde_json::Map<String, serde_json::Value> =
        found.files.iter().map(|(path, of_file)| (path.clone(), numbers(of_file))).collect();
    let too_coarse = if let Grain::TooCoarse(why) = &found.grain { Some(*why) } else { None };
    let about = index.about();
    json!({
        "base_sha": about.base_sha, "tool": about.tool, "partial": about.partial, "sha256": index.digest().to_string(),
        "tests": found.tests, "too_coarse": too_coarse, "lines": numbers(&found.all), "files": files, "jitter": found.jitter,
        "freezes": price.map(price_json),
    })
}

/// What freezes cost, for programs.
pub(super) fn price_json(price: &Price) -> serde_json::Value {
    let cost = |cost: &Cost| {
        let lines: serde_json::Map<String, serde_json::Value> =
            cost.lines.iter().map(|(path, lines)| (path.clone(), json!(maps::line_ranges(lines)))).collect();
        json!({"nodeid": cost.nodeid, "tests": cost.tests, "line_count": cost.line_count(), "lines": lines, "files": cost.files})
    };
    json!({
        "each": price.each.iter().map(cost).collect::<Vec<_>>(), "together": cost(&price.together),
        "before": price.before, "after": price.after, "unknown": price.unknown,
    })
}
