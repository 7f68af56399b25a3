//! `evidence-gate doctor`: each thing that can be wrong is told of, with how bad it is.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::dsl::{Fault, Gate, Route};
use crate::fake_forge::looks::requires;
use crate::fake_forge::{APP, INSTALLATION, State};

/// Everything as the manifest and the README ask for.
fn well(state: &mut State) {
    let permissions = [
        ("checks", "write"),
        ("contents", "read"),
        ("issues", "read"),
        ("merge_queues", "read"),
        ("metadata", "read"),
        ("pull_requests", "write"),
        ("statuses", "write"),
    ];
    state.app.permissions = permissions.iter().map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect();
    state.looks.events =
        vec!["pull_request", "pull_request_review", "push", "issue_comment", "merge_group", "repository"];
    state.looks.rules = json!([requires("evidence-gate", Some(APP), true)]);
    state.log_try("a", 202);
}

/// A gate without a receiver; its sandbox is not to be had, so that nothing waits for trials of it.
async fn gate(change: impl FnOnce(&mut State)) -> Gate {
    let gate = Gate::world().without_receiver().set("SANDBOX__PROGRAM", "/nonexistent/bwrap").start().await;
    {
        let mut state = gate.forge.state();
        well(&mut state);
        change(&mut state);
    }
    gate
}

/// The exit code, and every line that is not ok: check to state.
async fn told(gate: &Gate, more: &[&str]) -> (Option<i32>, BTreeMap<String, String>) {
    let arguments: Vec<&str> = ["doctor", "--json"].into_iter().chain(more.iter().copied()).collect();
    let out = gate.run(&arguments).await;
    let object: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
    });
    let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    let lines = object["lines"].as_array().unwrap();
    for line in lines.iter().filter(|line| line["state"] != "ok") {
        assert_ne!(text(line, "next"), "", "{line} has no next step");
    }
    let lines = lines.iter().map(|line| (text(line, "check"), text(line, "state")));
    // What the story's own set-up leaves: a sandbox that is not there, and key files that others may read.
    let own = ["sandbox", "file mode", "database"];
    (out.status.code(), lines.filter(|(check, state)| state != "ok" && !own.contains(&check.as_str())).collect())
}

/// What is told of a world in which this one thing is otherwise.
async fn told_of(change: impl FnOnce(&mut State)) -> Vec<(String, String)> {
    let gate = gate(change).await;
    let (_, lines) = told(&gate, &[]).await;
    gate.end().await;
    lines.into_iter().collect()
}

macro_rules! tells {
    ($name:ident, $change:expr, [$(($check:literal, $state:literal)),*]) => {
        #[tokio::test]
        async fn $name() {
            let wanted: Vec<(String, String)> = vec![$(($check.to_owned(), $state.to_owned())),*];
            assert_eq!(told_of($change).await, wanted);
        }
    };
}

tells!(an_installation_that_is_as_the_manifest_asks_has_no_fault, |_| {}, []);
tells!(
    a_permission_without_which_there_is_no_verdict_is_a_fault,
    |state| drop(state.app.permissions.remove("checks")),
    [("permission", "fault")]
);
tells!(
    a_permission_without_which_only_commands_are_missed_is_a_warning,
    |state| drop(state.app.permissions.remove("issues")),
    [("permission", "warning")]
);
tells!(
    a_permission_that_is_not_needed_is_a_warning,
    |state| drop(state.app.permissions.insert("administration".to_owned(), "write".to_owned())),
    [("permission", "warning")]
);
tells!(
    an_event_that_is_missing_is_a_fault,
    |state| state.looks.events.retain(|event| *event != "push"),
    [("event", "fault")]
);
tells!(a_webhook_without_a_secret_is_a_fault, |state| state.looks.hook["secret"] = Value::Null, [("secret", "fault")]);
tells!(a_webhook_without_an_address_is_a_fault, |state| state.looks.hook["url"] = Value::Null, [("webhook", "fault")]);
tells!(
    a_webhook_in_clear_over_the_network_is_a_fault,
    |state| state.looks.hook["url"] = json!("http://gate.example.com/webhooks/github"),
    [("webhook", "fault")]
);
tells!(
    a_webhook_that_sends_forms_and_checks_no_certificate_is_told_of,
    |state| {
        state.looks.hook["content_type"] = json!("form");
        state.looks.hook["insecure_ssl"] = json!("1");
    },
    [("certificate", "warning"), ("content type", "fault")]
);
tells!(a_delivery_that_failed_last_is_a_fault, |state| state.log_try("b", 502), [("deliveries", "fault")]);
tells!(
    a_delivery_that_failed_before_others_arrived_is_a_warning,
    |state| {
        state.log_try("b", 502);
        state.log_try("c", 202);
    },
    [("deliveries", "warning")]
);
tells!(
    a_suspended_installation_is_a_fault,
    |state| state.installations.get_mut(&INSTALLATION).unwrap().suspended = true,
    [("installation", "fault")]
);
tells!(an_app_that_is_installed_nowhere_is_a_fault, |state| state.installations.clear(), [("installation", "fault")]);
tells!(
    a_check_that_nobody_requires_is_a_fault,
    |state| state.looks.rules = json!([]),
    [("required check", "fault"), ("up to date", "warning")]
);
tells!(
    a_check_that_is_required_from_any_source_is_a_warning,
    |state| state.looks.rules = json!([requires("evidence-gate", None, true)]),
    [("required check", "warning")]
);
tells!(
    a_check_that_is_required_from_another_app_is_a_fault,
    |state| state.looks.rules = json!([requires("evidence-gate", Some(15368), true)]),
    [("required check", "fault")]
);
tells!(
    a_branch_that_may_move_on_under_a_green_is_a_warning,
    |state| state.looks.rules = json!([requires("evidence-gate", Some(APP), false)]),
    [("up to date", "warning")]
);
tells!(
    a_merge_queue_that_the_app_is_not_told_of_is_a_fault,
    |state| {
        state.looks.rules = json!([requires("evidence-gate", Some(APP), false), { "type": "merge_queue" }]);
        state.looks.events.retain(|event| *event != "merge_group");
    },
    [("event", "warning"), ("merge queue", "fault")]
);
tells!(
    administrators_who_are_exempt_are_a_warning,
    |state| {
        state.looks.rules = json!([]);
        state.looks.protection = json!({ "enabled": true, "required_status_checks": {
            "enforcement_level": "non_admins", "strict": true, "contexts": ["evidence-gate"],
            "checks": [{ "context": "evidence-gate", "app_id": APP }],
        } });
    },
    [("administrators", "warning")]
);
tells!(
    a_clock_that_is_minutes_off_is_a_fault,
    |state| state.ahead = jiff::SignedDuration::from_mins(5),
    [("clock", "fault")]
);

#[tokio::test]
async fn a_repository_that_the_app_does_not_reach_is_a_fault_with_exit_code_1() {
    let gate = gate(|_| {}).await;
    let (code, lines) = told(&gate, &["--repo", "mallory/widgets"]).await;
    assert_eq!((code, lines["installation"].as_str()), (Some(1), "fault"));
    gate.end().await;
}

#[tokio::test]
async fn a_forge_that_refuses_the_key_is_one_fault_and_not_ten() {
    let gate = gate(|_| {}).await;
    let body = json!({ "message": "Integration not found" }).to_string();
    gate.forge.always(Route::App, Fault::Answer { status: 404, headers: Vec::new(), body });
    let (_, lines) = told(&gate, &[]).await;
    assert_eq!(lines, BTreeMap::from([("request".to_owned(), "fault".to_owned())]));
    gate.forge.heal();
    gate.end().await;
}

#[tokio::test]
async fn nothing_is_asked_of_the_forge_offline() {
    let gate = gate(|_| {}).await;
    let (_, lines) = told(&gate, &["--offline"]).await;
    assert_eq!(lines, BTreeMap::new());
    assert_eq!(gate.forge.asked(Route::App), 0);
    gate.end().await;
}

#[tokio::test]
async fn no_line_holds_a_secret() {
    let gate = gate(|state| state.looks.hook["secret"] = json!("canary-of-the-hook")).await;
    let out = gate.run(&["doctor"]).await;
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let (secret, key) = {
        let state = gate.forge.state();
        (state.app.hook_secret.clone(), state.app.key.private_pem.lines().nth(1).unwrap().to_owned())
    };
    for secret in [secret.as_str(), key.as_str(), "ghs_", "canary-of-the-hook"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains("required check"), "{text}");
    gate.end().await;
}
