//! The proof that the sandbox holds here: each promise is tried, before anything of a pull request runs.

use std::path::PathBuf;
use std::time::Duration;

use super::bubblewrap;
use super::line::Line;
use super::order::{Ended, Limits, Mount, Order, Outcome, Sandbox, SandboxError};
use crate::config;
use crate::words::with_causes;

/// Tries everything that the sandbox promises, with the shell of the sandbox's own system. Takes about two seconds.
pub fn check(settings: &config::Sandbox) -> Vec<Line> {
    let sandbox = match bubblewrap::Bubblewrap::open(settings) {
        Ok(sandbox) => sandbox,
        Err(error) => return vec![Line::fault("start", "no program can be started in a sandbox", with_causes(&error))],
    };
    let mut lines = vec![Line::ok("start", format!("{} builds a sandbox{}", sandbox.name(), sandbox.user()))];
    lines.push(sandbox.proc_line());
    for trial in [user, network, writing, log, daemon, processes, memory, time, output] {
        lines.push(trial(&sandbox));
    }
    lines.extend(settings.toolchains.iter().map(|folder| toolchain(&sandbox, folder)));
    lines
}

/// The sandbox of the configuration, once every promise was tried. The error names the first one that does not hold.
pub fn proven(settings: &config::Sandbox) -> Result<Box<dyn Sandbox>, SandboxError> {
    match check(settings).into_iter().find(|line| !line.holds) {
        None => bubblewrap::open(settings),
        Some(Line { check, said, next, .. }) => Err(SandboxError::Unavailable(format!(
            "{check}: {said}: {next} (`evidence-gate sandbox check` tries it again)"
        ))),
    }
}

const OURS: &str =
    "this is a fault of evidence-gate or of bubblewrap on this system: report it with the output of this command";

fn shell(script: &str) -> Order {
    Order {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        environment: Vec::new(),
        directory: PathBuf::from("/tmp"),
        mounts: Vec::new(),
        input: Vec::new(),
        log: false,
        limits: Limits {
            wall: Duration::from_secs(10),
            memory: 64 << 20,
            processes: 16,
            file_size: 1 << 20,
            open_files: 64,
            output: 64 * 1024,
        },
    }
}

/// A line from a run: what was seen, or `None` where the promise is broken.
fn tried(
    check: &'static str,
    sandbox: &dyn Sandbox,
    order: &Order,
    seen: impl FnOnce(&Outcome, &str) -> Option<String>,
) -> Line {
    match sandbox.run(order) {
        Err(error) => Line::fault(check, "the trial did not run", with_causes(&error)),
        Ok(outcome) => {
            let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
            match seen(&outcome, &said) {
                Some(said) => Line::ok(check, said),
                None => Line::fault(check, format!("{:?}, and the program said {said:?}", outcome.ended), OURS),
            }
        }
    }
}

fn user(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let order = shell(
        "while read -r name value; do case $name in CapEff:|NoNewPrivs:|Seccomp:) echo $name $value;; esac; done \
                       < /proc/self/status",
    );
    tried("user", sandbox, &order, |_, said| {
        let holds = said == "CapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n";
        holds.then(|| "no capability, no way to gain one, system calls are filtered".to_owned())
    })
}

fn network(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let order = shell("while read -r name rest; do case $name in *:) echo \"$name\";; esac; done < /proc/self/net/dev");
    tried("network", sandbox, &order, |_, said| {
        (said == "lo:\n").then(|| "no interface but a loopback of its own".to_owned())
    })
}

fn writing(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let mut order = shell(
        "for path in / /usr /etc /dev /shown /proc/sys/kernel; do (: > \"$path/evidence-gate-check\") 2>/dev/null && echo \"$path\"; \
         done; : > /tmp/own && echo own",
    );
    order.mounts.push(Mount { source: PathBuf::from("/usr"), target: PathBuf::from("/shown"), writable: false });
    tried("writing", sandbox, &order, |_, said| (said == "own\n").then(|| "nowhere but in its own /tmp".to_owned()))
}

fn log(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let mut order = shell("echo one >&3; echo two > /dev/fd/3");
    order.log = true;
    tried("log", sandbox, &order, |outcome, _| {
        (outcome.log == b"one\ntwo\n").then(|| "what a program writes to descriptor 3 arrives".to_owned())
    })
}

fn daemon(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let mark = format!("86400.{}", std::process::id());
    let order =
        shell(&format!("(trap '' TERM HUP INT; exec sleep {mark}) < /dev/null > /dev/null 2>&1 & echo started"));
    tried("daemon", sandbox, &order, |_, said| {
        let left = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let left = left.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        let left = left.filter(|line| line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())).count();
        (said == "started\n" && left == 0).then(|| "a process in the background ends with the run".to_owned())
    })
}

fn processes(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let order = shell("n=1; while [ $n -lt 64 ]; do sleep 60 & n=$((n + 1)); echo; done");
    tried("processes", sandbox, &order, |outcome, said| {
        let started = said.lines().count();
        let holds = (1..16).contains(&started) && !matches!(outcome.ended, Ended::Exited(0));
        holds.then(|| format!("of 64 processes {started} could be started, where 16 are allowed"))
    })
}

fn memory(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let order = shell("x=0123456789abcdef; n=0; while [ $n -lt 23 ]; do x=$x$x; n=$((n + 1)); done; sleep 60");
    tried("memory", sandbox, &order, |outcome, _| {
        (outcome.ended == Ended::OutOfMemory)
            .then(|| "a tree that holds more than it may is killed (added up over its processes)".to_owned())
    })
}

fn time(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let mut order = shell("trap '' TERM INT; while :; do sleep 60; done");
    order.limits.wall = Duration::from_millis(200);
    tried("time", sandbox, &order, |outcome, _| {
        (outcome.ended == Ended::TimedOut).then(|| "a program that does not end is killed".to_owned())
    })
}

fn output(sandbox: &bubblewrap::Bubblewrap) -> Line {
    let order = shell("while :; do echo 0123456789abcdef; done");
    tried("output", sandbox, &order, |outcome, _| {
        (outcome.ended == Ended::OutputLimit).then(|| "a program that says too much is killed".to_owned())
    })
}

fn toolchain(sandbox: &bubblewrap::Bubblewrap, folder: &std::path::Path) -> Line {
    let mut order = shell("ls \"$0\" > /dev/null && echo seen");
    order.command.push(folder.display().to_string());
    match sandbox.run(&order) {
        Ok(outcome) if outcome.stdout == b"seen\n" => {
            Line::ok("toolchain", format!("{} can be read", folder.display()))
        }
        Ok(outcome) => Line::fault(
            "toolchain",
            format!("{} cannot be read inside", folder.display()),
            format!(
                "let the user of the sandbox read it, and every folder above it be passed: {}",
                String::from_utf8_lossy(&outcome.stderr).trim()
            ),
        ),
        Err(error) => Line::fault("toolchain", folder.display().to_string(), with_causes(&error)),
    }
}
