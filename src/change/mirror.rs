//! A bare repository of ours per repository of a forge, filled with exactly what a judgement needs.

mod branch;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret as _;

use super::error::GitError;
use super::git::{Git, Inputs, Limits, ids, require_version};
use super::process::{Call, Ended};
use crate::forge::Remote;
use crate::words::{BaseSha, ForgeKind, HeadSha, MergeBase, ObjectId, RepositoryId};

/// A commit that a job is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Exactly this commit.
    pub sha: ObjectId,
    /// The full name of the remote's ref that should hold it, such as `refs/pull/7/head` or `refs/heads/main`. Asked only when
    /// the remote does not give out the commit by its id, and then it must hold exactly this commit.
    pub reference: String,
}

/// The mirror of one repository. It holds commits and trees, and the contents of those blobs that someone asked for; nothing is
/// ever checked out.
///
/// One process at a time fetches into a mirror (a lock file beside it); readers need no lock, since a [`Git`] keeps its own
/// idea of where history is cut off and nothing is ever removed here. Credentials reach git through the environment of one
/// process and are stored nowhere.
#[derive(Debug)]
pub struct Mirror {
    dir: PathBuf,
    lock: PathBuf,
    scratch: PathBuf,
    limits: Limits,
}

/// All that a mirror's git is told about itself. The remote is named here, so that git marks what it fetches as incomplete on
/// purpose; its address and credentials come with each fetch.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tlogAllRefUpdates = false\n\
    [extensions]\n\tpartialClone = forge\n\
    [remote \"forge\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\
    [gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

/// Under these refs every fetched tip stays alive; the name of each is the commit itself, and its being there says that the
/// commit and its trees are complete.
const KEEP: &str = "refs/evidence-gate/keep/";

const FETCHING: &str = "fetching the pull request";

impl Mirror {
    /// Opens the mirror of a repository below the data directory, and makes an empty one where there is none.
    pub fn open(data_dir: &Path, forge: ForgeKind, repository: RepositoryId) -> Result<Self, GitError> {
        Self::open_with(data_dir, forge, repository, Limits::default())
    }

    /// As [`Mirror::open`], with other limits.
    pub fn open_with(
        data_dir: &Path,
        forge: ForgeKind,
        repository: RepositoryId,
        limits: Limits,
    ) -> Result<Self, GitError> {
        require_version(limits.local_time)?;
        let folder = std::path::absolute(data_dir)
            .map_err(|source| GitError::Disk {
                doing: "finding the data directory",
                path: data_dir.to_owned(),
                source,
            })?
            .join("mirrors")
            .join(forge.as_str());
        let mirror = Self {
            dir: folder.join(format!("{repository}.git")),
            lock: folder.join(format!("{repository}.lock")),
            scratch: folder.join("scratch"),
            limits,
        };
        let make = |path: PathBuf| {
            std::fs::create_dir_all(&path).map_err(|source| GitError::Disk {
                doing: "making the mirror's folder",
                path,
                source,
            })
        };
        make(mirror.scratch.clone())?;
        let _held = mirror.hold()?;
        for part in ["objects/pack", "objects/info", "refs"] {
            make(mirror.dir.join(part))?;
        }
        for (name, text) in [("config", CONFIG), ("HEAD", "ref: refs/heads/none\n")] {
            let path = mirror.dir.join(name);
            if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
                continue;
            }
            std::fs::write(&path, text).map_err(|source| GitError::Disk { doing: "writing", path, source })?;
        }
        Ok(mirror)
    }

    /// The mirror as a repository to read from, as it is now.
    pub fn git(&self) -> Result<Git, GitError> {
        Git::over(&self.dir.join("objects"), &self.dir, false, Some(&self.scratch), self.limits)
    }

    /// Brings base and head here, with as much history as makes the merge base certain, and the contents that merging them
    /// reads. Returns the repository in which [`Git::change`] now has all it needs.
    pub fn fetch_change(&self, remote: &Remote, base: &Want, head: &Want) -> Result<Git, GitError> {
        let held = self.hold()?;
        let (base_sha, head_sha) = (BaseSha(base.sha.clone()), HeadSha(head.sha.clone()));
        let mut depth = Some(self.limits.first_depth);
        let mut present = self.keeps(&base.sha)? && self.keeps(&head.sha)?;
        let (git, bases) = loop {
            if !present {
                self.fetch_wants(remote, &[base.clone(), head.clone()], depth)?;
            }
            let git = self.git()?;
            match git.merge_bases(&base_sha, &head_sha) {
                Ok(bases) => break (git, bases),
                Err(GitError::Shallow { .. }) if depth.is_some() => {}
                Err(error) => return Err(error),
            }
            if !present {
                depth = depth.and_then(|depth| depth.checked_mul(8)).filter(|d| *d < self.limits.first_depth * 512);
            }
            present = false;
        };
        drop(held);
        if let [only] = &bases[..] {
            let merge_base = MergeBase(only.clone());
            for inputs in [Inputs::BothSides, Inputs::WithRenames] {
                self.ensure_blobs(remote, &git.merge_inputs(&base_sha, &head_sha, &merge_base, inputs)?)?;
                match git.merged_tree(&base_sha, &head_sha, &merge_base) {
                    Err(GitError::MissingObject { .. }) if inputs == Inputs::BothSides => {}
                    Err(error) => return Err(error),
                    Ok(_) => break,
                }
            }
        }
        Ok(git)
    }

    /// Brings more of a tip's history here: `depth` commits, or all. Returns the repository with it.
    pub fn deepen(&self, remote: &Remote, tip: &Want, depth: Option<u32>) -> Result<Git, GitError> {
        let _held = self.hold()?;
        self.fetch_wants(remote, std::slice::from_ref(tip), depth)?;
        self.git()
    }

    /// Brings single commits with their trees here, without their history where the mirror has none.
    pub fn fetch(&self, remote: &Remote, wants: &[Want]) -> Result<(), GitError> {
        let _held = self.hold()?;
        let mut absent = Vec::new();
        for want in wants {
            if !self.keeps(&want.sha)? {
                absent.push(want.clone());
            }
        }
        if absent.is_empty() { Ok(()) } else { self.fetch_wants(remote, &absent, Some(1)) }
    }

    /// Brings the contents of blobs here, all that are absent in one fetch. Afterwards every one of them can be read, or the
    /// error names one that cannot.
    pub fn ensure_blobs<'a>(
        &self,
        remote: &Remote,
        blobs: impl IntoIterator<Item = &'a ObjectId>,
    ) -> Result<(), GitError> {
        let doing = "fetching contents";
        let wanted: BTreeSet<_> = blobs.into_iter().collect();
        let _held = self.hold()?;
        let git = self.git()?;
        let absent = git.missing(wanted)?;
        if absent.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for id in &absent {
            lines.extend([id.as_str(), "\n"]);
        }
        // There is nothing to negotiate about a blob, and telling the remote what we have would cost a walk over history.
        let call = self.fetch_call(remote, doing)?.config("fetch.negotiationAlgorithm", "noop");
        let ended = call.args(["--stdin", "--end-of-options", "forge"]).run(lines.as_bytes())?;
        if ended.code != Some(0) {
            return Err(self.refusal(doing, ended));
        }
        match git.missing(&absent)?.into_iter().next() {
            Some(id) => Err(GitError::MissingObject { doing, id }),
            None => Ok(()),
        }
    }

    /// Waits for the lock; whoever holds it is bounded by the limit on fetches.
    fn hold(&self) -> Result<File, GitError> {
        let disk = |source| GitError::Disk { doing: "locking", path: self.lock.clone(), source };
        let file = File::options().create(true).append(true).open(&self.lock).map_err(disk)?;
        file.lock().map_err(disk)?;
        Ok(file)
    }

    fn keeps(&self, sha: &ObjectId) -> Result<bool, GitError> {
        let doing = "looking into the mirror";
        let ended = self
            .call(doing)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .args([format!("{KEEP}{sha}^{{commit}}")])
            .run(b"")?;
        Ok(ended.code == Some(0) && ids(&ended.stdout, doing)?.contains(sha))
    }

    /// Fetches by id, and by ref only where the remote gives out nothing that no ref names (protocol 0, some servers).
    fn fetch_wants(&self, remote: &Remote, wants: &[Want], depth: Option<u32>) -> Result<(), GitError> {
        let by_id = wants.iter().map(|want| format!("+{}:{KEEP}{}", want.sha, want.sha)).collect();
        let Some(refused) = self.fetch_refspecs(remote, by_id, depth)? else { return Ok(()) };
        let found = self.remote_refs(remote, wants)?;
        for (want, found) in wants.iter().zip(found) {
            match found {
                Some(found) if found == want.sha => {}
                Some(_) | None if self.keeps(&want.sha)? => {}
                found => {
                    return Err(GitError::HeadMoved {
                        reference: want.reference.clone(),
                        expected: want.sha.clone(),
                        found,
                    });
                }
            }
        }
        let by_ref = wants.iter().map(|want| format!("+{}:{KEEP}{}", want.reference, want.sha)).collect();
        if self.fetch_refspecs(remote, by_ref, depth)?.is_some() {
            return Err(refused);
        }
        for want in wants {
            if !self.keeps(&want.sha)? {
                // The ref moved between the question and the fetch: what came is not what its name says.
                self.forget(&want.sha)?;
                let (reference, expected) = (want.reference.clone(), want.sha.clone());
                return Err(GitError::HeadMoved { reference, expected, found: None });
            }
        }
        Ok(())
    }

    /// One fetch. `Some` is the remote's refusal to give out an object by its id.
    fn fetch_refspecs(
        &self,
        remote: &Remote,
        refspecs: Vec<String>,
        depth: Option<u32>,
    ) -> Result<Option<GitError>, GitError> {
        let cut_off = self.dir.join("shallow").exists();
        let empty = !self.has_refs();
        let call = self.fetch_call(remote, FETCHING)?;
        // A mirror with its whole history stays whole: a depth would cut it off again.
        let call = match depth {
            Some(depth) if cut_off || empty => call.args([format!("--depth={depth}")]),
            None if cut_off => call.args(["--unshallow"]),
            Some(_) | None => call,
        };
        let ended = call.args(["--end-of-options", "forge"]).args(refspecs).run(b"")?;
        if ended.code == Some(0) {
            return Ok(None);
        }
        match self.refusal(FETCHING, ended) {
            refused @ GitError::NotGivenOut { .. } => Ok(Some(refused)),
            error => Err(error),
        }
    }

    fn has_refs(&self) -> bool {
        self.dir.join(KEEP).exists() || self.dir.join("packed-refs").exists()
    }

    fn forget(&self, sha: &ObjectId) -> Result<(), GitError> {
        let doing = "removing a ref of the mirror";
        let ended = self.call(doing).args(["update-ref", "-d", &format!("{KEEP}{sha}")]).run(b"")?;
        if ended.code == Some(0) { Ok(()) } else { Err(ended.into_error(doing)) }
    }

    /// What the remote's refs hold, in the order of `wants`.
    fn remote_refs(&self, remote: &Remote, wants: &[Want]) -> Result<Vec<Option<ObjectId>>, GitError> {
        let doing = "asking the remote for its refs";
        let call = self.remote_call(remote, doing)?.args(["ls-remote", "--end-of-options", "forge"]);
        let ended = call.args(wants.iter().map(|want| want.reference.as_str())).run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        let text = String::from_utf8_lossy(&ended.stdout);
        let refs: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
        let at = |name: &str| refs.iter().find(|(_, full)| *full == name).and_then(|(id, _)| id.parse().ok());
        Ok(wants.iter().map(|want| at(&want.reference)).collect())
    }

    fn call(&self, doing: &'static str) -> Call {
        Call::inside(&self.dir, doing, self.limits.local_time, self.limits.output_bytes)
    }

    fn fetch_call(&self, remote: &Remote, doing: &'static str) -> Result<Call, GitError> {
        let call = self.remote_call(remote, doing)?.file_size(self.limits.pack_bytes).args(["fetch", "--quiet"]);
        let call = call.args(["--filter=blob:none", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]);
        Ok(call.args(["--refmap=", "--no-auto-maintenance", "--no-write-commit-graph"]))
    }

    /// A call that may speak to the remote. A redirect is not followed: it would carry the authorization to another address,
    /// and the job asks the forge for the repository's present name anyway.
    fn remote_call(&self, remote: &Remote, doing: &'static str) -> Result<Call, GitError> {
        let url = &remote.url;
        let plain = url.username().is_empty() && url.password().is_none();
        if !matches!(url.scheme(), "http" | "https") || !plain {
            return Err(GitError::Address { scheme: url.scheme().to_owned() });
        }
        let call = Call::inside(&self.dir, doing, self.limits.fetch_time, self.limits.output_bytes).network();
        let call = call
            .config("remote.forge.url", url.as_str())
            .config("http.followRedirects", "false")
            .config("http.lowSpeedLimit", "1000")
            .config("http.lowSpeedTime", "60")
            .config("credential.helper", "")
            .config("transfer.bundleURI", "false")
            .config("fetch.uriProtocols", "");
        match &remote.authorization {
            None => Ok(call),
            Some(value) if value.expose_secret().chars().any(char::is_control) => Err(GitError::Authorization),
            Some(value) => Ok(call.config("http.extraHeader", format!("Authorization: {}", value.expose_secret()))),
        }
    }

    fn refusal(&self, doing: &'static str, ended: Ended) -> GitError {
        let text = String::from_utf8_lossy(&ended.stderr);
        let after = |marker: &str| {
            let (_, rest) = text.split_once(marker)?;
            rest.split_whitespace().next()?.parse().ok()
        };
        let refused = after("Server does not allow request for unadvertised object ").or_else(|| after("not our ref "));
        match refused {
            Some(id) => GitError::NotGivenOut { id },
            // SIGXFSZ, as index-pack dies of it; the number is the same on every Linux.
            None if text.contains("signal 25") => GitError::TooMuch { doing, limit: self.limits.pack_bytes },
            None => ended.into_error(doing),
        }
    }
}
