//! An order as bubblewrap is told it: arguments that it reads from a descriptor, so that no path of the host stands in a list of
//! processes.

use std::ffi::OsStr;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use super::order::{Mount, Order, SandboxError};
use super::system::Part;

/// Where the new root gets its `/proc` from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proc {
    /// A new one, which shows the sandbox's own processes only.
    Own,
    /// The host's, read-only: where parts of it are covered, the kernel allows no new one.
    Hosts,
}

/// Numbers of descriptors as bubblewrap finds them.
pub(super) struct Numbers {
    pub(super) filters: [RawFd; 2],
    pub(super) gate: RawFd,
    pub(super) status: RawFd,
    pub(super) files: Vec<RawFd>,
}

/// Writes arguments, each ended by NUL.
#[derive(Default)]
pub(super) struct Arguments(Vec<u8>);

impl Arguments {
    fn add<A: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = A>) {
        for argument in arguments {
            self.0.extend_from_slice(argument.as_ref().as_bytes());
            self.0.push(0);
        }
    }

    fn paths(&mut self, option: &str, source: &OsStr, target: &Path) {
        self.add([OsStr::new(option), source, target.as_os_str()]);
    }
}

/// A folder that no root has but the sandbox's.
pub(super) const MARK: &str = "/.sandbox";

/// The most that `/dev/shm` may hold, where `/tmp` may hold more.
const SHARED_MEMORY: u64 = 64 << 20;

/// Everything but the program and its own arguments.
pub(super) fn arguments(parts: &[Part], path: &str, proc: Proc, order: &Order, numbers: &Numbers) -> Vec<u8> {
    let mut to = Arguments::default();
    to.add(["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net"]);
    to.add(["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    to.add(["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]);
    for filter in numbers.filters {
        to.add(["--add-seccomp-fd", &filter.to_string()]);
    }
    to.add(["--block-fd", &numbers.gate.to_string(), "--json-status-fd", &numbers.status.to_string()]);
    to.add(["--dir", MARK, "--dev", "/dev"]);
    match proc {
        Proc::Own => to.add(["--proc", "/proc"]),
        Proc::Hosts => to.add(["--ro-bind", "/proc", "/proc"]),
    }
    let (tmp, shm) = (order.limits.file_size, order.limits.file_size.min(SHARED_MEMORY));
    to.add(["--perms", "1777", "--size", &tmp.max(4096).to_string(), "--tmpfs", "/tmp"]);
    to.add(["--perms", "1777", "--size", &shm.max(4096).to_string(), "--tmpfs", "/dev/shm"]);
    let mut files = numbers.files.iter();
    for part in parts {
        match part {
            Part::Shown(source, target) => to.paths("--ro-bind", source.as_os_str(), target),
            Part::Link(link, target) => to.paths("--symlink", link, target),
            Part::Written(target, _) => {
                let number = files.next().expect("each file of ours has a descriptor").to_string();
                to.add(["--perms", "0444", "--file", &number, target]);
            }
        }
    }
    let mut mounts: Vec<_> = order.mounts.iter().collect();
    mounts.sort_by_key(|mount| mount.target.components().count());
    for mount in mounts {
        let option = if mount.writable { "--bind" } else { "--ro-bind" };
        to.paths(option, mount.source.as_os_str(), &mount.target);
    }
    // The root and /dev are made in memory, and would be writable without end.
    to.add(["--remount-ro", "/dev", "--remount-ro", "/", "--clearenv"]);
    for (name, value) in defaults(path).iter().filter(|(name, _)| order.environment.iter().all(|(own, _)| own != name))
    {
        to.add(["--setenv", name, value]);
    }
    for (name, value) in &order.environment {
        to.add(["--setenv", name, value]);
    }
    to.paths("--chdir", order.directory.as_os_str(), Path::new("--"));
    to.0
}

/// Variables that every program gets, unless the order says otherwise.
fn defaults(path: &str) -> [(&'static str, &str); 4] {
    [("PATH", path), ("HOME", "/tmp"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8")]
}

/// What of an order cannot be told: such text would be cut, or such a folder would lie over the system.
pub(super) fn check(order: &Order) -> Result<(), SandboxError> {
    let command = order.command.first().cloned().unwrap_or_default();
    let refuse = |why: String| Err(SandboxError::NotStarted { command: command.clone(), why });
    if command.is_empty() {
        return refuse("the command is empty".to_owned());
    }
    if order.command.iter().any(|argument| argument.contains('\0')) {
        return refuse("an argument holds NUL".to_owned());
    }
    for (name, value) in &order.environment {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return refuse(format!("{name:?} is no variable that a program can get"));
        }
    }
    for folder in order.mounts.iter().map(|mount| &mount.target).chain([&order.directory]) {
        if !is_plain(folder) {
            return refuse(format!("{} is no absolute path without `..`", folder.display()));
        }
    }
    for mount in &order.mounts {
        if let Some(why) = wrong(mount) {
            return refuse(why);
        }
    }
    Ok(())
}

fn wrong(mount: &Mount) -> Option<String> {
    let mut inside = mount.target.components().skip(1);
    match (inside.next(), inside.next()) {
        (None, _) => Some("a folder cannot be shown in place of the whole root".to_owned()),
        (Some(Component::Normal(top)), None | Some(_)) if ["proc", "dev", "sys"].iter().any(|own| top == *own) => {
            Some(format!("{} belongs to the sandbox itself", mount.target.display()))
        }
        _ => None,
    }
}

fn is_plain(path: &Path) -> bool {
    let mut components = path.components();
    let nul = path.as_os_str().as_bytes().contains(&0);
    !nul && components.next() == Some(Component::RootDir) && components.all(|c| matches!(c, Component::Normal(_)))
}
