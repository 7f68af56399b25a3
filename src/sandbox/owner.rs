//! What a worker that runs as root does so that its programs do not: they run under another user, who must be able to see what is
//! shown to them, and to own what they may write.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, openat};

use super::order::{Mount, SandboxError};
use super::spawn::host;

/// Folders that are nested deeper than this belong to nobody's tree.
const DEEPEST: usize = 512;

/// Gives folders that the program may write to the user it runs under, and makes sure that this user can reach the others.
pub(super) fn prepare(mounts: &[Mount], uid: u32) -> Result<(), SandboxError> {
    for mount in mounts {
        reachable(&mount.source, uid)?;
        if mount.writable {
            give(&mount.source, uid).map_err(host("give a folder to the user of the sandbox"))?;
        }
    }
    Ok(())
}

fn reachable(source: &Path, uid: u32) -> Result<(), SandboxError> {
    for folder in source.ancestors().skip(1) {
        let found = std::fs::metadata(folder).map_err(host("look at a folder that is to be shown"))?;
        let mode = found.mode();
        let open = if found.uid() == uid {
            mode & 0o100
        } else if found.gid() == uid {
            mode & 0o010
        } else {
            mode & 0o001
        };
        if open == 0 {
            return Err(SandboxError::Unavailable(format!(
                "{} is closed to user {uid}, under which a worker that was started as root runs programs: allow others to \
                 pass through it (chmod o+x), or start the worker as an ordinary user",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// Walks by descriptors and follows no link, so that nothing outside can change hands.
fn give(source: &Path, uid: u32) -> std::io::Result<()> {
    let root = openat(CWD, source, FLAGS, Mode::empty())?;
    give_folder(&root, uid, DEEPEST)
}

const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn give_folder(folder: &OwnedFd, uid: u32, deeper: usize) -> std::io::Result<()> {
    let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if entry.file_type() == FileType::Directory && deeper > 0 {
            give_folder(&openat(folder, name, FLAGS, Mode::empty())?, uid, deeper - 1)?;
        } else {
            chownat(folder, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
        }
    }
    rustix::fs::fchown(folder, Some(user), Some(group))?;
    Ok(())
}
