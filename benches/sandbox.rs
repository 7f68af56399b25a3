//! What a sandbox costs beside the bare process, in turns, in one run; and a throw-away copy of 50,000 files: `cargo bench --bench sandbox`.
//!
//! The figures go to `docs/performance.md`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench starts programs itself, prints its figures and fails by panicking"
)]

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evidence_gate::change::Git;
use evidence_gate::config;
use evidence_gate::sandbox::{self, Ended, Limits, Order};
use evidence_gate::words::ObjectId;

const ROUNDS: usize = 101;
const FILES: usize = 50_000;
const COPIES: usize = 5;

fn main() {
    starts();
    copies();
}

/// The same program with and without a sandbox.
fn starts() {
    let sandbox = sandbox::open(&config::Sandbox::default()).unwrap();
    let order = Order {
        command: vec!["/bin/true".to_owned()],
        environment: Vec::new(),
        directory: PathBuf::from("/"),
        mounts: Vec::new(),
        input: Vec::new(),
        log: true,
        limits: Limits {
            wall: Duration::from_secs(10),
            memory: 256 << 20,
            processes: 64,
            file_size: 16 << 20,
            open_files: 256,
            output: 1 << 20,
        },
    };
    let (mut bare, mut inside, mut program) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(timed(|| {
            let output = Command::new("/bin/true").env_clear().stdin(Stdio::null()).output().unwrap();
            assert!(output.status.success());
        }));
        inside.push(timed(|| {
            let outcome = sandbox.run(&order).unwrap();
            assert_eq!(outcome.ended, Ended::Exited(0));
            program.push(outcome.took);
        }));
    }
    let [bare, inside, program] = [bare, inside, program].map(median);
    println!("median of {ROUNDS} rounds in turns");
    println!("a bare process                  {:7.2} ms", millis(bare));
    println!("the same in {:19} {:7.2} ms", sandbox.name(), millis(inside));
    println!("of that from its start on       {:7.2} ms", millis(program));
    println!("cost of the sandbox             {:7.2} ms", millis(inside.saturating_sub(bare)));
    println!("ratio                           {:7.2}", inside.as_secs_f64() / bare.as_secs_f64());
}

/// A tree from the object store as files, beside what git itself needs for it.
fn copies() {
    let dir = tempfile::tempdir().unwrap();
    let tree = repository(dir.path());
    let git = Git::open(dir.path()).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..COPIES {
        let into = tempfile::tempdir().unwrap();
        ours.push(timed(|| git.export(&tree, into.path()).unwrap()));
        drop(into);
        let into = tempfile::tempdir().unwrap();
        theirs.push(timed(|| checkout(git.git_dir(), &tree, into.path())));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!("{FILES} files, median of {COPIES} rounds in turns");
    println!("git read-tree, checkout-index   {:7.1} ms", millis(theirs));
    println!("a throw-away copy               {:7.1} ms", millis(ours));
    println!("ratio                           {:7.2}", ours.as_secs_f64() / theirs.as_secs_f64());
}

fn checkout(git_dir: &Path, tree: &ObjectId, into: &Path) {
    let git = |args: &[&str]| {
        let index = into.join("index");
        let mut command = Command::new("git");
        command
            .arg("--git-dir")
            .arg(git_dir)
            .arg("--work-tree")
            .arg(into)
            .current_dir(into)
            .env("GIT_INDEX_FILE", index);
        assert!(command.args(args).stdout(Stdio::null()).status().unwrap().success(), "git {args:?}");
    };
    git(&["read-tree", tree.as_str()]);
    git(&["checkout-index", "--all", "--quiet"]);
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Source files of a few kilobytes, packed as a fetch leaves them.
fn repository(dir: &Path) -> ObjectId {
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet", "--bare", "."]);
    let mut child = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["fast-import", "--quiet", "--done"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stream = BufWriter::new(child.stdin.take().unwrap());
    write!(stream, "commit refs/heads/main\ncommitter a <a@example.org> 1700000000 +0000\ndata 0\n").unwrap();
    for number in 0..FILES {
        let text = format!("def function_{number}():\n    return {number}\n").repeat(1 + number % 100);
        writeln!(stream, "M 100644 inline src/package_{}/module_{number}.py", number % 1_000).unwrap();
        write!(stream, "data {}\n{text}\n", text.len()).unwrap();
    }
    stream.write_all(b"done\n").unwrap();
    drop(stream);
    assert!(child.wait().unwrap().success());
    git(&["rev-parse", "main^{tree}"]).parse().unwrap()
}
