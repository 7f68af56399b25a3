//! Programs that try to get out of the sandbox, in the real one. Where this machine cannot have one, every test here fails.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence_gate::config;
use evidence_gate::sandbox::{self, Ended, Limits, Mount, Order, Outcome, Sandbox, SandboxError};

/// The sandbox that an operator gets who configures nothing.
fn default_sandbox() -> Box<dyn Sandbox> {
    sandbox::open(&config::Sandbox::default()).unwrap()
}

fn limits() -> Limits {
    Limits {
        wall: Duration::from_secs(20),
        memory: 256 << 20,
        processes: 64,
        file_size: 16 << 20,
        open_files: 128,
        output: 64 * 1024,
    }
}

fn order(command: &[&str]) -> Order {
    Order {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        directory: PathBuf::from("/tmp"),
        mounts: Vec::new(),
        input: Vec::new(),
        log: false,
        limits: limits(),
    }
}

fn sh(script: &str) -> Order {
    order(&["sh", "-c", script])
}

fn python(script: &str) -> Order {
    order(&["/usr/bin/python3", "-I", "-c", script])
}

fn run(order: &Order) -> Outcome {
    default_sandbox().run(order).unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder that the user of the sandbox can reach.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    folder
}

fn shown(source: &Path, target: &str, writable: bool) -> Mount {
    Mount { source: source.to_owned(), target: PathBuf::from(target), writable }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// How many `sleep`s of this machine have this argument.
fn with_argument(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.strip_prefix(b"sleep\0").is_some_and(|rest| rest.starts_with(mark.as_bytes()))).count()
}

#[test]
fn a_program_gets_its_arguments_environment_input_and_log() {
    let mut order =
        sh("cat; echo \"$COLOUR $0 $1 $PWD\"; echo wrong >&2; echo line > /dev/fd/3; echo more >&3; exit 7");
    order.command.extend(["zero".to_owned(), "one two".to_owned()]);
    order.environment.push(("COLOUR".to_owned(), "blue".to_owned()));
    order.input = b"given\n".to_vec();
    order.log = true;
    let outcome = run(&order);
    assert_eq!(text(&outcome.stdout), "given\nblue zero one two /tmp\n");
    assert_eq!(text(&outcome.stderr), "wrong\n");
    assert_eq!(text(&outcome.log), "line\nmore\n");
    assert_eq!(outcome.ended, Ended::Exited(7));
}

#[test]
fn a_program_gets_nothing_that_the_worker_was_started_with() {
    let mut order = python(
        "import os\n\
         for n in sorted(os.listdir('/proc/self/fd'), key=int):\n    \
             try: print(n, os.readlink('/proc/self/fd/' + n))\n    \
             except OSError: pass\n",
    );
    order.log = true;
    let outcome = run(&order);
    let others = text(&outcome.stdout).lines().filter(|line| !line.ends_with(" /dev/null")).collect::<Vec<_>>();
    assert_eq!(others.len(), 4, "{others:?}");
    assert!(others.iter().zip(["0 ", "1 ", "2 ", "3 "]).all(|(line, number)| line.starts_with(number)), "{others:?}");

    let names = run(&python("import os; print(sorted(os.environ))"));
    assert_eq!(text(&names.stdout), "['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']\n");
}

#[test]
fn a_program_has_no_capability_and_is_not_root() {
    let folder = folder();
    let mut order = sh("grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; id -u; echo > /out/file");
    order.mounts.push(shown(folder.path(), "/out", true));
    let outcome = run(&order);
    let said: Vec<_> = text(&outcome.stdout).split_whitespace().collect();
    let none = "0000000000000000";
    assert_eq!(said, ["CapEff:", none, "CapBnd:", none, "NoNewPrivs:", "1", "Seccomp:", "2", "1000"]);
    let owner = std::fs::metadata(folder.path().join("file")).unwrap().uid();
    assert_ne!(owner, 0, "a program never runs as root");
}

#[test]
fn a_program_sees_no_process_and_no_file_of_the_host() {
    let folder = folder();
    std::fs::write(folder.path().join("key.pem"), "the App key").unwrap();
    let own = std::process::id();
    let hidden = folder.path().join("key.pem");
    for path in [
        hidden.to_str().unwrap(),
        "/etc/shadow",
        "/etc/hostname",
        "/root",
        "/home",
        "/run/dbus",
        "/sys",
        "/var/lib",
        "/boot",
        env!("CARGO_MANIFEST_DIR"),
        &format!("/proc/{own}/environ"),
    ] {
        let outcome = run(&order(&["ls", "-d", path]));
        assert_eq!(outcome.ended, Ended::Exited(2), "{path}: {outcome:?}");
    }
    let outcome =
        run(&sh("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n'; ls -d /proc/[0-9]* | wc -l"));
    let said = text(&outcome.stdout);
    assert!(!said.contains("CARGO") && !said.contains(env!("CARGO_MANIFEST_DIR")), "{said}");
    // Bubblewrap's own process, the shell, and the two of the last pipe.
    assert!(said.trim_end().lines().next_back().unwrap().trim().parse::<u32>().unwrap() <= 4, "{said}");
}

#[test]
fn a_program_reaches_no_socket_of_the_host() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let name = format!("evidence-gate-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let unix = UnixListener::bind_addr(&address).unwrap();
    unix.set_nonblocking(true).unwrap();
    let outcome = run(&python(&format!(
        "import socket\n\
         def tried(family, address):\n    \
             s = socket.socket(family, socket.SOCK_STREAM)\n    \
             s.settimeout(2)\n    \
             try: s.connect(address); return 'open'\n    \
             except OSError as e: return type(e).__name__\n\
         print(tried(socket.AF_INET, ('127.0.0.1', {port})))\n\
         print(tried(socket.AF_UNIX, '\\0{name}'))\n\
         print(tried(socket.AF_INET, ('192.0.2.1', 443)))\n\
         print(sorted(n for _, n in socket.if_nameindex()))\n\
         try: socket.getaddrinfo('api.github.com', 443)\n\
         except OSError: print('no name')\n"
    )));
    assert_eq!(
        text(&outcome.stdout),
        "ConnectionRefusedError\nConnectionRefusedError\nOSError\n['lo']\nno name\n",
        "{}",
        text(&outcome.stderr)
    );
    assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(unix.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_program_writes_nowhere_but_where_it_may() {
    let (oracles, out) = (folder(), folder());
    std::fs::write(oracles.path().join("lock"), "the base's").unwrap();
    let mut order = sh("tried() { \"$@\" 2>/dev/null && echo \"WROTE: $*\"; }\n\
         put() { echo x > \"$1\"; }\n\
         tried put /new; tried put /usr/new; tried put /etc/new; tried put /dev/new; tried put /etc/passwd\n\
         tried put /proc/sys/kernel/hostname; tried put /proc/self/oom_score_adj_; tried put /var/new\n\
         tried put /oracles/lock; tried put /oracles/new; tried rm /oracles/lock; tried mv /oracles/lock /tmp/lock\n\
         tried chmod 777 /oracles/lock; tried touch /oracles/lock; tried mkdir /oracles/new\n\
         tried ln /oracles/lock /out/hard; tried ln /oracles/lock /tmp/hard\n\
         ln -s /oracles/lock /out/soft; tried put /out/soft; tried put /proc/self/root/oracles/lock\n\
         tried mount -o remount,rw /oracles; tried umount /oracles; tried umount -l /oracles\n\
         exec 9< /oracles/lock; tried put /proc/self/fd/9\n\
         put /out/mine; put /tmp/mine; put /dev/shm/mine; put /dev/null; echo done");
    order.mounts.push(shown(oracles.path(), "/oracles", false));
    order.mounts.push(shown(out.path(), "/out", true));
    let outcome = run(&order);
    assert_eq!(text(&outcome.stdout), "done\n", "{}", text(&outcome.stderr));
    assert_eq!(names(oracles.path()), ["lock"]);
    assert_eq!(std::fs::read_to_string(oracles.path().join("lock")).unwrap(), "the base's");
    assert_eq!(names(out.path()), ["mine", "soft"]);
    assert!(!Path::new("/dev/shm/mine").exists() && !Path::new("/tmp/mine").exists());
}

#[test]
fn a_daemon_that_hides_dies_with_the_run() {
    let mark = format!("{}", 900_000 + std::process::id());
    let mut order = python(&format!(
        "import os, signal, sys\n\
         for n in range(3):\n    \
             if os.fork() == 0:\n        \
                 os.setsid()\n        \
                 if os.fork(): os._exit(0)\n        \
                 for s in range(1, 32):\n            \
                     try: signal.signal(s, signal.SIG_IGN)\n            \
                     except OSError: pass\n        \
                 os.closerange(0, 256)\n        \
                 os.execvp('sleep', ['sleep', '{mark}'])\n\
         import time\n\
         while sum(b'{mark}' in open(f'/proc/{{n}}/cmdline', 'rb').read() and b'sleep' == open(f'/proc/{{n}}/cmdline', 'rb').read()[:5] for n in os.listdir('/proc') if n.isdigit()) < 3: time.sleep(0.01)\n\
         print('all three run')\n"
    ));
    order.log = true;
    let outcome = run(&order);
    assert_eq!(text(&outcome.stdout), "all three run\n", "{}", text(&outcome.stderr));
    assert_eq!(outcome.ended, Ended::Exited(0));
    assert!(outcome.took < Duration::from_secs(10), "the run does not wait for its daemons: {:?}", outcome.took);
    assert_eq!(with_argument(&mark), 0);
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    for (story, script) in [
        ("sleeps", "import time; time.sleep(600)"),
        (
            "ignores every signal",
            "import signal\nfor s in set(range(1, 32)) - {9, 19}: signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
        ),
        ("stops itself", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"),
        (
            "stops everything",
            "import os, signal\nif os.fork() == 0: os.kill(-1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)",
        ),
        ("waits for a child that sleeps", "import subprocess; subprocess.run(['sleep', '600'])"),
    ] {
        let mut order = python(script);
        order.limits.wall = Duration::from_millis(700);
        let outcome = run(&order);
        assert_eq!(outcome.ended, Ended::TimedOut, "{story}: {outcome:?}");
        assert!(outcome.took < Duration::from_secs(8), "{story}: {:?}", outcome.took);
    }
}

#[test]
fn memory_is_bounded_over_the_whole_tree() {
    let hold = "import time; held = bytearray(40 << 20); time.sleep(600)";
    for (story, script) in [
        ("one process", "held = []\nwhile True: held.append(bytearray(1 << 20))".to_owned()),
        ("ten processes", format!("import os\nfor n in range(10):\n    if os.fork() == 0:\n        {hold}\nos.wait()")),
        (
            "shared memory that is hidden",
            "import mmap\nheld = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 24)\n    for at in range(0, 1 << 24, 4096): m[at] = 1\n    \
             m.madvise(mmap.MADV_DONTNEED)\n    held.append(m)"
                .to_owned(),
        ),
        ("empty files in memory", "n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/{n}', 'w').close()".to_owned()),
    ] {
        let mut order = python(&script);
        order.limits.memory = 128 << 20;
        order.limits.wall = Duration::from_mins(1);
        let outcome = run(&order);
        assert_eq!(outcome.ended, Ended::OutOfMemory, "{story}: {outcome:?}");
    }
}

#[test]
fn processes_and_threads_are_bounded() {
    let script = "import os, time\nn = 1\ntry:\n    while n < 500:\n        if os.fork() == 0: time.sleep(600)\n        n += 1\n\
                  except OSError: pass\nprint(n)\n";
    let mut order = python(script);
    order.limits.processes = 20;
    let outcome = run(&order);
    assert_eq!(text(&outcome.stdout), "20\n", "{outcome:?}");

    let mut bomb = sh("f() { f | f & }; (f) & while :; do :; done");
    bomb.limits.processes = 20;
    bomb.limits.wall = Duration::from_secs(1);
    assert_eq!(run(&bomb).ended, Ended::TimedOut);
}

#[test]
fn output_is_bounded_and_its_beginning_kept() {
    for (story, script) in [
        ("standard output", "import os\nwhile True: os.write(1, b'x' * 4096)"),
        ("standard error", "import os\nwhile True: os.write(2, b'x' * 4096)"),
        ("the log", "import os\nwhile True: os.write(3, b'x' * 4096)"),
        ("a last breath", "import os, fcntl\nfcntl.fcntl(1, 1031, 1 << 17); os.write(1, b'x' * (65536 + 1))"),
    ] {
        let mut order = python(script);
        order.log = true;
        let outcome = run(&order);
        assert_eq!(outcome.ended, Ended::OutputLimit, "{story}");
        let kept = [&outcome.stdout, &outcome.stderr, &outcome.log].map(Vec::len);
        assert_eq!(kept.iter().sum::<usize>(), 64 * 1024, "{story}: {kept:?}");
    }
    let outcome = run(&python("import sys; sys.stdout.write('x' * 65536)"));
    assert_eq!((outcome.ended, outcome.stdout.len()), (Ended::Exited(0), 64 * 1024));
}

#[test]
fn the_disk_is_bounded() {
    for (story, script, ended) in [
        (
            "one large file",
            "try:\n    with open('/out/f', 'wb') as f:\n        while True: f.write(b'x' * (1 << 20))\nexcept OSError as e: print(e.errno)",
            Ended::Exited(0),
        ),
        (
            "many files",
            "n = 0\nwhile True:\n    n += 1\n    open(f'/out/{n}', 'wb').write(b'x' * (8 << 20))",
            Ended::OutputLimit,
        ),
        (
            "files without a name",
            "import os\nheld = []\nwhile True:\n    f = open('/out/f', 'wb'); os.unlink('/out/f'); f.write(b'x' * (8 << 20)); f.flush()\n    held.append(f)",
            Ended::OutputLimit,
        ),
        (
            "private memory files",
            "import errno\nfor folder in '/tmp', '/dev/shm':\n    n = 0\n    try:\n        while True:\n            n += 1\n            open(f'{folder}/{n}', 'wb').write(b'x' * (4 << 20))\n    except OSError as e: assert e.errno == errno.ENOSPC",
            Ended::Exited(0),
        ),
    ] {
        let folder = folder();
        let mut order = python(script);
        order.mounts.push(shown(folder.path(), "/out", true));
        let outcome = run(&order);
        assert_eq!(outcome.ended, ended, "{story}: {outcome:?}");
        let written: u64 =
            std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().metadata().unwrap().len()).sum();
        assert!(written < 1 << 30, "{story}: {written}");
    }
}

#[test]
fn dangerous_system_calls_are_refused() {
    let calls: &[(&str, i64, [u64; 5])] = &[
        ("ptrace", libc::SYS_ptrace, [16, 1, 0, 0, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, [1, 0, 0, 0, 0]),
        ("process_vm_writev", libc::SYS_process_vm_writev, [1, 0, 0, 0, 0]),
        ("mount", libc::SYS_mount, [0, 0, 0, 0, 0]),
        ("umount2", libc::SYS_umount2, [0, 0, 0, 0, 0]),
        ("pivot_root", libc::SYS_pivot_root, [0, 0, 0, 0, 0]),
        ("chroot", libc::SYS_chroot, [0, 0, 0, 0, 0]),
        ("open_tree", libc::SYS_open_tree, [0, 0, 0, 0, 0]),
        ("fsopen", libc::SYS_fsopen, [0, 0, 0, 0, 0]),
        ("unshare", libc::SYS_unshare, [0x1000_0000, 0, 0, 0, 0]),
        ("unshare of files only", libc::SYS_unshare, [0x400, 0, 0, 0, 0]),
        ("clone with a user namespace", libc::SYS_clone, [0x1000_0011, 0, 0, 0, 0]),
        ("clone with a network", libc::SYS_clone, [0x4000_0011, 0, 0, 0, 0]),
        ("setns", libc::SYS_setns, [0, 0, 0, 0, 0]),
        ("keyctl", libc::SYS_keyctl, [0, 0, 0, 0, 0]),
        ("add_key", libc::SYS_add_key, [0, 0, 0, 0, 0]),
        ("bpf", libc::SYS_bpf, [0, 0, 0, 0, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, 0, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, [0, 0, 0, 0, 0]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, [0, 0, 0, 0, 0]),
        ("kexec_load", libc::SYS_kexec_load, [0, 0, 0, 0, 0]),
        ("another personality", libc::SYS_personality, [0x0040_0000, 0, 0, 0, 0]),
        ("a socket to the hypervisor", libc::SYS_socket, [40, 1, 0, 0, 0]),
        ("a socket to the kernel's ciphers", libc::SYS_socket, [38, 5, 0, 0, 0]),
        ("raw packets", libc::SYS_socket, [17, 3, 0, 0, 0]),
        ("typing into a terminal", libc::SYS_ioctl, [0, 0x5412, 0, 0, 0]),
        ("typing with the upper half set", libc::SYS_ioctl, [0, 0xffff_0000_5412, 0, 0, 0]),
        ("System V memory", libc::SYS_shmget, [0, 4096, 0o1600, 0, 0]),
    ];
    let missing: &[(&str, i64, [u64; 5])] = &[
        ("clone3", libc::SYS_clone3, [0, 0, 0, 0, 0]),
        ("io_uring_setup", libc::SYS_io_uring_setup, [8, 0, 0, 0, 0]),
        ("memfd_create", libc::SYS_memfd_create, [0, 0, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        ("the x32 table", 0x4000_0000 + 521, [0, 0, 0, 0, 0]),
    ];
    for (calls, error) in [(calls, libc::EPERM), (missing, libc::ENOSYS)] {
        for (story, number, [a, b, c, d, e]) in calls {
            let script = format!(
                "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\nL = ctypes.c_ulong\n\
                 print(c.syscall(L({number}), L({a}), L({b}), L({c}), L({d}), L({e})), ctypes.get_errno())"
            );
            let outcome = run(&python(&script));
            assert_eq!(text(&outcome.stdout), format!("-1 {error}\n"), "{story}: {outcome:?}");
        }
    }
}

#[test]
fn what_programs_need_is_there() {
    for (story, script) in [
        (
            "threads and processes",
            "import threading, subprocess, multiprocessing\nt = threading.Thread(target=print); t.start(); t.join()\nassert subprocess.run(['true']).returncode == 0",
        ),
        (
            "a socket of its own",
            "import socket\ns = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())\na, b = socket.socketpair()",
        ),
        (
            "locks and shared memory of a pool",
            "import multiprocessing as m\np = m.Pool(2); assert p.map(abs, [-1, -2]) == [1, 2]; p.close(); p.join()",
        ),
        ("temporary files", "import tempfile; tempfile.TemporaryFile().write(b'x')"),
        ("a user with a name", "import pwd, os; assert pwd.getpwuid(os.getuid()).pw_name == 'runner'"),
        ("randomness and time", "import os, time; assert len(os.urandom(8)) == 8; time.time()"),
    ] {
        let outcome = run(&python(script));
        assert_eq!(outcome.ended, Ended::Exited(0), "{story}: {}", text(&outcome.stderr));
    }
}

#[test]
fn an_end_by_a_signal_is_told_from_an_exit() {
    for (script, ended) in [
        ("exit 3", Ended::Exited(3)),
        ("kill -9 $$", Ended::Signalled(9)),
        ("kill -SEGV $$", Ended::Signalled(11)),
        ("sh -c 'kill -9 $$'; exit 0", Ended::Exited(0)),
    ] {
        assert_eq!(run(&sh(script)).ended, ended, "{script}");
    }
}

#[test]
fn what_cannot_be_started_is_no_outcome() {
    let sandbox = default_sandbox();
    let refused = |order: &Order| match sandbox.run(order) {
        Err(SandboxError::NotStarted { command, why }) => format!("{command}: {why}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&order(&["no-such-program"])), "no-such-program: No such file or directory");
    assert_eq!(refused(&order(&["/etc/passwd"])), "/etc/passwd: Permission denied");
    assert_eq!(refused(&order(&[])), ": the command is empty");
    assert_eq!(refused(&order(&["a\0b"])), "a\0b: an argument holds NUL");
    let mut nowhere = order(&["true"]);
    nowhere.directory = PathBuf::from("/no/such/folder");
    assert_eq!(refused(&nowhere), "true: no folder /no/such/folder: No such file or directory");
    let mut above = order(&["true"]);
    above.mounts.push(shown(Path::new("/tmp"), "/repo/../usr", false));
    assert_eq!(refused(&above), "true: /repo/../usr is no absolute path without `..`");
    let mut over = order(&["true"]);
    over.mounts.push(shown(Path::new("/tmp"), "/proc", false));
    assert_eq!(refused(&over), "true: /proc belongs to the sandbox itself");
}

#[test]
fn a_host_without_bubblewrap_says_what_to_install() {
    let settings = config::Sandbox { program: PathBuf::from("/nowhere/bwrap"), ..config::Sandbox::default() };
    let error = sandbox::open(&settings).err().unwrap();
    assert!(matches!(error, SandboxError::Unavailable(_)), "{error:?}");
    assert!(error.to_string().contains("install the package `bubblewrap`"), "{error}");
}

#[test]
fn a_toolchain_is_shown_read_only_and_found() {
    let tools = folder();
    std::fs::create_dir(tools.path().join("bin")).unwrap();
    let tool = tools.path().join("bin/our-tool");
    std::fs::write(&tool, "#!/bin/sh\necho ours; touch \"$(dirname \"$0\")/x\" 2>/dev/null || echo closed\n").unwrap();
    std::fs::set_permissions(&tool, Permissions::from_mode(0o755)).unwrap();
    let settings = config::Sandbox { toolchains: vec![tools.path().to_owned()], ..config::Sandbox::default() };
    let outcome = sandbox::open(&settings).unwrap().run(&order(&["our-tool"])).unwrap();
    assert_eq!(text(&outcome.stdout), "ours\nclosed\n");

    let settings = config::Sandbox { toolchains: vec![PathBuf::from("/nowhere")], ..config::Sandbox::default() };
    let error = sandbox::open(&settings).err().unwrap().to_string();
    assert!(error.contains("`sandbox.toolchains` names /nowhere"), "{error}");
}

#[test]
fn a_root_of_the_operators_takes_the_place_of_the_hosts_system() {
    let settings = config::Sandbox { root: Some(PathBuf::from("/")), ..config::Sandbox::default() };
    let outcome =
        sandbox::open(&settings).unwrap().run(&sh("ls -d /etc/hostname; echo > /etc/new || echo closed")).unwrap();
    assert_eq!(text(&outcome.stdout), "/etc/hostname\nclosed\n", "{}", text(&outcome.stderr));
}

#[test]
fn a_driver_and_its_subject_share_two_pipes_and_nothing_else() {
    let mut driver = python(
        "import os\nask, hear = os.fdopen(5, 'w'), os.fdopen(4)\n\
         for n in 1, 2, 3:\n    ask.write(f'{n}\\n'); ask.flush(); os.write(3, hear.readline().encode())\n\
         ask.close(); assert hear.read() == ''\n",
    );
    driver.log = true;
    let subject = python(
        "import sys, os\nassert not os.path.exists('/proc/self/fd/3') or os.readlink('/proc/self/fd/3') == '/dev/null'\n\
         for line in sys.stdin: print(int(line) * 2, flush=True)\n",
    );
    let (driver, subject) = default_sandbox().run_pair(&driver, &subject).unwrap();
    assert_eq!((driver.ended, subject.ended), (Ended::Exited(0), Ended::Exited(0)), "{driver:?} {subject:?}");
    assert_eq!(text(&driver.log), "2\n4\n6\n");
    assert!(subject.stdout.is_empty() && subject.log.is_empty());
}

#[test]
fn runs_side_by_side_do_not_meet() {
    let sandbox = default_sandbox();
    let mut log =
        python("import os, time\nfor _ in range(20): os.write(3, os.environ['NAME'].encode()); time.sleep(0.005)");
    log.log = true;
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|number| {
                let (mut order, sandbox) = (log.clone(), &sandbox);
                order.environment.push(("NAME".to_owned(), number.to_string()));
                scope.spawn(move || sandbox.run(&order).unwrap())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, outcome) in outcomes.iter().enumerate() {
        assert_eq!(text(&outcome.log), number.to_string().repeat(20), "{outcome:?}");
    }
}

#[test]
fn nothing_is_left_behind() {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let out = folder();
    let mark = format!("{}", 700_000 + std::process::id());
    for end in ["exit 0", "kill -9 $$", "kill -STOP $$", "while :; do echo flood; done"] {
        let mut order = sh(&format!("sleep {mark} & sleep {mark} & echo > /out/made; mkdir -p /tmp/a/b; {end}"));
        order.mounts.push(shown(out.path(), "/out", true));
        order.limits.wall = Duration::from_millis(500);
        run(&order);
        assert_eq!(with_argument(&mark), 0, "{end}");
    }
    assert_eq!(std::fs::read_to_string("/proc/self/mountinfo").unwrap(), mounts);
    assert_eq!(names(out.path()), ["made"]);
}

/// This test is two programs: one that is a worker and runs something long, and one that kills the worker.
#[test]
fn a_worker_that_is_killed_leaves_nothing_that_runs() {
    if let Some(mark) = std::env::args().find_map(|argument| argument.strip_prefix("mark-").map(str::to_owned)) {
        let mut long = sh(&format!("sleep {mark} & exec sleep {mark}"));
        long.limits.wall = Duration::from_mins(5);
        run(&long);
        return;
    }
    let mark = format!("{}", 600_000 + std::process::id());
    #[expect(clippy::disallowed_methods, reason = "a worker of this test's own")]
    let mut worker = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["a_worker_that_is_killed_leaves_nothing_that_runs", &format!("mark-{mark}")])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    let until = |count: usize| {
        while with_argument(&mark) != count {
            assert!(std::time::Instant::now() < deadline, "{} run, and not {count}", with_argument(&mark));
            std::thread::yield_now();
        }
    };
    until(2);
    worker.kill().unwrap();
    worker.wait().unwrap();
    until(0);
}

/// What only the shipped program can show.
mod command {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the shipped program is started here")]
    fn check(arguments: &[&str], variables: &[(&str, &str)]) -> std::process::Output {
        std::process::Command::new(env!("CARGO_BIN_EXE_evidence-gate"))
            .args(["sandbox", "check"])
            .args(arguments)
            .env_remove("EVIDENCE_GATE_CONFIG")
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }

    #[test]
    fn the_check_tries_every_promise_and_all_of_them_hold() {
        let output = check(&["--json"], &[]);
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said:#}");
        assert_eq!((&said["backend"], &said["holds"]), (&"bubblewrap".into(), &true.into()));
        let names: Vec<_> =
            said["lines"].as_array().unwrap().iter().map(|line| line["check"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            ["start", "proc", "user", "network", "writing", "log", "daemon", "processes", "memory", "time", "output"]
        );
    }

    #[test]
    fn the_check_says_what_is_wrong_and_exits_with_one() {
        let output = check(&[], &[("EVIDENCE_GATE_SANDBOX__PROGRAM", "/nowhere/bwrap")]);
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stdout);
        assert!(said.starts_with("fault  start") && said.contains("install the package `bubblewrap`"), "{said}");
    }

    #[test]
    fn a_backend_that_is_not_there_is_refused_by_its_word() {
        let output = check(&[], &[("EVIDENCE_GATE_SANDBOX__BACKEND", "landlock")]);
        assert_eq!(output.status.code(), Some(65));
        let said = text(&output.stderr);
        assert!(said.contains("landlock") && said.contains("bubblewrap"), "{said}");
    }
}
