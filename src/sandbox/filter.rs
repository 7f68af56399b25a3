//! The seccomp filter: which system calls a program in the sandbox does not get.
//!
//! Everything is allowed but what is named here. A list of what is allowed would have to know every interpreter's and every test
//! runner's next version; what matters is that no call is left which reaches outside of the namespaces, makes new ones, looks
//! into other processes, or hands memory to the kernel that belongs to no process and no sized file system.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::order::SandboxError;

/// Calls that fail with `EPERM`: a program that makes them means what they do.
const FORBIDDEN: &[i64] = &[
    // Other processes' memory, registers and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The tree of mounts, by the old and by the new calls.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    // Namespaces: in a new one a program has capabilities again.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Files by handle pass by every mount; fanotify watches whole file systems.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // Keys are kept per user, not per namespace.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    // Clocks and names of the host.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Memory that no process has to hold: neither the sum over the processes nor the size of /tmp would count it.
    libc::SYS_shmget,
];

/// Calls of one machine only.
#[cfg(target_arch = "x86_64")]
const FORBIDDEN_HERE: &[i64] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const FORBIDDEN_HERE: &[i64] = &[];

/// Calls that fail with `ENOSYS`, as on a kernel that has none: libraries then do the same by older calls, which are judged
/// here, or go on without.
const MISSING: &[i64] = &[
    // Its flags are in memory, where a filter cannot read them; the C library then calls `clone`.
    libc::SYS_clone3,
    // Does what other calls do, and no filter sees it.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // As for `shmget`.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
];

/// Every flag of `clone` that makes a namespace; `CLONE_NEWTIME` shares its bit with a signal number there.
const NEW_NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Families of sockets that exist inside: the network is the sandbox's own and empty, and so are the abstract names of
/// `AF_UNIX`. Others, such as `AF_VSOCK` and `AF_ALG`, are not divided by network namespaces, or reach the kernel's rare corners.
const FAMILIES: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// What `personality` may be asked for: what it is, and plain Linux, as container engines allow.
const PERSONALITIES: &[u64] = &[0, 0x0008, 0x0002_0000, 0x0002_0008, 0xffff_ffff];

/// The two programs of the filter, as the kernel takes them: an array of `struct sock_filter`.
pub(super) fn programs() -> Result<[Vec<u8>; 2], SandboxError> {
    let forbidden = FORBIDDEN.iter().chain(FORBIDDEN_HERE).map(|call| (*call, Vec::new()));
    let conditional = conditional().map_err(|error| unavailable(&error))?;
    let forbidden = compiled(forbidden.chain(conditional).collect(), libc::EPERM)?;
    let missing = compiled(MISSING.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOSYS)?;
    Ok([bytes(&forbidden), bytes(&missing)])
}

fn conditional() -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::BackendError> {
    let namespaces = NEW_NAMESPACES.iter().map(|flag| {
        let flag = u64::from(flag.cast_unsigned());
        SeccompRule::new(vec![is(0, SeccompCmpOp::MaskedEq(flag), flag)?])
    });
    let other = |argument, allowed: &[u64]| {
        let conditions: Result<Vec<_>, _> =
            allowed.iter().map(|value| is(argument, SeccompCmpOp::Ne, *value)).collect();
        SeccompRule::new(conditions?)
    };
    let families: Vec<u64> = FAMILIES.iter().map(|family| u64::from(family.cast_unsigned())).collect();
    let netlink = u64::from(libc::AF_NETLINK.cast_unsigned());
    let family = other(0, &families)?;
    // Of netlink only the routes: the C library lists interfaces with it.
    let netlink = SeccompRule::new(vec![is(0, SeccompCmpOp::Eq, netlink)?, is(2, SeccompCmpOp::Ne, 0)?])?;
    // Typing into a terminal, by both ways that Linux has.
    let typing = [0x5412, 0x541c].map(|request| SeccompRule::new(vec![is(1, SeccompCmpOp::Eq, request)?]));
    Ok(vec![
        (libc::SYS_clone, namespaces.collect::<Result<_, _>>()?),
        (libc::SYS_socket, vec![family.clone(), netlink]),
        (libc::SYS_socketpair, vec![family]),
        (libc::SYS_personality, vec![other(0, PERSONALITIES)?]),
        (libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?),
    ])
}

fn is(argument: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)
}

fn compiled(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<BpfProgram, SandboxError> {
    let build = || {
        let machine = TargetArch::try_from(std::env::consts::ARCH)?;
        let answer = SeccompAction::Errno(error.cast_unsigned());
        SeccompFilter::new(rules, SeccompAction::Allow, answer, machine)?.try_into()
    };
    build().map_err(|error: seccompiler::BackendError| unavailable(&error))
}

fn unavailable(error: &seccompiler::BackendError) -> SandboxError {
    SandboxError::Unavailable(format!("the filter for system calls cannot be made for this machine: {error}"))
}

/// On x86-64 the calls of the x32 table go by other numbers, with this bit set; a list by number does not see them. No kernel
/// of a distribution offers that table without being told to, so all of it is refused.
const X32: u32 = 0x4000_0000;

fn bytes(program: &BpfProgram) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut push = |code: u32, jt: u8, jf: u8, k: u32| {
        let code = u16::try_from(code).expect("an instruction's code has 16 bits");
        bytes.extend_from_slice(&code.to_ne_bytes());
        bytes.extend_from_slice(&[jt, jf]);
        bytes.extend_from_slice(&k.to_ne_bytes());
    };
    if cfg!(target_arch = "x86_64") {
        push(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
        push(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32);
        push(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned());
    }
    for step in program {
        push(u32::from(step.code), step.jt, step.jf, step.k);
    }
    bytes
}
