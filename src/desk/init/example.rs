//! A first property, for a repository with Python: written only where it ran and passed on this machine.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;

use crate::change::Git;
use crate::desk::{Failure, place, score};
use crate::pipeline::{self, OperatorsFile, OperatorsPolicy, Origin, Question};
use crate::score::Record;
use crate::words::{BaseSha, HeadSha, ObjectId};

/// The most folders that the example looks at.
const MOST_FOLDERS: usize = 8;

/// The property and the file that keeps its teeth, below the oracle root.
pub(super) const FILES: [(&str, &str); 2] = [
    ("properties/python_parses.py", include_str!("python_parses.py")),
    ("known_bad/python_parses.json", "[\"def f(:\", \"return\", \"x = (1, 2\", \"if True:\\npass\"]\n"),
];

/// Whether there is an example.
pub(super) enum Example {
    /// It ran and passed.
    Works(Property),
    /// There is none: why.
    None(String),
}

/// The property in the policy.
pub(super) struct Property {
    folders: Vec<String>,
}

impl Property {
    /// The example for these folders and files at the root; `None` where there is no Python, or a name that no command can take.
    pub(super) fn over(roots: &BTreeSet<String>) -> Option<Self> {
        let plain = |name: &&String| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)) && !name.starts_with('-')
        };
        let folders: Vec<String> = roots.iter().filter(plain).take(MOST_FOLDERS).cloned().collect();
        (!folders.is_empty()).then_some(Self { folders })
    }

    /// Its section of the policy.
    pub(super) fn section(&self) -> String {
        let names: Vec<String> = self.folders.iter().map(|name| format!(", \"{name}\"")).collect();
        let patterns: Vec<String> = self.folders.iter().map(|name| format!("\"/{name}\"")).collect();
        format!(
            "[[property]]\nid = \"python_parses\"\ncommand = [\"python3\", \"-I\", \"properties/python_parses.py\"{}]  # in the folder oracle/\n\
             seed = 1\ntrials = 50\ntimeout = \"45s\"\npaths = [{}]\n",
            names.concat(),
            patterns.join(", ")
        )
    }
}

/// What an attempt needs.
pub(super) struct Attempt<'a> {
    pub(super) git: &'a Git,
    pub(super) head: &'a ObjectId,
    /// The policy with the property in it.
    pub(super) policy: String,
    pub(super) lock: Vec<u8>,
    pub(super) clock: fn() -> Timestamp,
}

impl Attempt<'_> {
    /// Runs the property on HEAD in the sandbox, as `score` does; `Err` with one sentence where it did not pass.
    pub(super) fn run(self) -> Result<Result<(), String>, Failure> {
        let oracles = tempfile::tempdir().map_err(|source| Failure::write("a scratch folder", source))?;
        for (path, text) in FILES {
            let path = oracles.path().join(path);
            let folder = path.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder).map_err(|source| Failure::write(folder.display(), source))?;
            place::replace(&path, text.as_bytes())?;
        }
        let question = Question {
            origin: Origin::Local { name: "init".to_owned() },
            base_ref: "HEAD".to_owned(),
            base: BaseSha(self.head.clone()),
            head: HeadSha(self.head.clone()),
            policy: Some(OperatorsPolicy { origin: "the draft".to_owned(), text: self.policy }),
            lock: Some(OperatorsFile { origin: "the first lock".to_owned(), bytes: self.lock.into() }),
            ledger: None,
            map: None,
            maps: None,
            reviews: None,
            lane: pipeline::LaneAsked::ByLabel,
            known_digests: None,
            running: score::running(None, Some(oracles.path()), None)?,
            runner: "local".to_owned(),
            today: None,
            clock: self.clock,
        };
        let record = pipeline::score(self.git, &question).map_err(|error| Failure::from(error.0))?;
        Ok(fault(&record).map_or(Ok(()), Err))
    }
}

/// Why the property did not pass; `None` where it did.
fn fault(record: &Record) -> Option<String> {
    let speaks = |rule: &str| {
        rule.starts_with("property-")
            || matches!(rule, "sandbox-unavailable" | "tautological-property" | "environment-missing")
    };
    let said = record.findings.iter().find(|finding| speaks(&finding.rule));
    let passed = record.properties.iter().any(|row| row.hits.is_some_and(|hits| hits > 0));
    match said {
        Some(finding) => Some(format!("{}: {}", finding.rule, finding.message)),
        None if !passed => Some("it did not run".to_owned()),
        None => None,
    }
}
