//! What a verified delivery asks for.

use std::fmt::Write;

use evidence_gate::event::{self, Cause, Event, Ignored, Malformed, Task, Way};
use evidence_gate::words::{ForgeKind, InstallationId, PullNumber, RepositoryId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::delivery::door::{delivered, pull_request};

fn parse(event: &str, body: &Value) -> Result<Event, Malformed> {
    event::parse(&delivered(event, body.to_string().as_bytes()))
}

/// The whole chain of a refusal, as the log prints it.
fn refusal(event: &str, body: &[u8]) -> String {
    let malformed = event::parse(&delivered(event, body)).unwrap_err();
    let mut text = malformed.to_string();
    let mut next = std::error::Error::source(&malformed);
    while let Some(error) = next {
        write!(text, ": {error}").unwrap();
        next = error.source();
    }
    text
}

fn cause(body: &Value) -> Cause {
    match parse("pull_request", body).unwrap() {
        Event::Trigger(trigger) => trigger.cause,
        other => panic!("no trigger: {other:?}"),
    }
}

fn ignored(event: &str, body: &Value) -> Ignored {
    match parse(event, body).unwrap() {
        Event::Ignored(ignored) => ignored,
        other => panic!("not ignored: {other:?}"),
    }
}

/// `body` with the value at a JSON pointer replaced.
fn with(mut body: Value, pointer: &str, value: Value) -> Value {
    *body.pointer_mut(pointer).unwrap() = value;
    body
}

/// `body` without a key at its top.
fn without(mut body: Value, key: &str) -> Value {
    body.as_object_mut().unwrap().shift_remove(key).unwrap();
    body
}

#[test]
fn an_opened_pull_request_is_a_trigger_with_its_numbers() {
    let Event::Trigger(trigger) = parse("pull_request", &pull_request("opened")).unwrap() else { panic!("ignored") };
    assert_eq!(trigger.cause, Cause::Opened);
    assert_eq!(trigger.pull, PullNumber(7));
    assert_eq!(trigger.installation, Some(InstallationId(99)));
    assert_eq!(trigger.head.unwrap().to_string(), "7e1f0000000000000000000000000000000000a7");
    assert_eq!(trigger.repository.forge, ForgeKind::Github);
    assert_eq!(trigger.repository.id, RepositoryId(10), "the key is the number (R87)");
    assert_eq!(trigger.repository.name.as_str(), "acme/widgets");
}

#[test]
fn each_action_that_may_change_a_verdict_has_its_cause() {
    for (action, expected) in [
        ("opened", Cause::Opened),
        ("reopened", Cause::Reopened),
        ("synchronize", Cause::Pushed),
        ("ready_for_review", Cause::DraftFlipped),
        ("converted_to_draft", Cause::DraftFlipped),
        ("closed", Cause::Closed),
    ] {
        assert_eq!(cause(&pull_request(action)), expected, "{action}");
    }
}

#[test]
fn an_edit_counts_when_the_base_changed_and_only_then() {
    let mut edited = pull_request("edited");
    edited["changes"] = json!({"base": {"ref": {"from": "main"}, "sha": {"from": "ba5e"}}, "title": {"from": "a"}});
    assert_eq!(cause(&edited), Cause::Retargeted);
    for changes in [json!({"title": {"from": "a"}}), json!({}), Value::Null] {
        edited["changes"] = changes;
        assert_eq!(ignored("pull_request", &edited), Ignored::BaseUnchanged);
    }
    assert_eq!(ignored("pull_request", &without(edited, "changes")), Ignored::BaseUnchanged);
}

#[test]
fn other_actions_are_ignored_by_name() {
    for action in
        ["assigned", "auto_merge_enabled", "dequeued", "enqueued", "locked", "review_requested", "teleported", "Opened"]
    {
        let expected = Ignored::Action { event: "pull_request".to_owned(), action: action.to_owned() };
        assert_eq!(ignored("pull_request", &pull_request(action)), expected);
    }
}

#[test]
fn the_base_repository_is_the_one_and_a_deleted_fork_is_fine() {
    let fork_gone = with(pull_request("synchronize"), "/pull_request/head/repo", Value::Null);
    assert_eq!(cause(&fork_gone), Cause::Pushed);
    let base_gone = with(pull_request("synchronize"), "/pull_request/base/repo", Value::Null);
    assert_eq!(cause(&base_gone), Cause::Pushed);
}

#[test]
fn a_hook_of_a_repository_names_no_installation() {
    for body in
        [without(pull_request("opened"), "installation"), with(pull_request("opened"), "/installation", Value::Null)]
    {
        let Event::Trigger(trigger) = parse("pull_request", &body).unwrap() else { panic!("ignored") };
        assert_eq!(trigger.installation, None);
    }
}

#[test]
fn escaped_texts_are_read_like_plain_ones() {
    let body = pull_request("opened").to_string().replace("opened", "\\u006fpened").replace("acme/", "acme\\/");
    let event = event::parse(&delivered("pull_request", body.as_bytes())).unwrap();
    let Event::Trigger(trigger) = event else { panic!("ignored") };
    assert_eq!((trigger.cause, trigger.repository.name.as_str()), (Cause::Opened, "acme/widgets"));
}

#[test]
fn a_sha_or_a_name_that_cannot_be_one_refuses_the_body_even_where_the_action_is_ignored() {
    let about = "in the body of the \"pull_request\" event";
    for action in ["opened", "assigned"] {
        let body = with(pull_request(action), "/pull_request/head/sha", json!("main"));
        assert_eq!(
            refusal("pull_request", body.to_string().as_bytes()),
            format!(
                "{about} `pull_request.head.sha` cannot be used: \"main\" is not a full object id (40 or 64 lower-case \
                 hexadecimal digits)"
            )
        );
        let body = with(pull_request(action), "/repository/full_name", json!("../../etc"));
        let text = refusal("pull_request", body.to_string().as_bytes());
        assert!(text.starts_with(&format!("{about} `repository.full_name` cannot be used: \"../../etc\"")), "{text}");
    }
}

#[test]
fn two_numbers_of_one_thing_must_agree() {
    let about = "in the body of the \"pull_request\" event";
    let other_pull = with(pull_request("opened"), "/number", json!(8));
    let text = refusal("pull_request", other_pull.to_string().as_bytes());
    assert_eq!(text, format!("{about} `number` and `pull_request.number` disagree"));

    let other_repository = with(pull_request("opened"), "/repository/id", json!(11));
    let text = refusal("pull_request", other_repository.to_string().as_bytes());
    assert_eq!(text, format!("{about} `repository.id` and `pull_request.base.repo.id` disagree"));
}

#[test]
fn each_known_event_must_carry_what_it_always_carries() {
    let object = json!({"id": 1});
    let events: &[(&str, &[&str], Value)] = &[
        ("check_run", &["action", "check_run"], json!({"action": "created", "check_run": object})),
        ("check_suite", &["action", "check_suite"], json!({"action": "requested", "check_suite": object})),
        ("installation", &["action", "installation"], json!({"action": "teleported", "installation": object})),
        (
            "installation_repositories",
            &["action", "installation", "repositories_added"],
            json!({"action": "moved", "installation": object, "repositories_added": []}),
        ),
        ("installation_target", &["action", "account"], json!({"action": "renamed", "account": object})),
        (
            "issue_comment",
            &["action", "issue", "comment"],
            json!({"action": "edited", "issue": object, "comment": object}),
        ),
        ("issues", &["action", "issue"], json!({"action": "opened", "issue": object})),
        ("merge_group", &["action", "merge_group"], json!({"action": "paused", "merge_group": object})),
        ("ping", &["zen", "hook_id"], json!({"zen": "Keep it logically awesome.", "hook_id": 1})),
        (
            "pull_request_review",
            &["action", "review", "pull_request"],
            json!({"action": "teleported", "review": object, "pull_request": object}),
        ),
        ("push", &["ref", "before", "after"], json!({"ref": "refs/tags/v1", "before": "a", "after": "b"})),
        ("repository", &["action", "repository"], json!({"action": "edited", "repository": object})),
    ];
    for (event, keys, body) in events {
        let mut body = body.clone();
        body["repository"] = object.clone();
        match ignored(event, &body) {
            Ignored::Ping => assert_eq!(*event, "ping"),
            Ignored::Action { event: named, action } => {
                assert_eq!((&*named, &body["action"]), (*event, &json!(action)));
            }
            Ignored::NoBranch => assert_eq!(*event, "push"),
            other => panic!("{event}: {other}"),
        }
        for key in *keys {
            let expected = format!("the body of the {event:?} event has no `{key}` of the right kind");
            let text = refusal(event, without(body.clone(), key).to_string().as_bytes());
            assert_eq!(text, expected);
            let null = with(body.clone(), &format!("/{key}"), Value::Null);
            assert_eq!(refusal(event, null.to_string().as_bytes()), expected);
        }
    }
    for key in ["action", "number", "pull_request", "repository"] {
        let text = refusal("pull_request", without(pull_request("opened"), key).to_string().as_bytes());
        assert_eq!(text, format!("the body of the \"pull_request\" event has no `{key}` of the right kind"));
    }
}

#[test]
fn a_body_that_was_signed_for_another_event_is_refused() {
    for key in ["review", "comment", "thread", "check_run"] {
        let mut body = pull_request("edited");
        body[key] = json!({"id": 1});
        assert_eq!(
            refusal("pull_request", body.to_string().as_bytes()),
            format!("the body of the \"pull_request\" event has a `{key}`, so it is of another event")
        );
    }
}

#[test]
fn what_is_no_json_object_says_where_and_never_what_it_holds() {
    let about = "the body of the \"pull_request\" event cannot be read";
    let body = pull_request("opened");
    let check = |body: &str, expected: &str| {
        assert_eq!(refusal("pull_request", body.as_bytes()), format!("{about}: {expected}"));
    };
    check("", "line 1 column 0: EOF while parsing a value");
    check("{\"action\": \"op", "line 1 column 14: EOF while parsing a string");
    check(" [\"opened\", 7]", "line 1 column 1: a value is not a JSON object");
    check("\"PRIVATE\"", "line 1 column 9: a value is not a JSON object");
    check(
        &with(body.clone(), "/number", json!("PRIVATE, expected")).to_string(),
        "line 1 column 47: a value is not u64",
    );
    check(&format!("{body}{body}"), &format!("line 1 column {}: trailing characters", body.to_string().len() + 1));
    check("{\"number\": 1, \"number\": 2}", "line 1 column 22: duplicate field `number`");
    assert_eq!(
        refusal("check_run", b"{\"action\": \"a\", \"check_run\": {}, \"check_run\": {}}"),
        "the body of the \"check_run\" event cannot be read: line 1 column 44: duplicate field `check_run`"
    );
    assert_eq!(
        refusal("wormhole", b"[1]"),
        "the body of the \"wormhole\" event cannot be read: line 1 column 0: a value is not a JSON object"
    );
}

#[test]
fn absurd_nesting_neither_panics_nor_hides_a_trigger() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let body = pull_request("opened").to_string();
    for depth in [100, 1_000, 1_000_000] {
        let unread = format!("{{\"unread\": {}, {}", deep(depth), &body[1..]);
        let event = event::parse(&delivered("pull_request", unread.as_bytes())).unwrap();
        assert!(matches!(event, Event::Trigger(_)));
        let read = format!("{{\"number\": {}}}", deep(depth));
        assert!(event::parse(&delivered("pull_request", read.as_bytes())).is_err());
        let unclosed = "{\"a\":".repeat(depth);
        for event in ["pull_request", "check_run", "wormhole"] {
            assert!(event::parse(&delivered(event, unclosed.as_bytes())).is_err(), "{event}");
        }
    }
}

#[test]
fn a_reason_is_short_whatever_the_action_is() {
    let long = ignored("pull_request", &pull_request(&"x".repeat(100_000))).to_string();
    assert!(long.len() < 200, "{} bytes", long.len());
}

proptest! {
    /// Authentic or not: a body of any bytes is an event, an ignored one or a refusal.
    #[test]
    fn no_body_brings_the_parser_down(
        event in "pull_request|check_run|ping|push|wormhole",
        cut in any::<proptest::sample::Index>(),
        place in any::<proptest::sample::Index>(),
        with in any::<u8>(),
    ) {
        let mut body = pull_request("opened").to_string().into_bytes();
        let place = place.index(body.len());
        body[place] = with;
        body.truncate(cut.index(body.len() + 1));
        if let Ok(Event::Trigger(trigger)) = event::parse(&delivered(&event, &body)) {
            prop_assert_eq!(event, "pull_request");
            // A byte that is no UTF-8 may stand in a text that is not read.
            let read: Value = serde_json::from_str(&String::from_utf8_lossy(&body)).unwrap();
            prop_assert_eq!(read["number"].as_u64(), Some(trigger.pull.0));
        }
    }
}

#[test]
fn a_label_that_is_set_or_taken_away_is_kept_with_who_did_it_and_on_which_head() {
    for (action, way) in [("labeled", Way::Set), ("unlabeled", Way::Removed)] {
        let mut body = pull_request(action);
        body["label"] = json!({"name": "evidence-edit"});
        body["sender"] = json!({"id": 14, "login": "mia"});
        let Event::Errand(errand) = parse("pull_request", &body).unwrap() else { panic!("no errand") };
        let Task::Labelled { label, account, way: said, .. } = &errand.task else { panic!("{errand:?}") };
        assert_eq!((label.as_str(), *account, *said, errand.by.as_deref()), ("evidence-edit", 14, way, Some("mia")));
        for lacks in ["label", "sender"] {
            let text = refusal("pull_request", without(body.clone(), lacks).to_string().as_bytes());
            assert!(text.contains(lacks), "{text}");
        }
    }
}
