//! What the shipped program signs, keeps and publishes.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::dsl::{Gate, opened, pr};

fn told(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// The signed record of a pull request, in a file.
async fn envelope(gate: &Gate, pull: &str) -> PathBuf {
    let out = gate.run(&["audit", "envelope", "--repo", "acme/widgets", "--pull", pull]).await;
    assert!(out.status.success(), "{}", told(&out));
    let file = gate.data().join("envelope.json");
    std::fs::write(&file, out.stdout).unwrap();
    file
}

/// Two verdicts of one repository.
async fn two_verdicts() -> Gate {
    let world = Gate::world().pull(pr(7).modifies("src/login.py")).pull(pr(8).modifies("tests/fixtures/users.json"));
    let mut gate = world.start().await;
    for pull in [7, 8] {
        gate.deliver(opened(pull)).await;
        gate.drain().await;
    }
    assert_eq!((gate.verdict(7).as_str(), gate.verdict(8).as_str()), ("completed/success", "completed/failure"));
    gate
}

#[tokio::test]
async fn a_published_verdict_can_be_verified_with_the_keys_that_the_receiver_serves() {
    let gate = two_verdicts().await;
    let file = envelope(&gate, "8").await;
    let keys = gate.address("/.well-known/evidence-gate/keys").to_string();
    let verify = |more: &[&str]| {
        let arguments = [&["verify", file.to_str().unwrap(), "--keys-from", &keys], more].concat();
        plain(&arguments)
    };
    let out = verify(&["--repository", "acme/widgets", "--head", &gate.head(8)]);
    assert_eq!(out.status.code(), Some(0), "{}", told(&out));
    assert!(told(&out).starts_with("the record holds: REJECT: evidence-edited"), "{}", told(&out));
    assert!(told(&out).contains("place       record 2 of its repository"), "{}", told(&out));

    let record: Value = serde_json::from_slice(&verify(&["--format", "json"]).stdout).unwrap();
    assert_eq!((&record["verdict"], &record["head"]), (&json!("reject"), &json!(gate.head(8))));

    let out = verify(&["--repository", "acme/gadgets"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(told(&out).contains("refused: it is about the repository acme/widgets"), "{}", told(&out));
    gate.end().await;
}

#[tokio::test]
async fn before_anything_was_signed_the_receiver_serves_no_keys() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    assert_eq!(gate.get("/.well-known/evidence-gate/keys").await.0, 404);
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let (status, text) = gate.get("/.well-known/evidence-gate/keys").await;
    assert_eq!(status, 200);
    assert!(text.contains("PUBLIC KEY") && !text.contains("PRIVATE"), "{text}");
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_private_key_is_not_served_even_where_the_configuration_names_it() {
    let gate = Gate::world().set("RECEIVE__PUBLIC_KEYS", "data/keys/signing.pem").without_receiver();
    let mut gate = gate.pull(pr(7).modifies("src/login.py")).start().await;
    let private = gate.data().join("keys/signing.pem");
    gate.set("RECEIVE__PUBLIC_KEYS", private.to_str().unwrap());
    gate.start_receiver().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let (status, text) = gate.get("/.well-known/evidence-gate/keys").await;
    assert_eq!((status, text.as_str()), (503, "the public keys cannot be read\n"));
    gate.expect_error("cannot serve the public keys");
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn the_chain_holds_over_a_rotation_of_the_key() {
    let mut gate = two_verdicts().await;
    let out = gate.run(&["keys", "rotate"]).await;
    assert!(out.status.success(), "{}", told(&out));
    let pushed = gate.push(&pr(7).writes("src/login.py", "another\n"));
    gate.deliver(pushed).await;
    gate.drain().await;
    let out = gate.run(&["audit", "verify"]).await;
    assert_eq!(out.status.code(), Some(0), "{}", told(&out));
    assert!(told(&out).contains("3 records hold, the last has sha256 "), "{}", told(&out));
    let listed = told(&gate.run(&["keys", "list"]).await);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains(", counts until ") && listed.contains(", signs"), "{listed}");
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn nobody_changes_or_deletes_a_signed_record_by_mistake() {
    let gate = two_verdicts().await;
    for sql in ["UPDATE envelopes SET digest = 'x'", "DELETE FROM envelopes"] {
        let told = gate.by_hand(sql).await.unwrap_err();
        assert!(told.contains("signed records are never"), "{told}");
    }
    gate.end().await;
}

#[tokio::test]
async fn a_record_that_somebody_took_out_is_missed_in_the_middle_and_at_the_end() {
    for (sql, told_by) in [
        ("DELETE FROM envelopes WHERE number = 1", "record 1: it is missing; the next one that is there is 2"),
        ("DELETE FROM envelopes WHERE number = 2", "record 2: the audit log names the record with sha256 "),
    ] {
        let gate = two_verdicts().await;
        gate.by_hand("DROP TRIGGER envelopes_are_never_deleted").await.unwrap();
        gate.by_hand(sql).await.unwrap();
        let out = gate.run(&["audit", "verify", "--repo", "acme/widgets"]).await;
        assert_eq!(out.status.code(), Some(1), "{}", told(&out));
        assert!(told(&out).contains(told_by), "{}", told(&out));
        gate.end().await;
    }
}

#[tokio::test]
async fn a_worker_that_cannot_sign_publishes_nothing() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    gate.deliver(opened(7)).await;
    std::fs::create_dir_all(gate.data().join("keys")).unwrap();
    std::fs::write(gate.data().join("keys/public-keys.json"), "{").unwrap();
    let work = gate.start_work();
    let ended = work.ended(String::new).await;
    assert_eq!(ended.code(), Some(74));
    assert_eq!(gate.check_run(7), "no check run");
    gate.leaves_jobs();
    gate.end().await;
}

#[test]
fn verify_wants_keys_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    std::fs::write(&file, "{}").unwrap();
    let file = file.to_str().unwrap();
    let out = plain(&["verify", file]);
    assert_eq!(out.status.code(), Some(64), "{}", told(&out));
    assert!(told(&out).contains("name the keys that you trust: --key or --keys-from"));
    let out = plain(&["verify", file, "--keys-from", "http://keys.example.org/keys"]);
    assert_eq!(out.status.code(), Some(64), "{}", told(&out));
    assert!(told(&out).contains("keys are read over a safe line only"), "{}", told(&out));
}

#[expect(clippy::disallowed_methods, reason = "the shipped program is started here")]
fn plain(arguments: &[&str]) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_evidence-gate")).args(arguments).output().unwrap()
}
