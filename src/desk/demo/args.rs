//! What a person can choose.

use std::path::PathBuf;

/// How the demonstration is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct DemoArgs {
    /// The port of the page on this machine; 0 takes any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Keep everything in this new folder: the forge's repository, the configuration, the database, the log. Without it a temporary
    /// folder is used, and removed at the end.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// End when all verdicts are there: with 0 if each is the expected one, with 1 if not. For scripts.
    #[arg(long)]
    pub once: bool,
}
