//! A tree as files: the throw-away copy that a pull request's code runs on.

use std::ffi::OsStr;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};

use super::error::GitError;
use super::git::Git;
use super::listing::TreeFile;
use super::objects::Objects;
use super::{BytePath, Mode};
use crate::words::ObjectId;

const DOING: &str = "writing the files of a tree";

/// Making files waits for the file system more than for the processor.
const WRITERS: usize = 4;

/// How many files may wait for a writer: enough to keep both sides busy, too few to fill a memory.
const WAITING: usize = 64;

/// A file on the way to a writer.
struct Job {
    name: BytePath,
    path: PathBuf,
    mode: u32,
    bytes: Vec<u8>,
}

impl Git {
    /// Writes every file of a commit or tree below `into`, an empty folder: exact bytes, the executable bit, symlinks as they are, an
    /// empty folder for a submodule. No attribute, filter or line ending is applied, and nothing of `.git` is there.
    ///
    /// Folders are made first, then files where nothing is yet, and symlinks last, so that no name can lead outside, whatever the
    /// tree says. A name that git itself would not check out (`..`, `.git` in any case, a file that is also a folder) is an error,
    /// and so is a tree of more bytes than [`super::Limits::pack_bytes`]. After an error part of the tree is there.
    pub fn export(&self, tree: &ObjectId, into: &Path) -> Result<(), GitError> {
        let files = self.files(tree, &[])?;
        if let Some(file) = files.iter().find(|file| !is_a_name(&file.path)) {
            return Err(GitError::NotAPath { path: file.path.clone() });
        }
        let place = |path: &[u8]| into.join(OsStr::from_bytes(path));
        folders(&files, &place)?;
        let mut objects = self.objects()?;
        let limit = self.limits().pack_bytes;
        let plain: Vec<_> = files.iter().filter(|file| file.mode.is_file()).collect();
        let (jobs, waiting) = sync_channel::<Job>(WAITING);
        let waiting = Mutex::new(waiting);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(|| write_all(&waiting))).collect();
            let mut next = plain.iter();
            let ids: Vec<_> = plain.iter().map(|file| &file.id).collect();
            let mut total = 0;
            let read = objects.each("contents", &ids, |objects| {
                let file = next.next().expect("there is one answer for each question");
                let bytes = content(objects, &file.id)?;
                total += bytes.len() as u64;
                if total > limit {
                    return Err(GitError::TooMuch { doing: DOING, limit });
                }
                let mode = if file.mode.0 & 0o111 != 0 { 0o755 } else { 0o644 };
                let job = Job { name: file.path.clone(), path: place(file.path.as_bytes()), mode, bytes };
                jobs.send(job).expect("the receiver lives as long as the scope");
                Ok(())
            });
            drop(jobs);
            for writer in writers {
                writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            read.map(|_| ())
        })?;
        for link in files.iter().filter(|file| file.mode == Mode::SYMLINK) {
            let target = content_of(&mut objects, &link.id)?;
            let path = place(link.path.as_bytes());
            std::os::unix::fs::symlink(OsStr::from_bytes(&target), &path)
                .map_err(|error| failed(&link.path, path, error))?;
        }
        Ok(())
    }
}

/// Every folder that a file lies in, and one for each submodule.
fn folders(files: &[TreeFile], place: &dyn Fn(&[u8]) -> PathBuf) -> Result<(), GitError> {
    let mut folders = std::collections::BTreeSet::new();
    for file in files {
        let path = file.path.as_bytes();
        let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at]);
        folders.extend(above);
        match file.mode {
            Mode::SUBMODULE => drop(folders.insert(path)),
            mode if mode.is_file() || mode == Mode::SYMLINK => {}
            other => {
                let why = format!("{} has the mode {:o}, which is none of a file", file.path, other.0);
                return Err(GitError::Unreadable { doing: DOING, why });
            }
        }
    }
    for folder in folders {
        let path = place(folder);
        let made = DirBuilder::new().mode(0o755).create(&path);
        let made = made.and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o755)));
        made.map_err(|error| failed(&BytePath::new(folder), path, error))?;
    }
    Ok(())
}

fn content(objects: &mut Objects, id: &ObjectId) -> Result<Vec<u8>, GitError> {
    match objects.header()? {
        None => Err(GitError::MissingObject { doing: DOING, id: id.clone() }),
        Some((kind, size)) if kind == "blob" => objects.body(size),
        Some((found, _)) => Err(GitError::WrongKind { doing: DOING, id: id.clone(), found, wanted: "blob" }),
    }
}

fn content_of(objects: &mut Objects, id: &ObjectId) -> Result<Vec<u8>, GitError> {
    Ok(objects.each("contents", &[id], |objects| content(objects, id))?.remove(0))
}

/// Takes jobs until there are none. After a failure the others are thrown away, so that nobody waits for a writer.
fn write_all(waiting: &Mutex<Receiver<Job>>) -> Result<(), GitError> {
    let mut result = Ok(());
    loop {
        let job = waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        let Ok(job) = job else { return result };
        if result.is_ok() {
            result = write(&job).map_err(|error| failed(&job.name, job.path, error));
        }
    }
}

fn write(job: &Job) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(job.mode).open(&job.path)?;
    file.write_all(&job.bytes)?;
    // Whatever the umask is: another user will read it.
    file.set_permissions(Permissions::from_mode(job.mode))
}

/// A tree can hold what no file system can; everything else is the disk's.
fn failed(name: &BytePath, path: PathBuf, source: std::io::Error) -> GitError {
    use std::io::ErrorKind::{AlreadyExists, InvalidFilename, IsADirectory, NotADirectory};
    match source.kind() {
        AlreadyExists | InvalidFilename | IsADirectory | NotADirectory => GitError::NotAPath { path: name.clone() },
        _ => GitError::Disk { doing: "writing", path, source },
    }
}

/// Whether git would check out a file of this name.
fn is_a_name(path: &BytePath) -> bool {
    path.components().all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git"))
        && !path.as_bytes().contains(&0)
}
