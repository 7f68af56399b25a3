//! Logs of a role: to stderr, for people or for machines.

use tracing_subscriber::EnvFilter;

use crate::config::{ConfigError, Log, LogFormat};

/// Starts logging. Called once in a process, before anything else of a role.
pub(super) fn start(log: &Log) -> Result<(), ConfigError> {
    let filter = EnvFilter::try_new(&log.filter)
        .map_err(|error| ConfigError::Environment(format!("log.filter {:?}: {error}", log.filter)))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match log.format {
        LogFormat::Text => builder.with_ansi(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    Ok(())
}
