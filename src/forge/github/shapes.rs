//! GitHub's JSON, as far as we read it: few fields, words kept as text until they are known (R91).
//!
//! Facts: <https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request> and <https://docs.github.com/en/rest/checks/runs>

use std::str::FromStr;

use serde::Deserialize;

use super::answer::tame;
use crate::forge::{Account, ForgeError, PostedRun, Pull, PullState};
use crate::words::{BaseSha, HeadSha, PullNumber, RepoName, RepositoryId, RunId};

/// A pull request.
#[derive(Deserialize)]
pub(super) struct PullShape {
    number: u64,
    state: String,
    draft: Option<bool>,
    head: HeadShape,
    base: BaseShape,
    user: Option<UserShape>,
    #[serde(default)]
    labels: Vec<LabelShape>,
    changed_files: u64,
}

#[derive(Deserialize)]
struct HeadShape {
    sha: String,
    r#ref: String,
    repo: Option<RepoShape>,
}

#[derive(Deserialize)]
struct BaseShape {
    r#ref: String,
    repo: RepoShape,
}

#[derive(Deserialize)]
struct RepoShape {
    id: u64,
    full_name: String,
}

#[derive(Deserialize)]
struct UserShape {
    id: u64,
    login: String,
    r#type: Option<String>,
}

impl UserShape {
    /// An account whose kind is not told is no person.
    fn account(self) -> Account {
        let is_bot = self.r#type.as_deref() != Some("User") || self.login.ends_with("[bot]");
        Account { id: self.id, login: self.login, is_bot }
    }
}

#[derive(Deserialize)]
struct LabelShape {
    name: String,
}

impl PullShape {
    /// The repository that the answer is about; its name may have been given to another repository since (R87).
    pub(super) fn repository(&self) -> RepositoryId {
        RepositoryId(self.base.repo.id)
    }

    pub(super) fn into_pull(self, doing: &'static str) -> Result<Pull, ForgeError> {
        let state = match self.state.as_str() {
            "open" => PullState::Open,
            "closed" => PullState::Closed,
            other => return Err(unknown(doing, "state", other)),
        };
        Ok(Pull {
            number: PullNumber(self.number),
            state,
            draft: self.draft.unwrap_or(false),
            head: word::<HeadSha>(doing, "head.sha", &self.head.sha)?,
            head_branch: self.head.r#ref,
            head_repo: self
                .head
                .repo
                .map(|repo| word::<RepoName>(doing, "head.repo.full_name", &repo.full_name))
                .transpose()?,
            base_branch: self.base.r#ref,
            // GitHub shows the account "ghost" where the author's was deleted, and null in the API.
            author: self
                .user
                .map_or_else(|| Account { id: 0, login: "ghost".to_owned(), is_bot: true }, UserShape::account),
            labels: self.labels.into_iter().map(|label| label.name).collect(),
            changed_files: self.changed_files,
            repo_name: word::<RepoName>(doing, "base.repo.full_name", &self.base.repo.full_name)?,
        })
    }
}

/// A reference: <https://docs.github.com/en/rest/git/refs#get-a-reference>.
#[derive(Deserialize)]
pub(super) struct RefShape {
    r#ref: String,
    object: ObjectShape,
}

#[derive(Deserialize)]
struct ObjectShape {
    r#type: String,
    sha: String,
}

impl RefShape {
    /// The commit that this branch, and no other, points to.
    pub(super) fn into_tip(self, doing: &'static str, branch: &str) -> Result<BaseSha, ForgeError> {
        if self.r#ref.strip_prefix("refs/heads/") != Some(branch) {
            return Err(unknown(doing, "ref", &self.r#ref));
        }
        if self.object.r#type != "commit" {
            return Err(unknown(doing, "object.type", &self.object.r#type));
        }
        word(doing, "object.sha", &self.object.sha)
    }
}

/// One page of check runs.
#[derive(Deserialize)]
pub(super) struct RunsShape {
    pub(super) check_runs: Vec<RunShape>,
}

/// A check run.
#[derive(Deserialize)]
pub(super) struct RunShape {
    pub(super) id: u64,
    name: String,
    head_sha: String,
    external_id: Option<String>,
    status: String,
    conclusion: Option<String>,
    app: Option<AppShape>,
    output: Option<OutputShape>,
}

#[derive(Deserialize)]
struct AppShape {
    id: u64,
}

#[derive(Deserialize)]
struct OutputShape {
    annotations_count: Option<usize>,
}

impl RunShape {
    /// Whether our App made it under our name. A name alone proves nothing: any workflow may use it.
    pub(super) fn is_ours(&self, app: u64, name: &str) -> bool {
        self.app.as_ref().is_some_and(|made_by| made_by.id == app) && self.name == name
    }

    /// How many annotations GitHub has taken for it.
    pub(super) fn annotations(&self) -> usize {
        self.output.as_ref().and_then(|output| output.annotations_count).unwrap_or(0)
    }

    /// Whether work on it has begun and not ended.
    pub(super) fn is_in_progress(&self) -> bool {
        self.status == "in_progress"
    }

    pub(super) fn into_posted(self, doing: &'static str) -> Result<PostedRun, ForgeError> {
        let completed = match self.status.as_str() {
            "completed" => true,
            "queued" | "in_progress" | "waiting" | "requested" | "pending" => false,
            other => return Err(unknown(doing, "status", other)),
        };
        Ok(PostedRun {
            id: RunId(self.id),
            head: word::<HeadSha>(doing, "head_sha", &self.head_sha)?,
            external_id: self.external_id.filter(|id| !id.is_empty()),
            completed,
            conclusion: self.conclusion,
        })
    }
}

fn word<T: FromStr>(doing: &'static str, field: &'static str, text: &str) -> Result<T, ForgeError> {
    text.parse().map_err(|_| unknown(doing, field, text))
}

fn unknown(doing: &'static str, field: &'static str, value: &str) -> ForgeError {
    let why = format!("GitHub's `{field}` is {:?}, which this version does not know", tame(value, None));
    ForgeError::GiveUp { doing, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull(change: impl FnOnce(&mut serde_json::Value)) -> Result<Pull, ForgeError> {
        let mut json = serde_json::json!({
            "number": 7, "state": "open", "draft": true, "changed_files": 3, "user": { "id": 1, "login": "octocat", "type": "User" },
            "labels": [{ "name": "evidence-edit" }],
            "head": { "sha": "a".repeat(40), "ref": "feature", "repo": { "id": 2, "full_name": "fork/widgets" } },
            "base": { "sha": "b".repeat(40), "ref": "main", "repo": { "id": 1, "full_name": "acme/widgets" } },
        });
        change(&mut json);
        serde_json::from_value::<PullShape>(json).expect("the shape").into_pull("read the pull request")
    }

    #[test]
    fn a_deleted_fork_and_a_deleted_author_are_read() {
        let read = pull(|json| {
            json["head"]["repo"] = serde_json::Value::Null;
            json["user"] = serde_json::Value::Null;
        })
        .expect("nulls are documented");
        assert_eq!((read.head_repo, read.author.login.as_str()), (None, "ghost"));
    }

    #[test]
    fn a_word_that_github_invents_is_named_and_not_guessed() {
        let error = pull(|json| json["state"] = "merging".into()).expect_err("no such state");
        assert!(error.to_string().contains("`state` is \"merging\""), "{error}");
        let error = pull(|json| json["head"]["sha"] = "abc".into()).expect_err("no object id");
        assert!(error.to_string().contains("`head.sha`"), "{error}");
    }

    #[test]
    fn a_run_with_an_unknown_status_is_no_run_that_waits() {
        let run = serde_json::json!({ "id": 1, "name": "n", "head_sha": "a".repeat(40), "status": "paused" });
        let run: RunShape = serde_json::from_value(run).expect("the shape");
        assert!(!run.is_ours(1, "n"));
        assert!(matches!(run.into_posted("list"), Err(ForgeError::GiveUp { .. })));
    }
}
