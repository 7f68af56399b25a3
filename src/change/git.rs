//! An opened repository: revisions, merge bases, rows, the merged tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;

use super::error::GitError;
use super::process::{Call, Ended};
use super::raw::RawParser;
use super::{BytePath, Change, Mode, PathChange};
use crate::words::{BaseSha, HeadSha, MergeBase, ObjectId};

/// How much git may take. Reaching one is an error that names the number (R61).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall clock of one local git process.
    pub local_time: Duration,
    /// Wall clock of one git process that speaks to a forge.
    pub fetch_time: Duration,
    /// Bytes that are read from one git process; bytes of all blobs of one batch together.
    pub output_bytes: u64,
    /// Bytes of the largest file that one fetch may write.
    pub pack_bytes: u64,
    /// Commits of history that the first fetch asks for; each further one asks for eight times as many, the fourth for all.
    pub first_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            local_time: Duration::from_mins(2),
            fetch_time: Duration::from_mins(10),
            output_bytes: 512 << 20,
            pack_bytes: 4 << 30,
            first_depth: 64,
        }
    }
}

/// A repository, opened for reading.
///
/// git never runs with the repository's own folder as its own, but in a scratch repository of ours that borrows the objects.
/// So no configuration, hook, attribute file, graft, replace ref or index of the repository is seen, its owner does not
/// matter, and what a merge writes goes to the scratch folder, which is removed with this value. The one exception is
/// [`Git::resolve`], which reads the repository's refs and nothing else.
#[derive(Debug)]
pub struct Git {
    scratch: TempDir,
    folder: PathBuf,
    shallow: BTreeSet<ObjectId>,
    limits: Limits,
}

/// What lies between base and head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Exactly one merge base: the change.
    One(Change),
    /// The histories have nothing in common.
    NoMergeBase,
    /// Histories that cross; there is no one parent to count from, and no rows are computed.
    SeveralMergeBases(Vec<ObjectId>),
}

/// What merging head into base makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The tree. It can be read through the [`Git`] that made it, for as long as that lives.
    Tree(ObjectId),
    /// It does not apply.
    Conflict {
        /// Paths in conflict, in git's order, without repetition.
        paths: Vec<BytePath>,
    },
}

/// Which blobs a merge may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inputs {
    /// Those of paths that both sides changed: all, as long as nothing that one side moved was edited by the other.
    BothSides,
    /// Also those of every path that a side added or removed, which git compares to find renames.
    WithRenames,
}

impl Git {
    /// Opens the repository that `dir` is, or lies in: a working copy, one of its folders, or a bare repository. It may
    /// belong to another user.
    pub fn open(dir: &Path) -> Result<Self, GitError> {
        Self::open_with(dir, Limits::default())
    }

    /// As [`Git::open`], with other limits.
    pub fn open_with(dir: &Path, limits: Limits) -> Result<Self, GitError> {
        let doing = "opening the repository";
        require_version(limits.local_time)?;
        let not_one = || GitError::NotARepository { dir: dir.to_owned() };
        let ended = Call::from_folder(dir, doing, limits.local_time)
            .args(["rev-parse", "--show-object-format", "--path-format=absolute", "--git-path", "objects"])
            .run(b"")?;
        if ended.code != Some(0) {
            let missing = !dir.is_dir() || String::from_utf8_lossy(&ended.stderr).contains("not a git repository");
            return Err(if missing { not_one() } else { ended.into_error(doing) });
        }
        let (format, objects) = split_line(&ended.stdout).ok_or_else(not_one)?;
        let objects = objects.strip_suffix(b"\n").unwrap_or(objects);
        let objects = PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(objects));
        Self::over(&objects, dir, format == b"sha256", None, limits)
    }

    /// A scratch repository over an object folder. `folder` is where revisions are looked up.
    pub(super) fn over(
        objects: &Path,
        folder: &Path,
        sha256: bool,
        scratch_root: Option<&Path>,
        limits: Limits,
    ) -> Result<Self, GitError> {
        let root = scratch_root.map_or_else(std::env::temp_dir, Path::to_owned);
        let scratch = tempfile::Builder::new()
            .prefix("evidence-gate-git-")
            .tempdir_in(&root)
            .map_err(|source| GitError::Disk { doing: "making a scratch repository in", path: root, source })?;
        let shallow_file = objects.with_file_name("shallow");
        let shallow = match std::fs::read(&shallow_file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(GitError::Disk { doing: "reading", path: shallow_file, source }),
        };
        let extension = if sha256 { "[extensions]\n\tobjectFormat = sha256\n" } else { "" };
        let version = u8::from(sha256);
        let config = format!(
            "[core]\n\trepositoryformatversion = {version}\n\tbare = true\n\tcommitGraph = false\n{extension}\
             [gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
        );
        let write = |name: &str, bytes: &[u8]| {
            let path = scratch.path().join(name);
            let folder = path.parent().expect("the path is below the scratch folder");
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&path, bytes))
                .map_err(|source| GitError::Disk { doing: "writing", path, source })
        };
        write("config", config.as_bytes())?;
        write("HEAD", b"ref: refs/heads/none\n")?;
        let refs = scratch.path().join("refs");
        std::fs::create_dir(&refs).map_err(|source| GitError::Disk { doing: "making", path: refs, source })?;
        write("objects/info/alternates", &quoted(objects))?;
        if !shallow.is_empty() {
            write("shallow", &shallow)?;
        }
        let shallow = ids(&shallow, "reading where history is cut off")?.into_iter().collect();
        Ok(Self { scratch, folder: folder.to_owned(), shallow, limits })
    }

    pub(super) fn call(&self, doing: &'static str) -> Call {
        Call::inside(self.scratch.path(), doing, self.limits.local_time, self.limits.output_bytes)
    }

    /// Whether this commit's parents are missing on purpose.
    pub(super) fn is_cut_off_at(&self, commit: &ObjectId) -> bool {
        self.shallow.contains(commit)
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The git folder through which every object can be read, those of a merged tree included. It lives as long as this value.
    pub fn git_dir(&self) -> &Path {
        self.scratch.path()
    }

    /// The commit that a revision names: what a person types for `--base` and `--head`. Annotated tags are followed.
    pub fn resolve(&self, revision: &str) -> Result<ObjectId, GitError> {
        let doing = "looking up a revision";
        let ended = Call::from_folder(&self.folder, doing, self.limits.local_time)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .args([format!("{revision}^{{commit}}")])
            .run(b"")?;
        match ids(&ended.stdout, doing) {
            Ok(ids) if ended.code == Some(0) && ids.len() == 1 => Ok(ids[0].clone()),
            _ => Err(GitError::UnknownRevision { revision: revision.chars().take(200).collect() }),
        }
    }

    /// All best common ancestors of base and head; none when the histories have nothing in common. Where history is cut off
    /// before the answer is certain, that is an error and not an answer.
    pub fn merge_bases(&self, base: &BaseSha, head: &HeadSha) -> Result<Vec<ObjectId>, GitError> {
        let doing = "finding the merge base";
        let ended = self.call(doing).args(["merge-base", "--all", base.id().as_str(), head.id().as_str()]).run(b"")?;
        let bases = match ended.code {
            Some(0) => ids(&ended.stdout, doing)?,
            Some(1) if ended.stdout.is_empty() && ended.stderr.is_empty() => Vec::new(),
            _ => {
                self.require_commits(doing, [base.id(), head.id()])?;
                return Err(ended.into_error(doing));
            }
        };
        self.require_whole_history(base, head, &bases)?;
        Ok(bases)
    }

    /// The commits between `base` and `head` along first parents, newest first; [`GitError::Shallow`] where history is cut off between.
    pub fn first_parents_between(&self, base: &BaseSha, head: &HeadSha) -> Result<Vec<ObjectId>, GitError> {
        let doing = "walking along first parents";
        let ended = self
            .call(doing)
            .args(["rev-list", "--first-parent", head.id().as_str(), "--not", base.id().as_str()])
            .run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        let commits = ids(&ended.stdout, doing)?;
        match commits.iter().find(|commit| self.shallow.contains(*commit)) {
            Some(boundary) => Err(GitError::Shallow { boundary: boundary.clone() }),
            None => Ok(commits),
        }
    }

    /// A merge base is certain when no commit whose parents are cut off lies between it and the tips: a common ancestor that
    /// is hidden behind a cut below the merge base cannot be a better one. None or several are certain only when no cut is
    /// reachable at all.
    fn require_whole_history(&self, base: &BaseSha, head: &HeadSha, bases: &[ObjectId]) -> Result<(), GitError> {
        if self.shallow.is_empty() {
            return Ok(());
        }
        let doing = "checking that history is whole";
        let call = self.call(doing).args(["rev-list", base.id().as_str(), head.id().as_str()]);
        let call = if let [only] = bases { call.args(["--not", only.as_str()]) } else { call };
        let ended = call.run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        match ids(&ended.stdout, doing)?.into_iter().find(|commit| self.shallow.contains(commit)) {
            Some(boundary) => Err(GitError::Shallow { boundary }),
            None => Ok(()),
        }
    }

    fn require_commits<'a>(
        &self,
        doing: &'static str,
        ids: impl IntoIterator<Item = &'a ObjectId>,
    ) -> Result<(), GitError> {
        let mut objects = self.objects()?;
        for id in ids {
            match objects.kind(id)? {
                None => return Err(GitError::MissingObject { doing, id: id.clone() }),
                Some(kind) if kind == "commit" => {}
                Some(found) => return Err(GitError::WrongKind { doing, id: id.clone(), found, wanted: "commit" }),
            }
        }
        Ok(())
    }

    /// Every path whose entry differs between two commits or trees, whatever the change itself says about what shall be seen.
    pub fn rows(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<PathChange>, GitError> {
        self.rows_with(old, new, &mut |_| {})
    }

    /// As [`Git::rows`]; `each` is shown every row in order while git still looks for the next ones.
    pub fn rows_with(
        &self,
        old: &ObjectId,
        new: &ObjectId,
        each: &mut dyn FnMut(&PathChange),
    ) -> Result<Vec<PathChange>, GitError> {
        let doing = "listing the changed paths";
        let mut parser = RawParser::default();
        let unreadable = |error: super::raw::NotRaw| GitError::Unreadable { doing, why: error.to_string() };
        let ended = self
            .call(doing)
            .args(["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"])
            .args(["--ignore-submodules=none", "--no-abbrev", old.as_str(), new.as_str(), "--"])
            .stream(b"", |piece| {
                parser.feed(piece).map_err(unreadable)?.iter().for_each(&mut *each);
                Ok(())
            })?;
        if ended.code != Some(0) {
            return Err(self.explain(doing, ended, [old, new]));
        }
        parser.finish().map_err(unreadable)
    }

    /// What the pull request changed: rows from the one merge base to the head, and the tree that merging makes.
    ///
    /// Errors are errors: a missing object, a limit, output that cannot be read. A conflict is none; then
    /// [`Change::merged_tree`] is `None`, and [`Git::merged_tree`] names the paths.
    pub fn change(&self, base: BaseSha, head: HeadSha) -> Result<Compared, GitError> {
        self.change_with(base, head, &mut |_| {})
    }

    /// As [`Git::change`]; `each` is shown every row in order while git still looks for the next ones.
    pub fn change_with(
        &self,
        base: BaseSha,
        head: HeadSha,
        each: &mut dyn FnMut(&PathChange),
    ) -> Result<Compared, GitError> {
        let mut bases = self.merge_bases(&base, &head)?;
        let merge_base = match bases.len() {
            0 => return Ok(Compared::NoMergeBase),
            1 => MergeBase(bases.remove(0)),
            _ => return Ok(Compared::SeveralMergeBases(bases)),
        };
        let rows = self.rows_with(merge_base.id(), head.id(), each)?;
        let merged_tree = match self.merged_tree(&base, &head, &merge_base)? {
            Merged::Tree(tree) => Some(tree),
            Merged::Conflict { paths: _ } => None,
        };
        Ok(Compared::One(Change { base, head, merge_base, merged_tree, rows }))
    }

    /// Merges head into base with git's own three-way merge of contents, in the scratch repository.
    ///
    /// No attribute takes part, so that a `.gitattributes` with `merge=union`, `merge=ours` or a driver hides no conflict;
    /// nothing is renormalised. Renames are followed as git does by default, because the forges merge in the same way, and
    /// the tree that is judged should be the tree that would be merged (git before 2.50 cannot leave them out either). Rows
    /// never depend on them.
    pub fn merged_tree(&self, base: &BaseSha, head: &HeadSha, merge_base: &MergeBase) -> Result<Merged, GitError> {
        let doing = "merging head into base";
        let ended = self
            .call(doing)
            .args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"])
            .args([format!("--merge-base={merge_base}")])
            .args([base.id().as_str(), head.id().as_str()])
            .run(b"")?;
        let clean = match ended.code {
            Some(0) => true,
            Some(1) => false,
            _ => {
                let needed = self.merge_inputs(base, head, merge_base, Inputs::WithRenames)?;
                return Err(self.explain(doing, ended, needed.iter().chain([base.id(), head.id()])));
            }
        };
        let unreadable = |why: &str| GitError::Unreadable { doing, why: why.to_owned() };
        let body = ended.stdout.strip_suffix(b"\0").ok_or_else(|| unreadable("it does not end with NUL"))?;
        let mut parts = body.split(|b| *b == 0);
        let tree = parts.next().and_then(|id| std::str::from_utf8(id).ok()?.parse().ok());
        let tree = tree.ok_or_else(|| unreadable("it does not begin with a tree"))?;
        let paths: Vec<_> = parts.map(BytePath::new).collect();
        match (clean, paths.is_empty()) {
            (true, true) => Ok(Merged::Tree(tree)),
            (false, _) => Ok(Merged::Conflict { paths }),
            (true, false) => Err(unreadable("a clean merge names conflicts")),
        }
    }

    /// The blobs whose contents a merge reads.
    pub(super) fn merge_inputs(
        &self,
        base: &BaseSha,
        head: &HeadSha,
        merge_base: &MergeBase,
        inputs: Inputs,
    ) -> Result<BTreeSet<ObjectId>, GitError> {
        let ours = self.rows(merge_base.id(), base.id())?;
        let theirs = self.rows(merge_base.id(), head.id())?;
        let touched: BTreeSet<_> = ours.iter().map(PathChange::path).collect();
        let both: BTreeSet<_> = theirs.iter().map(PathChange::path).filter(|path| touched.contains(path)).collect();
        let read = |row: &&PathChange| {
            let one_sided = row.old.is_none() || row.new.is_none();
            both.contains(row.path()) || (inputs == Inputs::WithRenames && one_sided)
        };
        let sides = ours.iter().chain(&theirs).filter(read).flat_map(|row| row.old.iter().chain(&row.new));
        Ok(sides.filter(|side| side.mode != Mode::SUBMODULE).map(|side| side.blob.clone()).collect())
    }

    /// Names the missing object behind a failure, if there is one.
    fn explain<'a>(
        &self,
        doing: &'static str,
        ended: Ended,
        needed: impl IntoIterator<Item = &'a ObjectId>,
    ) -> GitError {
        match self.missing(needed) {
            Ok(missing) => missing
                .into_iter()
                .next()
                .map_or_else(|| ended.into_error(doing), |id| GitError::MissingObject { doing, id }),
            Err(error) => error,
        }
    }
}

/// Refuses a git that is missing or too old.
pub fn require_git() -> Result<(), GitError> {
    require_version(Limits::default().local_time)
}

/// Refuses a git that ignores `GIT_NO_LAZY_FETCH`. Asked once per process.
pub(super) fn require_version(time: Duration) -> Result<(), GitError> {
    static NEW_ENOUGH: OnceLock<()> = OnceLock::new();
    if NEW_ENOUGH.get().is_some() {
        return Ok(());
    }
    let ended = Call::inside(Path::new("/"), "asking git for its version", time, 4096).args(["version"]).run(b"")?;
    let text = String::from_utf8_lossy(&ended.stdout);
    let found = text.trim().trim_start_matches("git version ");
    let mut numbers = found.split('.').map_while(|part| part.parse::<u32>().ok());
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (2, 45) {
        NEW_ENOUGH.get_or_init(|| ());
        Ok(())
    } else {
        Err(GitError::TooOld { found: found.chars().take(60).collect() })
    }
}

/// Lines of full object ids.
pub(super) fn ids(bytes: &[u8], doing: &'static str) -> Result<Vec<ObjectId>, GitError> {
    let text = std::str::from_utf8(bytes).unwrap_or("?");
    let parsed = text.lines().map(str::parse).collect::<Result<_, _>>();
    parsed.map_err(|error: crate::words::NotAWord| GitError::Unreadable { doing, why: error.to_string() })
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|b| *b == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// A line of `objects/info/alternates`; quoted, so that no byte of the path has a meaning of its own.
fn quoted(path: &Path) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()) {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            0..32 | 127.. => line.extend(format!("\\{byte:03o}").bytes()),
            _ => line.push(*byte),
        }
    }
    line.extend(b"\"\n");
    line
}
