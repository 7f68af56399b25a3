//! `evidence-gate lock write` and `lock verify`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Failure, out, place};
use crate::change::{BytePath, Git, GitError, Sha256, TreeFile};
use crate::classes::{Classifier, bad_path};
use crate::evidence::lock::{self, LARGEST_LOCK, Lock, Locked, Spelling, folders_to_list};
use crate::policy::{Class, Policy};
use crate::words::ObjectId;

/// What to do with the fixture lock.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum LockCommand {
    /// Write the lock: sha256 and path of every fixture of a commit, as `sha256sum` writes them.
    ///
    /// The bytes are those that git stores, since these are what the gate reads. Commit the fixtures first, then the lock.
    Write {
        /// The repository.
        #[arg(long, value_name = "DIR", default_value = ".")]
        repo: PathBuf,
        /// The commit whose fixtures are listed.
        #[arg(long, value_name = "REV", default_value = "HEAD")]
        rev: String,
        /// The policy that says what a fixture is; without it the working copy's.
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
        /// Write there instead of to standard output; the policy's `fixtures.lock` is where the gate looks.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Hold the working copy against the lock, and print for each file what `sha256sum -c` prints.
    ///
    /// Exits with 1 when a file is missing or has other bytes.
    Verify {
        /// The working copy.
        #[arg(long, value_name = "DIR", default_value = ".")]
        repo: PathBuf,
        /// The lock; without it the file that the policy names in `fixtures.lock`.
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
        /// The policy that names the lock; without it the working copy's.
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
    },
}

/// Does it, and returns the exit code.
pub fn lock(command: &LockCommand) -> Result<u8, Failure> {
    match command {
        LockCommand::Write { repo, rev, policy, output } => {
            write(repo, rev, policy.as_deref(), output.as_deref()).map(|()| 0)
        }
        LockCommand::Verify { repo, lock, policy } => verify(repo, lock.as_deref(), policy.as_deref()),
    }
}

fn write(repo: &Path, rev: &str, policy: Option<&Path>, output: Option<&Path>) -> Result<(), Failure> {
    let git = Git::open(repo)?;
    let commit = git.resolve(rev)?;
    let policy = match place::working_copy(repo) {
        Ok(top) => place::policy(policy, &top)?,
        // A bare repository has no policy in place: only one that is named counts.
        Err(_) => place::policy(policy, Path::new("/nonexistent"))?,
    };
    let Fixtures { files, left_out } = fixtures(&git, &commit, &policy)?;
    for path in left_out {
        out::tell(&format!("{path} is left out: it is no ordinary file, or its name cannot be one"));
    }
    let text = text(&files, &git.sha256(files.iter().map(|file| &file.id))?);
    if files.is_empty() {
        out::tell(
            "no path of that commit is a fixture: the lock is empty (`evidence-gate policy explain PATH` says why)",
        );
    }
    match output {
        Some(path) => place::replace(path, &text),
        None => out::print_bytes(&text),
    }
}

/// The fixtures of a commit.
pub(super) struct Fixtures {
    /// What a lock lists, sorted by path.
    pub(super) files: Vec<TreeFile>,
    /// What no lock can list.
    pub(super) left_out: Vec<BytePath>,
}

/// Finds the fixtures of a commit by a policy's classes; the lock itself is none.
pub(super) fn fixtures(git: &Git, commit: &ObjectId, policy: &Policy) -> Result<Fixtures, GitError> {
    let classifier = Classifier::new(policy);
    let own = BytePath::new(policy.fixtures.lock.as_str());
    let mut files = git.files(commit, &[])?;
    files.retain(|file| classifier.class(&file.path) == Class::Fixture && file.path != own);
    let left_out = files.extract_if(.., |file| !file.mode.is_file() || bad_path(&file.path).is_some());
    let left_out = left_out.map(|file| file.path).collect();
    Ok(Fixtures { files, left_out })
}

/// The lock of some files whose digests are known.
pub(super) fn text(files: &[TreeFile], digests: &BTreeMap<ObjectId, Sha256>) -> Vec<u8> {
    let lines = files.iter().filter_map(|file| Some(lock::line(&file.path, digests.get(&file.id)?)));
    lines.collect::<Vec<_>>().concat()
}

fn verify(repo: &Path, file: Option<&Path>, policy: Option<&Path>) -> Result<u8, Failure> {
    let top = place::working_copy(repo)?;
    let policy = place::policy(policy, &top)?;
    let file = file.map_or_else(|| top.join(policy.fixtures.lock.as_str()), Path::to_owned);
    let lock = read_lock(&file)?;
    let mut text = Vec::new();
    let (mut failed, mut unread) = (0_usize, 0_usize);
    for locked in &lock.files {
        let answer = match held(&top, locked) {
            Held::Ok => "OK",
            Held::OtherBytes => {
                failed += 1;
                "FAILED"
            }
            Held::Unread(why) => {
                unread += 1;
                out::tell(&format!("{}: {why}", locked.path));
                "FAILED open or read"
            }
        };
        text.extend_from_slice(&lock::checked_name(&locked.path));
        text.extend_from_slice(format!(": {answer}\n").as_bytes());
    }
    out::print_bytes(&text)?;
    if lock.spelling == Spelling::List {
        out::tell("this lock lists paths without digests: that the files are there was checked, and not their bytes");
    }
    warn_of_attributes(&top, &lock)?;
    if unread > 0 {
        out::tell(&format!("WARNING: {unread} of the listed files could not be read"));
    }
    if failed > 0 {
        out::tell(&format!("WARNING: {failed} of the computed checksums did NOT match"));
    }
    Ok(u8::from(failed + unread > 0))
}

fn read_lock(file: &Path) -> Result<Lock, Failure> {
    let origin = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|source| Failure::read(&origin, source))?;
    if bytes.len() as u64 > LARGEST_LOCK {
        return Err(Failure::BadInput(format!("{origin} has more than {LARGEST_LOCK} bytes")));
    }
    lock::parse(&bytes).map_err(|error| Failure::BadInput(format!("{origin}: {error}")))
}

enum Held {
    Ok,
    OtherBytes,
    Unread(String),
}

/// A symbolic link is not followed: git stores where it points, and no bytes that a lock could list.
fn held(top: &Path, locked: &Locked) -> Held {
    let path = top.join(OsStr::from_bytes(locked.path.as_bytes()));
    match path.symlink_metadata() {
        Err(error) => return Held::Unread(error.to_string()),
        Ok(found) if !found.is_file() => return Held::Unread("it is no ordinary file".to_owned()),
        Ok(_) => {}
    }
    let Some(wanted) = locked.digest else { return Held::Ok };
    match File::open(&path).and_then(|mut file| Sha256::of_reader(&mut file)) {
        Ok(found) if found == wanted => Held::Ok,
        Ok(_) => Held::OtherBytes,
        Err(error) => Held::Unread(error.to_string()),
    }
}

/// The gate reads what git stores. Where that differs from the working copy in whether it fits the lock, attributes such as `eol` or
/// filters change bytes on the way, or the change is not committed yet.
fn warn_of_attributes(top: &Path, lock: &Lock) -> Result<(), Failure> {
    let git = Git::open(top)?;
    let Ok(head) = git.resolve("HEAD") else { return Ok(()) };
    let files = git.files(&head, &folders_to_list(lock))?;
    let stored: BTreeMap<&BytePath, _> =
        files.iter().filter(|file| file.mode.is_file()).map(|file| (&file.path, &file.id)).collect();
    let listed: Vec<(&Locked, Sha256, _)> =
        lock.files.iter().filter_map(|locked| Some((locked, locked.digest?, *stored.get(&locked.path)?))).collect();
    let digests = git.sha256(listed.iter().map(|(.., id)| *id))?;
    for (locked, wanted, id) in listed {
        let fits = digests.get(id) == Some(&wanted);
        match (held(top, locked), fits) {
            (Held::Ok, false) => out::tell(&format!(
                "{}: as git stores it at HEAD it does not fit the lock, and the gate reads that: commit it, or attributes change its bytes",
                locked.path
            )),
            (Held::OtherBytes, true) => out::tell(&format!(
                "{}: as git stores it at HEAD it fits the lock: it was edited here, or attributes change its bytes",
                locked.path
            )),
            _ => {}
        }
    }
    Ok(())
}
