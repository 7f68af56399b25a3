//! `evidence-gate demo`: the whole product, as a person sees it first.
#![expect(clippy::disallowed_methods, reason = "the shipped program is started here")]

use std::path::Path;
use std::time::Duration;

use tokio::process::Command;

use crate::dsl::Process;

fn start(folder: &Path, more: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
    command.args(["demo", "--keep"]).arg(folder.join("demo")).args(more);
    // Nothing of the person's own configuration may reach the demonstration.
    command.env("EVIDENCE_GATE_GITHUB__APP_ID", "99").env("EVIDENCE_GATE_RECEIVE__LISTEN", "192.0.2.1:1");
    Process::start("demo".to_owned(), command)
}

/// Processes whose command line names the folder.
fn left(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    let name = folder.to_str().unwrap().to_owned();
    lines.filter(|line| line.contains(&name)).map(|line| line.replace('\0', " ")).collect()
}

/// Once at the beginning, and once after the push.
async fn until_it_is_held_twice(demo: &Process) {
    let held = "#6  hold      HOLD: added-test: tests/test_nobody.py";
    let twice = async {
        while demo.text().matches(held).count() < 2 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_mins(1), twice).await;
    assert!(waited.is_ok(), "{}", demo.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pull_request_gets_the_verdict_that_is_expected_and_nothing_is_left_running() {
    let folder = tempfile::tempdir().unwrap();
    let demo = start(folder.path(), &["--once"]);
    demo.says("  #8  review, reject").await;
    let told = demo.text();
    assert_eq!(told.matches("as expected").count(), 8, "{told}");
    assert!(demo.ended(String::new).await.success(), "{told}");
    assert_eq!(left(folder.path()), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_goes_through_a_webhook_and_a_push_takes_an_approval_back() {
    let folder = tempfile::tempdir().unwrap();
    let demo = start(folder.path(), &[]);
    let line = demo.says("The demonstration is on http://").await;
    let address = line.split_once("is on ").unwrap().1.trim().to_owned();
    demo.says("Ctrl-C ends everything").await;
    let client = reqwest::Client::new();
    let page = client.get(&address).send().await.unwrap().text().await.unwrap();
    assert_eq!(page.matches("class=\"reject\"").count(), 5, "{page}");

    let foreign = client.post(format!("{address}/pulls/6/push")).header("origin", "http://evil.example").send().await;
    assert_eq!(foreign.unwrap().status(), 403);
    let pushed = client.post(format!("{address}/pulls/6/push")).send().await.unwrap();
    let page = pushed.text().await.unwrap();
    assert!(page.contains("which is no longer the head"), "{page}");
    until_it_is_held_twice(&demo).await;
    demo.terminate();
    let told = demo.text();
    assert!(demo.ended(String::new).await.success(), "{told}");
    assert_eq!(left(folder.path()), Vec::<String>::new());
}
