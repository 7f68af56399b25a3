//! Files that a policy names: there, committed, and what they should be.

use jiff::Timestamp;

use super::remark::{Level, Remark, Subject};
use crate::change::{Blob, BytePath, GitError, TreeFile};
use crate::desk::lock;
use crate::evidence::ledger;
use crate::evidence::lock::{LARGEST_LOCK, Lock, Spelling, parse};
use crate::pipeline;
use crate::policy::{Gate, Property};
use crate::words::{Verdict, count};

/// Looks at every file that the policy names.
pub(super) fn remarks(subject: &Subject<'_>, clock: fn() -> Timestamp) -> Result<Vec<Remark>, GitError> {
    let mut remarks = lock_remarks(subject)?;
    remarks.extend(ledger_remarks(subject, clock)?);
    for (at, property) in subject.policy.property.iter().enumerate() {
        remarks.extend(property_remarks(subject, at, property));
    }
    if subject.policy.scope.gate == Gate::Agents {
        remarks.push(Remark {
            level: Level::Note,
            check: "gate-agents",
            line: subject.line(&["scope", "gate"]),
            message: "only pull requests that say that they are an agent's are judged, and their author writes what is read there".to_owned(),
            next: "use \"all\" where the gate must hold".to_owned(),
        });
    }
    Ok(remarks)
}

fn lock_remarks(subject: &Subject<'_>) -> Result<Vec<Remark>, GitError> {
    let path = subject.policy.fixtures.lock.as_str();
    let required = subject.policy.require.fixture_lock;
    let named = subject.line(&["fixtures", "lock"]);
    let line = named.or_else(|| subject.line(&["require", "fixture_lock"]));
    let write = format!("`evidence-gate lock write --output {path}`, and commit it");
    let remark =
        |level, check, message: String, next: &str| Remark { level, check, line, message, next: next.to_owned() };
    if let Some(remark) = subject.not_committed(path, line) {
        return Ok(vec![remark]);
    }
    let Some(file) = subject.file(path) else {
        return Ok(match (required, named) {
            (true, _) => vec![remark(
                Level::Fault,
                "lock-missing",
                format!("`fixture_lock = true`, and {} has no {path}: every change is unscored", subject.rev),
                &write,
            )],
            (false, Some(_)) => vec![remark(
                Level::Note,
                "lock-missing",
                format!(
                    "{} has no {path}, and none is required: bytes of fixtures are not held against a lock",
                    subject.rev
                ),
                &write,
            )],
            (false, None) => Vec::new(),
        });
    };
    let lock = match read(subject, file, LARGEST_LOCK)? {
        Ok(bytes) => parse(&bytes).map_err(|error| error.to_string()),
        Err(why) => Err(why),
    };
    let lock = match lock {
        Ok(lock) => lock,
        Err(why) => {
            let message = format!("{path} is no lock that can be read: {why}; every change is unscored");
            return Ok(vec![remark(Level::Fault, "lock-unreadable", message, &write)]);
        }
    };
    let mut remarks = Vec::new();
    let (stale, first) = unfulfilled(subject, &lock)?;
    if let Some(first) = first {
        let message = format!(
            "{path} does not fit {}: {}, such as {first}; every change is unscored",
            subject.rev,
            count(stale, "file differs or is missing", "files differ or are missing")
        );
        remarks.push(remark(Level::Fault, "lock-stale", message, &write));
    }
    let fixtures = lock::fixtures(subject.git, subject.commit, subject.policy)?.files;
    let open: Vec<&TreeFile> = fixtures.iter().filter(|file| lock.at(&file.path).is_none()).collect();
    if let Some(first) = open.first() {
        let message =
            format!("{} not in {path}, such as {}", count(open.len(), "fixture is", "fixtures are"), first.path);
        remarks.push(remark(Level::Warning, "fixture-unlocked", message, &write));
    }
    if lock.spelling == Spelling::List {
        let message = format!("{path} lists paths without digests, so no byte is checked");
        remarks.push(remark(Level::Warning, "lock-without-digests", message, &write));
    }
    Ok(remarks)
}

/// How many locked files are not what the lock says, and the first of them.
fn unfulfilled(subject: &Subject<'_>, lock: &Lock) -> Result<(usize, Option<BytePath>), GitError> {
    let file = |path: &BytePath| {
        let at = subject.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        Some(&subject.files[at]).filter(|file| file.mode.is_file())
    };
    let there = lock.files.iter().filter_map(|locked| file(&locked.path)).map(|file| &file.id);
    let digests = subject.git.sha256(there)?;
    let mut differ = lock.files.iter().filter(|locked| match file(&locked.path) {
        None => true,
        Some(file) => locked.digest.is_some_and(|wanted| digests.get(&file.id) != Some(&wanted)),
    });
    let first = differ.next().map(|locked| locked.path.clone());
    Ok((usize::from(first.is_some()) + differ.count(), first))
}

fn ledger_remarks(subject: &Subject<'_>, clock: fn() -> Timestamp) -> Result<Vec<Remark>, GitError> {
    let path = subject.policy.freeze.ledger.as_str();
    let line = subject.line(&["freeze", "ledger"]);
    let remark =
        |level, check, message: String, next: &str| Remark { level, check, line, message, next: next.to_owned() };
    if let Some(remark) = subject.not_committed(path, line) {
        return Ok(vec![remark]);
    }
    let Some(file) = subject.file(path) else {
        let message = format!("{} has no {path}: nothing is frozen", subject.rev);
        let next = "nothing while no failure is frozen; `evidence-gate freeze add` makes the file";
        return Ok(line.map(|_| remark(Level::Note, "ledger-missing", message, next)).into_iter().collect());
    };
    let ledger = match read(subject, file, ledger::LARGEST_LEDGER)? {
        Ok(bytes) => ledger::parse(&bytes).map_err(|error| error.to_string()),
        Err(why) => Err(why),
    };
    match ledger {
        Err(why) => {
            let message = format!("{path} is no ledger that can be read: {why}; every change is unscored");
            Ok(vec![remark(Level::Fault, "ledger-unreadable", message, "correct it: `evidence-gate freeze check`")])
        }
        Ok(ledger) => {
            let found = pipeline::check_ledger(subject.git, subject.commit, path, &ledger, subject.policy, clock)
                .map_err(|error| error.0)?;
            let unscored = found.into_iter().filter(|finding| finding.verdict >= Verdict::Unscored);
            Ok(unscored
                .map(|finding| {
                    remark(
                        Level::Fault,
                        "ledger-unsound",
                        format!("{}: {}", finding.rule.id, finding.message),
                        &finding.next,
                    )
                })
                .collect())
        }
    }
}

/// Whether the files that a command seems to name are below the oracle root, and whether something shows that the property can fail.
fn property_remarks(subject: &Subject<'_>, at: usize, property: &Property) -> Vec<Remark> {
    let root = subject.policy.oracles.root.as_str();
    let at = at.to_string();
    let mut remarks = Vec::new();
    let commands = [("command", Some(&property.command)), ("subject", property.subject.as_ref())];
    for (key, command) in commands.into_iter().filter_map(|(key, command)| Some((key, command?))) {
        let missing = command
            .words()
            .iter()
            .filter(|word| names_a_file(word))
            .filter(|word| subject.file(&below(root, word)).is_none());
        let line = subject.line(&["property", &at, key]);
        remarks.extend(missing.map(|word| {
            subject.not_committed(&below(root, word), line).unwrap_or_else(|| Remark {
                level: Level::Fault,
                check: "property-file-missing",
                line,
                message: format!(
                    "the property `{}` runs {word}, and {} has no {root}/{word}",
                    property.id, subject.rev
                ),
                next: format!("commit {root}/{word}; commands of properties run in `oracles.root`"),
            })
        }));
    }
    let known_bad = format!("{root}/known_bad/{}.json", property.id);
    if subject.file(&known_bad).is_none() && subject.not_committed(&known_bad, None).is_none() {
        remarks.push(Remark {
            level: Level::Note,
            check: "property-without-known-bad",
            line: subject.line(&["property", &at, "id"]),
            message: format!("nothing shows that the property `{}` can fail: there is no {known_bad}", property.id),
            next: "write inputs there that it must refuse (docs/properties.md)".to_owned(),
        });
    }
    remarks
}

/// A word of a command that is a path: it has a folder or the ending of a script, and is no option.
fn names_a_file(word: &str) -> bool {
    let script = ["py", "js", "mjs", "cjs", "ts", "rb", "php", "sh", "pl", "jar"];
    let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
    !word.starts_with(['-', '/']) && !word.contains([' ', '=']) && script.contains(&ending)
}

/// A file that a word names, counted from the root of the repository.
fn below(root: &str, word: &str) -> String {
    format!("{root}/{}", word.trim_start_matches("./"))
}

/// The bytes of a file of the commit, or why there are none.
fn read(subject: &Subject<'_>, file: &TreeFile, limit: u64) -> Result<Result<std::sync::Arc<[u8]>, String>, GitError> {
    if !file.mode.is_file() {
        return Ok(Err(format!("it is no file but an entry of mode {}", file.mode)));
    }
    Ok(match subject.git.blob(&file.id, limit)? {
        Blob::Whole(bytes) => Ok(bytes),
        Blob::TooLarge(size) => Err(format!("it has {size} bytes, and at most {limit} are read")),
        Blob::Missing => Err("this repository does not hold its contents".to_owned()),
    })
}
