//! The App's manifest: its permissions and events, in one place.
//!
//! Facts: <https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use url::Url;

const MANIFEST: &str = include_str!("../../app-manifest/manifest.json");

/// What the App asks for.
pub(super) struct Manifest {
    value: Value,
}

impl Manifest {
    /// The one of this version.
    pub(super) fn of_this_version() -> Self {
        Self { value: serde_json::from_str(MANIFEST).expect("a test reads the manifest") }
    }

    /// Permission to level.
    pub(super) fn permissions(&self) -> BTreeMap<String, String> {
        let all = self.value["default_permissions"].as_object().into_iter().flatten();
        all.map(|(name, level)| (name.clone(), level.as_str().unwrap_or_default().to_owned())).collect()
    }

    /// The events that it subscribes to.
    pub(super) fn events(&self) -> BTreeSet<String> {
        let all = self.value["default_events"].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The text that is posted to GitHub: with a name, and with where webhooks go and where a person comes back to.
    pub(super) fn filled_in(&self, name: &str, webhook: &Url, back: &Url) -> String {
        let mut value = self.value.clone();
        value["name"] = json!(name);
        value["hook_attributes"]["url"] = json!(webhook.as_str());
        value["redirect_url"] = json!(back.as_str());
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_lists_what_the_manifest_asks_for() {
        let readme = include_str!("../../README.md");
        let manifest = Manifest::of_this_version();
        let spelled = |name: &str| {
            let words = name.replace('_', " ").replace("statuses", "commit statuses");
            words[..1].to_uppercase() + &words[1..]
        };
        for (name, level) in manifest.permissions() {
            let level = if level == "write" { "read and write" } else { "read" };
            let row = format!("| {} | {level} |", spelled(&name));
            assert!(readme.contains(&row), "README has no row {row:?}");
        }
        let events: Vec<&str> = readme.lines().filter(|line| line.trim_start().starts_with("Events: ")).collect();
        let [events] = events[..] else { panic!("README has {} lines of events", events.len()) };
        for event in manifest.events() {
            assert!(events.contains(&format!("**{}**", spelled(&event))), "README's events lack {event}");
        }
        assert_eq!(
            events.matches("**").count(),
            2 * manifest.events().len(),
            "README has more events than the manifest"
        );
    }

    #[test]
    fn what_is_posted_has_the_addresses_and_nothing_else_changed() {
        let manifest = Manifest::of_this_version();
        let webhook = Url::parse("https://gate.example.com/webhooks/github").expect("an address");
        let back = Url::parse("http://127.0.0.1:4710/back").expect("an address");
        let posted: Value = serde_json::from_str(&manifest.filled_in("gate", &webhook, &back)).expect("JSON");
        assert_eq!(posted["hook_attributes"], json!({ "active": true, "url": webhook.as_str() }));
        assert_eq!((&posted["name"], &posted["redirect_url"]), (&json!("gate"), &json!(back.as_str())));
        assert_eq!(posted["default_permissions"], manifest.value["default_permissions"]);
    }
}
