//! Where the command line keeps what it may forget.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::change::Sha256;

/// The file of blob digests for a repository: below `XDG_CACHE_HOME`, or `~/.cache`
/// (<https://specifications.freedesktop.org/basedir-spec/latest/>). `None` without a home: then nothing is kept.
pub(super) fn known_digests(repo: &Path, environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let full = repo.canonicalize().ok()?;
    let mut name = Sha256::of(full.as_os_str().as_encoded_bytes()).to_string();
    name.truncate(24);
    Some(caches.join("evidence-gate").join("digests").join(name))
}
