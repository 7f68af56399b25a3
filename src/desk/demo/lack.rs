//! What this machine lacks to run a pull request's code.

use std::path::PathBuf;
use std::time::Duration;

use crate::config;
use crate::sandbox::{self, Ended, Limits, Order};
use crate::words::with_causes;

/// Why nothing of a pull request can run here.
#[derive(Clone, Debug)]
pub(super) enum Lack {
    /// There is no sandbox, and nothing runs outside one.
    Sandbox(String),
    /// There is one, and it sees no Python.
    Python(String),
}

impl Lack {
    /// The rule by which a pull request that should run is then unscored.
    pub(super) fn rule(&self) -> &'static str {
        match self {
            Self::Sandbox(_) => "sandbox-unavailable",
            Self::Python(_) => "property-incomplete",
        }
    }

    /// For a person: what is missing, and what to do.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Sandbox(why) => why.clone(),
            Self::Python(why) => {
                format!(
                    "python3 does not run in the sandbox ({why}); install it for the whole system: a Python in a home folder is not seen"
                )
            }
        }
    }
}

/// Tries the sandbox, and Python in it. Takes about two seconds.
pub(super) async fn look() -> Option<Lack> {
    let tried = tokio::task::spawn_blocking(try_both).await;
    tried.unwrap_or_else(|error| Some(Lack::Sandbox(error.to_string())))
}

fn try_both() -> Option<Lack> {
    let sandbox = match sandbox::proven(&config::Sandbox::default()) {
        Ok(sandbox) => sandbox,
        Err(error) => return Some(Lack::Sandbox(with_causes(&error))),
    };
    let order = Order {
        command: ["python3", "-I", "-c", "pass"].map(str::to_owned).to_vec(),
        environment: Vec::new(),
        directory: PathBuf::from("/tmp"),
        mounts: Vec::new(),
        input: Vec::new(),
        log: false,
        limits: Limits {
            wall: Duration::from_secs(20),
            memory: 512 << 20,
            processes: 16,
            file_size: 1 << 20,
            open_files: 64,
            output: 64 * 1024,
        },
    };
    match sandbox.run(&order) {
        Ok(outcome) if outcome.ended == Ended::Exited(0) => None,
        Ok(outcome) => Some(Lack::Python(format!("{:?}", outcome.ended))),
        Err(error) => Some(Lack::Python(with_causes(&error))),
    }
}
