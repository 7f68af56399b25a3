//! `evidence-gate sandbox check`.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{Failure, out};
use crate::config::{self, Settings};
use crate::sandbox::{self, Line};
use crate::score::visible;

/// What to do with the sandbox.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum SandboxCommand {
    /// Try everything that the sandbox promises, and say what forbids what does not hold, and how it is allowed.
    ///
    /// Exits with 0 when all of it holds, with 1 when not: then nothing of a pull request runs here, and what the policy asks to
    /// run is unscored.
    Check {
        /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
        #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
        config: Option<PathBuf>,
        /// Print one JSON object in place of lines.
        #[arg(long)]
        json: bool,
    },
}

/// Does it, and returns the exit code.
pub fn sandbox(command: &SandboxCommand) -> Result<u8, Failure> {
    let SandboxCommand::Check { config, json } = command;
    let settings = Settings::load(config.as_deref(), &config::environment())?.sandbox;
    let lines = sandbox::check(&settings);
    let holds = lines.iter().all(|line| line.holds);
    if *json {
        let object = serde_json::json!({"backend": settings.backend, "holds": holds, "lines": lines});
        let text = serde_json::to_string_pretty(&object).map_err(|error| Failure::Ours(error.to_string()))?;
        out::print(&format!("{text}\n"))?;
    } else {
        out::print(&shown(&lines))?;
    }
    Ok(u8::from(!holds))
}

fn shown(lines: &[Line]) -> String {
    let mut text = String::new();
    for Line { check, holds, said, next } in lines {
        let mark = if *holds { "ok" } else { "fault" };
        writeln!(text, "{mark:5}  {check:10} {}", visible(said)).expect("writing to a String cannot fail");
        if !next.is_empty() {
            writeln!(text, "                  {}", visible(next)).expect("writing to a String cannot fail");
        }
    }
    text
}
