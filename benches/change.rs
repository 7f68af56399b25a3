//! Change and classes beside `git diff-tree` alone, in turns, in one run: `cargo bench --bench change`.
//!
//! The repository is made here: 100,000 files in 1,000 folders, of which a change edits 20,000. The figures go to
//! `docs/performance.md`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench starts git itself, prints its figures and fails by panicking"
)]

use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evidence_gate::change::{Compared, Git, PathChange};
use evidence_gate::classes::Classifier;
use evidence_gate::policy;
use evidence_gate::words::{BaseSha, HeadSha, ObjectId};

const FILES: usize = 100_000;
const CHANGED: usize = 20_000;
const ROUNDS: usize = 31;

const POLICY: &str = "schema = 1\n[classes]\nextends = [\"python\", \"javascript\", \"rust\", \"go\"]\nproduct = [\"src/**\"]\n\
                      allowed = [\"docs/**\", \"*.md\"]\n";

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let [base, head] = repository(dir.path());
    let git = Git::open(dir.path()).unwrap();
    let classifier = Classifier::new(&policy::parse(POLICY, "the bench").unwrap());

    let mut alone = Vec::new();
    let mut ours = Vec::new();
    let mut rows_only = Vec::new();
    for _ in 0..ROUNDS {
        alone.push(timed(|| diff_tree(git.git_dir(), &base, &head)));
        ours.push(timed(|| {
            let mut evidence = 0;
            let mut class = |row: &PathChange| evidence += usize::from(classifier.class_of(row).is_evidence());
            let rows = git.rows_with(&base, &head, &mut class).unwrap();
            assert_eq!(rows.len(), CHANGED);
            evidence
        }));
        rows_only.push(timed(|| git.rows(&base, &head).unwrap().len()));
    }
    let (alone, ours, rows_only) = (median(alone), median(ours), median(rows_only));
    println!("{FILES} files, {CHANGED} changed, median of {ROUNDS} rounds in turns");
    println!("git diff-tree alone        {:7.1} ms", millis(alone));
    println!("rows                       {:7.1} ms", millis(rows_only));
    println!("rows and their classes     {:7.1} ms", millis(ours));
    println!("ratio                      {:7.2}", ours.as_secs_f64() / alone.as_secs_f64());

    let (base, head) = (BaseSha(base), HeadSha(head));
    let open = median((0..ROUNDS).map(|_| timed(|| Git::open(dir.path()).unwrap())).collect());
    let bases = median((0..ROUNDS).map(|_| timed(|| git.merge_bases(&base, &head).unwrap())).collect());
    let whole = median(
        (0..ROUNDS)
            .map(|_| {
                timed(|| {
                    let found = git.change(base.clone(), head.clone()).unwrap();
                    assert!(matches!(found, Compared::One(_)));
                })
            })
            .collect(),
    );
    println!("opening a repository       {:7.1} ms", millis(open));
    println!("the merge base             {:7.1} ms", millis(bases));
    println!("merge base, rows and merge {:7.1} ms", millis(whole));
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

/// What anyone who runs git pays: the same command, its output read to the end and thrown away.
fn diff_tree(git_dir: &Path, base: &ObjectId, head: &ObjectId) -> usize {
    let mut child = Command::new("git")
        .current_dir(git_dir)
        .args(["--git-dir=.", "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"])
        .args(["--ignore-submodules=none", "--no-abbrev", base.as_str(), head.as_str(), "--"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    assert!(child.wait().unwrap().success());
    output.len()
}

fn repository(dir: &Path) -> [ObjectId; 2] {
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
    for (name, from, step) in [("base", None, 1), ("head", Some("base"), FILES / CHANGED)] {
        write!(stream, "commit refs/heads/{name}\ncommitter a <a@example.org> 1700000000 +0000\ndata 0\n").unwrap();
        if let Some(from) = from {
            writeln!(stream, "from refs/heads/{from}").unwrap();
        }
        for number in (0..FILES).step_by(step) {
            let (top, folder) = (["src", "tests", "docs", "lib"][number % 4], number % 1_000);
            let text = format!("{name} {number}");
            writeln!(stream, "M 100644 inline {top}/package_{folder}/module_{number}.py").unwrap();
            write!(stream, "data {}\n{text}\n", text.len()).unwrap();
        }
    }
    stream.write_all(b"done\n").unwrap();
    drop(stream);
    assert!(child.wait().unwrap().success());
    ["base", "head"].map(|name| git(&["rev-parse", name]).parse().unwrap())
}
