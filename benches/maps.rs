//! Coverage maps beside a script that holds sets of pairs, and beside counting the newlines of the same bytes: `cargo bench --bench maps`.
//! `cargo bench --bench maps -- small` is a hundredth of it, to see that it runs.
//!
//! The maps are made here: 20,000 tests on 2,000 files with 60 million (test, line) pairs, and 64,000 tests of a heavily parametrised
//! suite. The figures go to `docs/performance.md`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench starts itself and python, prints its figures and fails by panicking"
)]

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use evidence_gate::maps::{Index, Limits, Reach, frozen_only, read_map_file};

/// Sets of (file, line), as a script of some lines does it.
const SCRIPT: &str = r"
import json, sys
with open(sys.argv[1]) as handle:
    by_test = json.load(handle)
frozen_ids = set(sys.argv[2:])
frozen, live = set(), set()
for test, files in by_test.items():
    into = frozen if test in frozen_ids else live
    for path, lines in files.items():
        for line in lines:
            into.add((path, line))
print(len(frozen - live))
";

const FROZEN: usize = 20;
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, map, ..] = arguments.as_slice()
        && role == "once"
    {
        return once(Path::new(map));
    }
    let scale = if arguments.iter().any(|argument| argument == "small") { 100 } else { 1 };
    let folder = tempfile::tempdir().unwrap();
    let wide = folder.path().join("wide.json");
    let pairs = write_wide(&wide, 20_000 / scale);
    let bytes = std::fs::metadata(&wide).unwrap().len();
    println!("{} tests, 2000 files, {pairs} pairs, {} MB of JSON", 20_000 / scale, bytes / 1_000_000);

    let newlines = median((0..ROUNDS).map(|_| timed(|| count_newlines(&wide))).collect());
    let ours = median((0..ROUNDS).map(|_| timed(|| subtract(&wide))).collect());
    let index_at = folder.path().join("wide.egmap");
    let index = median(
        (0..ROUNDS)
            .map(|_| {
                timed(|| {
                    let map = read_map_file(&wide).unwrap();
                    Index::write(map, BufWriter::new(File::create(&index_at).unwrap())).unwrap();
                })
            })
            .collect(),
    );
    let script = timed(|| run_script(folder.path(), &wide));
    println!("read and count newlines    {:9.1} ms", millis(newlines));
    println!("frozen minus live          {:9.1} ms, {:.2} times that", millis(ours), ratio(ours, newlines));
    println!("the same in a script       {:9.1} ms, {:.1} times ours", millis(script), ratio(script, ours));
    println!("the whole index            {:9.1} ms, {:.2} times ours", millis(index), ratio(index, ours));
    println!("index on disk              {:9.1} MB", megabytes(&index_at));
    println!("peak memory of one pass    {:9.1} MiB", peak(&wide));

    let deep = folder.path().join("deep.json");
    write_deep(&deep, 64_000 / scale);
    let deep_at = folder.path().join("deep.egmap");
    Index::write(read_map_file(&deep).unwrap(), BufWriter::new(File::create(&deep_at).unwrap())).unwrap();
    for (name, at, frozen) in
        [("wide", &index_at, frozen_ids()), ("parametrised", &deep_at, vec!["t.py::test_7".to_owned()])]
    {
        let opened = median((0..ROUNDS * 20).map(|_| timed(|| look(&Index::read(at).unwrap(), &frozen))).collect());
        let index = Index::read(at).unwrap();
        let kept_open = median((0..ROUNDS * 20).map(|_| timed(|| look(&index, &frozen))).collect());
        println!(
            "20 files of the {name} suite: {:.2} ms with opening the index, {:.2} ms without ({} tests)",
            millis(opened),
            millis(kept_open),
            index.tests()
        );
    }
}

fn frozen_ids() -> Vec<String> {
    (0..FROZEN).map(|number| format!("tests/test_{}.py::test_{number}", number % 97)).collect()
}

/// One pass in a process of its own, whose peak is then its own.
fn once(map: &Path) {
    let found = subtract(map);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    println!("{found} {}", peak.trim());
}

fn peak(map: &Path) -> f64 {
    let out = Command::new(std::env::current_exe().unwrap()).arg("once").arg(map).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

fn subtract(map: &Path) -> u64 {
    let file = File::open(map).unwrap();
    let found = frozen_only("map", file, &frozen_ids(), Reach::Function, Limits::default()).unwrap();
    found.values().map(roaring::RoaringBitmap::len).sum()
}

fn look(index: &Index, frozen: &[String]) -> usize {
    let paths: Vec<String> = index.files().step_by(7).take(20).map(str::to_owned).collect();
    index.look(paths.iter().map(String::as_str), frozen).unwrap().files.len()
}

fn count_newlines(path: &Path) -> usize {
    let mut file = File::open(path).unwrap();
    let mut buffer = vec![0; 1 << 18];
    let mut count = 0;
    loop {
        let read = file.read(&mut buffer).unwrap();
        if read == 0 {
            return count;
        }
        count += buffer[..read].split(|byte| *byte == b'\n').count() - 1;
    }
}

fn run_script(folder: &Path, map: &Path) -> usize {
    let script = folder.join("subtract.py");
    std::fs::write(&script, SCRIPT).unwrap();
    let out = Command::new("python3").arg(script).arg(map).args(frozen_ids()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let found: u64 = String::from_utf8(out.stdout).unwrap().trim().parse().unwrap();
    assert_eq!(found, subtract(map), "both find the same lines");
    out.status.success().into()
}

/// A number that looks drawn, and is the same in every run.
fn drawn(seed: u64) -> u64 {
    let mut number = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number ^= number >> 29;
    number = number.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ (number >> 32)
}

/// Each test runs 100 lines in each of 30 files.
fn write_wide(path: &Path, tests: usize) -> u64 {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let mut pairs = 0;
    write!(out, "{{").unwrap();
    for test in 0..tests {
        let comma = if test == 0 { "" } else { ",\n" };
        write!(out, "{comma}\"tests/test_{}.py::test_{test}\":{{", test % 97).unwrap();
        for file in 0..30_u64 {
            let comma = if file == 0 { "" } else { "," };
            let number = (drawn(test as u64) % 66) * 30 + file;
            write!(out, "{comma}\"src/module_{number}.py\":[").unwrap();
            let mut line = drawn(test as u64 * 31 + file) % 200 + 1;
            for place in 0..100_u64 {
                let comma = if place == 0 { "" } else { "," };
                write!(out, "{comma}{line}").unwrap();
                line += 1 + drawn(line + place + test as u64) % 20;
                pairs += 1;
            }
            write!(out, "]").unwrap();
        }
        write!(out, "}}").unwrap();
    }
    writeln!(out, "}}").unwrap();
    out.flush().unwrap();
    pairs
}

/// 640 functions with a hundred sets of parameters each; all parameters of a function run nearly the same lines of 40 files.
fn write_deep(path: &Path, tests: usize) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    write!(out, "{{").unwrap();
    for test in 0..tests {
        let comma = if test == 0 { "" } else { ",\n" };
        let (function, parameter) = (test / 100, test % 100);
        write!(out, "{comma}\"t.py::test_{function}[{parameter}-x::y|z]\":{{").unwrap();
        for file in 0..40 {
            let comma = if file == 0 { "" } else { "," };
            let last = 100 + function % 7 + parameter % 3;
            let lines: Vec<String> = (1..last).map(|line| line.to_string()).collect();
            write!(out, "{comma}\"src/part_{file}.py\":[{}]", lines.join(",")).unwrap();
        }
        write!(out, "}}").unwrap();
    }
    writeln!(out, "}}").unwrap();
    out.flush().unwrap();
}

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn megabytes(path: &Path) -> f64 {
    f64::from(u32::try_from(std::fs::metadata(path).unwrap().len() / 1000).unwrap()) / 1000.0
}
