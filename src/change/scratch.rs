//! A throw-away repository made of a folder and a patch.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::error::GitError;
use super::process::Call;
use crate::words::{BaseSha, HeadSha, ObjectId};

/// What one step may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Two commits: a folder as it is, and the same with a patch on it. Gone with this value.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// The folder as it is.
    pub base: BaseSha,
    /// The folder with the patch.
    pub head: HeadSha,
}

impl Scratch {
    /// Copies the folder, which stays as it is, and commits it twice. Symbolic links are copied as links.
    pub fn of(base: &Path, patch: &Path) -> Result<Self, GitError> {
        let folder = tempfile::tempdir().map_err(|error| unreadable(&error))?;
        let tree = folder.path().join("tree");
        copy(base, &tree).map_err(|error| unreadable(&error))?;
        let patch = patch.canonicalize().map_err(|error| unreadable(&error))?;
        step(&tree, &[OsStr::new("init"), OsStr::new("--quiet"), OsStr::new("--template=")])?;
        let base = commit(&tree)?;
        step(&tree, &[OsStr::new("apply"), OsStr::new("--whitespace=nowarn"), patch.as_os_str()])?;
        let head = commit(&tree)?;
        Ok(Self { folder, base: BaseSha(base), head: HeadSha(head) })
    }

    /// Where the repository is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    /// A place for files beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn commit(tree: &Path) -> Result<ObjectId, GitError> {
    step(tree, &["add", "--all", "--force", "."])?;
    step(tree, &["commit", "--quiet", "--allow-empty", "--no-verify", "--message", "case"])?;
    let id = step(tree, &["rev-parse", "HEAD"])?;
    let text = String::from_utf8_lossy(&id);
    text.trim().parse().map_err(|_| GitError::Unreadable { doing: DOING, why: format!("{text:?} is no commit") })
}

const DOING: &str = "making the commits of a case";

fn step<A: AsRef<OsStr>>(tree: &Path, arguments: &[A]) -> Result<Vec<u8>, GitError> {
    let ended = Call::from_folder(tree, DOING, PATIENCE)
        .config("user.name", "case")
        .config("user.email", "case@example.com")
        .config("init.defaultBranch", "main")
        .args(arguments)
        .run(b"")?;
    if ended.code == Some(0) { Ok(ended.stdout) } else { Err(ended.into_error(DOING)) }
}

fn unreadable(error: &io::Error) -> GitError {
    GitError::Unreadable { doing: DOING, why: error.to_string() }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let about = fs::symlink_metadata(from)?;
    if about.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !about.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
