//! From a started bubblewrap to an outcome: one thread reads what the program says, looks at what its tree uses, and kills.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, pidfd_open, pidfd_send_signal,
    prlimit, waitid,
};

use super::arguments::Proc;
use super::order::{Ended, Limits, Outcome, SandboxError};
use super::spawn::host;
use super::usage::{Disk, Growing, Tree};

/// How long bubblewrap may take to build the sandbox.
const SETUP: Duration = Duration::from_secs(10);

/// How long the kernel may take to end every process of a sandbox that was killed.
const EMPTYING: Duration = Duration::from_mins(1);

/// The time between two looks whether the sandbox stands; it takes a few milliseconds.
const GLANCE: Duration = Duration::from_micros(500);

/// The shortest time between two looks at the tree. A look may take a twentieth of the time at most.
const TICK: Duration = Duration::from_millis(25);

/// The most that bubblewrap has to say of a run.
const STATUS: u64 = 64 * 1024;

/// The beginning of a stream.
struct Kept {
    fd: Option<OwnedFd>,
    bytes: Vec<u8>,
    limit: u64,
    over: bool,
}

impl Kept {
    fn new(fd: Option<OwnedFd>, limit: u64) -> Self {
        Self { fd, bytes: Vec::new(), limit, over: false }
    }

    /// Reads what is there, at most `portions` times.
    fn read(&mut self, portions: usize) -> std::io::Result<()> {
        let Some(fd) = &self.fd else { return Ok(()) };
        let mut buffer = [0; 16 * 1024];
        for _ in 0..portions {
            match rustix::io::read(fd, &mut buffer) {
                Ok(0) => {
                    self.fd = None;
                    return Ok(());
                }
                Ok(read) => {
                    let room = usize::try_from(self.limit).unwrap_or(usize::MAX).saturating_sub(self.bytes.len());
                    self.bytes.extend_from_slice(&buffer[..read.min(room)]);
                    self.over |= read > room;
                }
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The reading ends of a sandbox's pipes.
pub(super) struct Ends {
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: OwnedFd,
    pub(super) log: Option<OwnedFd>,
    pub(super) status: OwnedFd,
    /// Bubblewrap waits for a byte from here before it starts the program.
    pub(super) gate: OwnedFd,
}

/// What bubblewrap did, seen from outside.
pub(super) enum Seen {
    /// The program ran.
    Ran(Outcome),
    /// It did not; this is what bubblewrap said.
    Failed(String),
}

/// A sandbox that is being watched. Dropping it kills everything in it.
pub(super) struct Watch {
    child: Child,
    monitor: OwnedFd,
    init: Option<OwnedFd>,
    reaped: bool,
    gate: Option<OwnedFd>,
    stdout: Kept,
    stderr: Kept,
    log: Kept,
    status: Kept,
}

impl Watch {
    pub(super) fn new(mut child: Child, ends: Ends, output: u64) -> Result<Self, SandboxError> {
        let monitor = match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(monitor) => monitor,
            Err(error) => {
                child.kill().and_then(|()| child.wait()).map_err(host("end bubblewrap"))?;
                return Err(host("watch bubblewrap")(error));
            }
        };
        Ok(Self {
            child,
            monitor,
            init: None,
            reaped: false,
            gate: Some(ends.gate),
            stdout: Kept::new(ends.stdout, output),
            stderr: Kept::new(Some(ends.stderr), output),
            log: Kept::new(ends.log, output),
            status: Kept::new(Some(ends.status), STATUS),
        })
    }

    /// Waits until the sandbox stands, sets the limits, lets the program run, and waits for its end.
    pub(super) fn run(mut self, limits: &Limits, proc: Proc, writable: &[PathBuf]) -> Result<Seen, SandboxError> {
        let deadline = Instant::now() + SETUP;
        let init = loop {
            if let Some(pid) = number(&self.status.bytes, "child-pid") {
                break pid;
            }
            if self.wait(deadline)? {
                return self.failed();
            }
            if Instant::now() >= deadline {
                let late = std::io::Error::from(std::io::ErrorKind::TimedOut);
                return Err(SandboxError::Host { doing: "build the sandbox", source: late });
            }
        };
        let Some(pid) = i32::try_from(init).ok().and_then(Pid::from_raw) else { return self.failed() };
        // Bubblewrap has not reaped its child, since that waits for us; so the number is still its own.
        self.init = Some(pidfd_open(pid, PidfdFlags::empty()).map_err(host("watch the sandbox"))?);
        let tree = Tree::of(init, proc);
        while !tree.stands() {
            if self.wait(Instant::now() + GLANCE)? {
                return self.failed();
            }
            if Instant::now() >= deadline {
                let late = std::io::Error::from(std::io::ErrorKind::TimedOut);
                return Err(SandboxError::Host { doing: "see the sandbox in /proc", source: late });
            }
        }
        limit(pid, limits)?;
        tree.offer_to_the_kernel().map_err(host("mark the sandbox's processes"))?;
        self.program(limits, &tree, writable)
    }

    fn program(mut self, limits: &Limits, tree: &Tree, writable: &[PathBuf]) -> Result<Seen, SandboxError> {
        let (started, since) = (Instant::now(), now());
        let mut disks = Vec::new();
        for folder in writable {
            disks.push(Growing::watch(folder, since).map_err(host("look at the disk"))?);
        }
        let gate = self.gate.take().expect("the gate is opened once");
        match rustix::io::write(&gate, b"g") {
            // It failed meanwhile, and says why.
            Ok(_) | Err(rustix::io::Errno::PIPE) => drop(gate),
            Err(error) => return Err(host("start the program")(error)),
        }
        let deadline = started + limits.wall;
        let mut next = started + TICK;
        let mut killed = None;
        while !self.wait(next.min(deadline))? {
            let now = Instant::now();
            if self.over() {
                killed = Some(Ended::OutputLimit);
            } else if now >= deadline {
                killed = Some(Ended::TimedOut);
            } else if now >= next {
                killed = look(tree, &mut disks, limits)?;
                next = Instant::now() + TICK.max(now.elapsed() * 20);
            }
            if killed.is_some() {
                break;
            }
        }
        self.kill();
        let code = self.end()?;
        let took = started.elapsed();
        let ended = match (killed, code) {
            (Some(reason), _) => reason,
            (None, Some(_)) if self.over() => Ended::OutputLimit,
            // As shells do, bubblewrap tells a signal by its number and 128.
            (None, Some(code)) if (129..=192).contains(&code) => Ended::Signalled(code - 128),
            (None, Some(code)) => Ended::Exited(code),
            (None, None) => return self.failed(),
        };
        let taken = |kept: &mut Kept| std::mem::take(&mut kept.bytes);
        let (stdout, stderr, log) = (taken(&mut self.stdout), taken(&mut self.stderr), taken(&mut self.log));
        Ok(Seen::Ran(Outcome { ended, stdout, stderr, log, took }))
    }

    fn over(&self) -> bool {
        self.stdout.over || self.stderr.over || self.log.over
    }

    /// Reads until something happened or it is this late. True once bubblewrap has ended.
    fn wait(&mut self, until: Instant) -> Result<bool, SandboxError> {
        let doing = "wait for the program";
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let streams = [&self.stdout, &self.stderr, &self.log, &self.status];
        let mut fds = vec![PollFd::new(&self.monitor, PollFlags::IN)];
        let open = streams.iter().filter_map(|kept| kept.fd.as_ref());
        fds.extend(open.map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)));
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(host(doing)(error)),
        }
        let ended = fds[0].revents().contains(PollFlags::IN);
        self.read(16).map_err(host(doing))?;
        Ok(ended)
    }

    fn read(&mut self, portions: usize) -> std::io::Result<()> {
        for kept in [&mut self.stdout, &mut self.stderr, &mut self.log, &mut self.status] {
            kept.read(portions)?;
        }
        Ok(())
    }

    /// Kills the first process of the namespace, and with it, as the kernel promises, every other one.
    fn kill(&self) {
        // It can only fail when nobody is left; bubblewrap then ends by itself.
        let _gone = match &self.init {
            Some(init) => pidfd_send_signal(init, Signal::KILL),
            None => pidfd_send_signal(&self.monitor, Signal::KILL),
        };
    }

    /// Reaps bubblewrap, waits until its namespace is empty, and reads the rest of what was written. The code is there only if
    /// the program was started.
    fn end(&mut self) -> Result<Option<i32>, SandboxError> {
        let doing = "wait for the end";
        self.child.wait().map_err(host(doing))?;
        self.reaped = true;
        self.emptied().map_err(host("end every process of the sandbox"))?;
        // Every process that could write is dead, so each pipe has an end.
        self.read(usize::MAX).map_err(host(doing))?;
        Ok(number(&self.status.bytes, "exit-code").and_then(|code| i32::try_from(code).ok()))
    }

    /// Bubblewrap ends when it knows the program's code; the first process of the namespace ends when no other is left in it.
    fn emptied(&self) -> std::io::Result<()> {
        let Some(init) = &self.init else { return Ok(()) };
        let deadline = Instant::now() + EMPTYING;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut fds = [PollFd::new(init, PollFlags::IN)];
            match poll(&mut fds, Some(&Timespec::try_from(left).unwrap_or_default())) {
                Ok(0) => return Err(std::io::Error::from(std::io::ErrorKind::TimedOut)),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => break,
            }
        }
        // It is an orphan now. Usually the host's first process takes it; where that is this process, nobody else will.
        match waitid(WaitId::PidFd(init.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(_) | Err(rustix::io::Errno::CHILD) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn failed(mut self) -> Result<Seen, SandboxError> {
        if !self.reaped {
            self.kill();
            self.end()?;
        }
        Ok(Seen::Failed(String::from_utf8_lossy(&self.stderr.bytes).trim().to_owned()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            // The error that brought us here says what is wrong.
            let _end = self.child.wait().and_then(|_| self.emptied());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "compared with the times of files, and never told")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn look(tree: &Tree, disks: &mut [Growing], limits: &Limits) -> Result<Option<Ended>, SandboxError> {
    if tree.usage(limits.memory).memory > limits.memory {
        return Ok(Some(Ended::OutOfMemory));
    }
    for disk in disks {
        match disk.look(tree, limits.file_size).map_err(host("look at the disk"))? {
            Disk::Fine => {}
            Disk::Over => return Ok(Some(Ended::OutputLimit)),
            Disk::Short => {
                let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
                return Err(SandboxError::Host { doing: "keep the disk from filling up", source: full });
            }
        }
    }
    Ok(None)
}

/// Limits of each process, which its children inherit and nobody inside can raise.
fn limit(pid: Pid, limits: &Limits) -> Result<(), SandboxError> {
    let bounds = [
        // One more for bubblewrap's own process in there. The kernel counts per user namespace, and this one is new.
        (Resource::Nproc, u64::from(limits.processes) + 1),
        (Resource::Fsize, limits.file_size),
        (Resource::Nofile, u64::from(limits.open_files)),
        // With 0 a handler of the host would still be given the core; 1 is the kernel's word for nobody.
        (Resource::Core, 1),
        (Resource::Memlock, 64 * 1024),
        (Resource::Msgqueue, 0),
        (Resource::Rtprio, 0),
        (Resource::Sigpending, 1024),
    ];
    for (resource, bound) in bounds {
        let bound = getrlimit(resource).maximum.map_or(bound, |ours| ours.min(bound));
        let bound = Rlimit { current: Some(bound), maximum: Some(bound) };
        prlimit(Some(pid), resource, bound).map_err(host("limit the sandbox's processes"))?;
    }
    Ok(())
}

/// A number of the JSON lines that bubblewrap writes; only whole lines are read.
fn number(lines: &[u8], key: &str) -> Option<u32> {
    let lines = lines.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let values = lines.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    values.filter_map(|value| value.get(key)?.as_u64()?.try_into().ok()).next_back()
}
