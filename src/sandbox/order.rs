//! What is asked of a sandbox, and what it brings back.

use std::path::PathBuf;
use std::time::Duration;

/// One program to run, and all that it may see and use.
#[derive(Clone, Debug)]
pub struct Order {
    /// The program and its arguments; a bare name is looked up in the sandbox's own `PATH`.
    pub command: Vec<String>,
    /// The whole environment: nothing of the worker's own is passed on.
    pub environment: Vec<(String, String)>,
    /// The working directory, as the program sees it.
    pub directory: PathBuf,
    /// Folders of the host that the program sees, besides the system and the toolchains of the configuration.
    pub mounts: Vec<Mount>,
    /// What is written to its standard input; the end of it follows.
    pub input: Vec<u8>,
    /// Whether it gets a pipe of its own to write a log to: file descriptor 3, `/dev/fd/3`, which it cannot replace or read back.
    pub log: bool,
    /// What it may use.
    pub limits: Limits,
}

/// A folder of the host inside the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it is on the host.
    pub source: PathBuf,
    /// Where the program sees it.
    pub target: PathBuf,
    /// Whether the program may write there.
    pub writable: bool,
}

/// Bounds of the whole process tree, not of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time by the clock on the wall.
    pub wall: Duration,
    /// Memory, bytes.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u32,
    /// The largest file that it may write, bytes; also the size of its private `/tmp`, and the most that it may add to a folder
    /// that it can write to.
    pub file_size: u64,
    /// Open files of one process.
    pub open_files: u32,
    /// Bytes that are kept of each of standard output, standard error and the log; more ends the run.
    pub output: u64,
}

/// How a program that was started came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal; or by itself, with the code by which a shell says that a child of its was ended by that signal (128 more).
    Signalled(i32),
    /// Killed: the wall clock ran out.
    TimedOut,
    /// Killed: the tree used more memory than it may.
    OutOfMemory,
    /// Killed: it wrote more than is kept, or more to a folder than it may.
    OutputLimit,
}

/// The driver's descriptor from which it reads what its subject says, in [`Sandbox::run_pair`].
pub const FROM_SUBJECT: i32 = 4;

/// The driver's descriptor to which it writes what its subject shall hear, in [`Sandbox::run_pair`].
pub const TO_SUBJECT: i32 = 5;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the program ended.
    pub ended: Ended,
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
    /// What it wrote to its log.
    pub log: Vec<u8>,
    /// How long it ran.
    pub took: Duration,
}

/// Why nothing can be said of the program: the sandbox failed, not the program in it.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The host or its container does not allow a sandbox; the text says what forbids it and how it is allowed.
    #[error("no sandbox can be had: {0}")]
    Unavailable(String),
    /// The command cannot be started inside: not there, or not executable.
    #[error("{command:?} cannot be started: {why}")]
    NotStarted {
        /// The program.
        command: String,
        /// What the system said.
        why: String,
    },
    /// The host failed while it was to do something.
    #[error("the sandbox failed while it was to {doing}")]
    Host {
        /// The step, as a verb.
        doing: &'static str,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
}

/// A way to run programs apart from everything else. The whole process tree is dead and nothing is left behind when `run` returns.
pub trait Sandbox: Send + Sync {
    /// The backend's name, as reports show it: `bubblewrap`, `landlock`.
    fn name(&self) -> &'static str;

    /// Runs one program to its end, and blocks until then.
    fn run(&self, order: &Order) -> Result<Outcome, SandboxError>;

    /// Runs two programs side by side, each in a sandbox of its own, and blocks until both have ended. They share nothing but two
    /// pipes: what the driver writes to its descriptor [`TO_SUBJECT`] is the subject's standard input, and what the subject writes
    /// to its standard output the driver reads from [`FROM_SUBJECT`]. Where one of them ends, the other finds the end of its pipe.
    ///
    /// The answers are the driver's and the subject's, in this order. [`Order::input`] of the subject is not used, and its
    /// [`Outcome::stdout`] is empty. An error of either is an error of the pair.
    fn run_pair(&self, driver: &Order, subject: &Order) -> Result<(Outcome, Outcome), SandboxError>;
}
