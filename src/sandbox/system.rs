//! What of the host a program in the sandbox sees: the system it needs, and nothing that could hold a secret.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::order::SandboxError;
use crate::config;

/// A read-only part of the sandbox's own root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A file or folder of the host.
    Shown(PathBuf, PathBuf),
    /// A symlink with this target.
    Link(OsString, PathBuf),
    /// A file of ours.
    Written(&'static str, &'static str),
}

/// The folders of programs and libraries. Where they are links into `/usr`, they stay links.
const SYSTEM: &[&str] = &["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// What programs need of `/etc`. The folder itself is never shown: operators keep keys there.
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "mime.types",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/certs",
];

/// Folders of `/etc` by the beginning of their name: Debian keeps the configuration of Java there.
const ETC_PREFIXES: &[&str] = &["java"];

/// The one user inside, whoever it is outside: what a program sees is the same on every host.
const FILES: &[(&str, &str)] = &[
    ("/etc/passwd", "root:x:0:0::/nonexistent:/usr/sbin/nologin\nrunner:x:1000:1000::/tmp:/bin/sh\n"),
    ("/etc/group", "root:x:0:\nrunner:x:1000:\n"),
    ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
];

/// What of a root file system the sandbox makes itself.
const OWN: &[&str] = &["proc", "dev", "sys", "tmp", "run"];

/// The parts of the system that the configuration names.
pub(super) fn parts(settings: &config::Sandbox) -> Result<Vec<Part>, SandboxError> {
    let mut parts = match &settings.root {
        Some(root) => of_root(root)?,
        None => of_host(),
    };
    for toolchain in &settings.toolchains {
        if !toolchain.is_absolute() || !toolchain.exists() {
            let shown = toolchain.display();
            let why = format!("`sandbox.toolchains` names {shown}, which is no absolute path of a file or folder here");
            return Err(SandboxError::Unavailable(why));
        }
        parts.push(Part::Shown(toolchain.clone(), toolchain.clone()));
    }
    Ok(parts)
}

/// The `PATH` of programs that are given none: toolchains before the system.
pub(super) fn search_path(settings: &config::Sandbox) -> String {
    let own = settings.toolchains.iter().map(|folder| folder.join("bin")).filter(|folder| folder.is_dir());
    let own = own.filter_map(|folder| folder.to_str().map(str::to_owned));
    own.chain(["/usr/local/bin", "/usr/bin", "/bin"].map(str::to_owned)).collect::<Vec<_>>().join(":")
}

fn of_host() -> Vec<Part> {
    let mut parts: Vec<Part> = SYSTEM.iter().filter_map(|name| part(Path::new("/"), name.as_ref())).collect();
    let etc = Path::new("/etc");
    let named = std::fs::read_dir(etc).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let named = named
        .filter(|name| name.to_str().is_some_and(|name| ETC_PREFIXES.iter().any(|prefix| name.starts_with(prefix))));
    let mut more: Vec<_> = named.collect();
    more.sort();
    let paths = ETC.iter().map(|name| etc.join(name)).chain(more.into_iter().map(|name| etc.join(name)));
    parts.extend(paths.filter(|path| path.exists()).map(|path| Part::Shown(path.clone(), path)));
    parts.push(Part::Link("../tmp".into(), PathBuf::from("/var/tmp")));
    parts.extend(FILES.iter().map(|(path, text)| Part::Written(path, text)));
    parts
}

fn of_root(root: &Path) -> Result<Vec<Part>, SandboxError> {
    let unreadable = |error: std::io::Error| {
        SandboxError::Unavailable(format!("`sandbox.root` names {}, which cannot be read: {error}", root.display()))
    };
    let entries: Result<Vec<_>, _> = std::fs::read_dir(root).map_err(unreadable)?.collect();
    let mut names: Vec<_> = entries.map_err(unreadable)?.into_iter().map(|entry| entry.file_name()).collect();
    names.sort();
    Ok(names.iter().filter(|name| OWN.iter().all(|own| *name != own)).filter_map(|name| part(root, name)).collect())
}

fn part(root: &Path, name: &std::ffi::OsStr) -> Option<Part> {
    let (source, target) = (root.join(name), Path::new("/").join(name));
    match std::fs::read_link(&source) {
        Ok(link) => Some(Part::Link(link.into_os_string(), target)),
        Err(_) => source.exists().then_some(Part::Shown(source, target)),
    }
}
