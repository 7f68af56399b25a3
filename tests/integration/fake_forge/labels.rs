//! Labels: what the forge's history says of them. It names no head.

use serde_json::{Value, json};

use super::shapes;
use super::state::State;

/// `GET /repos/{owner}/{repo}/issues/{number}/events`, oldest first.
pub fn events(state: &State, repo: u64, number: u64) -> Vec<Value> {
    let of = state.label_events.iter().enumerate().filter(|(_, event)| (event.repo, event.pull) == (repo, number));
    let full = state.repos[&repo].full_name();
    let shown = |(at, event): (usize, &super::LabelEvent)| {
        let id = 6_001 + at;
        json!({
            "id": id, "node_id": format!("LE_{id}"), "url": format!("{}/repos/{full}/issues/events/{id}", state.origin),
            "actor": shapes::user(state, &event.actor), "event": event.event, "commit_id": null, "commit_url": null,
            "created_at": "2026-01-05T08:00:00Z", "label": { "name": event.label, "color": "ededed" },
            "performed_via_github_app": null,
        })
    };
    of.map(shown).collect()
}

/// Who set or took away a label last; the author of the pull request where no story says so.
pub fn actor(state: &State, repo: u64, number: u64, label: &str) -> String {
    let mut events = state.label_events.iter().rev();
    let last = events.find(|event| (event.repo, event.pull, event.label.as_str()) == (repo, number, label));
    last.map_or_else(|| state.pulls[&(repo, number)].author.clone(), |event| event.actor.clone())
}
