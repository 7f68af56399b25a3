//! The language in which the stories are told.
//!
//! A [`Gate`] is the shipped program as an operator runs it: `receive` as one process, `work --drain` as another, one
//! configuration file, one data directory; and beside it a [`FakeForge`]. A story changes the forge's state, delivers what
//! happened, drains the queue and looks at the check runs. [`Gate::end`] is strict: what the story did not expect fails it.
#![expect(clippy::disallowed_methods, reason = "the shipped program is started here, as an operator starts it")]

mod labels;
mod maps;
mod pages;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::fake_forge::store::{Edit, Mode};
use crate::fake_forge::{APP, FORK, FakeForge, Happening, Pull, Review, Run, Signed, WIDGETS};

pub use crate::fake_forge::{Fault, Held, Route};
pub use pages::{Page, Pages};

/// What a process may take at most before the story fails and tells its history.
const PATIENCE: Duration = Duration::from_mins(2);

/// The policy of a story that says nothing about policies.
pub const POLICY: &str = r#"schema = 1

[classes]
extends = ["python"]
product = ["src/**", "engine/**"]
"#;

/// The same without a word on `engine/`, which is then of no class.
pub const NARROW_POLICY: &str = r#"schema = 1

[classes]
extends = ["python"]
product = ["src/**"]
"#;

/// Where the policy stands.
pub const POLICY_PATH: &str = ".evidence-gate.toml";

/// A pull request, or one push to it: what it does to which paths. What it modifies, removes or renames is there at the base.
#[derive(Clone, Debug)]
pub struct Change {
    number: u64,
    edits: Vec<Edit>,
    base: BTreeMap<Vec<u8>, (Mode, Vec<u8>)>,
    fork: Fork,
    draft: bool,
    author: &'static str,
    branch: Option<&'static str>,
    message: &'static str,
}

/// Where the head branch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fork {
    None,
    Mallorys,
    MallorysDeleted,
}

/// Pull request `number`, which changes nothing yet.
pub fn pr(number: u64) -> Change {
    Change {
        number,
        edits: Vec::new(),
        base: BTreeMap::new(),
        fork: Fork::None,
        draft: false,
        author: "ada",
        branch: None,
        message: "change",
    }
}

impl Change {
    pub fn adds(self, path: impl AsRef<[u8]>) -> Self {
        self.writes(path, "added\n")
    }

    /// The file has this text at head, whatever it had before.
    pub fn writes(mut self, path: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> Self {
        let (path, bytes) = (path.as_ref().to_vec(), text.as_ref().to_vec());
        self.edits.push(Edit::Write { path, mode: Mode::File, bytes });
        self
    }

    pub fn modifies(self, path: impl AsRef<[u8]>) -> Self {
        self.with_base(path.as_ref(), "one\ntwo\nthree\n").writes(path, "one\ntwo, and more\nthree\n")
    }

    pub fn removes(self, path: impl AsRef<[u8]>) -> Self {
        let mut out = self.with_base(path.as_ref(), "one\ntwo\nthree\n");
        out.edits.push(Edit::Remove { path: path.as_ref().to_vec() });
        out
    }

    pub fn renames(self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Self {
        let mut out = self.with_base(from.as_ref(), format!("{}\n", String::from_utf8_lossy(from.as_ref())));
        out.edits.push(Edit::Rename { from: from.as_ref().to_vec(), to: to.as_ref().to_vec() });
        out
    }

    /// The path is, at head, a link to `target`.
    pub fn links(mut self, path: impl AsRef<[u8]>, target: &str) -> Self {
        let path = path.as_ref().to_vec();
        self.edits.push(Edit::Write { path, mode: Mode::Symlink, bytes: target.into() });
        self
    }

    /// The path is, at head, a commit of another repository.
    pub fn embeds(mut self, path: impl AsRef<[u8]>) -> Self {
        let path = path.as_ref().to_vec();
        self.edits.push(Edit::Write { path, mode: Mode::Submodule, bytes: "5".repeat(40).into() });
        self
    }

    pub fn makes_executable(self, path: impl AsRef<[u8]>) -> Self {
        let mut out = self.with_base(path.as_ref(), "one\ntwo\nthree\n");
        let (path, bytes) = (path.as_ref().to_vec(), b"one\ntwo\nthree\n".to_vec());
        out.edits.push(Edit::Write { path, mode: Mode::Executable, bytes });
        out
    }

    /// The base has this file.
    pub fn with_base(mut self, path: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> Self {
        self.base.insert(path.as_ref().to_vec(), (Mode::File, text.as_ref().to_vec()));
        self
    }

    pub fn by_a_fork(mut self) -> Self {
        self.fork = Fork::Mallorys;
        self.author = "mallory";
        self
    }

    pub fn by_a_deleted_fork(mut self) -> Self {
        self.fork = Fork::MallorysDeleted;
        self.author = "mallory";
        self
    }

    /// What the message of the commit is.
    pub fn saying(mut self, message: &'static str) -> Self {
        self.message = message;
        self
    }

    pub fn in_draft(mut self) -> Self {
        self.draft = true;
        self
    }
}

pub fn opened(pull: u64) -> Happening {
    Happening::Opened(pull)
}

pub fn reopened(pull: u64) -> Happening {
    Happening::Reopened(pull)
}

pub fn closed(pull: u64) -> Happening {
    Happening::Closed(pull)
}

pub fn retitled(pull: u64) -> Happening {
    Happening::Retitled(pull)
}

/// A world before the gate is started in it.
pub struct World {
    policy: Option<String>,
    pulls: Vec<Change>,
    labels: Vec<(&'static str, u64, &'static str)>,
    base: BTreeMap<Vec<u8>, (Mode, Vec<u8>)>,
    variables: BTreeMap<String, String>,
    app_key: Option<String>,
    receiver: bool,
}

impl World {
    pub fn pull(mut self, pull: Change) -> Self {
        self.base.extend(pull.base.clone());
        self.pulls.push(pull);
        self
    }

    /// The policy at the base.
    pub fn policy(mut self, text: &str) -> Self {
        self.policy = Some(text.to_owned());
        self
    }

    pub fn without_policy(mut self) -> Self {
        self.policy = None;
        self
    }

    pub fn with_base(mut self, path: &str, text: &str) -> Self {
        self.base.insert(path.into(), (Mode::File, text.into()));
        self
    }

    /// A variable of the operator's, such as `WORK__LEASE`.
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(format!("EVIDENCE_GATE_{name}"), value.to_owned());
        self
    }

    /// What stands in the App's key file instead of a key.
    pub fn app_key(mut self, text: &str) -> Self {
        self.app_key = Some(text.to_owned());
        self
    }

    /// The story starts the receiver itself, or needs none.
    pub fn without_receiver(mut self) -> Self {
        self.receiver = false;
        self
    }

    pub async fn start(self) -> Gate {
        Gate::start(self).await
    }
}

/// The shipped program and the forge that it serves.
pub struct Gate {
    pub forge: FakeForge,
    folder: tempfile::TempDir,
    variables: BTreeMap<String, String>,
    receiver: Option<Process>,
    logs: Vec<(String, Lines)>,
    client: reqwest::Client,
    expected_errors: Vec<String>,
    open_runs: bool,
    waiting_jobs: bool,
    ended: bool,
}

impl Gate {
    /// A world with one pull request, and everything else as [`Gate::world`] has it.
    pub async fn with(pull: Change) -> Self {
        Self::world().pull(pull).start().await
    }

    /// `acme/widgets` with [`POLICY`] at the base and no pull request.
    pub fn world() -> World {
        World {
            policy: Some(POLICY.to_owned()),
            pulls: Vec::new(),
            labels: Vec::new(),
            base: BTreeMap::from([(b"README.md".to_vec(), (Mode::File, b"# widgets\n".to_vec()))]),
            variables: BTreeMap::new(),
            app_key: None,
            receiver: true,
        }
    }

    async fn start(world: World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let forge = FakeForge::start(folder.path().join("forge")).await;
        let mut base: Vec<Edit> =
            world.base.into_iter().map(|(path, (mode, bytes))| Edit::Write { path, mode, bytes }).collect();
        if let Some(text) = &world.policy {
            base.push(Edit::Write { path: POLICY_PATH.into(), mode: Mode::File, bytes: text.clone().into() });
        }
        forge.store().commit("acme/widgets", "main", &[], &base);
        let mut gate = Self {
            forge,
            folder,
            variables: world.variables,
            receiver: None,
            logs: Vec::new(),
            client: reqwest::Client::new(),
            expected_errors: Vec::new(),
            open_runs: false,
            waiting_jobs: false,
            ended: false,
        };
        for pull in world.pulls {
            gate.open(&pull);
        }
        for (who, number, label) in world.labels {
            gate.labels(who, number, label);
        }
        gate.write_configuration(world.app_key);
        if world.receiver {
            gate.start_receiver().await;
        }
        gate
    }

    fn write_configuration(&self, app_key: Option<String>) {
        let at = |name: &str| self.folder.path().join(name);
        let (key, secret) = {
            let state = self.forge.state();
            (app_key.unwrap_or_else(|| state.app.key.private_pem.clone()), state.app.hook_secret.clone())
        };
        std::fs::write(at("app.pem"), key).unwrap();
        std::fs::write(at("secret"), secret).unwrap();
        let origin = self.forge.origin();
        let text = format!(
            r#"data_dir = "{data}"

[receive]
listen = "127.0.0.1:0"

[github]
app_id = {APP}
api_url = "{origin}"
git_url = "{origin}"
private_key_file = "{key}"
webhook_secret_files = ["{secret}"]
check_name = "evidence-gate"
write_interval = "0s"

[work]
lease = "60s"
head_agreement = "1s"
poll = "100ms"
"#,
            data = self.data().display(),
            key = at("app.pem").display(),
            secret = at("secret").display(),
        );
        std::fs::write(self.config(), text).unwrap();
    }

    /// The data directory of the program.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The configuration file of the program.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("evidence-gate.toml")
    }

    /// From now on the program runs with another value, such as `("GITHUB__API_URL", …)`.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(format!("EVIDENCE_GATE_{name}"), value.to_owned());
    }

    // What happens on the forge.

    /// Opens a pull request, and delivers nothing.
    pub fn open(&mut self, change: &Change) {
        let base = self.tip("main");
        let from = if change.fork == Fork::None { "acme/widgets" } else { "mallory/widgets" };
        let branch = change.branch.map_or_else(|| format!("change-{}", change.number), ToOwned::to_owned);
        if from != "acme/widgets" {
            self.forge.store().carry("acme/widgets", from, &base);
        }
        let head = self.forge.store().commit_saying(change.message, from, &branch, &[&base], &change.edits);
        let owner = from.split_once('/').unwrap().0.to_owned();
        let head_repo = match change.fork {
            Fork::None => Some(WIDGETS),
            Fork::Mallorys => Some(FORK),
            Fork::MallorysDeleted => None,
        };
        let pull = Pull {
            id: 800_000 + change.number,
            author: change.author.to_owned(),
            title: format!("Change {}", change.number),
            open: true,
            merged: false,
            draft: change.draft,
            labels: Vec::new(),
            base_branch: "main".to_owned(),
            base,
            head_branch: branch,
            head: head.clone(),
            head_repo,
            head_owner: owner,
            changed_files: 0,
        };
        self.forge.state().pulls.insert((WIDGETS, change.number), pull);
        self.publish_head(change.number, &head);
    }

    /// Pushes one more commit to the pull request.
    pub fn push(&mut self, change: &Change) -> Happening {
        let head = self.head(change.number);
        self.push_onto(change, &head)
    }

    /// Replaces all commits of the pull request by one.
    pub fn force_push(&mut self, change: &Change) -> Happening {
        let base = self.pull(change.number).base;
        self.push_onto(change, &base)
    }

    fn push_onto(&mut self, change: &Change, parent: &str) -> Happening {
        let pull = self.pull(change.number);
        let repo = format!("{}/widgets", pull.head_owner);
        let head = self.forge.store().commit(&repo, &pull.head_branch, &[parent], &change.edits);
        self.publish_head(change.number, &head);
        Happening::Pushed { pull: change.number, before: pull.head }
    }

    /// Sets the pull request's head to a commit with these parents, made by the edits of `change` on the first.
    pub fn merge_into_head(&mut self, change: &Change, parents: &[&str]) -> Happening {
        let pull = self.pull(change.number);
        let repo = format!("{}/widgets", pull.head_owner);
        let head = self.forge.store().commit(&repo, &pull.head_branch, parents, &change.edits);
        self.publish_head(change.number, &head);
        Happening::Pushed { pull: change.number, before: pull.head }
    }

    /// The same for a branch of `acme/widgets`.
    pub fn merge_into(&mut self, branch: &str, change: &Change, parents: &[&str]) -> String {
        self.forge.store().commit("acme/widgets", branch, parents, &change.edits)
    }

    /// `acme/widgets` has another name; requests for the old one are redirected.
    pub fn rename_repository(&mut self, name: &str) {
        self.forge.store().rename("acme/widgets", &format!("acme/{name}"));
        let mut state = self.forge.state();
        state.note(format!("acme/widgets is acme/{name} now"));
        let repo = state.repos.get_mut(&WIDGETS).unwrap();
        repo.former_names.push("acme/widgets".to_owned());
        name.clone_into(&mut repo.name);
    }

    /// Commits to a branch of `acme/widgets`, and answers the commit. A branch that is new begins at `main`.
    pub fn commit_to(&mut self, branch: &str, change: &Change) -> String {
        let parent = self.try_tip(branch).unwrap_or_else(|| self.tip("main"));
        self.forge.state().note(format!("a commit to {branch}"));
        self.forge.store().commit("acme/widgets", branch, &[&parent], &change.edits)
    }

    /// The same, with the delivery that tells of it.
    pub fn push_to(&mut self, branch: &str, change: &Change) -> Happening {
        let before = self.tip(branch);
        let after = self.commit_to(branch, change);
        Happening::BasePushed { branch: branch.to_owned(), before, after }
    }

    /// Somebody writes a comment on the pull request; answers its number.
    pub fn says(&mut self, who: &str, number: u64, text: &str) -> u64 {
        let mut state = self.forge.state();
        state.note(format!("{who} says on #{number}: {text:?}"));
        state.write_comment(WIDGETS, number, Some(who), text)
    }

    /// Somebody reviews the head as it is now.
    pub fn reviews(&mut self, who: &str, number: u64, word: &'static str) -> Happening {
        let commit = self.head(number);
        let mut state = self.forge.state();
        state.note(format!("{who} reviews #{number}: {word}"));
        let id = 5_001 + state.reviews.len() as u64;
        let author = who.to_owned();
        state.reviews.push(Review { id, repo: WIDGETS, pull: number, author, state: word, commit });
        Happening::Reviewed(id)
    }

    /// Every review of somebody is dismissed; answers the delivery about the last.
    pub fn dismisses(&mut self, who: &str, number: u64) -> Happening {
        let mut state = self.forge.state();
        state.note(format!("the reviews of {who} on #{number} are dismissed"));
        let mut last = 0;
        for review in state.reviews.iter_mut().filter(|review| review.pull == number && review.author == who) {
            review.state = "DISMISSED";
            last = review.id;
        }
        Happening::ReviewDismissed(last)
    }

    /// What somebody may do from now on: `permission` and `role_name`.
    pub fn has_role(&self, who: &str, role: (&'static str, &'static str)) {
        self.forge.state().roles.insert((WIDGETS, who.to_owned()), role);
    }

    /// What the App put on a comment.
    pub fn reactions(&self, comment: u64) -> Vec<String> {
        self.forge.state().comments[&comment].reactions.iter().cloned().collect()
    }

    /// What the App wrote on the pull request.
    pub fn bot_comments(&self, number: u64) -> Vec<String> {
        let state = self.forge.state();
        let ours = state.comments.values().filter(|comment| comment.issue == number && comment.author.is_none());
        ours.map(|comment| comment.body.clone()).collect()
    }

    /// A second pull request with the head of another.
    pub fn copy_pull(&mut self, from: u64, to: u64) {
        let mut pull = self.pull(from);
        pull.id = 800_000 + to;
        let head = pull.head.clone();
        self.forge.state().pulls.insert((WIDGETS, to), pull);
        self.publish_head(to, &head);
    }

    /// The merge queue builds these changes of open pull requests on top of each other; the delivery is about the last.
    pub fn queue_up(&mut self, changes: &[&Change]) -> Happening {
        let base = self.tip("main");
        let mut tip = base.clone();
        let mut reference = String::new();
        for change in changes {
            let branch = format!("gh-readonly-queue/main/pr-{}-{tip}", change.number);
            tip = self.forge.store().commit("acme/widgets", &branch, &[&tip, &self.head(change.number)], &change.edits);
            reference = format!("refs/heads/{branch}");
        }
        Happening::GroupFormed { branch: "main".to_owned(), base, head: tip, reference }
    }

    /// The commit that a merge group would make the tip of its branch.
    #[expect(clippy::unused_self, reason = "it reads as everything else that is asked of a gate")]
    pub fn group_head(&self, group: &Happening) -> String {
        let Happening::GroupFormed { head, .. } = group else { panic!("{group:?} is no merge group") };
        head.clone()
    }

    /// Points the pull request at another branch.
    pub fn retarget(&mut self, number: u64, branch: &str) -> Happening {
        let tip = self.tip(branch);
        let mut state = self.forge.state();
        let pull = state.pulls.get_mut(&(WIDGETS, number)).unwrap();
        let (from_branch, from_sha) = (pull.base_branch.clone(), pull.base.clone());
        branch.clone_into(&mut pull.base_branch);
        pull.base = tip;
        Happening::Retargeted { pull: number, from_branch, from_sha }
    }

    /// Closes the pull request.
    pub fn close(&mut self, number: u64) -> Happening {
        self.change_pull(number, |pull| pull.open = false);
        closed(number)
    }

    /// Changes what the forge shows of the pull request.
    pub fn change_pull(&self, number: u64, change: impl FnOnce(&mut Pull)) {
        change(self.forge.state().pulls.get_mut(&(WIDGETS, number)).unwrap());
    }

    fn publish_head(&self, number: u64, head: &str) {
        let pull = self.pull(number);
        let from = format!("{}/widgets", pull.head_owner);
        if from != "acme/widgets" {
            self.forge.store().carry(&from, "acme/widgets", head);
        }
        self.forge.store().set_ref("acme/widgets", &format!("refs/pull/{number}/head"), head);
        // The forge shows the base as it was when the head last moved.
        let base = self.tip(&pull.base_branch);
        let changed_files = self.forge.store().changed_files("acme/widgets", &base, head);
        let mut state = self.forge.state();
        state.note(format!("the head of #{number} is {head}"));
        let pull = state.pulls.get_mut(&(WIDGETS, number)).unwrap();
        head.clone_into(&mut pull.head);
        pull.base = base;
        pull.changed_files = changed_files;
    }

    /// The tip of a branch of `acme/widgets`.
    pub fn tip(&self, branch: &str) -> String {
        self.try_tip(branch).unwrap_or_else(|| panic!("acme/widgets has no branch {branch:?}"))
    }

    fn try_tip(&self, branch: &str) -> Option<String> {
        self.forge.store().read_ref("acme/widgets", &format!("refs/heads/{branch}"))
    }

    /// The pull request as the forge has it.
    pub fn pull(&self, number: u64) -> Pull {
        self.forge.state().pulls[&(WIDGETS, number)].clone()
    }

    /// The tip of the pull request.
    pub fn head(&self, number: u64) -> String {
        self.pull(number).head
    }

    // What the forge delivers.

    /// Signs what happened, from the state as it is now.
    pub fn sign(&self, what: &Happening) -> Signed {
        what.sign(&self.forge.state(), WIDGETS)
    }

    /// Delivers what happened. The receiver must take it.
    pub async fn deliver(&self, what: Happening) -> Signed {
        let signed = self.sign(&what);
        let status = self.send(&signed).await;
        assert!((200..300).contains(&status), "the receiver did not take the delivery of {what:?}\n{}", self.told());
        signed
    }

    /// Sends a delivery, and answers the receiver's status.
    pub async fn send(&self, signed: &Signed) -> u16 {
        let to = self.address("/webhooks/github");
        let sent = timeout(PATIENCE, signed.request(&self.client, &to, APP).send()).await;
        let status = sent.expect("the receiver answers in time").expect("the receiver answers").status().as_u16();
        self.forge.state().note(format!("delivered {} {} -> {status}", signed.event, signed.id));
        status
    }

    /// Reads a page of the receiver.
    pub async fn get(&self, path: &str) -> (u16, String) {
        let answer = self.client.get(self.address(path)).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Where the receiver answers.
    pub fn address(&self, path: &str) -> url::Url {
        let bound = std::fs::read_to_string(self.data().join("receive.addr")).expect("the receiver wrote its address");
        format!("http://{}{path}", bound.trim()).parse().unwrap()
    }

    // The processes.

    /// Starts `receive`, and returns when it listens.
    pub async fn start_receiver(&mut self) {
        let _stale = std::fs::remove_file(self.data().join("receive.addr"));
        let process = self.spawn("receive", &[]);
        self.until_it_listens(&process).await;
        self.receiver = Some(process);
    }

    /// Returns when the receiver has written where it listens.
    pub async fn until_it_listens(&self, process: &Process) {
        let address = self.data().join("receive.addr");
        let listens = || std::fs::read_to_string(&address).is_ok_and(|text| !text.trim().is_empty());
        let waited = timeout(PATIENCE, process.lines.until(listens)).await;
        assert!(waited == Ok(true), "the receiver does not listen\n{}", self.told());
    }

    /// Kills the receiver as `kill -9` does.
    pub async fn kill_receiver(&mut self) {
        self.receiver.take().expect("a receiver runs").kill().await;
    }

    /// Asks the receiver to stop, as an operator does, and answers how it ended.
    pub async fn stop_receiver(&mut self) -> ExitStatus {
        let receiver = self.receiver.take().expect("a receiver runs");
        receiver.terminate();
        receiver.ended(|| self.told()).await
    }

    /// Works until the queue is empty.
    pub async fn drain(&mut self) {
        let work = self.start_work();
        self.finish(work).await;
    }

    /// Looks for what was missed, and works until the queue is empty.
    pub async fn reconcile(&mut self) {
        let work = self.spawn("work", &["--drain", "--reconcile"]);
        self.finish(work).await;
    }

    /// Everything that the store knows happened an hour ago.
    pub async fn make_old(&self) {
        self.by_hand("UPDATE evaluations SET started = started - 3600000000").await.unwrap();
    }

    /// Runs a statement in the program's database; an error is told in words.
    pub async fn by_hand(&self, sql: &'static str) -> Result<(), String> {
        let store = Store::open(&self.data()).await;
        sqlx::query(sql).execute(&store.0).await.map(drop).map_err(|error| error.to_string())
    }

    /// A file at the tip of a branch of `acme/widgets`.
    pub fn file_at(&self, branch: &str, path: &str) -> String {
        self.forge.store().read_file("acme/widgets", &format!("refs/heads/{branch}"), path)
    }

    /// What `evidence-gate audit` prints.
    pub async fn audit(&self, arguments: &[&str]) -> String {
        let arguments: Vec<&str> = ["audit"].into_iter().chain(arguments.iter().copied()).collect();
        let out = self.run(&arguments).await;
        assert!(out.status.success(), "`audit`: {}\n{}", String::from_utf8_lossy(&out.stderr), self.told());
        String::from_utf8(out.stdout).unwrap()
    }

    /// Waits until a worker has emptied the queue.
    pub async fn finish(&mut self, work: Process) {
        let status = work.ended(|| self.told()).await;
        assert!(status.success(), "`work --drain` ended with {status}\n{}", self.told());
    }

    /// Works until the queue is empty, as if the pauses between two tries of a job were over at once.
    pub async fn drain_through_retries(&mut self) {
        let work = self.start_work();
        self.finish_through_retries(work).await;
    }

    /// Lets every pause between two tries end at once, until the task is aborted.
    pub async fn hurry(&self) -> JoinHandle<()> {
        let store = Store::open(&self.data()).await;
        tokio::spawn(async move { store.keep_everything_due().await })
    }

    /// The same for a worker that was started before.
    pub async fn finish_through_retries(&mut self, work: Process) {
        let hurry = self.hurry().await;
        let status = work.ended(|| self.told()).await;
        hurry.abort();
        assert!(status.success(), "`work --drain` ended with {status}\n{}", self.told());
    }

    /// What `evidence-gate queue list` says.
    pub async fn queue(&self) -> String {
        let out = self.run(&["queue", "list"]).await;
        assert!(out.status.success(), "`queue list`: {}\n{}", String::from_utf8_lossy(&out.stderr), self.told());
        String::from_utf8(out.stdout).unwrap()
    }

    /// Runs one command of the program to its end, with this gate's configuration.
    pub async fn run(&self, arguments: &[&str]) -> std::process::Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
        command.args(arguments).arg("--config").arg(self.config());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(&self.variables);
        timeout(PATIENCE, command.kill_on_drop(true).output()).await.expect("the command ends in time").unwrap()
    }

    /// Starts `work --drain` and returns at once.
    pub fn start_work(&mut self) -> Process {
        self.spawn("work", &["--drain"])
    }

    /// Starts a role with more arguments.
    pub fn spawn(&mut self, role: &str, more: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
        command.arg(role).arg("--config").arg(self.config()).args(more);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(&self.variables);
        let name = format!("{role} ({})", self.logs.len() + 1);
        self.forge.state().note(format!("started {name}"));
        let process = Process::start(name.clone(), command);
        self.logs.push((name, process.lines.clone()));
        process
    }

    // What became of it.

    /// The newest check run on the pull request's head: the stations that it went through, and its title.
    pub fn check_run(&self, number: u64) -> String {
        let head = self.head(number);
        self.check_run_on(&head)
    }

    /// The same for any commit.
    pub fn check_run_on(&self, head: &str) -> String {
        let runs = self.runs_on(head);
        let Some(run) = runs.first() else { return "no check run".to_owned() };
        format!("{}\n{}", run.stations.join(" > "), run.title.as_deref().unwrap_or("(no title)"))
    }

    /// Every check run on a commit, newest first. They count as looked at.
    pub fn runs_on(&self, head: &str) -> Vec<Run> {
        let mut state = self.forge.state();
        for run in state.runs.values_mut().filter(|run| run.head == head) {
            run.seen = true;
        }
        state.runs_on(WIDGETS, head).into_iter().cloned().collect()
    }

    /// Every check run on the pull request's head, newest first. They count as looked at.
    pub fn runs(&self, number: u64) -> Vec<Run> {
        self.runs_on(&self.head(number))
    }

    /// The last station of the newest check run on the pull request's head, such as `completed/failure`.
    pub fn verdict(&self, number: u64) -> String {
        self.runs(number).first().and_then(|run| run.stations.last().cloned()).unwrap_or_else(|| "none".to_owned())
    }

    /// Every check run was expected.
    pub fn look_at_all_runs(&self) {
        self.forge.state().runs.values_mut().for_each(|run| run.seen = true);
    }

    /// Summary and text of the newest check run on the pull request's head.
    pub fn report(&self, number: u64) -> String {
        let runs = self.runs(number);
        let run = runs.first().expect("there is a check run");
        format!("{}\n{}", run.summary.as_deref().unwrap_or_default(), run.text.as_deref().unwrap_or_default())
    }

    /// What the story allows itself.
    ///
    /// The log may hold an error line with these words, and must.
    pub fn expect_error(&mut self, words: &str) {
        self.expected_errors.push(words.to_owned());
    }

    /// A check run may stay open: the story ends before the work does.
    pub fn leaves_runs_open(&mut self) {
        self.open_runs = true;
    }

    /// A job may stay in the queue: the story ends before the work does.
    pub fn leaves_jobs(&mut self) {
        self.waiting_jobs = true;
    }

    /// Everything that happened, for a person who looks for a reason.
    pub fn told(&self) -> String {
        let mut out = format!("\n--- the forge's history\n{}", self.forge.state().told());
        for (name, lines) in &self.logs {
            write!(out, "--- {name}\n{}", lines.text()).unwrap();
        }
        out
    }

    /// Everything that the processes wrote.
    pub fn log(&self) -> String {
        self.logs.iter().map(|(_, lines)| lines.text()).collect()
    }

    /// The strict end: the receiver stops cleanly, no job is left, no run is open or was not looked at, no error was logged that
    /// the story did not expect, the forge saw nothing that it does not forgive, and no secret was written anywhere.
    pub async fn end(mut self) {
        if self.receiver.is_some() {
            let status = self.stop_receiver().await;
            assert!(status.success(), "the receiver ended with {status}\n{}", self.told());
        }
        let mut faults = self.forge.state().violations.clone();
        faults.extend(
            self.forge.unused_faults().into_iter().map(|route| format!("no request met the fault at {route:?}")),
        );
        {
            let state = self.forge.state();
            for run in state.runs.values() {
                if !run.seen {
                    faults.push(format!("check run {} on {} was not expected: {:?}", run.id, run.head, run.title));
                }
                if run.status != "completed" && !self.open_runs {
                    faults.push(format!("check run {} was left {}", run.id, run.status));
                }
            }
        }
        let log = self.log();
        let is_error = |line: &&str| line.contains(" ERROR ") || line.contains("panicked at");
        for line in log.lines().filter(is_error) {
            if !self.expected_errors.iter().any(|words| line.contains(words)) {
                faults.push(format!("an error was logged: {line}"));
            }
        }
        for words in &self.expected_errors {
            if !log.lines().filter(is_error).any(|line| line.contains(words)) {
                faults.push(format!("no error was logged with {words:?}"));
            }
        }
        if self.data().join(STORE).exists() {
            let queue = self.queue().await;
            let jobs = queue.lines().next().unwrap_or_default();
            let clean = jobs.starts_with("0 queued") && jobs.contains(" 0 running") && jobs.contains(" 0 failed");
            if !clean && !self.waiting_jobs {
                faults.push(format!("jobs are left: {queue}"));
            }
        }
        faults.extend(self.spilled_secrets(&log));
        let told = self.told();
        self.ended = true;
        assert!(faults.is_empty(), "the story ended, and:\n  {}\n{told}", faults.join("\n  "));
    }

    /// Secrets that stand where none may stand: in a log, or in the data directory.
    fn spilled_secrets(&self, log: &str) -> Vec<String> {
        let mut secrets = Vec::new();
        {
            let state = self.forge.state();
            secrets.push(("the webhook secret", state.app.hook_secret.clone()));
            let key = state.app.key.private_pem.lines().nth(1).unwrap().to_owned();
            secrets.push(("the App's key", key));
            secrets.extend(state.tokens.keys().map(|token| ("an installation token", token.clone())));
        }
        let mut places = vec![("a log".to_owned(), log.as_bytes().to_vec())];
        for file in files_below(&self.data()) {
            places.push((file.display().to_string(), std::fs::read(&file).unwrap_or_default()));
        }
        let mut found = Vec::new();
        for (what, secret) in &secrets {
            for (place, bytes) in &places {
                if bytes.windows(secret.len()).any(|window| window == secret.as_bytes()) {
                    found.push(format!("{what} stands in {place}"));
                }
            }
        }
        found
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _nobody_reads = std::io::stderr().write_all(self.told().as_bytes());
        } else {
            assert!(self.ended, "the story has no strict end: call `gate.end().await`");
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

/// The program's own database, in its data directory.
const STORE: &str = "evidence-gate.sqlite";

/// A second connection to the program's database: the story's hand on the clock.
struct Store(sqlx::SqlitePool);

impl Store {
    async fn open(data: &Path) -> Self {
        let at = sqlx::sqlite::SqliteConnectOptions::new().filename(data.join(STORE));
        Self(sqlx::SqlitePool::connect_with(at.busy_timeout(Duration::from_secs(30))).await.unwrap())
    }

    /// Lets every pause end at once, until the task is dropped.
    async fn keep_everything_due(self) {
        let mut pulse = tokio::time::interval(Duration::from_millis(50));
        loop {
            pulse.tick().await;
            for statement in
                ["UPDATE jobs SET due = 0 WHERE state = 'queued'", "UPDATE errands SET due = 0 WHERE state = 'queued'"]
            {
                sqlx::query(statement).execute(&self.0).await.unwrap();
            }
        }
    }
}

/// A running role. It is killed when this value is dropped.
pub struct Process {
    name: String,
    child: tokio::process::Child,
    lines: Lines,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts a program whose output is kept.
    pub fn start(name: String, mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the program can be started");
        let lines = Lines::default();
        let stdout = child.stdout.take().unwrap();
        let stderr = child.stderr.take().unwrap();
        let readers = vec![tokio::spawn(lines.clone().follow(stdout)), tokio::spawn(lines.clone().follow(stderr))];
        Self { name, child, lines, readers }
    }

    /// What it wrote so far.
    pub fn text(&self) -> String {
        self.lines.text()
    }

    /// The first line that holds these words, once it was written.
    pub async fn says(&self, words: &str) -> String {
        let found = || self.lines.text().lines().find(|line| line.contains(words)).map(ToOwned::to_owned);
        let waited = timeout(PATIENCE, self.lines.until(|| found().is_some())).await;
        assert!(waited == Ok(true), "{} did not say {words:?}\n{}", self.name, self.text());
        found().expect("it was there a moment ago")
    }

    /// Writes to its standard input, which stays open.
    pub async fn tell(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().expect("the process was started with an open input");
        stdin.write_all(text.as_bytes()).await.unwrap();
    }

    /// Kills it as `kill -9` does, and waits until it is gone.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
        self.read_out().await;
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        let id = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        let id = id.expect("the process has not been waited for");
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    }

    /// Returns when it has ended.
    pub async fn over(&mut self) {
        self.child.wait().await.unwrap();
    }

    /// Waits for its end. One that does not end fails the story, which tells what it knows.
    pub async fn ended(mut self, told: impl Fn() -> String) -> ExitStatus {
        let Ok(status) = timeout(PATIENCE, self.child.wait()).await else {
            panic!("{} did not end in {PATIENCE:?}\n{}", self.name, told());
        };
        self.read_out().await;
        status.unwrap()
    }

    async fn read_out(&mut self) {
        for reader in self.readers.drain(..) {
            reader.await.unwrap();
        }
    }
}

/// Lines of a process as they come.
#[derive(Clone, Default)]
struct Lines(Arc<(Mutex<(String, bool)>, Notify)>);

impl Lines {
    async fn follow(self, from: impl tokio::io::AsyncRead + Unpin) {
        let mut lines = BufReader::new(from).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            let mut held = self.0.0.lock().unwrap();
            held.0.push_str(&String::from_utf8_lossy(&line));
            held.0.push('\n');
            drop(held);
            self.0.1.notify_one();
        }
        self.0.0.lock().unwrap().1 = true;
        self.0.1.notify_one();
    }

    fn text(&self) -> String {
        self.0.0.lock().unwrap().0.clone()
    }

    /// Returns true when `found` holds, looked at after each line; false when the process wrote its last without.
    async fn until(&self, found: impl Fn() -> bool) -> bool {
        loop {
            let over = self.0.0.lock().unwrap().1;
            if found() {
                return true;
            }
            if over {
                return false;
            }
            self.0.1.notified().await;
        }
    }
}
