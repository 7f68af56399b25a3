//! Real bare repositories with real commits, made by `git fast-import`: no working copy, and any bytes as names.
#![expect(clippy::disallowed_methods, reason = "the fake's git is started here; nothing of the product is")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// One step from a commit's first parent to the commit.
#[derive(Clone, Debug)]
pub enum Edit {
    /// The file is there with this mode and these bytes.
    Write { path: Vec<u8>, mode: Mode, bytes: Vec<u8> },
    /// The file is gone.
    Remove { path: Vec<u8> },
    /// The file has another name, and its bytes as they were.
    Rename { from: Vec<u8>, to: Vec<u8> },
}

/// How git keeps an entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    File,
    Executable,
    Symlink,
    /// The bytes are the hexadecimal id of a commit elsewhere.
    Submodule,
}

impl Mode {
    fn octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// A folder of bare repositories, `OWNER/NAME.git` each.
pub struct Store {
    root: PathBuf,
    /// Seconds added to a fixed date, so that two commits with equal trees still differ.
    ticks: AtomicU64,
}

impl Store {
    pub fn new(root: PathBuf) -> Self {
        Self { root, ticks: AtomicU64::new(0) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    fn folder(&self, repo: &str) -> PathBuf {
        self.root.join(format!("{repo}.git"))
    }

    /// A new, empty repository.
    pub fn create(&self, repo: &str) {
        let folder = self.folder(repo);
        std::fs::create_dir_all(&folder).unwrap();
        let out = git(&folder, &["init", "--quiet", "--bare", "--initial-branch=main", "."]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }

    /// The same folder under another name, as a transfer or a rename leaves it.
    pub fn rename(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.folder(to).parent().unwrap()).unwrap();
        std::fs::rename(self.folder(from), self.folder(to)).unwrap();
    }

    /// Makes a commit on these parents, moves `branch` to it, and answers its id. Edits start from the first parent's tree.
    pub fn commit(&self, repo: &str, branch: &str, parents: &[&str], edits: &[Edit]) -> String {
        self.commit_saying("change", repo, branch, parents, edits)
    }

    /// The same with a message of its own.
    pub fn commit_saying(&self, message: &str, repo: &str, branch: &str, parents: &[&str], edits: &[Edit]) -> String {
        let seconds = 1_790_000_000 + self.ticks.fetch_add(1, Ordering::SeqCst);
        let mut script = Vec::new();
        // A fresh name for the import: an existing ref would lend its tip as a parent.
        let scratch = format!("refs/scratch/{seconds}");
        writeln!(script, "commit {scratch}\nmark :1").unwrap();
        writeln!(script, "author Ada <ada@example.com> {seconds} +0000").unwrap();
        writeln!(script, "committer Ada <ada@example.com> {seconds} +0000").unwrap();
        writeln!(script, "data {}\n{message}", message.len()).unwrap();
        for (n, parent) in parents.iter().enumerate() {
            writeln!(script, "{} {parent}", if n == 0 { "from" } else { "merge" }).unwrap();
        }
        for edit in edits {
            match edit {
                Edit::Write { path, mode: Mode::Submodule, bytes } => {
                    write!(script, "M 160000 {} ", std::str::from_utf8(bytes).unwrap()).unwrap();
                    script.extend(quoted(path));
                    script.push(b'\n');
                }
                Edit::Write { path, mode, bytes } => {
                    write!(script, "M {} inline ", mode.octal()).unwrap();
                    script.extend(quoted(path));
                    write!(script, "\ndata {}\n", bytes.len()).unwrap();
                    script.extend(bytes);
                    script.push(b'\n');
                }
                Edit::Remove { path } => {
                    script.extend(b"D ");
                    script.extend(quoted(path));
                    script.push(b'\n');
                }
                Edit::Rename { from, to } => {
                    script.extend(b"R ");
                    script.extend(quoted(from));
                    script.push(b' ');
                    script.extend(quoted(to));
                    script.push(b'\n');
                }
            }
        }
        script.extend(b"\nget-mark :1\ndone\n");
        let folder = self.folder(repo);
        let mut import = command(&folder)
            .args(["fast-import", "--quiet", "--done", "--cat-blob-fd=1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        import.stdin.take().unwrap().write_all(&script).unwrap();
        let out = import.wait_with_output().unwrap();
        assert!(out.status.success(), "git fast-import: {}", String::from_utf8_lossy(&out.stderr));
        let id = String::from_utf8(out.stdout).unwrap().trim().to_owned();
        self.delete_ref(repo, &scratch);
        self.set_ref(repo, &format!("refs/heads/{branch}"), &id);
        id
    }

    /// Points a ref at an object.
    pub fn set_ref(&self, repo: &str, name: &str, id: &str) {
        let out = git(&self.folder(repo), &["update-ref", name, id]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }

    /// Forgets a ref; its commits stay.
    pub fn delete_ref(&self, repo: &str, name: &str) {
        let out = git(&self.folder(repo), &["update-ref", "-d", name]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }

    /// What a ref points at.
    pub fn read_ref(&self, repo: &str, name: &str) -> Option<String> {
        let out = git(&self.folder(repo), &["rev-parse", "--verify", "--quiet", name]);
        out.status.success().then(|| String::from_utf8(out.stdout).unwrap().trim().to_owned())
    }

    /// A file of a commit, as text; empty where there is none.
    pub fn read_file(&self, repo: &str, commit: &str, path: &str) -> String {
        let out = git(&self.folder(repo), &["show", &format!("{commit}:{path}")]);
        if out.status.success() { String::from_utf8(out.stdout).unwrap() } else { String::new() }
    }

    /// Refs whose name begins so, with their tips.
    pub fn refs(&self, repo: &str, prefix: &str) -> Vec<(String, String)> {
        let out = git(&self.folder(repo), &["for-each-ref", "--format=%(refname) %(objectname)"]);
        let text = String::from_utf8(out.stdout).unwrap();
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        pairs
            .filter(|(name, _)| name.starts_with(prefix))
            .map(|(name, tip)| (name.to_owned(), tip.to_owned()))
            .collect()
    }

    /// Brings a commit of one repository into another, as the forge does for a pull request from a fork.
    pub fn carry(&self, from: &str, to: &str, id: &str) {
        let source = self.folder(from);
        let out = git(&self.folder(to), &["fetch", "--quiet", source.to_str().unwrap(), id]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }

    /// Whether the repository has this commit.
    pub fn has_commit(&self, repo: &str, id: &str) -> bool {
        let hex = id.len() == 40 && id.bytes().all(|b| b.is_ascii_hexdigit());
        hex && git(&self.folder(repo), &["cat-file", "-e", &format!("{id}^{{commit}}")]).status.success()
    }

    /// Id, author's and committer's address and message of every commit that the head has and the base has not, oldest first.
    pub fn commits(&self, repo: &str, base: &str, head: &str) -> Vec<[String; 4]> {
        let range = format!("{base}..{head}");
        let out = git(&self.folder(repo), &["log", "--reverse", "--format=%H%x1f%ae%x1f%ce%x1f%B%x1e", &range]);
        let text = String::from_utf8(out.stdout).unwrap();
        let commits = text.split('\x1e').map(str::trim).filter(|commit| !commit.is_empty());
        commits.map(|commit| std::array::from_fn(|n| commit.split('\x1f').nth(n).unwrap().to_owned())).collect()
    }

    /// How many paths differ between the merge base of the two and the head, as the forge counts `changed_files`.
    pub fn changed_files(&self, repo: &str, base: &str, head: &str) -> usize {
        let range = format!("{base}...{head}");
        let out = git(&self.folder(repo), &["diff", "--name-only", "-z", "-M100%", &range]);
        out.stdout.split(|byte| *byte == 0).count() - 1
    }
}

/// git in a clean environment, so that no configuration of the machine is felt.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*")
        .current_dir(folder);
    command
}

fn git(folder: &Path, args: &[&str]) -> std::process::Output {
    command(folder).args(args).output().expect("git is installed")
}

/// A path in the quotes of C, as fast-import wants a name that holds a newline or a quote.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b' '..=b'~' => out.push(*byte),
            other => out.extend(format!("\\{other:03o}").bytes()),
        }
    }
    out.push(b'"');
    out
}
