//! What forbids a sandbox here, and how it is allowed.

/// What of the host bears on user namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Host {
    /// `user.max_user_namespaces`.
    pub(super) most_namespaces: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, which Debian's kernels have.
    pub(super) debian: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, which Ubuntu's kernels have.
    pub(super) apparmor: Option<u64>,
    /// Whether this process is itself under a filter for system calls, as in most containers.
    pub(super) filtered: bool,
}

impl Host {
    /// This host, as `/proc` shows it.
    pub(super) fn here() -> Self {
        let number = |name: &str| {
            let text = std::fs::read_to_string(format!("/proc/sys/{name}")).ok()?;
            text.trim().parse().ok()
        };
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self {
            most_namespaces: number("user/max_user_namespaces"),
            debian: number("kernel/unprivileged_userns_clone"),
            apparmor: number("kernel/apparmor_restrict_unprivileged_userns"),
            filtered: status.lines().any(|line| line.starts_with("Seccomp:") && line.trim_end().ends_with('2')),
        }
    }
}

/// Whether the kernel counts processes per user namespace, as the limit on them needs: Linux 5.14 and newer
/// (<https://kernelnewbies.org/Linux_5.14>). An older one would count everything that the worker's user runs on the host.
pub(super) fn old_kernel(release: &str) -> Option<String> {
    let mut numbers = release.split(['.', '-', '+']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    (version < (5, 14)).then(|| format!("Linux 5.14 or newer is needed, and this is {:?}", release.trim()))
}

/// Bubblewrap's last words with what forbids it and how that is allowed.
pub(super) fn explain(said: &str, host: &Host) -> String {
    let said = said.lines().next_back().unwrap_or_default();
    let said = said.strip_prefix("bwrap: ").unwrap_or(said);
    let said = if said.is_empty() { "bubblewrap gave no reason" } else { said };
    match allowed(said, host) {
        Some(next) => format!("bubblewrap says {said:?}: {next}"),
        None => format!("bubblewrap says {said:?}"),
    }
}

fn allowed(said: &str, host: &Host) -> Option<String> {
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if has(&["mount proc"]) {
        return Some(
            "parts of /proc are covered, as container engines do, and the host's own /proc could not be shown either: run the \
             container with an unmasked /proc (Docker: --security-opt systempaths=unconfined; Kubernetes: procMount: Unmasked \
             with hostUsers: false)"
                .to_owned(),
        );
    }
    if has(&["Unknown option"]) {
        return Some("install bubblewrap 0.8 or newer".to_owned());
    }
    if !has(&[
        "namespace",
        "uid map",
        "gid map",
        "setgroups",
        "RTM_NEWADDR",
        "loopback",
        "Failed to make",
        "pivot_root",
    ]) {
        return None;
    }
    let sysctl = |name: &str, value: &str| format!("allow user namespaces: sysctl -w {name}={value}");
    if host.debian == Some(0) {
        return Some(sysctl("kernel.unprivileged_userns_clone", "1"));
    }
    if host.most_namespaces == Some(0) {
        return Some(sysctl("user.max_user_namespaces", "10000"));
    }
    if host.apparmor == Some(1) {
        return Some(
            "AppArmor restricts user namespaces here: give bubblewrap a profile with `userns,` (Ubuntu's package \
             apparmor-profiles has bwrap-userns-restrict), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
                .to_owned(),
        );
    }
    if host.filtered {
        return Some(
            "this process is under a filter for system calls, as in a container: let that filter allow `unshare`, `clone` with \
             namespaces, `mount`, `umount2` and `pivot_root` (Docker: --security-opt seccomp=FILE, and apparmor=unconfined where \
             AppArmor is on; Kubernetes: securityContext.seccompProfile of type Localhost, and hostUsers: false)"
                .to_owned(),
        );
    }
    Some(
        "the kernel or a security module refuses a user namespace or a mount in it: see the kernel's log, and allow it to the \
         user of the worker"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: &str = "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged \
                      user namespaces.";

    #[test]
    fn each_thing_that_forbids_namespaces_is_named_with_the_way_to_allow_it() {
        let host = |debian, most_namespaces, apparmor, filtered| Host { most_namespaces, debian, apparmor, filtered };
        for (host, next) in [
            (host(Some(0), Some(1000), None, false), "kernel.unprivileged_userns_clone=1"),
            (host(None, Some(0), None, false), "user.max_user_namespaces=10000"),
            (host(None, Some(1000), Some(1), false), "kernel.apparmor_restrict_unprivileged_userns=0"),
            (host(Some(1), Some(1000), Some(0), true), "seccompProfile of type Localhost"),
            (host(None, None, None, false), "security module"),
        ] {
            let text = explain(NO, &host);
            assert!(text.contains(next) && text.contains("No permissions to create new namespace"), "{text}");
        }
    }

    #[test]
    fn a_kernel_that_counts_processes_per_host_is_refused() {
        for release in ["5.10.0-28-amd64", "4.18.0-513.el8.x86_64", "5.4.0", "nonsense"] {
            assert!(old_kernel(release).is_some(), "{release}");
        }
        for release in ["5.14.0-427.el9.x86_64", "6.1.0-18-amd64", "6.18.44", "7.0-rc1"] {
            assert_eq!(old_kernel(release), None, "{release}");
        }
    }

    #[test]
    fn a_covered_proc_is_named() {
        let text = explain("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", &Host::default());
        assert!(text.contains("systempaths=unconfined"), "{text}");
    }

    #[test]
    fn a_cause_that_is_not_known_is_told_in_its_own_words() {
        assert_eq!(
            explain("bwrap: Can't find source path /x", &Host::default()),
            "bubblewrap says \"Can't find source path /x\""
        );
        assert_eq!(explain("", &Host::default()), "bubblewrap says \"bubblewrap gave no reason\"");
    }
}
