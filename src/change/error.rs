//! What can go wrong between shas and rows.

use std::path::PathBuf;

use crate::change::BytePath;
use crate::words::ObjectId;

/// What a job does about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Try again later: the network, the forge, the disk, or the pull request is moving.
    Retry,
    /// Trying again changes nothing; the change is unscored with this reason.
    GiveUp,
}

/// Why git could not say what changed. No variant holds a credential, and no text comes from a request or an answer's body.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is not there.
    #[error("cannot start git: install git 2.45 or newer and put it on PATH")]
    NotInstalled(#[source] std::io::Error),
    /// The program cannot be told to stay off the network.
    #[error("git {found} is too old: install git 2.45 or newer, which obeys GIT_NO_LAZY_FETCH")]
    TooOld {
        /// What it says of itself.
        found: String,
    },
    /// The folder is neither a working copy, nor inside one, nor a bare repository.
    #[error("{} is not a git repository: name the folder that holds .git, or a bare repository", dir.display())]
    NotARepository {
        /// The folder.
        dir: PathBuf,
    },
    /// The text names no commit here.
    #[error(
        "{revision:?} names no commit in this repository: give a branch, a tag or a commit id that `git log` knows"
    )]
    UnknownRevision {
        /// What was asked for.
        revision: String,
    },
    /// An object that git needs is not in the repository.
    #[error("{doing}: object {id} is not in the repository: fetch it and try again")]
    MissingObject {
        /// The step.
        doing: &'static str,
        /// The object.
        id: ObjectId,
    },
    /// The object is there and is something else.
    #[error("{doing}: object {id} is a {found}, not a {wanted}")]
    WrongKind {
        /// The step.
        doing: &'static str,
        /// The object.
        id: ObjectId,
        /// What it is.
        found: String,
        /// What was asked for.
        wanted: &'static str,
    },
    /// History ends before the merge base is certain.
    #[error(
        "the history of this repository is cut off at {boundary}, so that the merge base is not certain: \
         run `git fetch --unshallow`, or set fetch-depth to 0 in the checkout step"
    )]
    Shallow {
        /// A commit whose parents are missing.
        boundary: ObjectId,
    },
    /// Git said no for a reason that has no variant of its own.
    #[error("{doing}: git failed: {said}")]
    Failed {
        /// The step.
        doing: &'static str,
        /// The last lines of its error output, control characters replaced, at most 1,000 characters.
        said: String,
    },
    /// The wall clock ran out; every process of the step was killed.
    #[error("{doing}: git did not finish within {seconds} seconds and was stopped")]
    TimedOut {
        /// The step.
        doing: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// More bytes than we are willing to hold; the processes of the step were killed.
    #[error("{doing}: more than {limit} bytes, which is the limit")]
    TooMuch {
        /// The step.
        doing: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// Git's output does not have the documented form.
    #[error("{doing}: git's output cannot be read: {why}")]
    Unreadable {
        /// The step.
        doing: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Our own files: no space, no permission.
    #[error("{doing} {}", path.display())]
    Disk {
        /// The step.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The disk filled up inside git.
    #[error("{doing}: no space is left on the disk that holds the data directory: free some, the job is tried again")]
    DiskFull {
        /// The step.
        doing: &'static str,
    },
    /// The remote's address is one that we do not fetch from.
    #[error("cannot fetch from a {scheme:?} address: only http and https without user name or password are allowed")]
    Address {
        /// The scheme of the address.
        scheme: String,
    },
    /// The value for the `Authorization` header could carry a second header.
    #[error("the authorization for git holds a control character: create a new token")]
    Authorization,
    /// The remote does not accept the credentials (401, 403).
    #[error("{doing}: the remote refuses the credentials: the App needs the permission `contents: read` here")]
    Refused {
        /// The step.
        doing: &'static str,
    },
    /// The remote has no such repository, or hides it (404).
    #[error("{doing}: the remote has no such repository, or hides it from the App")]
    NoSuchRemote {
        /// The step.
        doing: &'static str,
    },
    /// The network or the remote failed in a way that passes.
    #[error("{doing}: the remote cannot be reached or failed: {said}")]
    Network {
        /// The step.
        doing: &'static str,
        /// The last lines of git's error output.
        said: String,
    },
    /// The remote answers, and does not give out this object, nor a ref that holds it.
    #[error(
        "the remote does not give out object {id}: it was removed, or the pull request was opened from a deleted fork"
    )]
    NotGivenOut {
        /// The object.
        id: ObjectId,
    },
    /// The ref under which the forge keeps the tip holds another commit by now (R48, R59).
    #[error("{reference} is at {}, and {expected} was expected: the branch has moved", found.as_ref().map_or("no commit", ObjectId::as_str))]
    HeadMoved {
        /// The ref on the remote.
        reference: String,
        /// The commit that the job is about.
        expected: ObjectId,
        /// The commit that the ref holds; `None` when the ref is gone.
        found: Option<ObjectId>,
    },
    /// A path is asked for that cannot be one.
    #[error("{path} is not a path inside a tree")]
    NotAPath {
        /// The path.
        path: BytePath,
    },
}

impl GitError {
    /// Whether the job is tried again or ends unscored.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Disk { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => Remedy::GiveUp,
            // A permission that is missing shows when the token is minted. Git is refused with a token that is too fresh or was
            // taken back, or for too many requests; the next try asks the API first, which replaces a void token. Right after a
            // push the forge's git may also lag behind its API, and not give out the object yet.
            Self::TimedOut { .. }
            | Self::DiskFull { .. }
            | Self::Network { .. }
            | Self::HeadMoved { .. }
            | Self::Disk { .. }
            | Self::Refused { .. }
            | Self::NotGivenOut { .. }
            | Self::Failed { .. }
            | Self::NotInstalled(_) => Remedy::Retry,
            Self::TooOld { .. }
            | Self::NotARepository { .. }
            | Self::UnknownRevision { .. }
            | Self::MissingObject { .. }
            | Self::WrongKind { .. }
            | Self::Shallow { .. }
            | Self::TooMuch { .. }
            | Self::Unreadable { .. }
            | Self::Address { .. }
            | Self::Authorization
            | Self::NoSuchRemote { .. }
            | Self::NotAPath { .. } => Remedy::GiveUp,
        }
    }
}

impl GitError {
    /// The text for people outside of the scoring host: without the host's paths and without the system's own words.
    pub fn public(&self) -> String {
        match self {
            Self::Disk { doing, .. } => format!("{doing} failed on the scoring host"),
            other => other.to_string(),
        }
    }
}

/// Turns what git wrote to its error output into a kind of error. The texts are git's own in the C locale; one that is not
/// known stays [`GitError::Failed`], which is tried again a bounded number of times.
pub(super) fn from_stderr(doing: &'static str, stderr: &[u8]) -> GitError {
    let text = String::from_utf8_lossy(stderr);
    let has = |needles: &[&str]| needles.iter().any(|n| text.contains(n));
    if has(&["No space left on device", "Disk quota exceeded"]) {
        return GitError::DiskFull { doing };
    }
    if has(&["returned error: 401", "returned error: 403", "could not read Username", "Authentication failed"]) {
        return GitError::Refused { doing };
    }
    if has(&["returned error: 404", "' not found"]) {
        return GitError::NoSuchRemote { doing };
    }
    let said = said(&text);
    if has(&[
        "unable to access",
        "RPC failed",
        "early EOF",
        "hung up unexpectedly",
        "unexpected disconnect",
        "the remote end hung up",
        "invalid server response",
        "bad line length",
        "protocol error",
        "invalid index-pack output",
    ]) {
        return GitError::Network { doing, said };
    }
    GitError::Failed { doing, said }
}

fn said(text: &str) -> String {
    let text: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let from = text.char_indices().rev().nth(999).map_or(0, |(at, _)| at);
    if text.is_empty() { "it gave no reason".to_owned() } else { text[from..].to_owned() }
}
