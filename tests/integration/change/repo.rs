//! Repositories made commit by commit, any bytes allowed in a name.

use std::cell::Cell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use evidence_gate::change::{BytePath, Change, Compared, Git, Mode};
use evidence_gate::words::{BaseSha, HeadSha, ObjectId};

pub(super) struct Repo {
    root: tempfile::TempDir,
    dir: PathBuf,
    commits: Cell<u32>,
}

/// A path of a commit.
#[derive(Clone)]
pub(super) struct Item {
    path: Vec<u8>,
    mode: Mode,
    content: Vec<u8>,
}

pub(super) fn file(path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Item {
    Item { path: path.as_ref().to_vec(), mode: Mode::FILE, content: content.as_ref().to_vec() }
}

pub(super) fn program(path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Item {
    Item { mode: Mode::EXECUTABLE, ..file(path, content) }
}

pub(super) fn link(path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Item {
    Item { mode: Mode::SYMLINK, ..file(path, target) }
}

pub(super) fn submodule(path: impl AsRef<[u8]>, digit: char) -> Item {
    Item { mode: Mode::SUBMODULE, ..file(path, digit.to_string().repeat(40)) }
}

impl Repo {
    /// A bare repository `acme/widgets.git` below [`Repo::root`].
    pub(super) fn bare() -> Self {
        Self::init("acme/widgets.git", &["--bare"])
    }

    /// A working copy.
    pub(super) fn working_copy() -> Self {
        Self::init("work", &[])
    }

    /// A working copy whose objects have SHA-256 names.
    pub(super) fn sha256() -> Self {
        Self::init("work", &["--object-format=sha256"])
    }

    fn init(name: &str, options: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join(name);
        let repo = Self { dir: dir.clone(), root, commits: Cell::new(0) };
        let status = Self::command(&["init", "--quiet", "--initial-branch=main"]).args(options).arg(&dir).status();
        assert!(status.unwrap().success());
        repo
    }

    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    fn command(args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_AUTHOR_NAME", "a").env("GIT_AUTHOR_EMAIL", "a@example.org");
        command.env("GIT_COMMITTER_NAME", "a").env("GIT_COMMITTER_EMAIL", "a@example.org");
        command.args(args);
        command
    }

    /// Runs git in the repository and returns what it printed, trimmed.
    pub(super) fn git(&self, args: &[&str]) -> String {
        let output = Self::command(&["-C", self.dir.to_str().unwrap()]).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A commit with exactly these paths.
    pub(super) fn commit(&self, parents: &[&ObjectId], items: impl IntoIterator<Item = Item>) -> ObjectId {
        let number = self.commits.get() + 1;
        self.commits.set(number);
        let name = format!("refs/heads/commit-{number}");
        let mut stream = Vec::new();
        let time = 1_700_000_000 + number;
        write!(stream, "commit {name}\ncommitter a <a@example.org> {time} +0000\ndata 0\n").unwrap();
        for (at, parent) in parents.iter().enumerate() {
            writeln!(stream, "{} {parent}", if at == 0 { "from" } else { "merge" }).unwrap();
        }
        stream.extend(b"deleteall\n");
        for item in items {
            if item.mode == Mode::SUBMODULE {
                write!(stream, "M {} {} ", item.mode, String::from_utf8(item.content.clone()).unwrap()).unwrap();
            } else {
                write!(stream, "M {} inline ", item.mode).unwrap();
            }
            stream.push(b'"');
            for byte in &item.path {
                write!(stream, "\\{byte:03o}").unwrap();
            }
            stream.extend(b"\"\n");
            if item.mode != Mode::SUBMODULE {
                writeln!(stream, "data {}", item.content.len()).unwrap();
                stream.extend(&item.content);
                stream.push(b'\n');
            }
        }
        stream.extend(b"\ndone\n");
        let mut child = Self::command(&[
            "-C",
            self.dir.to_str().unwrap(),
            "-c",
            "core.protectNTFS=false",
            "-c",
            "fastimport.unpackLimit=1000000",
            "fast-import",
        ])
        .args(["--quiet", "--force", "--done"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
        child.stdin.take().unwrap().write_all(&stream).unwrap();
        assert!(child.wait().unwrap().success());
        self.git(&["rev-parse", &name]).parse().unwrap()
    }

    /// A chain of commits on top of `parent`, the tip last; each has one file of its own beside `items`.
    pub(super) fn chain(&self, parent: &ObjectId, length: usize, items: &[Item]) -> ObjectId {
        let number = self.commits.get() + 1;
        self.commits.set(number);
        let name = format!("refs/heads/chain-{number}");
        let mut stream = Vec::new();
        for step in 0..length {
            let time = 1_700_000_000 + step;
            write!(stream, "commit {name}\ncommitter a <a@example.org> {time} +0000\ndata 0\n").unwrap();
            if step == 0 {
                writeln!(stream, "from {parent}").unwrap();
                for item in items {
                    writeln!(stream, "M {} inline {}", item.mode, String::from_utf8_lossy(&item.path)).unwrap();
                    writeln!(stream, "data {}", item.content.len()).unwrap();
                    stream.extend(&item.content);
                    stream.push(b'\n');
                }
            }
            let text = format!("{number} {step}");
            write!(stream, "M 100644 inline steps-{number}\ndata {}\n{text}\n\n", text.len()).unwrap();
        }
        stream.extend(b"done\n");
        let mut child =
            Self::command(&["-C", self.dir.to_str().unwrap(), "fast-import", "--quiet", "--force", "--done"])
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
        child.stdin.take().unwrap().write_all(&stream).unwrap();
        assert!(child.wait().unwrap().success());
        self.git(&["rev-parse", &name]).parse().unwrap()
    }

    pub(super) fn open(&self) -> Git {
        Git::open(&self.dir).unwrap()
    }

    /// The change between two commits, of which there must be one.
    pub(super) fn change(&self, base: &ObjectId, head: &ObjectId) -> Change {
        match compare(&self.open(), base, head) {
            Compared::One(change) => change,
            other => panic!("{other:?}"),
        }
    }

    /// Base and head on top of it, and the rows between them as `status old-mode new-mode path`.
    pub(super) fn rows_of(
        &self,
        base: impl IntoIterator<Item = Item>,
        head: impl IntoIterator<Item = Item>,
    ) -> Vec<String> {
        let base = self.commit(&[], base);
        let head = self.commit(&[&base], head);
        rows(&self.change(&base, &head))
    }
}

pub(super) fn compare(git: &Git, base: &ObjectId, head: &ObjectId) -> Compared {
    git.change(BaseSha(base.clone()), HeadSha(head.clone())).unwrap()
}

pub(super) fn rows(change: &Change) -> Vec<String> {
    let mode = |side: &Option<evidence_gate::change::Side>| side.as_ref().map_or(Mode(0), |side| side.mode);
    change
        .rows
        .iter()
        .map(|row| format!("{} {} {} {}", row.status.letter(), mode(&row.old), mode(&row.new), row.path()))
        .collect()
}

pub(super) fn path(text: &str) -> BytePath {
    BytePath::new(text)
}

/// Every file below a folder with its bytes.
pub(super) fn snapshot(dir: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(snapshot(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.insert(path, bytes);
        }
    }
    found
}
