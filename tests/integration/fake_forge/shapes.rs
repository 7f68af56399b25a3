//! State -> the forge's JSON. The fields are those of GitHub's OpenAPI description and of its recorded webhooks; the contract
//! tests hold every answer and every delivery against both.

use serde_json::{Map, Value, json};

use super::state::{Installation, Pull, Repo, Run, State, User};

const BORN: &str = "2026-01-05T08:00:00Z";

/// A simple user.
pub fn user(state: &State, login: &str) -> Value {
    let origin = &state.origin;
    let User { id, kind } = state.users.get(login).unwrap_or_else(|| panic!("the fake has no user {login:?}"));
    let api = format!("{origin}/users/{login}");
    json!({
        "login": login, "id": id, "node_id": format!("U_{id}"), "avatar_url": format!("{origin}/avatars/{id}"),
        "gravatar_id": "", "url": api, "html_url": format!("{origin}/{login}"),
        "followers_url": format!("{api}/followers"), "following_url": format!("{api}/following{{/other_user}}"),
        "gists_url": format!("{api}/gists{{/gist_id}}"), "starred_url": format!("{api}/starred{{/owner}}{{/repo}}"),
        "subscriptions_url": format!("{api}/subscriptions"), "organizations_url": format!("{api}/orgs"),
        "repos_url": format!("{api}/repos"), "events_url": format!("{api}/events{{/privacy}}"),
        "received_events_url": format!("{api}/received_events"), "type": kind, "site_admin": false,
    })
}

/// A repository, as webhooks and pull requests carry it.
pub fn repository(state: &State, id: u64) -> Value {
    let repo: &Repo = &state.repos[&id];
    let (origin, full) = (&state.origin, repo.full_name());
    let api = format!("{origin}/repos/{full}");
    let mut out = object(json!({
        "id": id, "node_id": format!("R_{id}"), "name": repo.name, "full_name": full, "private": repo.private,
        "owner": user(state, &repo.owner), "html_url": format!("{origin}/{full}"), "description": null,
        "fork": repo.fork, "url": api, "created_at": BORN, "updated_at": BORN, "pushed_at": BORN,
        "git_url": format!("git://127.0.0.1/{full}.git"), "ssh_url": format!("git@127.0.0.1:{full}.git"),
        "clone_url": format!("{origin}/{full}.git"), "svn_url": format!("{origin}/{full}"), "homepage": null,
    }));
    out.extend(object(json!({
        "size": 108, "stargazers_count": 0, "watchers_count": 0, "language": "Python", "has_issues": true,
        "has_projects": true, "has_downloads": true, "has_wiki": true, "has_pages": false, "has_discussions": false,
        "forks_count": 0, "mirror_url": null, "archived": false, "disabled": false, "open_issues_count": 1,
        "license": null, "allow_forking": true, "is_template": false, "web_commit_signoff_required": false,
        "topics": [], "visibility": if repo.private { "private" } else { "public" }, "forks": 0, "open_issues": 1,
        "watchers": 0, "default_branch": "main", "custom_properties": {},
    })));
    for (key, rest) in REPOSITORY_URLS {
        out.insert((*key).to_owned(), format!("{api}/{rest}").into());
    }
    out.into()
}

/// A repository, as `GET /repos/{owner}/{repo}` answers it.
pub fn full_repository(state: &State, id: u64) -> Value {
    let mut out = object(repository(state, id));
    out.insert("network_count".to_owned(), 0.into());
    out.insert("subscribers_count".to_owned(), 1.into());
    out.into()
}

const REPOSITORY_URLS: &[(&str, &str)] = &[
    ("forks_url", "forks"),
    ("keys_url", "keys{/key_id}"),
    ("collaborators_url", "collaborators{/collaborator}"),
    ("teams_url", "teams"),
    ("hooks_url", "hooks"),
    ("issue_events_url", "issues/events{/number}"),
    ("events_url", "events"),
    ("assignees_url", "assignees{/user}"),
    ("branches_url", "branches{/branch}"),
    ("tags_url", "tags"),
    ("blobs_url", "git/blobs{/sha}"),
    ("git_tags_url", "git/tags{/sha}"),
    ("git_refs_url", "git/refs{/sha}"),
    ("trees_url", "git/trees{/sha}"),
    ("statuses_url", "statuses/{sha}"),
    ("languages_url", "languages"),
    ("stargazers_url", "stargazers"),
    ("contributors_url", "contributors"),
    ("subscribers_url", "subscribers"),
    ("subscription_url", "subscription"),
    ("commits_url", "commits{/sha}"),
    ("git_commits_url", "git/commits{/sha}"),
    ("comments_url", "comments{/number}"),
    ("issue_comment_url", "issues/comments{/number}"),
    ("contents_url", "contents/{+path}"),
    ("compare_url", "compare/{base}...{head}"),
    ("merges_url", "merges"),
    ("archive_url", "{archive_format}{/ref}"),
    ("downloads_url", "downloads"),
    ("issues_url", "issues{/number}"),
    ("pulls_url", "pulls{/number}"),
    ("milestones_url", "milestones{/number}"),
    ("notifications_url", "notifications{?since,all,participating}"),
    ("labels_url", "labels{/name}"),
    ("releases_url", "releases{/id}"),
    ("deployments_url", "deployments"),
];

/// A pull request, as both the API and webhooks carry it.
pub fn pull(state: &State, repo: u64, number: u64) -> Value {
    let Pull { id, author, title, open, merged, draft, labels, base_branch, base, head_branch, head, .. } =
        &state.pulls[&(repo, number)];
    let full = state.repos[&repo].full_name();
    let (api, html) =
        (format!("{}/repos/{full}/pulls/{number}", state.origin), format!("{}/{full}/pull/{number}", state.origin));
    let issue = format!("{}/repos/{full}/issues/{number}", state.origin);
    let closed_at = if *open { Value::Null } else { BORN.into() };
    let statuses = format!("{}/repos/{full}/statuses/{head}", state.origin);
    let mut out = object(json!({
        "url": api, "id": id, "node_id": format!("PR_{id}"), "html_url": html, "diff_url": format!("{html}.diff"),
        "patch_url": format!("{html}.patch"), "issue_url": issue, "number": number,
        "state": if *open { "open" } else { "closed" }, "locked": false, "title": title, "user": user(state, author),
        "body": null, "created_at": BORN, "updated_at": BORN, "closed_at": closed_at,
        "merged_at": if *merged { Value::from(BORN) } else { Value::Null }, "merge_commit_sha": null, "assignee": null,
        "assignees": [], "requested_reviewers": [], "requested_teams": [],
        "labels": labels.iter().map(|name| label(state, &full, name)).collect::<Vec<_>>(), "milestone": null,
        "commits_url": format!("{api}/commits"), "review_comments_url": format!("{api}/comments"),
        "review_comment_url": format!("{}/repos/{full}/pulls/comments{{/number}}", state.origin),
        "comments_url": format!("{issue}/comments"), "statuses_url": statuses,
    }));
    out.extend(object(json!({
        "head": side(state, head_branch, head, state.pulls[&(repo, number)].head_repo,
                     &state.pulls[&(repo, number)].head_owner),
        "base": side(state, base_branch, base, Some(repo), &state.repos[&repo].owner),
        "_links": {
            "self": { "href": api }, "html": { "href": html }, "issue": { "href": issue },
            "comments": { "href": format!("{issue}/comments") },
            "review_comments": { "href": format!("{api}/comments") },
            "review_comment": { "href": format!("{}/repos/{full}/pulls/comments{{/number}}", state.origin) },
            "commits": { "href": format!("{api}/commits") }, "statuses": { "href": statuses },
        },
        "author_association": "CONTRIBUTOR", "auto_merge": null, "active_lock_reason": null, "draft": draft,
        "merged": merged, "mergeable": null, "rebaseable": null, "mergeable_state": "unknown", "merged_by": null,
        "comments": 0, "review_comments": 0, "maintainer_can_modify": false, "commits": 1, "additions": 1,
        "deletions": 1, "changed_files": state.pulls[&(repo, number)].changed_files,
    })));
    out.into()
}

fn side(state: &State, branch: &str, sha: &str, repo: Option<u64>, owner: &str) -> Value {
    json!({
        "label": format!("{owner}:{branch}"), "ref": branch, "sha": sha, "user": user(state, owner),
        "repo": repo.map(|id| repository(state, id)),
    })
}

fn label(state: &State, full: &str, name: &str) -> Value {
    let id = 9000 + name.len();
    json!({
        "id": id, "node_id": format!("LA_{id}"), "url": format!("{}/repos/{full}/labels/{name}", state.origin),
        "name": name, "color": "ededed", "default": false, "description": null,
    })
}

/// A branch, as a git reference.
pub fn branch(state: &State, repo: u64, branch: &str, tip: &str) -> Value {
    let api = format!("{}/repos/{}/git", state.origin, state.repos[&repo].full_name());
    json!({
        "ref": format!("refs/heads/{branch}"), "node_id": format!("REF_{tip}"), "url": format!("{api}/refs/heads/{branch}"),
        "object": { "type": "commit", "sha": tip, "url": format!("{api}/commits/{tip}") },
    })
}

/// A check run.
pub fn run(state: &State, run: &Run) -> Value {
    let full = state.repos[&run.repo].full_name();
    let api = format!("{}/repos/{full}/check-runs/{}", state.origin, run.id);
    let html = format!("{}/{full}/runs/{}", state.origin, run.id);
    let pulls: Vec<Value> = state
        .pulls
        .iter()
        .filter(|((repo, _), pull)| {
            *repo == run.repo && pull.open && pull.head == run.head && pull.head_repo == Some(*repo)
        })
        .map(|((repo, number), pull)| minimal_pull(state, *repo, *number, pull))
        .collect();
    json!({
        "id": run.id, "node_id": format!("CR_{}", run.id), "name": run.name, "head_sha": run.head,
        "external_id": run.external_id, "url": api, "html_url": html,
        "details_url": run.details_url.clone().unwrap_or_else(|| html.clone()), "status": run.status,
        "conclusion": run.conclusion, "started_at": run.started, "completed_at": run.completed,
        "output": {
            "title": run.title, "summary": run.summary, "text": run.text, "annotations_count": run.annotations.len(),
            "annotations_url": format!("{api}/annotations"),
        },
        "check_suite": { "id": 5_000_000 + run.repo }, "app": app(state), "pull_requests": pulls,
    })
}

fn minimal_pull(state: &State, repo: u64, number: u64, pull: &Pull) -> Value {
    let full = state.repos[&repo].full_name();
    let place = json!({ "id": repo, "url": format!("{}/repos/{full}", state.origin), "name": state.repos[&repo].name });
    json!({
        "id": pull.id, "number": number, "url": format!("{}/repos/{full}/pulls/{number}", state.origin),
        "head": { "ref": pull.head_branch, "sha": pull.head, "repo": place },
        "base": { "ref": pull.base_branch, "sha": pull.base, "repo": place },
    })
}

/// A comment, as the API and webhooks carry it.
pub fn comment(state: &State, id: u64) -> Value {
    let comment = &state.comments[&id];
    let full = state.repos[&comment.repo].full_name();
    let api = format!("{}/repos/{full}/issues", state.origin);
    let html = format!("{}/{full}/pull/{}#issuecomment-{id}", state.origin, comment.issue);
    let ours = comment.author.is_none();
    let login = comment.author.clone().unwrap_or_else(|| format!("{}[bot]", state.app.slug));
    json!({
        "id": id, "node_id": format!("IC_{id}"), "url": format!("{api}/comments/{id}"), "html_url": html,
        "issue_url": format!("{api}/{}", comment.issue), "user": user(state, &login), "created_at": BORN,
        "updated_at": BORN, "author_association": "CONTRIBUTOR", "body": comment.body,
        "reactions": { "url": format!("{api}/comments/{id}/reactions"), "total_count": 0, "+1": 0, "-1": 0, "laugh": 0,
                       "hooray": 0, "confused": 0, "heart": 0, "rocket": 0, "eyes": 0 },
        "performed_via_github_app": if ours { app(state) } else { Value::Null },
    })
}

/// A pull request as the issue that it also is.
pub fn issue(state: &State, repo: u64, number: u64) -> Value {
    let pull = &state.pulls[&(repo, number)];
    let full = state.repos[&repo].full_name();
    let (api, html) =
        (format!("{}/repos/{full}/issues/{number}", state.origin), format!("{}/{full}/pull/{number}", state.origin));
    json!({
        "url": api, "repository_url": format!("{}/repos/{full}", state.origin), "labels_url": format!("{api}/labels{{/name}}"),
        "comments_url": format!("{api}/comments"), "events_url": format!("{api}/events"), "html_url": html,
        "id": 700_000 + number, "node_id": format!("I_{number}"), "number": number, "title": pull.title,
        "user": user(state, &pull.author), "labels": [], "state": if pull.open { "open" } else { "closed" },
        "locked": false, "assignee": null, "assignees": [], "milestone": null, "comments": 1, "created_at": BORN,
        "updated_at": BORN, "closed_at": null, "author_association": "CONTRIBUTOR", "active_lock_reason": null,
        "draft": pull.draft, "body": null,
        "reactions": { "url": format!("{api}/reactions"), "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0,
                       "confused": 0, "heart": 0, "rocket": 0, "eyes": 0 },
        "timeline_url": format!("{api}/timeline"), "performed_via_github_app": null, "state_reason": null,
        "pull_request": { "url": format!("{}/repos/{full}/pulls/{number}", state.origin), "html_url": html,
                          "diff_url": format!("{html}.diff"), "patch_url": format!("{html}.patch"), "merged_at": null },
    })
}

/// An annotation, as the list answers it.
pub fn annotation(sent: &Map<String, Value>) -> Value {
    let mut out = object(json!({
        "start_column": null, "end_column": null, "title": null, "raw_details": null, "blob_href": "",
    }));
    out.extend(sent.clone());
    out.into()
}

/// The App.
pub fn app(state: &State) -> Value {
    json!({
        "id": state.app.id, "client_id": "Iv23fake", "slug": state.app.slug, "node_id": "A_1",
        "owner": user(state, "acme"), "name": "Evidence Gate", "description": "", "external_url": "https://example.com",
        "html_url": format!("{}/apps/{}", state.origin, state.app.slug), "created_at": BORN, "updated_at": BORN,
        "permissions": state.app.permissions, "events": state.looks.events,
    })
}

/// An installation.
pub fn installation(state: &State, id: u64, of: &Installation) -> Value {
    let account = user(state, &of.account);
    let target = account["id"].clone();
    let kind = account["type"].clone();
    json!({
        "id": id, "account": account, "repository_selection": "selected",
        "access_tokens_url": format!("{}/app/installations/{id}/access_tokens", state.origin),
        "repositories_url": format!("{}/installation/repositories", state.origin),
        "html_url": format!("{}/organizations/{}/settings/installations/{id}", state.origin, of.account),
        "app_id": state.app.id, "app_slug": state.app.slug, "target_id": target, "target_type": kind,
        "permissions": state.app.permissions, "events": state.looks.events, "created_at": BORN, "updated_at": BORN,
        "single_file_name": null, "has_multiple_single_files": false, "single_file_paths": [],
        "suspended_by": if of.suspended { user(state, &of.account) } else { Value::Null },
        "suspended_at": if of.suspended { Value::from(BORN) } else { Value::Null },
    })
}

/// The fields of an object.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}
