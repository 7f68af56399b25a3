//! A working copy of files, commits made of them, and both ways to judge two of them: in process, and by the program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use evidence_gate::change::Git;
use evidence_gate::pipeline::{self, Origin, Question};
use evidence_gate::score::Record;
use evidence_gate::words::{BaseSha, HeadSha, ObjectId};
use jiff::Timestamp;

pub struct WorkingCopy {
    root: tempfile::TempDir,
}

/// What the program said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Said {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Noon of the day on which every test of this file's users happens.
pub fn noon() -> Timestamp {
    "2026-10-01T12:00:00Z".parse().unwrap()
}

impl WorkingCopy {
    pub fn new() -> Self {
        let copy = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir(copy.dir()).unwrap();
        copy.git(&["init", "--quiet", "--initial-branch=main"]);
        copy
    }

    pub fn dir(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// A path beside the working copy.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.dir().join(OsStr::from_bytes(name.as_ref()))
    }

    pub fn write(&self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn remove(&self, name: &str) -> &Self {
        std::fs::remove_file(self.path(name)).unwrap();
        self
    }

    #[expect(clippy::disallowed_methods, reason = "a test makes its own repository and runs the program itself")]
    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.dir())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.protectNTFS=false"])
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits everything as it is.
    pub fn commit(&self) -> ObjectId {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "work"]);
        self.git(&["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub fn question(&self, base: &ObjectId, head: &ObjectId) -> Question {
        Question {
            origin: Origin::Local { name: self.dir().file_name().unwrap().to_str().unwrap().to_owned() },
            base_ref: "main".to_owned(),
            base: BaseSha(base.clone()),
            head: HeadSha(head.clone()),
            policy: None,
            lock: None,
            ledger: None,
            map: None,
            maps: None,
            reviews: None,
            lane: pipeline::LaneAsked::ByLabel,
            known_digests: None,
            running: pipeline::Running::default(),
            runner: "test".to_owned(),
            today: None,
            clock: noon,
        }
    }

    pub fn score(&self, base: &ObjectId, head: &ObjectId) -> Record {
        self.ask(&self.question(base, head))
    }

    pub fn ask(&self, question: &Question) -> Record {
        pipeline::score(&Git::open(&self.dir()).unwrap(), question).unwrap()
    }

    /// Runs the program in the working copy.
    #[expect(clippy::disallowed_methods, reason = "a test makes its own repository and runs the program itself")]
    pub fn run(&self, args: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_evidence-gate"))
            .current_dir(self.dir())
            .env("HOME", self.root.path())
            .env_remove("XDG_CACHE_HOME")
            .args(args)
            .output()
            .unwrap();
        said(&output)
    }

    pub fn cache(&self) -> PathBuf {
        self.root.path().join(".cache")
    }
}

pub fn said(output: &Output) -> Said {
    Said {
        code: output.status.code().unwrap(),
        stdout: output.stdout.clone(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// `rule: verdict` of every finding, in the record's order, of these rules only.
pub fn findings(record: &Record, rules: &[&str]) -> Vec<String> {
    let chosen = record.findings.iter().filter(|finding| rules.contains(&finding.rule.as_str()));
    chosen.map(|finding| format!("{}: {}", finding.rule, finding.verdict)).collect()
}

/// The message of the one finding of a rule.
pub fn message<'r>(record: &'r Record, rule: &str) -> &'r str {
    let mut found = record.findings.iter().filter(|finding| finding.rule == rule);
    let one = found.next().unwrap_or_else(|| panic!("no {rule} in {:#?}", record.findings));
    assert!(found.next().is_none(), "{rule} speaks twice");
    &one.message
}

pub fn vectors(name: &str) -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
