//! Many objects through one git process.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;

use super::error::{GitError, from_stderr};
use super::git::Git;
use super::process::Running;
use super::{BytePath, Mode};
use crate::words::ObjectId;

/// What was read of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blob {
    /// All its bytes, as git stores them.
    Whole(Arc<[u8]>),
    /// Larger than the limit for reading; its size in bytes.
    TooLarge(u64),
    /// The repository does not hold it.
    Missing,
}

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, without any folder.
    pub name: Vec<u8>,
    /// What it is.
    pub mode: Mode,
    /// Its object; a commit of another repository for a submodule.
    pub id: ObjectId,
}

/// One `git cat-file` that answers until it is dropped.
pub(super) struct Objects {
    running: Option<Running>,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    tree_limit: u64,
}

const DOING: &str = "reading objects";

impl Git {
    pub(super) fn objects(&self) -> Result<Objects, GitError> {
        let (running, stdin, stdout) = self.call(DOING).args(["cat-file", "--batch-command", "--buffer"]).start()?;
        let stdout = BufReader::with_capacity(256 * 1024, stdout);
        Ok(Objects { running: Some(running), stdin, stdout, tree_limit: self.limits().output_bytes })
    }

    /// One blob, up to `limit` bytes; the target of a symlink is its blob.
    pub fn blob(&self, id: &ObjectId, limit: u64) -> Result<Blob, GitError> {
        Ok(self.blobs([id], limit)?.remove(id).unwrap_or(Blob::Missing))
    }

    /// Many blobs in one process, each up to `limit` bytes. Every id that was asked for has an answer. An object that is no
    /// blob is an error, and so is a batch that goes over [`super::Limits::output_bytes`] as a whole.
    pub fn blobs<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a ObjectId>,
        limit: u64,
    ) -> Result<BTreeMap<ObjectId, Blob>, GitError> {
        let ids: Vec<_> = ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut found = BTreeMap::new();
        if ids.is_empty() {
            return Ok(found);
        }
        let mut objects = self.objects()?;
        let mut wanted = Vec::new();
        let mut total = 0_u64;
        for (id, header) in ids.iter().zip(objects.headers(&ids)?) {
            match header {
                None => drop(found.insert((*id).clone(), Blob::Missing)),
                Some((kind, _)) if kind != "blob" => {
                    return Err(GitError::WrongKind { doing: DOING, id: (*id).clone(), found: kind, wanted: "blob" });
                }
                Some((_, size)) if size > limit => drop(found.insert((*id).clone(), Blob::TooLarge(size))),
                Some((_, size)) => {
                    total = total.saturating_add(size);
                    wanted.push(*id);
                }
            }
        }
        if total > self.limits().output_bytes {
            return Err(GitError::TooMuch { doing: DOING, limit: self.limits().output_bytes });
        }
        for (id, bytes) in wanted.iter().zip(objects.contents(&wanted)?) {
            found.insert((*id).clone(), Blob::Whole(bytes.into()));
        }
        Ok(found)
    }

    /// Which of these objects the repository does not hold, in order.
    pub fn missing<'a>(&self, ids: impl IntoIterator<Item = &'a ObjectId>) -> Result<Vec<ObjectId>, GitError> {
        let ids: Vec<_> = ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let headers = self.objects()?.headers(&ids)?;
        Ok(ids.into_iter().zip(headers).filter(|(_, header)| header.is_none()).map(|(id, _)| id.clone()).collect())
    }

    /// The entry at a path of a commit or tree: its mode and object. `None` when nothing is there.
    pub fn file_at(&self, root: &ObjectId, path: &BytePath) -> Result<Option<(Mode, ObjectId)>, GitError> {
        self.objects()?.entry_at(root, path)
    }

    /// The entries of the folder at a path of a commit or tree, in git's order; the root for an empty path. `None` when there is
    /// no folder at that path.
    pub fn folder(&self, root: &ObjectId, path: &BytePath) -> Result<Option<Vec<Entry>>, GitError> {
        let mut objects = self.objects()?;
        if path.as_bytes().is_empty() {
            return objects.root(root).map(Some);
        }
        match objects.entry_at(root, path)? {
            Some((Mode::TREE, id)) => objects.tree(&id).map(Some),
            _ => Ok(None),
        }
    }
}

impl Objects {
    /// The type of an object; `None` when it is missing.
    pub(super) fn kind(&mut self, id: &ObjectId) -> Result<Option<String>, GitError> {
        Ok(self.headers(&[id])?.remove(0).map(|(kind, _)| kind))
    }

    /// The entries of the root folder of a commit or tree.
    pub(super) fn root(&mut self, id: &ObjectId) -> Result<Vec<Entry>, GitError> {
        self.tree_named(id, &format!("{id}^{{tree}}"))
    }

    /// The entries of a tree.
    pub(super) fn tree(&mut self, id: &ObjectId) -> Result<Vec<Entry>, GitError> {
        self.tree_named(id, id.as_str())
    }

    fn tree_named(&mut self, id: &ObjectId, name: &str) -> Result<Vec<Entry>, GitError> {
        self.ask("contents", [name].into_iter())?;
        let Some((found, size)) = self.header()? else {
            return Err(GitError::MissingObject { doing: "reading a folder", id: id.clone() });
        };
        if size > self.tree_limit {
            return Err(GitError::TooMuch { doing: "reading a folder", limit: self.tree_limit });
        }
        let bytes = self.body(size)?;
        if found != "tree" {
            return Err(GitError::WrongKind { doing: "reading a folder", id: id.clone(), found, wanted: "tree" });
        }
        parse_tree(&bytes, id.as_str().len() / 2)
            .ok_or_else(|| GitError::Unreadable { doing: "reading a folder", why: format!("tree {id} is malformed") })
    }

    fn entry_at(&mut self, root: &ObjectId, path: &BytePath) -> Result<Option<(Mode, ObjectId)>, GitError> {
        let mut entries = self.root(root)?;
        let mut components = path.components().peekable();
        while let Some(name) = components.next() {
            let Some(entry) = entries.into_iter().find(|entry| entry.name == name) else { return Ok(None) };
            if components.peek().is_none() {
                return Ok(Some((entry.mode, entry.id)));
            }
            if entry.mode != Mode::TREE {
                return Ok(None);
            }
            entries = self.tree(&entry.id)?;
        }
        Ok(None)
    }

    /// Type and size of each object.
    pub(super) fn headers(&mut self, ids: &[&ObjectId]) -> Result<Vec<Option<(String, u64)>>, GitError> {
        self.each("info", ids, Self::header)
    }

    /// The bytes of each object; all of them were found by [`Objects::headers`].
    fn contents(&mut self, ids: &[&ObjectId]) -> Result<Vec<Vec<u8>>, GitError> {
        self.each("contents", ids, |objects| match objects.header()? {
            Some((_, size)) => objects.body(size),
            None => Err(GitError::Unreadable { doing: DOING, why: "an object vanished".to_owned() }),
        })
    }

    /// Asks in portions that fit into the smallest pipe (4,096 bytes), so that neither side waits for the other.
    pub(super) fn each<T>(
        &mut self,
        command: &str,
        ids: &[&ObjectId],
        mut answer: impl FnMut(&mut Self) -> Result<T, GitError>,
    ) -> Result<Vec<T>, GitError> {
        let mut answers = Vec::with_capacity(ids.len());
        for portion in ids.chunks(50) {
            self.ask(command, portion.iter().map(|id| id.as_str()))?;
            for _ in portion {
                answers.push(answer(self)?);
            }
        }
        Ok(answers)
    }

    fn ask<'a>(&mut self, command: &str, names: impl Iterator<Item = &'a str>) -> Result<(), GitError> {
        let mut lines = String::new();
        for name in names {
            lines.extend([command, " ", name, "\n"]);
        }
        lines.push_str("flush\n");
        let written = self.stdin.write_all(lines.as_bytes());
        if written.is_ok() { Ok(()) } else { Err(self.broken("it stopped reading")) }
    }

    /// `<id> <type> <size>`, or `<name> missing`.
    pub(super) fn header(&mut self) -> Result<Option<(String, u64)>, GitError> {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        if !matches!(read, Ok(1..)) || !line.ends_with('\n') {
            return Err(self.broken("it ended early"));
        }
        let words: Vec<_> = line.trim_end().split(' ').collect();
        match words[..] {
            [_, "missing"] => Ok(None),
            [_, kind, size] => match size.parse() {
                Ok(size) => Ok(Some((kind.to_owned(), size))),
                Err(_) => Err(self.broken("a size is no number")),
            },
            _ => Err(self.broken("an answer has another form than documented")),
        }
    }

    pub(super) fn body(&mut self, size: u64) -> Result<Vec<u8>, GitError> {
        let mut bytes = Vec::new();
        let read = (&mut self.stdout).take(size + 1).read_to_end(&mut bytes);
        if read.is_ok() && bytes.len() as u64 == size + 1 && bytes.pop() == Some(b'\n') {
            Ok(bytes)
        } else {
            Err(self.broken("an object is cut off"))
        }
    }

    /// Header and body of the next answer; the body goes to `take` piece by piece.
    pub(super) fn body_in_pieces(&mut self, mut take: impl FnMut(&[u8])) -> Result<(), GitError> {
        let Some((_, mut left)) = self.header()? else { return Err(self.broken("an object vanished")) };
        while left > 0 {
            let piece = match self.stdout.fill_buf() {
                Ok(piece) if !piece.is_empty() => piece,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Ok(_) | Err(_) => return Err(self.broken("an object is cut off")),
            };
            let used = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            take(&piece[..used]);
            self.stdout.consume(used);
            left -= used as u64;
        }
        let mut end = [0];
        let read = self.stdout.read_exact(&mut end);
        if read.is_ok() && end == *b"\n" { Ok(()) } else { Err(self.broken("an object is cut off")) }
    }

    /// Ends the process and takes its own reason where it gives one.
    fn broken(&mut self, why: &str) -> GitError {
        let Some(running) = self.running.take() else {
            return GitError::Unreadable { doing: DOING, why: why.to_owned() };
        };
        running.kill();
        match running.end() {
            Err(error) => error,
            Ok((_, stderr)) if stderr.is_empty() => GitError::Unreadable { doing: DOING, why: why.to_owned() },
            Ok((_, stderr)) => from_stderr(DOING, &stderr),
        }
    }
}

/// `mode SP name NUL id`, over and over. `None` when it is anything else.
fn parse_tree(mut bytes: &[u8], id_bytes: usize) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|b| *b == b' ')?;
        let name = bytes.iter().position(|b| *b == 0).filter(|nul| *nul > space + 1)?;
        let octal = std::str::from_utf8(&bytes[..space]).ok()?;
        let mode = Mode(u32::from_str_radix(octal, 8).ok()?);
        let id = bytes.get(name + 1..name + 1 + id_bytes)?;
        let id = hex::encode(id).parse().ok()?;
        entries.push(Entry { name: bytes[space + 1..name].to_owned(), mode, id });
        bytes = &bytes[name + 1 + id_bytes..];
    }
    Some(entries)
}
