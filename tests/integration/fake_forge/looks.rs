//! What somebody sees who looks after the App: its webhook, and what a branch requires.

use serde_json::{Value, json};

use super::state::State;

/// Beside the state that stories of pull requests need.
pub struct Looks {
    /// The events that the App subscribes to.
    pub events: Vec<&'static str>,
    /// `GET /app/hook/config`
    pub hook: Value,
    /// `GET …/rules/branches/{branch}`
    pub rules: Value,
    /// `protection` of `GET …/branches/{branch}`
    pub protection: Value,
}

impl Looks {
    /// As the App is registered for most stories: one event, a webhook on loopback, nothing required.
    pub fn first() -> Self {
        Self {
            events: vec!["pull_request"],
            hook: json!({
                "content_type": "json", "insecure_ssl": "0", "secret": "********", "url": "http://127.0.0.1/webhooks/github",
            }),
            rules: json!([]),
            protection: json!({ "enabled": false, "required_status_checks": { "enforcement_level": "off", "contexts": [], "checks": [] } }),
        }
    }
}

/// A rule of a ruleset that requires one check.
pub fn requires(name: &str, app: Option<u64>, strict: bool) -> Value {
    let check = match app {
        Some(app) => json!({ "context": name, "integration_id": app }),
        None => json!({ "context": name }),
    };
    json!({
        "type": "required_status_checks", "ruleset_source_type": "Repository", "ruleset_source": "acme/widgets", "ruleset_id": 1,
        "parameters": { "strict_required_status_checks_policy": strict, "required_status_checks": [check] },
    })
}

/// `GET …/branches/{branch}`
pub fn branch(state: &State, name: &str, tip: &str) -> Value {
    let protection = &state.looks.protection;
    json!({ "name": name, "commit": { "sha": tip }, "protected": protection["enabled"], "protection": protection })
}
