//! The first backend: bubblewrap, which builds the sandbox out of namespaces.

use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::Duration;

use super::arguments::{Numbers, Proc, arguments, check};
use super::line::Line;
use super::order::{FROM_SUBJECT, Limits, Order, Outcome, Sandbox, SandboxError, TO_SUBJECT};
use super::spawn::{LOG, Start, host, inherited, lifted, memory, output, pipe, under};
use super::system::{Part, parts, search_path};
use super::watch::{Ends, Seen, Watch};
use super::why::Host;
use super::{filter, owner, why};
use crate::config;

/// Programs in namespaces of their own, started by bubblewrap.
#[derive(Debug)]
pub(super) struct Bubblewrap {
    program: PathBuf,
    uid: Option<u32>,
    parts: Vec<Part>,
    path: String,
    filters: [Vec<u8>; 2],
    proc: Proc,
    inherited: Vec<RawFd>,
}

/// The sandbox of the operator's configuration, after one program has run in it. An error says what forbids it here, and how it is
/// allowed.
pub fn open(settings: &config::Sandbox) -> Result<Box<dyn Sandbox>, SandboxError> {
    match settings.backend {
        config::Backend::Bubblewrap => Ok(Box::new(Bubblewrap::open(settings)?)),
    }
}

impl Bubblewrap {
    pub(super) fn open(settings: &config::Sandbox) -> Result<Self, SandboxError> {
        let release =
            std::fs::read_to_string("/proc/sys/kernel/osrelease").map_err(host("ask for the kernel's version"))?;
        if let Some(old) = why::old_kernel(&release) {
            return Err(SandboxError::Unavailable(old));
        }
        let mut own = Self {
            program: settings.program.clone(),
            uid: rustix::process::geteuid().is_root().then_some(settings.uid),
            parts: parts(settings)?,
            path: search_path(settings),
            filters: filter::programs()?,
            proc: Proc::Own,
            inherited: inherited()?,
        };
        if own.uid == Some(0) {
            let why = "`sandbox.uid` is 0: a program never runs as root; name another user's number".to_owned();
            return Err(SandboxError::Unavailable(why));
        }
        match own.try_out()? {
            Ok(()) => Ok(own),
            Err(said) if said.contains("mount proc") => {
                own.proc = Proc::Hosts;
                own.try_out()?.map(|()| own).map_err(|_| unavailable(&said))
            }
            Err(said) => Err(unavailable(&said)),
        }
    }

    /// Under which user programs run, as words to follow a sentence.
    pub(super) fn user(&self) -> String {
        self.uid.map_or_else(String::new, |uid| format!("; programs run under user {uid}"))
    }

    /// What programs see of the host's processes.
    pub(super) fn proc_line(&self) -> Line {
        let said = match self.proc {
            Proc::Own => "a /proc of its own",
            Proc::Hosts => {
                "the host's /proc, read-only, since parts of it are covered here: programs can see which processes run on the \
                 host, and neither their memory nor their environment"
            }
        };
        Line::ok("proc", said)
    }

    fn outcome(&self, order: &Order, wires: Wires) -> Result<Outcome, SandboxError> {
        match self.start(order, wires)? {
            Seen::Ran(outcome) => Ok(outcome),
            Seen::Failed(said) => Err(failure(order, &said)),
        }
    }

    fn try_out(&self) -> Result<Result<(), String>, SandboxError> {
        let seen = self.start(&trial(), Wires::default())?;
        Ok(match seen {
            Seen::Ran(_) => Ok(()),
            Seen::Failed(said) => Err(said),
        })
    }

    fn start(&self, order: &Order, wires: Wires) -> Result<Seen, SandboxError> {
        check(order)?;
        if let Some(uid) = self.uid {
            owner::prepare(&order.mounts, uid)?;
        }
        let input = wires.input.map_or_else(|| memory("input", &order.input), Ok)?;
        let ((stderr, err), (status, said)) = (output()?, output()?);
        let (stdout, out) = match wires.output {
            Some(out) => (None, out),
            None => output().map(|(read, write)| (Some(read), write))?,
        };
        let (waits, gate) = pipe()?;
        let (log, logged) =
            if order.log { output().map(|(read, write)| (Some(read), Some(write)))? } else { (None, None) };
        let (waits, said) = (lifted(waits)?, lifted(said)?);
        let filters =
            self.filters.iter().map(|filter| lifted(memory("filter", filter)?)).collect::<Result<Vec<_>, _>>()?;
        let written = self.parts.iter().filter_map(|part| match part {
            Part::Written(name, text) => Some((name, text)),
            _ => None,
        });
        let files =
            written.map(|(name, text)| lifted(memory(name, text.as_bytes())?)).collect::<Result<Vec<_>, _>>()?;
        let numbers = Numbers {
            filters: [filters[0].as_raw_fd(), filters[1].as_raw_fd()],
            gate: waits.as_raw_fd(),
            status: said.as_raw_fd(),
            files: files.iter().map(OwnedFd::as_raw_fd).collect(),
        };
        let told = lifted(memory("arguments", &arguments(&self.parts, &self.path, self.proc, order, &numbers))?)?;
        let mut words = vec!["--args".to_owned(), told.as_raw_fd().to_string(), "--".to_owned()];
        words.extend(order.command.iter().cloned());
        let kept = [waits, said, told].into_iter().chain(filters).chain(files).collect();
        let child = Start {
            program: &self.program,
            arguments: words,
            streams: [input, out, err],
            kept,
            covered: &self.inherited,
            mapped: logged.map(|log| (log, LOG)).into_iter().chain(wires.more).collect(),
        };
        let ends = Ends { stdout, stderr, log, status, gate };
        let mounts = order.mounts.iter().filter(|mount| mount.writable);
        let writable: Vec<_> = mounts.map(|mount| mount.source.clone()).collect();
        let watch = || Watch::new(child.start()?, ends, order.limits.output)?.run(&order.limits, self.proc, &writable);
        match self.uid {
            None => watch(),
            Some(uid) => under(uid, watch),
        }
    }
}

impl Sandbox for Bubblewrap {
    fn name(&self) -> &'static str {
        "bubblewrap"
    }

    fn run(&self, order: &Order) -> Result<Outcome, SandboxError> {
        self.outcome(order, Wires::default())
    }

    fn run_pair(&self, driver: &Order, subject: &Order) -> Result<(Outcome, Outcome), SandboxError> {
        let ((asked, asks), (answered, answers)) = (pipe()?, pipe()?);
        let more = vec![(answered, FROM_SUBJECT), (asks, TO_SUBJECT)];
        let drives = Wires { more, ..Wires::default() };
        let serves = Wires { input: Some(asked), output: Some(answers), ..Wires::default() };
        let (driver, subject) = std::thread::scope(|scope| {
            let subject = scope.spawn(|| self.outcome(subject, serves));
            let driver = self.outcome(driver, drives);
            (driver, subject.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        Ok((driver?, subject?))
    }
}

/// Descriptors in place of the usual ones, and besides them.
#[derive(Default)]
struct Wires {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    more: Vec<(OwnedFd, RawFd)>,
}

fn unavailable(said: &str) -> SandboxError {
    SandboxError::Unavailable(why::explain(said, &Host::here()))
}

/// Bubblewrap's own texts (<https://github.com/containers/bubblewrap/blob/v0.8.0/bubblewrap.c>): the last step before the program
/// begins is to find it.
fn failure(order: &Order, said: &str) -> SandboxError {
    let command = order.command[0].clone();
    let line = said.lines().next_back().unwrap_or_default();
    let line = line.strip_prefix("bwrap: ").unwrap_or(line);
    if line.starts_with("execvp ") || line.starts_with("Can't chdir to ") {
        let why = line.rsplit_once(": ").map_or(line, |(_, why)| why);
        let why = if line.starts_with("Can't chdir") {
            format!("no folder {}: {why}", order.directory.display())
        } else {
            why.to_owned()
        };
        return SandboxError::NotStarted { command, why };
    }
    let why = if line.is_empty() { "it gave no reason" } else { line };
    SandboxError::Host { doing: "build the sandbox", source: std::io::Error::other(why.to_owned()) }
}

/// The smallest program there is.
fn trial() -> Order {
    Order {
        command: vec!["true".to_owned()],
        environment: Vec::new(),
        directory: PathBuf::from("/"),
        mounts: Vec::new(),
        input: Vec::new(),
        log: false,
        limits: Limits {
            wall: Duration::from_secs(10),
            memory: 256 << 20,
            processes: 16,
            file_size: 1 << 20,
            open_files: 64,
            output: 64 * 1024,
        },
    }
}
