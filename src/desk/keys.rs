//! `evidence-gate keys`: the keys that records are signed with.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};

use super::{Failure, out};
use crate::config::{self, Settings};
use crate::proof::{KeyError, Keys, Keyset};

/// What to do with the keys.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum KeysCommand {
    /// List every key with its life.
    List {
        /// Where they are.
        #[command(flatten)]
        place: KeysArgs,
        /// Lines for people, or the document that the receiver serves.
        #[arg(long, default_value = "text")]
        format: KeysFormat,
    },
    /// Make a new key that signs from now on.
    Rotate {
        /// Where they are.
        #[command(flatten)]
        place: KeysArgs,
        /// How long signatures of the present key still count, for workers on other hosts that have not got the new one.
        #[arg(long, value_name = "DURATION", default_value = "168h", value_parser = span)]
        overlap: Duration,
        /// The present key got into other hands at this moment, such as 2026-12-01T00:00:00Z: what it signed later does not count.
        #[arg(long, value_name = "MOMENT", conflicts_with = "overlap")]
        leaked_at: Option<Timestamp>,
    },
}

/// Where the keys are.
#[derive(Clone, Debug, clap::Args)]
pub struct KeysArgs {
    /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
}

/// How keys are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeysFormat {
    /// One line a key.
    Text,
    /// The document that the receiver serves.
    Json,
}

/// Does it.
pub fn keys(command: &KeysCommand, clock: fn() -> Timestamp) -> Result<(), Failure> {
    match command {
        KeysCommand::List { place, format } => {
            let keyset = place.keys()?.public()?;
            match format {
                KeysFormat::Text => out::print(&listed(&keyset, clock())),
                KeysFormat::Json => out::print(&keyset.to_json()),
            }
        }
        KeysCommand::Rotate { place, overlap, leaked_at } => {
            let (keys, now) = (place.keys()?, clock());
            let overlap = SignedDuration::try_from(*overlap).unwrap_or(SignedDuration::MAX);
            let until = leaked_at.unwrap_or_else(|| now.saturating_add(overlap).unwrap_or(Timestamp::MAX));
            let key = keys.rotate(now, until)?;
            out::print(&format!("{} signs from now on; earlier keys count until {until} at most\n", key.public().id()))
        }
    }
}

impl KeysArgs {
    fn keys(&self) -> Result<Keys, Failure> {
        let settings = Settings::load(self.config.as_deref(), &config::environment())?;
        Ok(Keys::at(settings.keys()))
    }
}

fn listed(keyset: &Keyset, now: Timestamp) -> String {
    let mut text = String::new();
    for (key, life) in keyset.keys() {
        let state = match life.to {
            None => "signs".to_owned(),
            Some(to) if to < now => format!("counted until {to}"),
            Some(to) => format!("counts until {to}"),
        };
        writeln!(text, "{} from {}, {state}", key.id(), life.from).expect("writing to a String cannot fail");
    }
    if text.is_empty() {
        "no key was made yet: the first `evidence-gate work` makes one\n".clone_into(&mut text);
    }
    text
}

fn span(text: &str) -> Result<Duration, String> {
    let span: SignedDuration = text.parse().map_err(|_| "it is no duration such as 45m or 168h".to_owned())?;
    Duration::try_from(span).map_err(|_| "it is less than nothing".to_owned())
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::File { doing: "read", path, source } => Self::read(path, source),
            KeyError::File { path, source, .. } => Self::write(path, source),
            KeyError::Damaged { .. } | KeyError::Open { .. } | KeyError::Unpublished { .. } => {
                Self::BadInput(error.to_string())
            }
            KeyError::NoRandomness => Self::Ours(error.to_string()),
        }
    }
}
