//! State -> the forge's JSON, with the fields that a client of the documented API may read.

use serde_json::{Value, json};

use super::auth::{PERMISSIONS, moment};
use super::people::{APP_LOGIN, OWNER, person};
use super::server::{APP, FULL_NAME, INSTALLATION, Inner, NAME, REPOSITORY};
use super::state::{Comment, Pull, Review, Run};

/// A simple user.
pub(super) fn user(login: &str) -> Value {
    let found = person(login);
    let (id, kind) = found.map_or((0, "User"), |person| (person.id, person.kind));
    json!({ "id": id, "login": login, "type": kind, "site_admin": false })
}

/// The one repository.
pub(super) fn repository() -> Value {
    json!({
        "id": REPOSITORY, "name": NAME, "full_name": FULL_NAME, "private": false, "fork": false, "owner": user(OWNER),
        "default_branch": "main", "visibility": "public", "archived": false, "disabled": false,
    })
}

/// The App.
pub(super) fn app() -> Value {
    let permissions: serde_json::Map<String, Value> =
        PERMISSIONS.iter().map(|(name, level)| ((*name).to_owned(), (*level).into())).collect();
    json!({ "id": APP, "slug": "evidence-gate", "name": "Evidence Gate", "owner": user(OWNER), "permissions": permissions })
}

/// The one installation.
pub(super) fn installation() -> Value {
    json!({
        "id": INSTALLATION, "account": user(OWNER), "app_id": APP, "app_slug": "evidence-gate", "target_type": "Organization",
        "repository_selection": "selected", "permissions": app()["permissions"], "suspended_at": null,
    })
}

/// A pull request, as the API and webhooks carry it.
pub(super) fn pull(pull: &Pull) -> Value {
    let side = |branch: &str, sha: &str| json!({ "label": format!("{OWNER}:{branch}"), "ref": branch, "sha": sha, "user": user(OWNER), "repo": repository() });
    let labels: Vec<Value> = pull.labels.iter().map(|name| json!({ "name": name })).collect();
    json!({
        "id": 600_000 + pull.number, "number": pull.number, "state": "open", "title": pull.title, "draft": false,
        "merged": false, "user": user(pull.author), "labels": labels, "changed_files": pull.changed_files,
        "head": side(&pull.head_branch, &pull.head), "base": side(&pull.base_branch, &pull.base),
    })
}

/// A check run. What was written is the App's own, since nobody else has a token.
pub(super) fn run(inner: &Inner, run: &Run) -> Value {
    let html = format!("{}/{FULL_NAME}/runs/{}", inner.origin, run.id);
    json!({
        "id": run.id, "name": run.name, "head_sha": run.head, "external_id": run.external_id, "status": run.status,
        "conclusion": run.conclusion, "started_at": run.started, "completed_at": run.completed, "html_url": html,
        "details_url": run.details_url.as_ref().unwrap_or(&html), "app": app(), "pull_requests": [],
        "output": {
            "title": run.title, "summary": run.summary, "text": run.text, "annotations_count": run.annotations.len(),
        },
    })
}

/// A comment.
pub(super) fn comment(id: u64, of: &Comment) -> Value {
    let ours = of.author == APP_LOGIN;
    json!({
        "id": id, "user": user(of.author), "body": of.body, "created_at": moment(of.at), "updated_at": moment(of.at),
        "performed_via_github_app": if ours { app() } else { Value::Null },
    })
}

/// A review. Webhooks write its state in lower case.
pub(super) fn review(of: &Review, state: &str) -> Value {
    json!({
        "id": of.id, "user": user(of.author), "state": state, "commit_id": of.commit, "submitted_at": moment(of.at),
        "body": "", "author_association": "MEMBER",
    })
}

/// A commit of a pull request. The address of its author names the account.
pub(super) fn commit([sha, author, committer, message]: &[String; 4]) -> Value {
    let account = |email: &str| {
        let found = super::people::PEOPLE.iter().find(|person| person.email() == email);
        found.map_or(Value::Null, |person| user(person.login))
    };
    let signed = |email: &str| json!({ "name": email, "email": email });
    json!({
        "sha": sha, "commit": { "author": signed(author), "committer": signed(committer), "message": message },
        "author": account(author), "committer": account(committer), "parents": [],
    })
}

/// A branch.
pub(super) fn reference(name: &str, tip: &str) -> Value {
    json!({ "ref": name, "object": { "type": "commit", "sha": tip } })
}

/// What somebody may do.
pub(super) fn permission(login: &str) -> Option<Value> {
    let (permission, role) = person(login)?.role;
    Some(json!({ "permission": permission, "role_name": role, "user": user(login) }))
}

/// Where a webhook comes from, and who is behind it.
pub(super) fn envelope(mut body: Value, sender: &str) -> Value {
    body["repository"] = repository();
    body["installation"] = json!({ "id": INSTALLATION });
    body["sender"] = user(sender);
    body
}
