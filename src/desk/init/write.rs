//! Files that are written once and never over another.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::desk::Failure;

/// A file to be written, counted from the top of the working copy.
pub(super) struct NewFile {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    /// What it is, for people.
    pub(super) what: String,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It is there now.
    New,
    /// Something was there, and was left as it is.
    Kept,
}

/// Whether anything stands at a path, a dangling link included.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Writes a file whole, or leaves what is there. A folder on the way that is a link is refused: the file would land somewhere else.
pub(super) fn write(top: &Path, file: &NewFile) -> Result<Written, Failure> {
    let path = top.join(&file.path);
    if is_there(&path) {
        return Ok(Written::Kept);
    }
    let folder = folder_of(top, &file.path)?;
    let written = tempfile::Builder::new()
        .prefix(".evidence-gate-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(&folder)
        .and_then(|mut scratch| scratch.write_all(&file.bytes).map(|()| scratch))
        .map_err(|source| Failure::write(path.display(), source))?;
    match written.persist_noclobber(&path) {
        Ok(_) => Ok(Written::New),
        // Somebody else was faster: theirs stays.
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(Written::Kept),
        Err(error) => Err(Failure::write(path.display(), error.error)),
    }
}

fn folder_of(top: &Path, path: &str) -> Result<PathBuf, Failure> {
    let mut folder = top.to_owned();
    let Some((folders, _)) = path.rsplit_once('/') else { return Ok(folder) };
    for name in folders.split('/') {
        folder.push(name);
        match folder.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let text =
                    format!("{} is no folder, and {path} belongs below it: move it out of the way", folder.display());
                return Err(Failure::Usage(text));
            }
            Err(_) => std::fs::create_dir(&folder).map_err(|source| Failure::write(folder.display(), source))?,
        }
    }
    Ok(folder)
}
