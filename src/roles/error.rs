//! Why a role cannot start, or cannot go on.

use std::net::SocketAddr;

use crate::config::ConfigError;
use crate::delivery::{WeakSecret, WrongUploads};
use crate::forge::GitHubSettingsError;
use crate::proof::KeyError;
use crate::queue::{OpenError, QueueError};
use crate::words::with_causes;

/// One sentence that names the thing and what to do.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A webhook secret that anybody could guess.
    #[error(transparent)]
    WeakSecret(#[from] WeakSecret),
    /// Uploads that cannot be taken as they are configured.
    #[error(transparent)]
    WrongUploads(#[from] WrongUploads),
    /// What the forge's client needs.
    #[error(transparent)]
    Forge(#[from] GitHubSettingsError),
    /// The database cannot be opened.
    #[error("{}", with_causes(.0))]
    Open(#[from] OpenError),
    /// The database failed.
    #[error("{}", with_causes(.0))]
    Queue(#[from] QueueError),
    /// The address is taken, or not ours.
    #[error("cannot listen on {listen} (`{key}`): {source}")]
    Bind {
        /// Which address.
        listen: SocketAddr,
        /// The key that names it.
        key: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// The data directory cannot be used.
    #[error("cannot use the data directory (`data_dir`) {path}: {source}")]
    DataDir {
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Records cannot be signed.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// Signals, metrics, the runtime.
    #[error("{0}")]
    Ours(String),
}

impl RoleError {
    /// What the command exits with (DESIGN section 9).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(error) => error.exit_code(),
            Self::WeakSecret(_) | Self::WrongUploads(_) | Self::Forge(_) => 65,
            Self::Open(_) | Self::Queue(_) => 69,
            Self::Bind { .. } | Self::DataDir { .. } | Self::Keys(_) => 74,
            Self::Ours(_) => 70,
        }
    }
}
