//! The one repository: a bare one, with commits made by `git fast-import` and no working copy.
#![expect(
    clippy::disallowed_methods,
    reason = "the demonstration's own forge is git's server; nothing of a pull request runs here"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use super::people::{Person, person};

/// What git did not do.
#[derive(Debug, thiserror::Error)]
pub(in crate::desk::demo) enum StoreError {
    /// It is not there.
    #[error("cannot start git: {0}; install git 2.45 or newer")]
    Start(#[source] std::io::Error),
    /// It refused.
    #[error("git {doing} failed: {said}")]
    Refused {
        /// What it was to do.
        doing: &'static str,
        /// What it said.
        said: String,
    },
}

/// One step from a commit's parent to the commit.
#[derive(Clone, Debug)]
pub(in crate::desk::demo) enum Edit {
    /// The file has these bytes.
    Write {
        /// Which.
        path: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

impl Edit {
    /// The file has this text.
    pub(in crate::desk::demo) fn text(path: &str, text: &str) -> Self {
        Self::Write { path: path.to_owned(), bytes: text.into() }
    }
}

/// A bare repository.
pub(in crate::desk::demo) struct Store {
    folder: PathBuf,
    /// One import at a time.
    importing: Mutex<()>,
}

impl Store {
    /// A new, empty repository in this folder.
    pub(super) fn create(folder: PathBuf) -> Result<Self, StoreError> {
        std::fs::create_dir_all(&folder).map_err(StoreError::Start)?;
        let store = Self { folder, importing: Mutex::default() };
        store.git("init", &["init", "--quiet", "--bare", "--initial-branch=main", "."])?;
        Ok(store)
    }

    /// Makes a commit, moves `branch` to it, and answers its id. Edits start from the parent's tree.
    pub(in crate::desk::demo) fn commit(
        &self,
        branch: &str,
        parent: Option<&str>,
        (author, message): (&str, &str),
        seconds: i64,
        edits: &[Edit],
    ) -> Result<String, StoreError> {
        let _turn = self.importing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A name of its own for the import: a ref that is there would lend its tip as a parent.
        let scratch = "refs/scratch/import";
        let script = script(scratch, parent, author, message, seconds, edits);
        let out = self.fed(&["fast-import", "--quiet", "--done", "--force", "--cat-blob-fd=1"], &script)?;
        let id = said("fast-import", &out)?;
        self.git("update-ref", &["update-ref", "-d", scratch])?;
        self.set_ref(&format!("refs/heads/{branch}"), &id)?;
        Ok(id)
    }

    /// Points a ref at a commit.
    pub(in crate::desk::demo) fn set_ref(&self, name: &str, id: &str) -> Result<(), StoreError> {
        self.git("update-ref", &["update-ref", name, id]).map(drop)
    }

    /// What a ref points at.
    pub(in crate::desk::demo) fn tip(&self, name: &str) -> Option<String> {
        self.git("rev-parse", &["rev-parse", "--verify", "--quiet", name]).ok()
    }

    /// Names and tips of the refs below a prefix.
    pub(super) fn refs(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        let text = self.git("for-each-ref", &["for-each-ref", "--format=%(refname) %(objectname)"])?;
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs.filter(|(name, _)| name.starts_with(prefix)).map(|(n, id)| (n.to_owned(), id.to_owned())).collect())
    }

    /// Whether there is such a commit.
    pub(super) fn has_commit(&self, id: &str) -> bool {
        let whole = id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        whole && self.git("cat-file", &["cat-file", "-e", &format!("{id}^{{commit}}")]).is_ok()
    }

    /// A file of a commit.
    pub(in crate::desk::demo) fn file(&self, commit: &str, path: &str) -> Result<Vec<u8>, StoreError> {
        let mut command = self.command();
        let out = command.args(["show", &format!("{commit}:{path}")]).output().map_err(StoreError::Start)?;
        if out.status.success() { Ok(out.stdout) } else { Err(refused("show", &out)) }
    }

    /// Id, author's and committer's address, and message of each commit that the head has and the base has not, oldest first.
    pub(super) fn commits(&self, base: &str, head: &str) -> Result<Vec<[String; 4]>, StoreError> {
        let range = format!("{base}..{head}");
        let text = self.git("log", &["log", "--reverse", "--format=%H%x1f%ae%x1f%ce%x1f%s", &range])?;
        let field = |line: &str, n| line.split('\x1f').nth(n).unwrap_or_default().to_owned();
        Ok(text.lines().map(|line| std::array::from_fn(|n| field(line, n))).collect())
    }

    /// The change as a person reads it.
    pub(in crate::desk::demo) fn diff(&self, base: &str, head: &str) -> Result<String, StoreError> {
        self.git("diff", &["diff", "--no-ext-diff", "--no-textconv", "--no-color", &format!("{base}...{head}")])
    }

    /// How many paths the change has.
    pub(in crate::desk::demo) fn changed_files(&self, base: &str, head: &str) -> Result<usize, StoreError> {
        let text = self.git("diff", &["diff", "--name-only", &format!("{base}...{head}")])?;
        Ok(text.lines().count())
    }

    /// git in this folder, with no configuration of the machine.
    fn command(&self) -> Command {
        let mut command = Command::new("git");
        clean(&mut command, &self.folder);
        command
    }

    fn git(&self, doing: &'static str, arguments: &[&str]) -> Result<String, StoreError> {
        let out = self.command().args(arguments).stdin(Stdio::null()).output().map_err(StoreError::Start)?;
        said(doing, &out)
    }

    fn fed(&self, arguments: &[&str], script: &[u8]) -> Result<Output, StoreError> {
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(StoreError::Start)?;
        let mut input = child.stdin.take().expect("standard input is piped");
        // Where git ends early it says why; that its input broke says nothing.
        let _sent = input.write_all(script);
        drop(input);
        child.wait_with_output().map_err(StoreError::Start)
    }
}

/// No configuration and no repository of the machine is felt. The environment is cleared, and only what finds programs is kept.
pub(super) fn clean(command: &mut Command, folder: &Path) {
    let environment = crate::config::environment();
    command
        .env_clear()
        .envs(environment.get_key_value("PATH"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs([("GIT_CONFIG_COUNT", "2"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "*")])
        .envs([("GIT_CONFIG_KEY_1", "uploadpack.allowFilter"), ("GIT_CONFIG_VALUE_1", "true")])
        .current_dir(folder);
}

fn said(doing: &'static str, out: &Output) -> Result<String, StoreError> {
    if !out.status.success() {
        return Err(refused(doing, out));
    }
    Ok(String::from_utf8_lossy(&out.stdout).trim_end().to_owned())
}

fn refused(doing: &'static str, out: &Output) -> StoreError {
    StoreError::Refused { doing, said: String::from_utf8_lossy(&out.stderr).trim().to_owned() }
}

/// <https://git-scm.com/docs/git-fast-import>
fn script(reference: &str, parent: Option<&str>, author: &str, message: &str, seconds: i64, edits: &[Edit]) -> Vec<u8> {
    let email = person(author).map_or_else(|| "nobody@example.com".to_owned(), Person::email);
    let mut text = String::new();
    let who = format!("{author} <{email}> {seconds} +0000");
    writeln!(text, "commit {reference}\nmark :1\nauthor {who}\ncommitter {who}\ndata {}\n{message}", message.len())
        .expect("writing to a String cannot fail");
    if let Some(parent) = parent {
        writeln!(text, "from {parent}").expect("writing to a String cannot fail");
    }
    let mut script = text.into_bytes();
    for Edit::Write { path, bytes } in edits {
        script.extend(format!("M 100644 inline {path}\ndata {}\n", bytes.len()).bytes());
        script.extend(bytes);
        script.push(b'\n');
    }
    script.extend(b"\nget-mark :1\ndone\n");
    script
}
