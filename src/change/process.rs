//! A git process that obeys nobody but us. The only file that starts git.
//!
//! The environment is cleared, so that no configuration, credential, pager or trace of the operator's takes part. The system's and
//! the user's configuration are off, replace refs and grafts are off, the network is off unless a fetch asks for it. Each process
//! leads a group of its own, which is killed as a whole when the wall clock or the output limit is reached, or the value is dropped.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::error::{GitError, from_stderr};

/// Enough for the reason, too little to fill a memory.
const STDERR_LIMIT: u64 = 64 * 1024;

/// One call of git, put together and not yet started.
pub(super) struct Call {
    doing: &'static str,
    command: Command,
    config: Vec<(String, OsString)>,
    time: Duration,
    output: u64,
    file_size: Option<u64>,
}

/// What a call left behind.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

impl Ended {
    /// The error that the end stands for.
    pub(super) fn into_error(self, doing: &'static str) -> GitError {
        from_stderr(doing, &self.stderr)
    }
}

impl Call {
    /// A call in the repository whose git folder is `git_dir`; the process stands in that folder, so that a relative path can
    /// never reach a working copy.
    pub(super) fn inside(git_dir: &Path, doing: &'static str, time: Duration, output: u64) -> Self {
        let mut call = Self::anywhere(doing, time, output);
        call.command.current_dir(git_dir).arg("--git-dir=.");
        call
    }

    /// A call that finds the repository itself, from `dir` upwards, and that must not read anything but its refs.
    ///
    /// Every repository counts as safe here, whoever owns it: git's ownership check protects from configuration that starts
    /// programs, and the one subcommand called this way (`rev-parse`) starts none. Everything else runs in a repository of our own.
    pub(super) fn from_folder(dir: &Path, doing: &'static str, time: Duration) -> Self {
        let mut call = Self::anywhere(doing, time, 64 * 1024);
        call.command.arg("-C").arg(dir);
        for (key, value) in [
            ("safe.directory", "*"),
            ("core.fsmonitor", "false"),
            ("core.hooksPath", "/dev/null"),
            ("core.attributesFile", "/dev/null"),
            ("core.commitGraph", "false"),
            ("core.pager", "cat"),
        ] {
            call = call.config(key, value);
        }
        call
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts git, and PATH is how it is found")]
    fn anywhere(doing: &'static str, time: Duration, output: u64) -> Self {
        let mut command = Command::new("git");
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        command
            .env_clear()
            .env("PATH", path)
            .env("LC_ALL", "C")
            .env("HOME", "/nonexistent")
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/nonexistent/grafts")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none")
            .arg("--no-pager");
        Self { doing, command, config: Vec::new(), time, output, file_size: None }
    }

    /// Adds arguments.
    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets a configuration value for this process alone, through its environment.
    pub(super) fn config(mut self, key: &str, value: impl Into<OsString>) -> Self {
        self.config.push((key.to_owned(), value.into()));
        self
    }

    /// Lets this process speak HTTP, and nothing else.
    pub(super) fn network(mut self) -> Self {
        self.command.env("GIT_ALLOW_PROTOCOL", "http:https");
        self
    }

    /// No file that the process or its children write grows over this many bytes (Linux only; elsewhere only time bounds it).
    pub(super) fn file_size(mut self, bytes: u64) -> Self {
        self.file_size = Some(bytes);
        self
    }

    /// Starts the process with all three streams piped.
    pub(super) fn start(mut self) -> Result<(Running, ChildStdin, ChildStdout), GitError> {
        self.command.env("GIT_CONFIG_COUNT", self.config.len().to_string());
        for (number, (key, value)) in self.config.iter().enumerate() {
            self.command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            self.command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = self.command.spawn().map_err(GitError::NotInstalled)?;
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        if let Some(bytes) = self.file_size {
            limit_file_size(Pid::from_child(&child), bytes);
        }
        let (stop, stopped) = channel();
        let (group, time) = (Pid::from_child(&child), self.time);
        // The group's id cannot be given to another process while its leader is not reaped, and it is reaped only after this
        // thread has ended.
        let watchdog = std::thread::spawn(move || {
            let late = stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if late {
                kill_group(group);
            }
            late
        });
        let reader = std::thread::spawn(move || first_bytes(stderr));
        let running = Running {
            doing: self.doing,
            time,
            child,
            stop,
            watchdog: Some(watchdog),
            stderr: Some(reader),
            exit: None,
        };
        Ok((running, stdin, stdout))
    }

    /// Runs to the end with `input` on standard input and keeps the output.
    pub(super) fn run(self, input: &[u8]) -> Result<Ended, GitError> {
        let mut stdout = Vec::new();
        let mut ended = self.stream(input, |chunk| {
            stdout.extend_from_slice(chunk);
            Ok(())
        })?;
        ended.stdout = stdout;
        Ok(ended)
    }

    /// Runs to the end and gives the output to `take` piece by piece, while git still works. The first error of `take` ends the
    /// process.
    pub(super) fn stream(
        self,
        input: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), GitError>,
    ) -> Result<Ended, GitError> {
        let (doing, limit) = (self.doing, self.output);
        let (running, mut stdin, mut stdout) = self.start()?;
        std::thread::scope(|scope| {
            // A process that does not read to the end says why on its error output.
            scope.spawn(move || drop(stdin.write_all(input)));
            let mut buffer = vec![0; 256 * 1024];
            let mut seen = 0;
            loop {
                let read = match stdout.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(GitError::Unreadable { doing, why: error.to_string() }),
                };
                seen += read as u64;
                if seen > limit {
                    running.kill();
                    return Err(GitError::TooMuch { doing, limit });
                }
                take(&buffer[..read]).inspect_err(|_| running.kill())?;
            }
            let (status, stderr) = running.end()?;
            Ok(Ended { code: status.code(), stdout: Vec::new(), stderr })
        })
    }
}

/// A started process; dropping it kills its group.
pub(super) struct Running {
    doing: &'static str,
    time: Duration,
    child: Child,
    stop: Sender<()>,
    watchdog: Option<JoinHandle<bool>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    exit: Option<ExitStatus>,
}

impl Running {
    /// Kills the whole group.
    pub(super) fn kill(&self) {
        kill_group(Pid::from_child(&self.child));
    }

    /// Waits for the end. Running out of time is an error, whatever the process answered.
    pub(super) fn end(mut self) -> Result<(ExitStatus, Vec<u8>), GitError> {
        let late = self.reap();
        let stderr = self.stderr.take().expect("taken only here").join().unwrap_or_default();
        if late {
            return Err(GitError::TimedOut { doing: self.doing, seconds: self.time.as_secs() });
        }
        let status = self.exit.ok_or(GitError::Failed { doing: self.doing, said: "it cannot be waited for".into() })?;
        Ok((status, stderr))
    }

    /// Waits without reaping, stops the watchdog, kills what is left of the group, and only then reaps.
    fn reap(&mut self) -> bool {
        let Some(watchdog) = self.watchdog.take() else { return false };
        let leader = Pid::from_child(&self.child);
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
        // The watchdog is gone only if it has fired.
        let _ = self.stop.send(());
        let late = watchdog.join().unwrap_or(true);
        kill_group(leader);
        self.exit = self.child.wait().ok();
        late
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.watchdog.is_some() {
            self.kill();
            self.reap();
        }
    }
}

fn kill_group(group: Pid) {
    // The only failure is that nobody is left in the group.
    let _ = kill_process_group(group, Signal::KILL);
}

/// Keeps the first bytes and reads the rest away, so that the process never blocks on a full pipe.
fn first_bytes(mut stream: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let first = stream.by_ref().take(STDERR_LIMIT).read_to_end(&mut kept);
    if first.is_ok() {
        drop(std::io::copy(&mut stream, &mut std::io::sink()));
    }
    kept
}

#[cfg(target_os = "linux")]
fn limit_file_size(process: Pid, bytes: u64) {
    use rustix::process::{Resource, Rlimit, prlimit};
    // It can only fail when the process is gone already; then there is nothing to limit.
    let _ = prlimit(Some(process), Resource::Fsize, Rlimit { current: Some(bytes), maximum: Some(bytes) });
}

#[cfg(not(target_os = "linux"))]
fn limit_file_size(_process: Pid, _bytes: u64) {}
