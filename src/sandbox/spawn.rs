//! A started bubblewrap, stopped before its program: descriptors, user and limits are set in between.
//!
//! This crate forbids unsafe code, and what a child needs between `fork` and `exec` is unsafe. So descriptors are passed on by
//! `command-fds`, and limits are set from outside, with `prlimit` on the process that will become the program, while bubblewrap
//! waits at its `--block-fd`. A user is set for the one thread that starts and watches the sandbox, not between `fork` and
//! `exec`: root in a container often lacks the capabilities to limit and to look into a process of another user, and the user
//! itself needs none.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd, RawFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::fs::{MemfdFlags, Mode, OFlags, fchmod, fcntl_getfl, fcntl_setfl, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use super::order::SandboxError;

/// Descriptors below this number are the program's.
const OURS: RawFd = 10;

/// Where the program finds its log.
pub(super) const LOG: RawFd = 3;

/// Turns an answer of the system into an error that names the step.
pub(super) fn host<E: Into<std::io::Error>>(doing: &'static str) -> impl FnOnce(E) -> SandboxError {
    move |source| SandboxError::Host { doing, source: source.into() }
}

/// A pipe. Both ends are closed in every other program that is started.
pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    pipe_with(PipeFlags::CLOEXEC).map_err(host("make a pipe"))
}

/// A pipe from the program to us: only its reading end waits for nobody. The program can open its own end again by name
/// (`/dev/stdout`, `/dev/fd/3`), for writing; where it runs under another user than we do, for nothing else.
pub(super) fn output() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let (read, write) = pipe()?;
    fchmod(&write, Mode::WUSR | Mode::WGRP | Mode::WOTH).map_err(host("make a pipe"))?;
    let flags = fcntl_getfl(&read).map_err(host("make a pipe"))?;
    fcntl_setfl(&read, flags | OFlags::NONBLOCK).map_err(host("make a pipe"))?;
    Ok((read, write))
}

/// A file in memory with these bytes, to be read from its beginning.
pub(super) fn memory(name: &str, bytes: &[u8]) -> Result<OwnedFd, SandboxError> {
    let doing = "write a file in memory";
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC).map_err(host(doing))?);
    file.write_all(bytes).map_err(host(doing))?;
    file.rewind().map_err(host(doing))?;
    Ok(file.into())
}

/// Lifts a descriptor above the program's own numbers.
pub(super) fn lifted(fd: impl AsFd) -> Result<OwnedFd, SandboxError> {
    fcntl_dupfd_cloexec(fd, OURS).map_err(host("number a descriptor"))
}

/// Descriptors that this process was started with and that every program it starts would get too: whoever starts a worker may
/// forget one. They cannot be closed here (somebody may own them), but they can be covered in what is started.
pub(super) fn inherited() -> Result<Vec<RawFd>, SandboxError> {
    let doing = "list the open descriptors";
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fdinfo").map_err(host(doing))? {
        let entry = entry.map_err(host(doing))?;
        let number = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        // The descriptor of this very listing is gone by the time it is looked at.
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        match (number, flags) {
            (Some(number), Some(flags)) if number > 2 && flags & OFlags::CLOEXEC.bits() == 0 => found.push(number),
            (Some(_), Some(_)) => {}
            _ => return Err(host(doing)(std::io::Error::from(std::io::ErrorKind::InvalidData))),
        }
    }
    Ok(found)
}

/// Does `work` in a thread that runs under this user, as everything does that it starts. On Linux a user belongs to a thread.
pub(super) fn under<T: Send>(
    uid: u32,
    work: impl FnOnce() -> Result<T, SandboxError> + Send,
) -> Result<T, SandboxError> {
    let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
    let become_user = move || {
        set_thread_groups(&[])?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            become_user().map_err(|error| {
                SandboxError::Unavailable(format!(
                    "the worker was started as root, so programs run under user {uid} (`sandbox.uid`), and it may not become \
                     that user ({error}): start it as an ordinary user, or let it keep CAP_SETUID and CAP_SETGID"
                ))
            })?;
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A program and its descriptors.
pub(super) struct Start<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<String>,
    pub(super) streams: [OwnedFd; 3],
    /// Passed on under the number that they have here.
    pub(super) kept: Vec<OwnedFd>,
    /// Numbers under which programs would find what this process was started with.
    pub(super) covered: &'a [RawFd],
    /// Passed on under a number of their own.
    pub(super) mapped: Vec<(OwnedFd, RawFd)>,
}

impl Start<'_> {
    #[expect(clippy::disallowed_methods, reason = "the one place that starts a sandbox")]
    pub(super) fn start(self) -> Result<Child, SandboxError> {
        let [input, output, errors] = self.streams;
        let mut command = Command::new(self.program);
        command.env_clear().args(self.arguments).current_dir("/");
        command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
        let kept = self.kept.into_iter().map(|fd| (fd.as_raw_fd(), fd)).map(|(number, fd)| (fd, number));
        let mut mapped: Vec<_> = kept.chain(self.mapped).collect();
        for number in self.covered {
            if mapped.iter().all(|(_, taken)| taken != number) {
                let nothing = File::open("/dev/null").map_err(host("open /dev/null"))?;
                mapped.push((lifted(nothing)?, *number));
            }
        }
        let mappings = mapped.into_iter().map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd });
        command.fd_mappings(mappings.collect()).expect("every descriptor has a number of its own");
        command.spawn().map_err(|error| not_started(self.program, error))
    }
}

fn not_started(program: &Path, error: std::io::Error) -> SandboxError {
    match error.kind() {
        std::io::ErrorKind::NotFound => SandboxError::Unavailable(format!(
            "{} is not there: install the package `bubblewrap`, or name the program in `sandbox.program`",
            program.display()
        )),
        _ => SandboxError::Host { doing: "start bubblewrap", source: error },
    }
}
