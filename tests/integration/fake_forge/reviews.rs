//! Reviews of a pull request, and its commits with their accounts.

use serde_json::{Value, json};

use super::shapes;
use super::state::{Review, State};
use super::store::Store;

/// `GET /repos/{owner}/{repo}/pulls/{number}/reviews`, oldest first.
pub fn reviews(state: &State, repo: u64, number: u64) -> Vec<Value> {
    let of = |review: &&Review| (review.repo, review.pull) == (repo, number);
    state.reviews.iter().filter(of).map(|review| shown(state, review, review.state)).collect()
}

/// One review; webhooks spell its state in lower case.
pub fn shown(state: &State, review: &Review, word: &str) -> Value {
    let full = state.repos[&review.repo].full_name();
    let html = format!("{}/{full}/pull/{}#pullrequestreview-{}", state.origin, review.pull, review.id);
    let pull = format!("{}/repos/{full}/pulls/{}", state.origin, review.pull);
    json!({
        "id": review.id, "node_id": format!("PRR_{}", review.id), "user": shapes::user(state, &review.author), "body": "",
        "state": word, "html_url": html, "pull_request_url": pull, "author_association": "MEMBER",
        "submitted_at": "2026-01-05T08:00:00Z", "commit_id": review.commit,
        "_links": { "html": { "href": html }, "pull_request": { "href": pull } },
    })
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/commits`, oldest first, at most 250. `ada@example.com` is Ada's, and so on.
pub fn commits(state: &State, store: &Store, repo: u64, number: u64) -> Vec<Value> {
    let pull = &state.pulls[&(repo, number)];
    let full = state.repos[&repo].full_name();
    let account = |email: &str| {
        let login = email.strip_suffix("@example.com").filter(|login| state.users.contains_key(*login));
        login.map_or(Value::Null, |login| shapes::user(state, login))
    };
    let commit = |[sha, author, committer, message]: [String; 4]| {
        json!({
            "sha": sha, "node_id": format!("C_{sha}"),
            "commit": {
                "author": { "name": "Ada", "email": author, "date": "2026-01-05T08:00:00Z" },
                "committer": { "name": "Ada", "email": committer, "date": "2026-01-05T08:00:00Z" },
                "message": message, "comment_count": 0,
            },
            "author": account(&author), "committer": account(&committer), "parents": [],
        })
    };
    store.commits(&full, &pull.base, &pull.head).into_iter().take(250).map(commit).collect()
}
