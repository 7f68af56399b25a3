//! Lists: of open pull requests, of a merge queue's refs, of installations and their repositories, and the log of deliveries.

use serde_json::{Value, json};

use super::shapes;
use super::state::State;
use super::store::Store;

/// `GET /repos/{owner}/{repo}/pulls`, newest first. Lists leave out what the single answer counts.
pub fn pulls(state: &State, repo: u64, query: &[(String, String)]) -> Vec<Value> {
    let asked = |key: &str| query.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let wanted = |pull: &super::Pull| {
        let open = match asked("state").unwrap_or("open") {
            "all" => true,
            state => pull.open == (state == "open"),
        };
        open && asked("base").is_none_or(|base| pull.base_branch == base)
    };
    let of_repo = state.pulls.iter().rev().filter(|((of, _), pull)| *of == repo && wanted(pull));
    let counted = ["changed_files", "commits", "additions", "deletions", "mergeable", "merged"];
    of_repo
        .map(|((_, number), _)| {
            let mut shown = shapes::object(shapes::pull(state, repo, *number));
            shown.retain(|key, _| !counted.contains(&key.as_str()));
            shown.into()
        })
        .collect()
}

/// `GET /repos/{owner}/{repo}/git/matching-refs/heads/…`
pub fn refs(state: &State, store: &Store, repo: u64, prefix: &str) -> Vec<Value> {
    let full = state.repos[&repo].full_name();
    let found = store.refs(&full, &format!("refs/heads/{prefix}"));
    found
        .into_iter()
        .map(|(name, tip)| shapes::branch(state, repo, name.trim_start_matches("refs/heads/"), &tip))
        .collect()
}

/// `GET /app/installations`
pub fn installations(state: &State) -> Vec<Value> {
    state.installations.iter().map(|(id, of)| shapes::installation(state, *id, of)).collect()
}

/// `GET /app/hook/deliveries`, newest first.
pub fn deliveries(state: &State) -> Vec<Value> {
    let row = |row: &super::state::LogRow| {
        json!({
            "id": row.id, "guid": row.guid, "delivered_at": "2026-01-05T08:00:00Z", "redelivery": row.again, "duration": 0.2,
            "status": if row.status == 202 { "OK" } else { "failed" }, "status_code": row.status, "event": row.event,
            "action": null, "installation_id": null, "repository_id": null, "throttled_at": null,
        })
    };
    state.log.iter().rev().map(row).collect()
}
