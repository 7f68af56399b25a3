//! Who reviewed a pull request, whose its commits are, and who set its labels.
//!
//! Facts: <https://docs.github.com/en/rest/pulls/reviews#list-reviews-for-a-pull-request> (in the order of time),
//! <https://docs.github.com/en/rest/pulls/pulls#list-commits-on-a-pull-request> (at most 250),
//! <https://docs.github.com/en/rest/issues/events#list-issue-events> (oldest first; what an event is about names no head)

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::answer::tame;
use super::client::{GitHub, next_page};
use super::tokens::Scope;
use crate::forge::{Account, ForgeError, PullCommit, Review, ReviewState};
use crate::words::{InstallationId, ObjectId, PullNumber, RepoRef};

/// More pages than these are an error and not a shorter list.
const MOST_PAGES: usize = 50;

const REVIEWS: &str = "list the reviews";
const COMMITS: &str = "list the pull request's commits";
const EVENTS: &str = "list the pull request's events";

#[derive(Deserialize)]
struct AccountShape {
    id: u64,
    login: String,
    r#type: Option<String>,
}

#[derive(Deserialize)]
struct ReviewShape {
    user: Option<AccountShape>,
    state: String,
    commit_id: Option<String>,
    submitted_at: Option<String>,
}

/// `author` and `committer` are null, or `{}`, where no account has the address.
#[derive(Deserialize)]
struct CommitShape {
    sha: String,
    commit: SignedShape,
    author: Option<Maybe>,
    committer: Option<Maybe>,
}

#[derive(Deserialize)]
struct SignedShape {
    author: Option<SignatureShape>,
    committer: Option<SignatureShape>,
}

#[derive(Deserialize)]
struct SignatureShape {
    email: Option<String>,
}

#[derive(Deserialize)]
struct Maybe {
    id: Option<u64>,
    login: Option<String>,
    r#type: Option<String>,
}

#[derive(Deserialize)]
struct EventShape {
    event: String,
    actor: Option<AccountShape>,
    label: Option<LabelShape>,
}

#[derive(Deserialize)]
struct LabelShape {
    name: String,
}

impl GitHub {
    /// [`crate::forge::Forge::label_setter`]. GitHub takes two labels for one that differ in case alone.
    pub(super) async fn label_setter_of(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        label: &str,
    ) -> Result<Option<Account>, ForgeError> {
        let path = ["issues", &pull.to_string(), "events"];
        let events: Vec<EventShape> = self.all_of(repo, installation, &path, EVENTS).await?;
        let about =
            |event: &EventShape| event.label.as_ref().is_some_and(|of| of.name.to_lowercase() == label.to_lowercase());
        let newest =
            events.into_iter().rfind(|event| matches!(event.event.as_str(), "labeled" | "unlabeled") && about(event));
        Ok(newest.filter(|event| event.event == "labeled").and_then(|event| event.actor).map(AccountShape::account))
    }

    /// [`crate::forge::Forge::reviews`]
    pub(super) async fn reviews_of(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Vec<Review>, ForgeError> {
        let shapes: Vec<ReviewShape> =
            self.all_of(repo, installation, &["pulls", &pull.to_string(), "reviews"], REVIEWS).await?;
        let read = shapes.into_iter().map(ReviewShape::review).collect::<Result<Vec<_>, _>>()?;
        Ok(read.into_iter().flatten().collect())
    }

    /// [`crate::forge::Forge::pull_commits`]
    pub(super) async fn commits_of(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Vec<PullCommit>, ForgeError> {
        let shapes: Vec<CommitShape> =
            self.all_of(repo, installation, &["pulls", &pull.to_string(), "commits"], COMMITS).await?;
        shapes.into_iter().map(CommitShape::commit).collect()
    }

    async fn all_of<T: DeserializeOwned>(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        path: &[&str],
        doing: &'static str,
    ) -> Result<Vec<T>, ForgeError> {
        let key = self.key(repo, installation, Scope::Read).await?;
        let mut url = self.repo_url(repo, path);
        url.query_pairs_mut().append_pair("per_page", "100");
        let mut all = Vec::new();
        for _ in 0..MOST_PAGES {
            let answer = self.get(key, url.clone(), doing).await?;
            all.extend(answer.json::<Vec<T>>(doing)?);
            let Some(next) = next_page(&url, &answer.headers) else { return Ok(all) };
            url = next;
        }
        Err(ForgeError::GiveUp { doing, why: format!("more than {MOST_PAGES} pages; the list would not be whole") })
    }
}

impl ReviewShape {
    /// `None` for one whose account is gone.
    fn review(self) -> Result<Option<Review>, ForgeError> {
        let state = match self.state.to_ascii_uppercase().as_str() {
            "APPROVED" => ReviewState::Approved,
            "CHANGES_REQUESTED" => ReviewState::ChangesRequested,
            "DISMISSED" => ReviewState::Dismissed,
            "COMMENTED" => ReviewState::Commented,
            "PENDING" => ReviewState::Pending,
            _ => return Err(unusable(REVIEWS, "state", &self.state)),
        };
        let commit = self.commit_id.as_deref().filter(|id| !id.is_empty());
        let commit = commit.map(|id| id.parse().map_err(|_| unusable(REVIEWS, "commit_id", id))).transpose()?;
        let submitted = self.submitted_at;
        Ok(self.user.map(|user| Review { author: user.account(), state, commit, submitted }))
    }
}

impl CommitShape {
    fn commit(self) -> Result<PullCommit, ForgeError> {
        let sha: ObjectId = self.sha.parse().map_err(|_| unusable(COMMITS, "sha", &self.sha))?;
        let side = |account: Option<Maybe>, signature: Option<SignatureShape>| {
            (account.and_then(Maybe::account), signature.and_then(|signature| signature.email).unwrap_or_default())
        };
        Ok(PullCommit {
            sha,
            author: side(self.author, self.commit.author),
            committer: side(self.committer, self.commit.committer),
        })
    }
}

impl Maybe {
    fn account(self) -> Option<Account> {
        Some(AccountShape { id: self.id?, login: self.login?, r#type: self.r#type }.account())
    }
}

impl AccountShape {
    /// An account whose kind is not told is no person.
    fn account(self) -> Account {
        let is_bot = self.r#type.as_deref() != Some("User") || self.login.ends_with("[bot]");
        Account { id: self.id, login: self.login, is_bot }
    }
}

fn unusable(doing: &'static str, field: &'static str, text: &str) -> ForgeError {
    ForgeError::GiveUp {
        doing,
        why: format!("GitHub's `{field}` is {:?}, which this version does not know", tame(text, None)),
    }
}
