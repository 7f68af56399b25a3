//! `evidence-gate policy check`, `policy explain` and `schema policy`.

use std::fmt::Write as _;
use std::io::{self, Write};

use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::change::BytePath;
use crate::classes::{Classifier, bad_path};
use crate::policy::{Policy, PolicyError, parse, schema};

/// Why a policy command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum PolicyCommandError {
    /// The file is no policy. The text has every fault with its place already, as a person reads it.
    #[error("{shown}")]
    Unusable {
        /// What to print.
        shown: String,
    },
    /// The answer could not be written.
    #[error("cannot write the answer")]
    Write(#[from] io::Error),
}

impl PolicyCommandError {
    /// What the command exits with: 65 for a bad input file, 74 for output that does not arrive.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unusable { .. } => 65,
            Self::Write(_) => 74,
        }
    }
}

/// Whether the errors may be drawn in colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// A terminal reads along.
    Yes,
    /// A file or another program does.
    No,
}

/// `policy check FILE`: says in one line that the text is a policy, and what it adds to the built-in rules. `origin` is the file's name.
pub fn check(text: &str, origin: &str, colours: Colours, out: &mut dyn Write) -> Result<(), PolicyCommandError> {
    let policy = read(text, origin, colours)?;
    let own = crate::policy::Class::ALL.iter().map(|class| policy.classes.of(*class).len()).sum::<usize>();
    let patterns = if own == 1 { "1 pattern of its own".to_owned() } else { format!("{own} patterns of its own") };
    let properties = match policy.property.len() {
        0 => "no property".to_owned(),
        1 => "1 property".to_owned(),
        more => format!("{more} properties"),
    };
    writeln!(out, "{origin} is a policy: {patterns}, {properties}")?;
    Ok(())
}

/// `policy explain PATH... [--policy FILE]`: a line for each path with its class and the pattern that decides, under the policy or,
/// without one, under the built-in sets alone.
pub fn explain(
    paths: &[Vec<u8>],
    policy: Option<(&str, &str)>,
    colours: Colours,
    out: &mut dyn Write,
) -> Result<(), PolicyCommandError> {
    let policy = match policy {
        Some((text, origin)) => read(text, origin, colours)?,
        None => Policy::default(),
    };
    let classifier = Classifier::new(&policy);
    for path in paths {
        let path = BytePath::new(path.as_slice());
        let mut line = format!("{}: ", shown(&path));
        if let Some(why) = bad_path(&path) {
            write!(line, "no path of a repository, since it {why}").expect("writing to a string works");
        } else {
            let classified = classifier.classify(&path);
            let evidence = if classified.class.is_evidence() { " (evidence)" } else { "" };
            let reason = match &classified.pattern {
                Some(pattern) => format!("by {} in {}", pattern.text, pattern.origin),
                None if path.as_str().is_none() => "since its name is no UTF-8 text".to_owned(),
                None => "since no pattern matches".to_owned(),
            };
            write!(line, "{}{evidence}, {reason}", classified.class).expect("writing to a string works");
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// `schema policy`: the JSON Schema of a policy file.
pub fn print_schema(out: &mut dyn Write) -> Result<(), PolicyCommandError> {
    serde_json::to_writer_pretty(&mut *out, &schema()).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn read(text: &str, origin: &str, colours: Colours) -> Result<Policy, PolicyCommandError> {
    parse(text, origin).map_err(|error| PolicyCommandError::Unusable { shown: render(&error, colours) })
}

fn render(error: &PolicyError, colours: Colours) -> String {
    let theme = match colours {
        Colours::Yes => GraphicalTheme::unicode(),
        Colours::No => GraphicalTheme::unicode_nocolor(),
    };
    let mut shown = String::new();
    match GraphicalReportHandler::new_themed(theme).with_width(100).render_report(&mut shown, error) {
        Ok(()) => shown.trim_end().to_owned(),
        Err(_) => format!("{error}: {}", error.one_line()),
    }
}

/// A path for a terminal: control signs are written out.
fn shown(path: &BytePath) -> String {
    path.to_string().chars().fold(String::new(), |mut shown, sign| {
        if sign.is_control() {
            shown.extend(sign.escape_default());
        } else {
            shown.push(sign);
        }
        shown
    })
}
