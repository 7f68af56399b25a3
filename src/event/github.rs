//! GitHub's spelling of events.
//!
//! Bodies are read leniently: only the fields named here, unknown ones passed over, since a third of the real bodies break the
//! published schemas. What is read must be whole: a sha that is none, or two fields that contradict each other, refuse the body.

use serde::Deserialize;
use serde::de::DeserializeSeed;

use super::malformed::JsonFault;
use super::shape::{Kind, Promise, Top, TopOf, Word, promise};
use super::{Cause, Errand, Event, Ignored, Malformed, Task, Trigger, Way};
use crate::words::{ForgeKind, InstallationId, NotAWord, PullNumber, RepoRef, RepositoryId};

/// What the body of this event asks for.
pub(super) fn read(event: &str, body: &[u8]) -> Result<Event, Malformed> {
    match (event, promise(event)) {
        ("pull_request", _) => pull_request(body),
        (REVIEW, Some(promise)) => {
            let action = top(event, body, promise)?.action().map(cut);
            review(action.unwrap_or_default(), body)
        }
        (_, Some(promise)) if super::life::reads(event) => {
            let top = top(event, body, promise)?;
            let action = top.action().map(cut);
            super::life::read(event, action, body)
        }
        ("ping", Some(promise)) => top(event, body, promise).map(|_| Event::Ignored(Ignored::Ping)),
        (_, Some(promise)) => Ok(Event::Ignored(match top(event, body, promise)?.action() {
            Some(action) => Ignored::Action { event: event.to_owned(), action: cut(action) },
            None => Ignored::Event(event.to_owned()),
        })),
        (_, None) => top(event, body, &[]).map(|_| Event::Ignored(Ignored::Event(event.to_owned()))),
    }
}

/// The top of the body, if it keeps the promise of its event.
fn top<'a>(event: &str, body: &'a [u8], promise: Promise) -> Result<Top<'a>, Malformed> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let top = TopOf(promise).deserialize(&mut reader).map_err(|error| unreadable(event, &error))?;
    reader.end().map_err(|error| unreadable(event, &error))?;
    match top.broken(promise) {
        Some(missing) => Err(Malformed::Missing { event: event.to_owned(), missing }),
        None => Ok(top),
    }
}

pub(super) fn unreadable(event: &str, error: &serde_json::Error) -> Malformed {
    Malformed::Json { event: event.to_owned(), source: JsonFault::of(error) }
}

const PULL_REQUEST: &str = "pull_request";
const REVIEW: &str = "pull_request_review";

/// The fields of a `pull_request` body that are read. The last four belong to other events: a body that carries one was
/// signed for another header.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct PullRequestBody<'a> {
    #[serde(borrow)]
    action: Option<Word<'a>>,
    number: Option<u64>,
    #[serde(borrow)]
    pull_request: Option<Pull<'a>>,
    #[serde(borrow)]
    repository: Option<Repository<'a>>,
    installation: Option<Installation>,
    changes: Option<Changes>,
    review: Option<Kind>,
    comment: Option<Kind>,
    thread: Option<Kind>,
    check_run: Option<Kind>,
    #[serde(borrow)]
    label: Option<Label<'a>>,
    #[serde(borrow)]
    sender: Option<Sender<'a>>,
}

/// Of `labeled` and `unlabeled`.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Label<'a> {
    #[serde(borrow)]
    name: Word<'a>,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Sender<'a> {
    id: u64,
    #[serde(borrow)]
    login: Word<'a>,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Pull<'a> {
    number: u64,
    #[serde(borrow)]
    head: Head<'a>,
    base: Base,
}

/// The head's `repo` is not read: it is null once the fork is deleted, and the commits are fetched from the base anyway.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Head<'a> {
    #[serde(borrow)]
    sha: Word<'a>,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Base {
    repo: Option<RepositoryNumber>,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct RepositoryNumber {
    id: u64,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Repository<'a> {
    id: u64,
    #[serde(borrow)]
    full_name: Word<'a>,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Installation {
    id: u64,
}

/// What an `edited` changed. Title and body are passed over.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Changes {
    base: Option<Kind>,
}

/// Why this action makes us look at the pull request, or why it does not.
fn cause(action: &str, changes: Option<&Changes>) -> Result<Cause, Ignored> {
    match action {
        "opened" => Ok(Cause::Opened),
        "reopened" => Ok(Cause::Reopened),
        "synchronize" => Ok(Cause::Pushed),
        "edited" if changes.is_some_and(|changes| changes.base.is_some()) => Ok(Cause::Retargeted),
        "edited" => Err(Ignored::BaseUnchanged),
        "ready_for_review" | "converted_to_draft" => Ok(Cause::DraftFlipped),
        "closed" => Ok(Cause::Closed),
        other => Err(Ignored::Action { event: PULL_REQUEST.to_owned(), action: cut(other) }),
    }
}

/// The fields of a `pull_request_review` body that are read. Who reviewed is not: that is asked of the forge.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct ReviewBody<'a> {
    #[serde(borrow)]
    review: ReviewState<'a>,
    #[serde(borrow)]
    pull_request: Pull<'a>,
    #[serde(borrow)]
    repository: Option<Repository<'a>>,
    installation: Option<Installation>,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct ReviewState<'a> {
    #[serde(borrow)]
    state: Option<Word<'a>>,
}

/// <https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request_review>
fn review(action: String, body: &[u8]) -> Result<Event, Malformed> {
    if !matches!(action.as_str(), "submitted" | "edited" | "dismissed") {
        return Ok(Event::Ignored(Ignored::Action { event: REVIEW.to_owned(), action }));
    }
    let body: ReviewBody<'_> = serde_json::from_slice(body).map_err(|error| unreadable(REVIEW, &error))?;
    let missing = || Malformed::Missing { event: REVIEW.to_owned(), missing: "repository" };
    let repository = body.repository.ok_or_else(missing)?;
    let Pull { number, head, base } = body.pull_request;
    if base.repo.is_some_and(|base| base.id != repository.id) {
        let (one, other) = ("repository.id", "pull_request.base.repo.id");
        return Err(Malformed::Disagree { event: REVIEW.to_owned(), one, other });
    }
    let field = |field| move |source| Malformed::Field { event: REVIEW.to_owned(), field, source };
    let head = head.sha.0.parse().map_err(field("pull_request.head.sha"))?;
    let name = repository.full_name.0.parse().map_err(field("repository.full_name"))?;
    if action != "dismissed" && body.review.state.is_some_and(|state| state.0 == "commented") {
        return Ok(Event::Ignored(Ignored::OnlyComments));
    }
    Ok(Event::Trigger(Trigger {
        installation: body.installation.map(|installation| InstallationId(installation.id)),
        repository: RepoRef { forge: ForgeKind::Github, id: RepositoryId(repository.id), name },
        pull: PullNumber(number),
        head: Some(head),
        cause: Cause::Reviewed,
    }))
}

fn pull_request(body: &[u8]) -> Result<Event, Malformed> {
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(Malformed::Json { event: PULL_REQUEST.to_owned(), source: JsonFault::list() });
    }
    let body: PullRequestBody<'_> = serde_json::from_slice(body).map_err(|error| unreadable(PULL_REQUEST, &error))?;
    body.has_nothing_of_another_event()?;
    let missing = |missing| move || Malformed::Missing { event: PULL_REQUEST.to_owned(), missing };
    let action = body.action.ok_or_else(missing("action"))?;
    let number = body.number.ok_or_else(missing("number"))?;
    let pull = body.pull_request.ok_or_else(missing("pull_request"))?;
    let repository = body.repository.ok_or_else(missing("repository"))?;
    if pull.number != number {
        return Err(disagree("number", "pull_request.number"));
    }
    if pull.base.repo.is_some_and(|base| base.id != repository.id) {
        return Err(disagree("repository.id", "pull_request.base.repo.id"));
    }
    let head = pull.head.sha.0.parse().map_err(|source| not_a_word("pull_request.head.sha", source))?;
    let name = repository.full_name.0.parse().map_err(|source| not_a_word("repository.full_name", source))?;
    let installation = body.installation.map(|installation| InstallationId(installation.id));
    let repository = RepoRef { forge: ForgeKind::Github, id: RepositoryId(repository.id), name };
    if let Some(way) = way(&action.0) {
        let label = body.label.ok_or_else(missing("label"))?.name.0.into_owned();
        let sender = body.sender.ok_or_else(missing("sender"))?;
        let task = Task::Labelled { pull: PullNumber(number), head, label, account: sender.id, way };
        let (repository, by) = (Some(repository), Some(sender.login.0.into_owned()));
        return Ok(Event::Errand(Errand { installation, repository, by, task }));
    }
    Ok(match cause(&action.0, body.changes.as_ref()) {
        Err(ignored) => Event::Ignored(ignored),
        Ok(cause) => {
            Event::Trigger(Trigger { installation, repository, pull: PullNumber(number), head: Some(head), cause })
        }
    })
}

fn way(action: &str) -> Option<Way> {
    match action {
        "labeled" => Some(Way::Set),
        "unlabeled" => Some(Way::Removed),
        _ => None,
    }
}

impl PullRequestBody<'_> {
    fn has_nothing_of_another_event(&self) -> Result<(), Malformed> {
        let foreign = [
            ("review", &self.review),
            ("comment", &self.comment),
            ("thread", &self.thread),
            ("check_run", &self.check_run),
        ];
        match foreign.into_iter().find(|(_, value)| value.is_some()) {
            Some((foreign, _)) => Err(Malformed::Foreign { event: PULL_REQUEST.to_owned(), foreign }),
            None => Ok(()),
        }
    }
}

fn disagree(one: &'static str, other: &'static str) -> Malformed {
    Malformed::Disagree { event: PULL_REQUEST.to_owned(), one, other }
}

fn not_a_word(field: &'static str, source: NotAWord) -> Malformed {
    Malformed::Field { event: PULL_REQUEST.to_owned(), field, source }
}

/// An action as it is kept beside the delivery: GitHub's are short, so a long one is cut.
fn cut(action: &str) -> String {
    action.chars().take(60).collect()
}
