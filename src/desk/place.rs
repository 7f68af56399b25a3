//! Where in a working copy things are.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Failure;
use super::policy::{colour_of_errors, parsed};
use crate::policy::Policy;

/// The top folder of the working copy that `dir` lies in.
pub(super) fn working_copy(dir: &Path) -> Result<PathBuf, Failure> {
    let full = dir.canonicalize().map_err(|source| Failure::read(dir.display(), source))?;
    let top = full.ancestors().find(|folder| folder.join(".git").exists());
    top.map(Path::to_owned).ok_or_else(|| {
        Failure::Usage(format!("{} is not in a working copy of a git repository: name one with --repo", dir.display()))
    })
}

/// The policy in a file; without one that of the working copy, and the built-in one where there is none.
pub(super) fn policy(file: Option<&Path>, top: &Path) -> Result<Policy, Failure> {
    let in_place = top.join(Policy::FILE);
    let Some(path) = file.or_else(|| in_place.exists().then_some(&*in_place)) else { return Ok(Policy::default()) };
    let origin = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| Failure::read(&origin, source))?;
    parsed(&text, &origin, colour_of_errors())
}

/// Writes a file whole or not at all, beside what was there.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::Builder::new()
        .prefix(".evidence-gate-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)
        .and_then(|mut file| file.write_all(bytes).map(|()| file))
        .and_then(|file| file.persist(path).map_err(|error| error.error));
    written.map(drop).map_err(|source| Failure::write(path.display(), source))
}
