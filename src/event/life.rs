//! GitHub's events about everything but the pull request itself: comments, buttons, pushes, merge groups, installations.
//!
//! The top of each body was held against its event's promise before; here the few fields are read that an errand needs.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::github::unreadable;
use super::{Errand, Event, Ignored, Malformed, Task, command};
use crate::words::{ForgeKind, InstallationId, NotAWord, PullNumber, RepoRef, RepositoryId};

/// Whether this room reads the event.
pub(super) fn reads(event: &str) -> bool {
    let ours = [
        "issue_comment",
        "check_run",
        "check_suite",
        "push",
        "merge_group",
        "installation",
        "installation_repositories",
        "repository",
    ];
    ours.contains(&event)
}

/// What the body asks for.
pub(super) fn read(event: &str, action: Option<String>, body: &[u8]) -> Result<Event, Malformed> {
    let action = action.unwrap_or_default();
    let task = match (event, action.as_str()) {
        ("issue_comment", "created") => return comment(body),
        ("check_run", "rerequested" | "requested_action") | ("check_suite", "rerequested") => {
            return button(event, body);
        }
        ("push", _) => return push(body),
        ("merge_group", "checks_requested") => return group(body),
        ("merge_group", "destroyed") => {
            let group = from::<GroupBody>(event, body)?.merge_group;
            let head = group.head_sha.parse().map_err(|source| field(event, "merge_group.head_sha", source))?;
            Task::GroupGone { head }
        }
        ("installation", "created" | "unsuspend" | "new_permissions_accepted")
        | ("installation_repositories", "added") => Task::Installed,
        ("installation", "deleted" | "suspend") => Task::Gone { repositories: Vec::new() },
        ("installation_repositories", "removed") => {
            let body: RemovedBody = from(event, body)?;
            Task::Gone { repositories: body.repositories_removed.into_iter().map(|repository| repository.id).collect() }
        }
        ("repository", "renamed" | "transferred" | "unarchived") => Task::CatchUp { branch: None },
        _ => return Ok(Event::Ignored(Ignored::Action { event: event.to_owned(), action })),
    };
    let head: Envelope = from(event, body)?;
    if matches!(task, Task::Gone { ref repositories } if repositories.is_empty() && event == "installation_repositories")
    {
        return Ok(Event::Ignored(Ignored::Action { event: event.to_owned(), action }));
    }
    let mut errand = head.errand(event, task)?;
    if !matches!(event, "repository" | "merge_group") {
        errand.repository = None;
    }
    Ok(Event::Errand(errand))
}

fn from<T: DeserializeOwned>(event: &str, body: &[u8]) -> Result<T, Malformed> {
    serde_json::from_slice(body).map_err(|error| unreadable(event, &error))
}

/// What stands around every event.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Envelope {
    repository: Option<Repository>,
    installation: Option<Numbered>,
    sender: Option<User>,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Repository {
    id: u64,
    full_name: String,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Numbered {
    id: u64,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct User {
    login: String,
    r#type: Option<String>,
}

impl Envelope {
    fn errand(self, event: &str, task: Task) -> Result<Errand, Malformed> {
        let repository = self.repository.map(|repository| {
            let name = repository.full_name.parse().map_err(|source| field(event, "repository.full_name", source))?;
            Ok(RepoRef { forge: ForgeKind::Github, id: RepositoryId(repository.id), name })
        });
        Ok(Errand {
            installation: self.installation.map(|installation| InstallationId(installation.id)),
            repository: repository.transpose()?,
            by: self.sender.map(|sender| sender.login),
            task,
        })
    }
}

#[derive(Deserialize)]
struct CommentBody {
    issue: Issue,
    comment: Comment,
}

#[derive(Deserialize)]
struct Issue {
    number: u64,
    state: Option<String>,
    pull_request: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Comment {
    id: u64,
    body: Option<String>,
    user: Option<User>,
    performed_via_github_app: Option<serde::de::IgnoredAny>,
}

/// The writer is the comment's own, since somebody else may edit a comment but nobody else creates it.
fn comment(body: &[u8]) -> Result<Event, Malformed> {
    const EVENT: &str = "issue_comment";
    let CommentBody { issue, comment } = from(EVENT, body)?;
    if issue.pull_request.is_none() || issue.state.as_deref() != Some("open") {
        return Ok(Event::Ignored(Ignored::NoOpenPull));
    }
    let person = comment.user.filter(|user| user.r#type.as_deref() == Some("User"));
    let (Some(user), None) = (person, comment.performed_via_github_app) else {
        return Ok(Event::Ignored(Ignored::Program));
    };
    let Some(said) = comment.body.as_deref().and_then(command) else {
        return Ok(Event::Ignored(Ignored::NoCommand));
    };
    let task = Task::Obey { pull: PullNumber(issue.number), comment: comment.id, command: said };
    let errand = from::<Envelope>(EVENT, body)?.errand(EVENT, task)?;
    Ok(Event::Errand(Errand { by: Some(user.login), ..errand }))
}

#[derive(Deserialize)]
struct ButtonBody {
    check_run: Option<Checked>,
    check_suite: Option<Checked>,
}

#[derive(Deserialize)]
struct Checked {
    head_sha: Option<String>,
    external_id: Option<String>,
    app: Option<Numbered>,
}

fn button(event: &str, body: &[u8]) -> Result<Event, Malformed> {
    let body_: ButtonBody = from(event, body)?;
    let (checked, name) = match event {
        "check_run" => (body_.check_run, "check_run.head_sha"),
        _ => (body_.check_suite, "check_suite.head_sha"),
    };
    let Some(Checked { head_sha: Some(head), external_id, app: Some(app) }) = checked else {
        return Ok(Event::Ignored(Ignored::ForeignButton));
    };
    let head = head.parse().map_err(|source| field(event, name, source))?;
    let external_id = external_id.filter(|id| !id.is_empty());
    let task = Task::Rescore { head, app: Some(app.id), external_id };
    Ok(Event::Errand(from::<Envelope>(event, body)?.errand(event, task)?))
}

#[derive(Deserialize)]
struct PushBody {
    r#ref: String,
    after: String,
}

/// Any branch may be some pull request's base; which ones are is asked of the forge.
fn push(body: &[u8]) -> Result<Event, Malformed> {
    const EVENT: &str = "push";
    let PushBody { r#ref: reference, after } = from(EVENT, body)?;
    let gone = after.bytes().all(|byte| byte == b'0');
    let branch =
        reference.strip_prefix("refs/heads/").filter(|branch| !gone && !branch.starts_with("gh-readonly-queue/"));
    let Some(branch) = branch else { return Ok(Event::Ignored(Ignored::NoBranch)) };
    let task = Task::CatchUp { branch: Some(branch.to_owned()) };
    Ok(Event::Errand(from::<Envelope>(EVENT, body)?.errand(EVENT, task)?))
}

#[derive(Deserialize)]
struct GroupBody {
    merge_group: Group,
}

#[derive(Deserialize)]
struct Group {
    head_sha: String,
    head_ref: String,
    base_ref: String,
    base_sha: String,
}

fn group(body: &[u8]) -> Result<Event, Malformed> {
    const EVENT: &str = "merge_group";
    let group = from::<GroupBody>(EVENT, body)?.merge_group;
    let branch = group.base_ref.strip_prefix("refs/heads/").unwrap_or(&group.base_ref).to_owned();
    let task = Task::JudgeGroup {
        head: group.head_sha.parse().map_err(|source| field(EVENT, "merge_group.head_sha", source))?,
        base: group.base_sha.parse().map_err(|source| field(EVENT, "merge_group.base_sha", source))?,
        reference: group.head_ref,
        branch,
    };
    Ok(Event::Errand(from::<Envelope>(EVENT, body)?.errand(EVENT, task)?))
}

#[derive(Deserialize)]
struct RemovedBody {
    #[serde(default)]
    repositories_removed: Vec<Numbered>,
}

fn field(event: &str, field: &'static str, source: NotAWord) -> Malformed {
    Malformed::Field { event: event.to_owned(), field, source }
}
