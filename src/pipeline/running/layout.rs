//! Trees as folders that a sandbox can show.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::change::{Git, GitError, Mode, Sha256, TreeFile};
use crate::pipeline::PipelineError;
use crate::pipeline::collect::Fetch;
use crate::words::ObjectId;

/// A folder that goes away by itself, and that another user of this host can pass through, but not list.
pub(super) fn scratch() -> Result<tempfile::TempDir, PipelineError> {
    let folder = tempfile::Builder::new().prefix("evidence-gate-").tempdir().map_err(io("make a scratch folder"))?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711))
        .map_err(io("make a scratch folder"))?;
    Ok(folder)
}

pub(super) fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> PipelineError {
    move |error| PipelineError(GitError::Unreadable { doing, why: error.to_string() })
}

fn unreadable(why: String) -> PipelineError {
    PipelineError(GitError::Unreadable { doing: "laying a tree out as files", why })
}

/// Writes the tree out below `into`, which does not exist yet, and returns what is in it.
pub(super) fn write_tree(
    git: &Git,
    tree: &ObjectId,
    into: &Path,
    fetch: Fetch<'_>,
) -> Result<Vec<TreeFile>, PipelineError> {
    make_folder(into)?;
    let files = git.files(tree, &[])?;
    fetch.blobs(&files.iter().filter(|file| file.mode != Mode::SUBMODULE).map(|file| file.id.clone()).collect())?;
    git.export(tree, into)?;
    Ok(files)
}

fn make_folder(place: &Path) -> Result<(), PipelineError> {
    std::fs::create_dir(place)
        .and_then(|()| std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)))
        .map_err(io("make a folder of a tree"))
}

fn write_file(place: &Path, mode: Mode, bytes: &[u8]) -> Result<(), PipelineError> {
    if mode == Mode::SYMLINK {
        return std::os::unix::fs::symlink(OsStr::from_bytes(bytes), place)
            .map_err(io("make a symbolic link of a tree"));
    }
    let permissions = if mode == Mode::EXECUTABLE { 0o755 } else { 0o644 };
    let written =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(permissions).open(place).and_then(|mut file| {
            file.set_permissions(std::fs::Permissions::from_mode(permissions))?;
            file.write_all(bytes)
        });
    written.map_err(io("write a file of a tree"))
}

/// Copies the operator's oracles, and returns a digest over every path, mode and content.
pub(super) fn copy_oracles(from: &Path, into: &Path) -> Result<String, PipelineError> {
    let mut lines = Vec::new();
    copy(from, into, &mut Vec::new(), &mut lines)?;
    lines.sort();
    Ok(Sha256::of(&lines.concat()).to_string())
}

fn copy(from: &Path, into: &Path, below: &mut Vec<u8>, lines: &mut Vec<Vec<u8>>) -> Result<(), PipelineError> {
    make_folder(into)?;
    let entries = std::fs::read_dir(from)
        .map_err(|error| unreadable(format!("the operator's oracles {} cannot be read: {error}", from.display())))?;
    for entry in entries {
        let entry = entry.map_err(io("read the operator's oracles"))?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(io("read the operator's oracles"))?);
        let length = below.len();
        below.push(b'/');
        below.extend_from_slice(name.as_bytes());
        let place = into.join(&name);
        if kind.is_dir() {
            copy(&entry.path(), &place, below, lines)?;
        } else if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).map_err(io("read the operator's oracles"))?;
            let target = target.as_os_str().as_bytes();
            lines.push(line(b"link", below, target));
            write_file(&place, Mode::SYMLINK, target)?;
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).map_err(io("read the operator's oracles"))?;
            let mode = entry.metadata().map_err(io("read the operator's oracles"))?.permissions().mode();
            let mode = if mode & 0o111 == 0 { Mode::FILE } else { Mode::EXECUTABLE };
            lines.push(line(mode.to_string().as_bytes(), below, &bytes));
            write_file(&place, mode, &bytes)?;
        } else {
            return Err(unreadable(format!(
                "the operator's oracles hold {}, which is no file",
                entry.path().display()
            )));
        }
        below.truncate(length);
    }
    Ok(())
}

fn line(kind: &[u8], path: &[u8], bytes: &[u8]) -> Vec<u8> {
    [kind, b" ", Sha256::of(bytes).to_string().as_bytes(), b" ", path, b"\0"].concat()
}

/// A digest over every path, mode and object of a tree.
pub(super) fn digest(files: &[TreeFile]) -> String {
    let lines: Vec<Vec<u8>> = files
        .iter()
        .map(|file| [format!("{} {} ", file.mode, file.id).as_bytes(), file.path.as_bytes(), b"\0"].concat())
        .collect();
    Sha256::of(&lines.concat()).to_string()
}

/// The place of a path below a folder that a program wrote to. An error where a link, or what is no folder, stands on the way.
pub(super) fn inside(root: &Path, path: &str) -> Result<PathBuf, String> {
    let mut place = root.to_owned();
    let parts: Vec<&str> = path.split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        place.push(part);
        let last = at + 1 == parts.len();
        match std::fs::symlink_metadata(&place) {
            Ok(there) if !last && !there.is_dir() => return Err(format!("what stands before `{path}` is no folder")),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("`{path}` cannot be reached: {error}")),
        }
    }
    Ok(place)
}
