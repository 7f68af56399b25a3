//! What the contents of a change say, and how long that takes, beside the public detectors: `cargo bench --bench evidence`.
//!
//! The change is made here: Python test files in which one test gets a skip marker, one assertion is edited, and one test is new. The
//! detectors come from `benches/accuracy/accuracy.py`, which installs them; without them only our own figures are printed.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench starts programs itself, prints its figures and fails by panicking"
)]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use evidence_gate::change::{BytePath, Mode, PathChange, Sha256, Side, Status};
use evidence_gate::classes::Classifier;
use evidence_gate::evidence::{Blob, Blobs, ClassedRow, analyse};
use evidence_gate::policy;
use evidence_gate::words::ObjectId;

const POLICY: &str = "schema = 1\n[classes]\nproduct = [\"src/**\"]\n[limits]\nmax_changed_files = 1000\n";
const FILES: usize = 300;
/// Tests of one file: 60 lines.
const TESTS: usize = 15;
/// Tests of one long file, of which every line changes: 3,000 lines.
const LONG: usize = 750;
const ROUNDS: usize = 11;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let policy = policy::parse(POLICY, "the bench").unwrap();
    let classifier = Classifier::new(&policy);
    let time = |change: &[(String, String, String)]| {
        let (rows, blobs) = rows(change);
        let rows: Vec<ClassedRow<'_>> =
            rows.iter().map(|row| ClassedRow { row, class: classifier.class_of(row) }).collect();
        median(|| drop(std::hint::black_box(analyse(&policy, &rows, &blobs))))
    };
    let long = vec![("tests/test_long.py".to_owned(), test_file(LONG, 1, false), test_file(LONG, 2, true))];
    println!("median of {ROUNDS} rounds");
    println!("markers and tests of a file of 3,000 changed lines  {:8.1} ms", time(&long));
    let many: Vec<_> = (0..FILES)
        .map(|file| (format!("tests/test_{file}.py"), test_file(TESTS, 1, false), test_file(TESTS, 1, true)))
        .collect();
    println!("markers and tests of {FILES} changed files             {:8.1} ms", time(&many));

    let dir = tempfile::tempdir().unwrap();
    repository(dir.path(), &many);
    let policy_file = dir.path().join("policy.toml");
    fs::write(&policy_file, POLICY).unwrap();
    let ours = program(
        dir.path(),
        env!("CARGO_BIN_EXE_evidence-gate"),
        &["score", "--repo", ".", "--base", "main", "--head", "pr", "--policy", "policy.toml"],
    );
    println!("\nwhole programs, the same {FILES} files\nevidence-gate score      {ours:8.1} ms");
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/accuracy-tools/bin");
    for (name, arguments) in [
        ("checkwash", &["check", "main..pr"][..]),
        ("tampercheck", &["--from", "main", "--to", "pr"]),
        ("ai-code-guardrails", &["check", "--base", "main", "--head", "pr", "--feature", "x"]),
        ("arma-veto", &["change.diff"]),
    ] {
        let tool = tools.join(name);
        if tool.exists() {
            let theirs = program(dir.path(), tool.to_str().unwrap(), arguments);
            println!("{name:24} {theirs:8.1} ms   {:5.1} times ours", theirs / ours);
        } else {
            println!("{name:24} not installed: run benches/accuracy/accuracy.py first");
        }
    }
}

/// So many tests of four lines; `number` is in every assertion.
fn test_file(tests: usize, number: usize, changed: bool) -> String {
    let mut text = "import pytest\n\nfrom src.fee import fee\n".to_owned();
    for test in 0..tests {
        let marker = if changed && test == 1 { "@pytest.mark.skip(reason=\"flaky\")\n" } else { "" };
        let wanted = if changed && test == 2 { number + 1 } else { number };
        write!(
            text,
            "\n{marker}def test_case_{test}():\n    value = fee({test}, {wanted})\n    assert value == {wanted}\n"
        )
        .unwrap();
    }
    if changed {
        text.push_str("\ndef test_more():\n    assert fee(1, 1) == 1\n");
    }
    text
}

fn rows(change: &[(String, String, String)]) -> (Vec<PathChange>, Blobs) {
    let mut blobs = Blobs::default();
    let mut side = |path: &str, text: &str| {
        let blob: ObjectId = Sha256::of(text.as_bytes()).to_string().parse().unwrap();
        blobs.0.insert(blob.clone(), Blob::Whole(Arc::from(text.as_bytes())));
        Some(Side { path: BytePath::new(path), mode: Mode::FILE, blob })
    };
    let rows = change
        .iter()
        .map(|(path, old, new)| PathChange { status: Status::Modified, old: side(path, old), new: side(path, new) })
        .collect();
    (rows, blobs)
}

fn repository(dir: &Path, change: &[(String, String, String)]) {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(dir).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(args);
        assert!(git.stdout(Stdio::null()).status().unwrap().success(), "git {args:?}");
    };
    git(&["init", "--quiet", "--initial-branch=main", "."]);
    fs::create_dir(dir.join("tests")).unwrap();
    for (branch, new) in [("main", false), ("pr", true)] {
        if new {
            git(&["checkout", "--quiet", "-b", branch]);
        }
        for (path, old, changed) in change {
            fs::write(dir.join(path), if new { changed } else { old }).unwrap();
        }
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", branch]);
    }
    let diff = File::create(dir.join("change.diff")).unwrap();
    let done = Command::new("git").arg("-C").arg(dir).args(["diff", "main", "pr"]).stdout(diff).status().unwrap();
    assert!(done.success());
}

/// Milliseconds that a whole program takes. What it says is thrown away; it must say something.
fn program(dir: &Path, program: &str, arguments: &[&str]) -> f64 {
    median(|| {
        let done = Command::new(program).current_dir(dir).env("XDG_CACHE_HOME", dir).args(arguments).output().unwrap();
        assert!(!done.stdout.is_empty(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    })
}

/// Milliseconds.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}
