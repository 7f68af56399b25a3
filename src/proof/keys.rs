//! The folder of a scoring host's keys: the private half of the newest one, and the public halves of all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Keyset, NotAKeyset, SigningKey};

/// The private half, readable by its owner alone.
const PRIVATE_FILE: &str = "signing.pem";

/// The public halves, for everybody: what the receiver serves.
const PUBLIC_FILE: &str = "public-keys.json";

/// Held while keys are made, so that two workers that start at once make one key.
const LOCK_FILE: &str = "lock";

/// Where the keys of a scoring host are.
#[derive(Clone, Debug)]
pub struct Keys {
    folder: PathBuf,
}

/// Why there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file cannot be read or written.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// `read` or `write`.
        doing: &'static str,
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{path} cannot be used: {why}")]
    Damaged {
        /// Where.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Others could read the private half.
    #[error(
        "{path} can be read by others than its owner: `chmod 600` it, and `evidence-gate keys rotate --leaked-at` if somebody may have"
    )]
    Open {
        /// Where.
        path: String,
    },
    /// The private half is of a key that is not, or no longer, published.
    #[error(
        "the signing key in {path} is not among the public keys beside it, or its life is over: restore {PUBLIC_FILE}, or make a new \
         key with `evidence-gate keys rotate`"
    )]
    Unpublished {
        /// Where.
        path: String,
    },
    /// The machine gives no random numbers.
    #[error("cannot make a key: the machine gives no random numbers")]
    NoRandomness,
}

impl Keys {
    /// The keys in a folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The file with the public halves.
    pub fn public_file(folder: &Path) -> PathBuf {
        folder.join(PUBLIC_FILE)
    }

    fn private_file(&self) -> PathBuf {
        self.folder.join(PRIVATE_FILE)
    }

    /// Makes a first key where there is none, and looks whether the present one can sign. For the start of a worker.
    pub fn ensure(&self, now: Timestamp) -> Result<SigningKey, KeyError> {
        let _held = self.lock()?;
        if !self.private_file().exists() {
            // A private half that is gone signs nothing more, so what it may have signed ends here.
            return self.make(now, now);
        }
        self.signing(now)
    }

    /// A new key signs from now on; signatures of the earlier ones count up to `until`.
    pub fn rotate(&self, now: Timestamp, until: Timestamp) -> Result<SigningKey, KeyError> {
        let _held = self.lock()?;
        self.make(now, until)
    }

    /// The key to sign with, read anew each time, so that a rotation needs no restart.
    pub fn signing(&self, now: Timestamp) -> Result<SigningKey, KeyError> {
        let path = self.private_file();
        let mode = fs::metadata(&path).map_err(|source| file("read", &path, source))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(KeyError::Open { path: path.display().to_string() });
        }
        let text = fs::read_to_string(&path).map_err(|source| file("read", &path, source))?;
        let damaged = |why: String| KeyError::Damaged { path: path.display().to_string(), why };
        let key = SigningKey::from_pem(&text).map_err(|error| damaged(error.to_string()))?;
        if self.public()?.life(&key.public().id()).is_some_and(|life| life.holds(now)) {
            Ok(key)
        } else {
            Err(KeyError::Unpublished { path: path.display().to_string() })
        }
    }

    /// The public halves; an empty set where none was made yet.
    pub fn public(&self) -> Result<Keyset, KeyError> {
        let path = Self::public_file(&self.folder);
        match fs::read(&path) {
            Ok(bytes) => Keyset::parse(&bytes).map_err(|error: NotAKeyset| KeyError::Damaged {
                path: path.display().to_string(),
                why: error.to_string(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Keyset::default()),
            Err(source) => Err(file("read", &path, source)),
        }
    }

    /// The public half is published before the private one can sign: a crash between the two leaves a key that nobody has.
    fn make(&self, now: Timestamp, until: Timestamp) -> Result<SigningKey, KeyError> {
        let key = SigningKey::generate().ok_or(KeyError::NoRandomness)?;
        let pem = key.to_pem().ok_or(KeyError::NoRandomness)?;
        let mut public = self.public()?;
        public.succeed(key.public(), now, until);
        self.replace(PUBLIC_FILE, 0o644, public.to_json().as_bytes())?;
        self.replace(PRIVATE_FILE, 0o600, pem.as_bytes())?;
        Ok(key)
    }

    /// Whole or not at all, and with its rights from the first byte on.
    fn replace(&self, name: &str, mode: u32, bytes: &[u8]) -> Result<(), KeyError> {
        let path = self.folder.join(name);
        let written = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(mode))
            .tempfile_in(&self.folder)
            .and_then(|mut half| half.write_all(bytes).and_then(|()| half.as_file().sync_all()).map(|()| half))
            .and_then(|half| half.persist(&path).map_err(|error| error.error));
        written.map(drop).map_err(|source| file("write", &path, source))
    }

    fn lock(&self) -> Result<File, KeyError> {
        let path = self.folder.join(LOCK_FILE);
        fs::create_dir_all(&self.folder)
            .and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path))
            .and_then(|held| held.lock().map(|()| held))
            .map_err(|source| file("write", &path, source))
    }
}

fn file(doing: &'static str, path: &Path, source: io::Error) -> KeyError {
    KeyError::File { doing, path: path.display().to_string(), source }
}
