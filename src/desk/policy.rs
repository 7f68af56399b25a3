//! `evidence-gate policy check`, `policy explain` and `policy lint`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use miette::{GraphicalReportHandler, GraphicalTheme};

use super::lint::{self, LintArgs};
use super::{Failure, out};
use crate::change::BytePath;
use crate::classes::{Classifier, bad_path};
use crate::policy::{Class, Policy, PolicyError, parse};
use crate::report::Colour;
use crate::score::visible;

/// What to do with a policy.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum PolicyCommand {
    /// Say whether a file is a policy, and name every fault with its place.
    Check {
        /// The policy file.
        #[arg(default_value = Policy::FILE)]
        file: PathBuf,
    },
    /// Say which class a path has, and by which pattern.
    Explain {
        /// Paths as git names them: from the root of the repository, with slashes.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<OsString>,
        /// The policy; without it `.evidence-gate.toml` in this folder, or the built-in sets alone where there is none.
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
    },
    /// Say what a maintainer would want to be told: patterns that match or decide nothing, files that are named and missing, a lock
    /// that does not fit, evidence without protection.
    ///
    /// Exits with 0 when there is no fault, with 1 when there is one; with 64 and up when the command itself failed.
    Lint(LintArgs),
}

/// Does it, and returns the exit code.
pub fn policy(command: &PolicyCommand, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let colour = colour_of_errors();
    match command {
        PolicyCommand::Check { file } => {
            out::print(&checked(&read(file)?, &file.display().to_string(), colour)?).map(|()| 0)
        }
        PolicyCommand::Explain { paths, policy } => {
            let here = Path::new(Policy::FILE);
            let file = policy.as_deref().or_else(|| here.exists().then_some(here));
            let policy = match file {
                Some(file) => parsed(&read(file)?, &file.display().to_string(), colour)?,
                None => Policy::default(),
            };
            let paths: Vec<_> = paths.iter().map(|path| BytePath::new(path.clone().into_vec())).collect();
            out::print(&explained(&policy, &paths)).map(|()| 0)
        }
        PolicyCommand::Lint(args) => lint::lint(args, clock),
    }
}

/// One line that says that the text is a policy, and what it adds to the built-in rules. `origin` is the file's name.
pub fn checked(text: &str, origin: &str, colour: Colour) -> Result<String, Failure> {
    let policy = parsed(text, origin, colour)?;
    let own = Class::ALL.iter().map(|class| policy.classes.of(*class).len()).sum::<usize>();
    let patterns = if own == 1 { "1 pattern of its own".to_owned() } else { format!("{own} patterns of its own") };
    let properties = match policy.property.len() {
        0 => "no property".to_owned(),
        1 => "1 property".to_owned(),
        more => format!("{more} properties"),
    };
    Ok(format!("{origin} is a policy: {patterns}, {properties}\n"))
}

/// A line for each path, with its class and the pattern that decides.
pub fn explained(policy: &Policy, paths: &[BytePath]) -> String {
    let classifier = Classifier::new(policy);
    let mut lines = String::new();
    for path in paths {
        let answer = explanation(&classifier, path);
        writeln!(lines, "{}: {answer}", visible(&path.to_string())).expect("writing to a String cannot fail");
    }
    lines
}

fn explanation(classifier: &Classifier, path: &BytePath) -> String {
    if let Some(why) = bad_path(path) {
        return format!("no path of a repository, since it {why}");
    }
    let classified = classifier.classify(path);
    let evidence = if classified.class.is_evidence() { " (evidence)" } else { "" };
    let reason = match &classified.pattern {
        Some(pattern) => format!("by {} in {}", pattern.text, pattern.origin),
        None if path.as_str().is_none() => "since its name is no UTF-8 text".to_owned(),
        None => "since no pattern matches".to_owned(),
    };
    format!("{}{evidence}, {reason}", classified.class)
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|source| Failure::read(file.display(), source))
}

/// The policy, or every fault of it drawn with its place.
pub(super) fn parsed(text: &str, origin: &str, colour: Colour) -> Result<Policy, Failure> {
    parse(text, origin).map_err(|error| Failure::BadInput(drawn(&error, colour)))
}

/// Errors go to standard error: that is what decides about colour.
pub(super) fn colour_of_errors() -> Colour {
    let stderr = std::io::stderr();
    let wanted = anstream::AutoStream::choice(&stderr) != anstream::ColorChoice::Never;
    if stderr.is_terminal() && wanted { Colour::Always } else { Colour::Never }
}

fn drawn(error: &PolicyError, colour: Colour) -> String {
    let theme = match colour {
        Colour::Always => GraphicalTheme::unicode(),
        Colour::Never => GraphicalTheme::unicode_nocolor(),
    };
    let mut shown = String::new();
    match GraphicalReportHandler::new_themed(theme).with_width(100).render_report(&mut shown, error) {
        // The handler prints an empty `Error:` line above each fault, whatever the fault's own text.
        Ok(()) => shown.trim().replace("\nError: \n", "\n"),
        Err(_) => format!("{error}: {}", error.one_line()),
    }
}
