//! Every file of a tree.

use super::error::GitError;
use super::git::Git;
use super::{BytePath, Mode};
use crate::words::ObjectId;

/// A file of a tree, with its whole path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Where it is.
    pub path: BytePath,
    /// What it is: never a folder.
    pub mode: Mode,
    /// Its object; a commit of another repository for a submodule.
    pub id: ObjectId,
}

impl Git {
    /// Every entry below some folders of a commit or tree that is no folder itself, sorted by path; of the whole tree when no folder
    /// is named. A folder that is not there has no files. Names of folders are taken as they are, without patterns.
    pub fn files(&self, root: &ObjectId, folders: &[BytePath]) -> Result<Vec<TreeFile>, GitError> {
        let doing = "listing the files of a tree";
        let unreadable = || GitError::Unreadable { doing, why: "an entry has another form than documented".to_owned() };
        let names = folders.iter().map(|path| std::os::unix::ffi::OsStrExt::from_bytes(path.as_bytes()));
        let call = self
            .call(doing)
            .args(["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", root.as_str(), "--"])
            .args(names.collect::<Vec<&std::ffi::OsStr>>());
        let mut files = Vec::new();
        let mut rest: Vec<u8> = Vec::new();
        let ended = call.stream(b"", |piece| {
            let mut from = 0;
            for end in memchr(piece) {
                let entry = if rest.is_empty() {
                    file(&piece[from..end])
                } else {
                    rest.extend_from_slice(&piece[from..end]);
                    file(&std::mem::take(&mut rest))
                };
                files.push(entry.ok_or_else(unreadable)?);
                from = end + 1;
            }
            rest.extend_from_slice(&piece[from..]);
            Ok(())
        })?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        if !rest.is_empty() {
            return Err(unreadable());
        }
        // git walks in this order already, except where folders were named in another.
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        Ok(files)
    }
}

/// Where the NULs are.
fn memchr(piece: &[u8]) -> impl Iterator<Item = usize> {
    piece.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at)
}

/// `mode SP type SP id TAB path` (<https://git-scm.com/docs/git-ls-tree#_output_format>).
fn file(entry: &[u8]) -> Option<TreeFile> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&entry[..tab]).ok()?;
    let mut words = head.split(' ');
    let mode = Mode(u32::from_str_radix(words.next()?, 8).ok()?);
    let (_kind, id) = (words.next()?, words.next()?.parse().ok()?);
    (words.next().is_none() && tab + 1 < entry.len()).then(|| TreeFile {
        path: BytePath::new(&entry[tab + 1..]),
        mode,
        id,
    })
}
