//! What a person can ask.

use std::path::PathBuf;

/// Where to look.
#[derive(Clone, Debug, clap::Args)]
pub struct DoctorArgs {
    /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// Look at what this repository's default branch requires. Without it, at every repository that the App is installed on.
    #[arg(long, value_name = "OWNER/NAME", conflicts_with = "offline")]
    pub repo: Option<String>,
    /// Look at this machine only, and ask no forge.
    #[arg(long)]
    pub offline: bool,
    /// Print one JSON object in place of lines.
    #[arg(long)]
    pub json: bool,
}
