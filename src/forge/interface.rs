//! What the worker asks of a forge.

use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;

use crate::words::{BaseSha, HeadSha, InstallationId, ObjectId, PullNumber, RepoName, RepoRef, Role, RunId};

/// One forge, spoken to with the credentials of one installation at a time. Every call carries its own authorization and may
/// mint a fresh token, so that no call depends on a token an earlier step used (R85).
#[async_trait]
pub trait Forge: Send + Sync + 'static {
    /// The pull request as the forge has it now.
    async fn pull(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Pull, ForgeError>;

    /// The tip of a branch now. A pull request's own `base.sha` may be the tip of an earlier day, so authority is read from here.
    async fn branch_tip(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        branch: &str,
    ) -> Result<BaseSha, ForgeError>;

    /// What somebody may do in the repository now, the highest of all that was granted. `None`: nothing, or no such account.
    ///
    /// A role that the forge's owner made counts as the built-in one that it builds on, rounded down. Whoever asks must take an
    /// error for `None` (R75).
    async fn role(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        login: &str,
    ) -> Result<Option<Role>, ForgeError>;

    /// Every review of a pull request, oldest first. Those of accounts that are gone are left out: nobody can be asked about them.
    async fn reviews(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Vec<Review>, ForgeError>;

    /// The commits of a pull request with the accounts that the forge knows them to be of. The forge may leave out the newest of
    /// very many (GitHub lists 250).
    async fn pull_commits(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Vec<PullCommit>, ForgeError>;

    /// Who set this label, as the forge's own history has it: the newest setting that was not taken back. `None`: nobody, or it cannot be
    /// told; then the label grants nothing.
    async fn label_setter(
        &self,
        _repo: &RepoRef,
        _installation: Option<InstallationId>,
        _pull: PullNumber,
        _label: &str,
    ) -> Result<Option<Account>, ForgeError> {
        Ok(None)
    }

    /// Where git reads the repository, and the header that lets it.
    async fn remote(&self, repo: &RepoRef, installation: Option<InstallationId>) -> Result<Remote, ForgeError>;

    /// Creates a run that is queued, and never sends the request twice.
    ///
    /// After [`ForgeError::Retry`] it may or may not exist: the answer may have been lost on its way. Before the next try ask
    /// [`Forge::find_run`] for the same `external_id` and go on with what it finds.
    async fn open_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        run: &NewRun,
    ) -> Result<RunId, ForgeError>;

    /// The newest run of ours on this head that carries this `external_id`, if there is one.
    async fn find_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        head: &HeadSha,
        external_id: &str,
    ) -> Result<Option<PostedRun>, ForgeError>;

    /// The newest run under our check name on this head, made by our App (R33). `None`: there is none.
    async fn newest_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        head: &HeadSha,
    ) -> Result<Option<PostedRun>, ForgeError>;

    /// Changes a run of ours that is not completed; the run's present state is read first, and a completed one is never
    /// reopened and never gets another conclusion (R31): that is [`ForgeError::GiveUp`].
    ///
    /// Safe to call again after [`ForgeError::Retry`]: a completion that was cut off half-way goes on with the annotations
    /// that the forge has not taken yet, and one that is done does nothing.
    async fn update_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        run: RunId,
        update: &RunUpdate,
    ) -> Result<(), ForgeError>;
}

/// A pull request's present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Its number.
    pub number: PullNumber,
    /// Open or not.
    pub state: PullState,
    /// Whether it is a draft. Drafts are scored.
    pub draft: bool,
    /// The tip.
    pub head: HeadSha,
    /// The name of the head branch. The author's word: scope only, never authority.
    pub head_branch: String,
    /// The head's repository; `None` when the fork is gone: an untrusted fork all the same (R63).
    pub head_repo: Option<RepoName>,
    /// The name of the target branch.
    pub base_branch: String,
    /// Who opened it.
    pub author: Account,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// The number of changed files, as a cross-check.
    pub changed_files: u64,
    /// The repository's present name, read from the answer (R87).
    pub repo_name: RepoName,
}

/// Whether a pull request still waits for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullState {
    /// Open.
    Open,
    /// Closed or merged.
    Closed,
}

/// Somebody's review of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Who.
    pub author: Account,
    /// What it says now; a review that was dismissed says that.
    pub state: ReviewState,
    /// The head that it was given on; `None` where the forge does not know it any more.
    pub commit: Option<ObjectId>,
    /// When, as the forge writes it; `None` for one that is not given yet.
    pub submitted: Option<String>,
}

/// What a review says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// Yes.
    Approved,
    /// No.
    ChangesRequested,
    /// It was taken back.
    Dismissed,
    /// Neither.
    Commented,
    /// It is not given yet.
    Pending,
}

/// An account of the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its number, which stays when it is renamed.
    pub id: u64,
    /// Its name.
    pub login: String,
    /// Whether it is no person.
    pub is_bot: bool,
}

/// A commit of a pull request, as the forge knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullCommit {
    /// The commit.
    pub sha: ObjectId,
    /// Its author: the account, where the forge knows one, and the address.
    pub author: (Option<Account>, String),
    /// Who committed it.
    pub committer: (Option<Account>, String),
}

/// Where git reads a repository.
#[derive(Clone, Debug)]
pub struct Remote {
    /// An address without user information.
    pub url: url::Url,
    /// The value of the `Authorization` header; reaches git through its environment only.
    pub authorization: Option<SecretString>,
    /// The ref, in the target repository, under which the forge keeps the head of pull request N.
    pub head_ref: fn(PullNumber) -> String,
}

/// A run to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The commit that it is about.
    pub head: HeadSha,
    /// The evaluation's id (R35).
    pub external_id: String,
    /// Title and summary while it waits.
    pub output: Output,
}

/// The text of a run. Every text is already cut to the forge's limits by `report/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// One line.
    pub title: String,
    /// Markdown, at most 65,000 bytes.
    pub summary: String,
    /// Markdown, at most 65,000 bytes.
    pub text: Option<String>,
}

/// A change of a run that is not completed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one is made for each posting, and none is kept")]
pub enum RunUpdate {
    /// Work has begun.
    Started,
    /// The end. The forge's client sends the annotations in batches: a blocking conclusion goes with the first batch, a
    /// success only with the last (R43). An output that the forge refuses (422) is replaced once by `fallback` (R42), without
    /// annotations and buttons. If only annotations behind a conclusion are refused, the report stands without them.
    Completed {
        /// What branch protection sees.
        conclusion: Conclusion,
        /// The report.
        output: Output,
        /// Lines to mark.
        annotations: Vec<Annotation>,
        /// A body under 1 kB that cannot be refused for its size.
        fallback: Output,
        /// At most three.
        buttons: Vec<Button>,
        /// The address of a page that shows more, where there is one.
        details: Option<String>,
    },
}

/// The conclusions that we publish. The ones that satisfy a required check without a success are not here, so that they cannot
/// be sent (R25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Satisfies a required check.
    Success,
    /// Does not.
    Failure,
    /// Does not; a person must do something.
    ActionRequired,
}

/// A marked range of lines in the head's version of a file (R45).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// A path that exists at head.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// At least `line`.
    pub end_line: u32,
    /// How it looks.
    pub level: AnnotationLevel,
    /// At most 255 characters.
    pub title: String,
    /// At most 64 kB.
    pub message: String,
}

/// How an annotation looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationLevel {
    /// For information.
    Notice,
    /// Holds.
    Warning,
    /// Rejects.
    Failure,
}

/// A button on a completed run (R46): label of at most 20 characters, description of at most 40, identifier of at most 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Button {
    /// What it says.
    pub label: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What comes back in `requested_action`.
    pub identifier: &'static str,
}

/// A run as the forge shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedRun {
    /// Its number; the largest is the newest.
    pub id: RunId,
    /// The commit.
    pub head: HeadSha,
    /// Our evaluation's id, if it has one.
    pub external_id: Option<String>,
    /// Whether it is completed.
    pub completed: bool,
    /// The forge's word for the conclusion, as it is.
    pub conclusion: Option<String>,
}

/// Why a forge could not answer. The text never holds a token, a body or an address with user information.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgeError {
    /// Try again, not before `after`: a limit, a fault of the network or of the forge, a token that was too fresh.
    #[error("{doing}: {why}")]
    Retry {
        /// The step.
        doing: &'static str,
        /// What the forge said, or what failed.
        why: String,
        /// How long to wait at least.
        after: Duration,
    },
    /// It will not work by trying again: a permission that is missing, a suspended installation, an answer of unknown shape.
    #[error("{doing}: {why}")]
    GiveUp {
        /// The step.
        doing: &'static str,
        /// What is missing, and where it is granted.
        why: String,
    },
    /// The pull request, repository or commit is not there, or not for us to see (404).
    #[error("{doing}: not there, or not visible to the App")]
    NotFound {
        /// The step.
        doing: &'static str,
    },
}
