//! What the whole process tree of a run uses, added up from `/proc`.
//!
//! The processes are those of the sandbox's own `/proc`; where it shows the host's, those in its pid namespace. Counted are the
//! private memory of each process (swapped out or not), shared memory that belongs to no file, and what the sized file systems
//! hold. Files in memory and System V segments, which a program could hold without a process that shows them, are refused by the
//! filter.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::statvfs;

use super::arguments::{MARK, Proc};

/// The kernel's own memory for one file of a sized file system, about.
const INODE: u64 = 1024;

/// The processes of one sandbox, seen from the host.
pub(super) struct Tree {
    init: u32,
    root: PathBuf,
    proc: PathBuf,
    namespace: Option<PathBuf>,
    sized: [PathBuf; 2],
}

/// One look at the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Processes that were seen.
    pub(super) processes: usize,
    /// Bytes of memory.
    pub(super) memory: u64,
}

#[derive(Default)]
struct Process {
    private: u64,
    mapped: u64,
}

impl Tree {
    /// The tree below the first process of a pid namespace.
    pub(super) fn of(init: u32, proc: Proc) -> Self {
        let root = PathBuf::from(format!("/proc/{init}/root"));
        // Its number is looked up when it is needed: the process may not have it yet.
        let namespace = (proc == Proc::Hosts).then(|| PathBuf::from(format!("/proc/{init}/ns/pid")));
        Self {
            init,
            root: root.clone(),
            proc: if namespace.is_some() { PathBuf::from("/proc") } else { root.join("proc") },
            namespace,
            sized: [root.join("tmp"), root.join("dev/shm")],
        }
    }

    /// Whether bubblewrap has built everything, and its process sees the new root: before, it sees the host's.
    pub(super) fn stands(&self) -> bool {
        self.root.join(MARK.trim_start_matches('/')).is_dir()
    }

    /// Adds up. Processes that end meanwhile are passed over.
    pub(super) fn usage(&self, limit: u64) -> Usage {
        let processes: Vec<_> = self.processes();
        let seen: Vec<_> = processes.iter().filter_map(|folder| process(folder)).collect();
        let private: u64 = seen.iter().map(|process| process.private).sum();
        let mapped: u64 = seen.iter().map(|process| process.mapped).sum();
        let held: u64 = self.sized.iter().map(|folder| held(folder)).sum();
        // Shared memory is hidden from the sum of what processes have in use, so its size is read from their maps. That is
        // slow, and needless while everything that is mapped fits.
        let shared = if mapped > limit { shared(&processes) } else { 0 };
        Usage { processes: seen.len(), memory: private + held + shared }
    }

    /// The folders of `/proc` that stand for the sandbox's processes.
    fn processes(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.proc).into_iter().flatten().flatten();
        let numbered = entries.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
        let wanted = self.namespace.as_ref().map(|link| std::fs::read_link(link).ok());
        let own = |folder: &PathBuf| match &wanted {
            None => true,
            Some(wanted) => wanted.is_some() && std::fs::read_link(folder.join("ns/pid")).ok() == *wanted,
        };
        numbered.map(|entry| entry.path()).filter(own).collect()
    }

    /// Bytes of files on this device that are open in the tree and have no name any more.
    pub(super) fn nameless(&self, device: u64) -> u64 {
        let mut seen = BTreeSet::new();
        let folders = self.processes().into_iter().map(|folder| folder.join("fd"));
        let open = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        let files = open.filter_map(|entry| std::fs::metadata(entry.path()).ok());
        let files = files.filter(|file| file.is_file() && file.nlink() == 0 && file.dev() == device);
        files.filter(|file| seen.insert(file.ino())).map(|file| file.blocks() * 512).sum()
    }

    /// Lets the kernel take this tree before anything else of the host when memory runs out.
    pub(super) fn offer_to_the_kernel(&self) -> std::io::Result<()> {
        std::fs::write(format!("/proc/{}/oom_score_adj", self.init), "1000")
    }
}

/// `Name:  number kB`, of <https://man7.org/linux/man-pages/man5/proc_pid_status.5.html>.
fn process(folder: &Path) -> Option<Process> {
    let text = std::fs::read_to_string(folder.join("status")).ok()?;
    let mut process = Process::default();
    for line in text.lines() {
        let number = || line.split_ascii_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
        match line.split(':').next() {
            Some("RssAnon" | "VmSwap") => process.private += number()? * 1024,
            Some("VmSize") => process.mapped += number()? * 1024,
            _ => {}
        }
    }
    Some(process)
}

/// Shared anonymous memory, each piece once: the kernel shows it as a file without a name on its own device.
fn shared(processes: &[PathBuf]) -> u64 {
    let mut pieces: BTreeMap<u64, u64> = BTreeMap::new();
    for folder in processes {
        let mut own: BTreeMap<u64, u64> = BTreeMap::new();
        let text = std::fs::read(folder.join("maps")).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines().filter(|line| line.ends_with("/dev/zero (deleted)")) {
            let mut words = line.split_ascii_whitespace();
            let range = words.next().and_then(|range| range.split_once('-'));
            let size = range.and_then(|(from, to)| {
                Some(u64::from_str_radix(to, 16).ok()?.saturating_sub(u64::from_str_radix(from, 16).ok()?))
            });
            let inode = words.nth(3).and_then(|inode| inode.parse().ok());
            if let (Some(size), Some(inode)) = (size, inode) {
                *own.entry(inode).or_default() += size;
            }
        }
        for (inode, size) in own {
            let piece = pieces.entry(inode).or_default();
            *piece = size.max(*piece);
        }
    }
    pieces.values().sum()
}

/// What a file system in memory holds.
fn held(folder: &Path) -> u64 {
    statvfs(folder).map_or(0, |of| {
        of.f_blocks.saturating_sub(of.f_bfree) * of.f_frsize + of.f_files.saturating_sub(of.f_ffree) * INODE
    })
}

/// A folder of the host that the program may write to, and the file system below it.
pub(super) struct Growing {
    folder: PathBuf,
    device: u64,
    free: (u64, u64),
    since: SystemTime,
}

/// What is known of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disk {
    /// The program is within its bounds, as far as is known.
    Fine,
    /// The program wrote more than it may.
    Over,
    /// The disk is about to be full, and it is not known who fills it.
    Short,
}

/// What every disk keeps free.
const RESERVE: u64 = 64 << 20;

/// As many new files as that are as much as a whole large file.
const FILES: u64 = 200_000;

impl Growing {
    pub(super) fn watch(folder: &Path, since: SystemTime) -> std::io::Result<Self> {
        let device = std::fs::metadata(folder)?.dev();
        Ok(Self { folder: folder.to_owned(), device, free: free(folder)?, since })
    }

    /// Looks at the file system as a whole first, which costs nothing; only if it lost more than the program may write, the
    /// folder is walked.
    pub(super) fn look(&mut self, tree: &Tree, limit: u64) -> std::io::Result<Disk> {
        let (bytes, files) = free(&self.folder)?;
        if self.free.0.saturating_sub(bytes) <= limit && self.free.1.saturating_sub(files) <= FILES {
            return Ok(Disk::Fine);
        }
        let written =
            written(&self.folder, self.since).map(|(bytes, files)| (bytes + tree.nameless(self.device), files));
        match written {
            Some((bytes, files)) if bytes <= limit && files <= FILES => {}
            _ => return Ok(Disk::Over),
        }
        if bytes < RESERVE {
            return Ok(Disk::Short);
        }
        // Somebody else wrote. The folder is walked again when as much again is gone.
        self.free = (bytes, files);
        Ok(Disk::Fine)
    }
}

/// Free bytes and free files of the file system.
fn free(folder: &Path) -> std::io::Result<(u64, u64)> {
    let of = statvfs(folder)?;
    Ok((of.f_bavail * of.f_frsize, of.f_ffree))
}

/// Bytes and files that were written below a folder since then; `None` when they cannot be counted, as when folders are nested
/// deeper than a path can be long.
fn written(folder: &Path, since: SystemTime) -> Option<(u64, u64)> {
    let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    let (mut bytes, mut files) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // It was moved or removed meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                folders.push(entry.path());
            }
            if u64::try_from(found.ctime()).is_ok_and(|changed| changed >= since) {
                bytes += found.blocks() * 512;
                files += 1;
            }
        }
    }
    Some((bytes, files))
}
