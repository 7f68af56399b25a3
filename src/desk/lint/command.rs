//! The command `policy lint`.

use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;

use super::remark::{Level, Remark, Subject};
use super::{files, patterns};
use crate::change::{Blob, BytePath, Git};
use crate::classes::Classifier;
use crate::desk::{Failure, out, place, policy};
use crate::policy::{LARGEST, Policy};
use crate::report;
use crate::score::visible;
use crate::words::count;

/// What `policy lint` is asked.
#[derive(Clone, Debug, clap::Args)]
pub struct LintArgs {
    /// The policy; without it `.evidence-gate.toml` at the top of the working copy, or at the revision in a bare repository.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The repository whose files the patterns are tried on.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
    /// The commit whose files they are.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub rev: String,
    /// Exit with 1 for warnings too.
    #[arg(long)]
    pub strict: bool,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = LintFormat::Text)]
    pub format: LintFormat,
}

/// What `policy lint` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LintFormat {
    /// For a person.
    Text,
    /// One document.
    Json,
}

/// Looks a policy over, and returns the exit code: 1 for a fault, and with `--strict` for a warning.
pub(in crate::desk) fn lint(args: &LintArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let git = Git::open(&args.repo)?;
    let commit = git.resolve(&args.rev)?;
    let (origin, text) = policy_text(args, &git)?;
    let parsed = policy::parsed(&text, &origin, policy::colour_of_errors())?;
    let classifier = Classifier::new(&parsed);
    let tree = git.files(&commit, &[])?;
    let here = place::working_copy(&args.repo).ok();
    let subject = Subject {
        git: &git,
        text: &text,
        policy: &parsed,
        classifier: &classifier,
        commit: &commit,
        rev: &args.rev,
        files: &tree,
        here: here.as_deref(),
    };
    let mut remarks = files::remarks(&subject, clock)?;
    remarks.extend(patterns::remarks(&subject));
    remarks.extend(uncommitted(&subject, &text)?);
    remarks.sort_by(|a, b| (a.level, a.line, a.check, &a.message).cmp(&(b.level, b.line, b.check, &b.message)));
    let printed = match args.format {
        LintFormat::Text => shown(&remarks, &origin, &args.rev, tree.len()),
        LintFormat::Json => {
            let document =
                serde_json::json!({"schema": 1, "policy": origin, "commit": commit.as_str(), "remarks": remarks});
            report::safe(&serde_json::to_string_pretty(&document).expect("a JSON value can always be printed"))
        }
    };
    out::print(&printed)?;
    let worst = if args.strict { Level::Warning } else { Level::Fault };
    Ok(u8::from(remarks.iter().any(|remark| remark.level <= worst)))
}

fn policy_text(args: &LintArgs, git: &Git) -> Result<(String, String), Failure> {
    let file = args.file.clone().or_else(|| {
        let in_place = place::working_copy(&args.repo).ok()?.join(Policy::FILE);
        in_place.exists().then_some(in_place)
    });
    if let Some(file) = file {
        let origin = file.display().to_string();
        let text = std::fs::read_to_string(&file).map_err(|source| Failure::read(&origin, source))?;
        return Ok((origin, text));
    }
    let commit = git.resolve(&args.rev)?;
    committed(git, &commit)?.map(|text| (format!("{} at {}", Policy::FILE, args.rev), text)).ok_or_else(|| {
        Failure::Usage(format!("there is no {} here or at {}: `evidence-gate init` writes one", Policy::FILE, args.rev))
    })
}

/// The policy's text at a commit; `None` where there is none that could be text.
pub(in crate::desk) fn committed(git: &Git, commit: &crate::words::ObjectId) -> Result<Option<String>, Failure> {
    let found = git.file_at(commit, &BytePath::new(Policy::FILE))?.filter(|(mode, _)| mode.is_file());
    let Some((_, id)) = found else { return Ok(None) };
    Ok(match git.blob(&id, LARGEST as u64)? {
        Blob::Whole(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        Blob::TooLarge(_) | Blob::Missing => None,
    })
}

/// The gate reads what is committed on the base branch.
fn uncommitted(subject: &Subject<'_>, text: &str) -> Result<Option<Remark>, Failure> {
    let message = match committed(subject.git, subject.commit)? {
        Some(committed) if committed == text => return Ok(None),
        Some(_) => format!("{} has another policy than the one that was looked at", subject.rev),
        None => format!("{} has no policy yet", subject.rev),
    };
    let next = "commit it to the branch that pull requests are meant for: the gate reads it there".to_owned();
    Ok(Some(Remark { level: Level::Note, check: "not-committed", line: None, message, next }))
}

fn shown(remarks: &[Remark], origin: &str, rev: &str, files: usize) -> String {
    let of = |level| remarks.iter().filter(|remark| remark.level == level).count();
    let counted = [
        (of(Level::Fault), "fault", "faults"),
        (of(Level::Warning), "warning", "warnings"),
        (of(Level::Note), "note", "notes"),
    ];
    let counted: Vec<String> = counted
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| count(number, one, many))
        .collect();
    let held = format!("held against the {} of {rev}", count(files, "file", "files"));
    if counted.is_empty() {
        return visible(&format!("{origin}: nothing to remark, {held}")) + "\n";
    }
    let mut text = visible(&format!("{origin}: {}, {held}", counted.join(", "))) + "\n";
    for remark in remarks {
        let line = remark.line.map(|line| format!("line {line}")).unwrap_or_default();
        let said = visible(&remark.message);
        let next = visible(&remark.next);
        writeln!(text, "\n{:<7}  {line:<8} {}\n  {said}\n  Next: {next}", remark.level.as_str(), remark.check)
            .expect("writing to a String cannot fail");
    }
    text
}
