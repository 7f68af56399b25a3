//! The link in a check run: what it opens, for how long, and what everybody else sees.

use evidence_gate::queue::{EvaluationId, Exhibits, Pages as _, Queue, SqliteOptions, SqlitePages, SqliteQueue};
use evidence_gate::score::Record;
use sha2::{Digest, Sha256};

use super::world;
use crate::dsl::{Gate, opened, pr};

/// A gate in which pull request 7 was judged: it edits a fixture and changes the product.
async fn judged() -> Gate {
    let pull = pr(7).modifies("tests/fixtures/users.json").modifies("src/login.py");
    let mut gate = world().pull(pull).start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    gate
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_in_a_check_run_opens_the_page_of_its_evaluation() {
    let mut gate = judged().await;
    let link = gate.details(7).expect("a link");
    let pages = gate.start_pages().await;
    let page = pages.get(&link).await;
    assert_eq!(page.status, 200, "{}", page.body);
    for words in
        ["reject", "evidence-edited", "tests/fixtures/users.json", "What to do next", "acme/widgets", "pull request #7"]
    {
        assert!(page.body.contains(words), "{words:?} is missing from\n{}", page.body);
    }
    let kept = pages.get(&format!("{link}/record.json")).await;
    assert_eq!((kept.status, kept.header("content-type")), (200, Some("application/json")));
    assert!(
        kept.header("content-disposition")
            .is_some_and(|value| value.starts_with("attachment; filename=\"evidence-gate-7-"))
    );
    let record: Record = serde_json::from_str(&kept.body).expect("a record");
    assert_eq!(record.head, gate.head(7));
    let digest = hex::encode(Sha256::digest(&kept.body));
    assert!(page.body.contains(&digest), "the page names the digest of exactly these bytes");
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_forbids_scripts_frames_and_keeping() {
    let mut gate = judged().await;
    let link = gate.details(7).expect("a link");
    let pages = gate.start_pages().await;
    for path in [link.as_str(), "/", "/rules", "/nowhere", "/e/x"] {
        let page = pages.get(path).await;
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self';") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(page.header("strict-transport-security"), Some("max-age=31536000"), "{path}");
        assert!(!page.body.contains("<script") && !page.body.contains(" style="), "{path}");
    }
    let style = pages.get("/rules").await.body;
    let style = style.split('"').find(|text| text.starts_with("/style-")).expect("a style sheet").to_owned();
    let sheet = pages.get(&style).await;
    assert_eq!((sheet.status, sheet.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(sheet.header("cache-control").is_some_and(|value| value.contains("immutable")));
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_an_unknown_and_a_broken_link_are_answered_alike() {
    let mut gate = judged().await;
    let link = gate.details(7).expect("a link");
    let pages = gate.start_pages().await;
    gate.by_hand("UPDATE passes SET expires = 1").await.unwrap();
    let expired = pages.get(&link).await;
    assert_eq!(expired.status, 404);
    let unknown = format!("/e/{}", "A".repeat(43));
    let id = gate.runs(7)[0].external_id.clone().expect("an evaluation");
    for path in [
        unknown.as_str(),
        "/e/short",
        "/e/%00",
        &format!("/e/{id}"),
        &format!("{link}/record.json"),
        &format!("{link}x"),
    ] {
        assert_eq!(pages.get(path).await, expired, "{path}");
    }
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_and_the_logs_hold_no_link() {
    let mut gate = judged().await;
    let link = gate.details(7).expect("a link");
    let secret = link.strip_prefix("/e/").expect("the secret comes last").to_owned();
    let pages = gate.start_pages().await;
    assert_eq!(pages.get(&link).await.status, 200);
    pages.stop().await;
    assert!(!gate.log().contains(&secret), "{}", gate.told());
    for file in std::fs::read_dir(gate.data()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{}", file.display());
    }
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_evaluation_has_a_link_of_its_own_and_the_first_stays_readable() {
    let mut gate = judged().await;
    let first = gate.details(7).expect("a link");
    let push = gate.push(&pr(7).modifies("README.md"));
    gate.deliver(push).await;
    gate.drain().await;
    let second = gate.details(7).expect("a link");
    assert_ne!(first, second);
    let pages = gate.start_pages().await;
    let [old, new] = [pages.get(&first).await, pages.get(&second).await];
    assert_eq!((old.status, new.status), (200, 200));
    assert!(new.body.contains(&gate.head(7)) && !old.body.contains(&gate.head(7)));
    pages.stop().await;
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_pages_a_check_run_has_no_link_of_ours() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_eq!(gate.runs(7)[0].details_url, None);
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_link_opens_any_more_is_swept() {
    let gate = judged().await;
    let id = EvaluationId(gate.runs(7)[0].external_id.as_deref().unwrap().parse().unwrap());
    let queue = SqliteQueue::open(&gate.data(), SqliteOptions::default()).await.unwrap();
    let pages = SqlitePages::open(&gate.data()).await.unwrap().expect("the database is there");
    let now = evidence_gate::roles::now();
    assert_eq!(queue.sweep(now).await.unwrap(), 0);
    assert!(pages.shown(id).await.unwrap().expect("the evaluation").exhibit.is_some());
    let later = now + jiff::SignedDuration::from_hours(31 * 24);
    assert_eq!(queue.sweep(later).await.unwrap(), 1);
    let shown = pages.shown(id).await.unwrap().expect("the evaluation stays");
    assert!(shown.exhibit.is_none() && shown.record.is_some());
    assert_eq!(queue.depth(now).await.unwrap().dead, 0);
    pages.close().await;
    queue.close().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_wait_for_the_database_and_never_write_to_it() {
    let mut gate = world().without_receiver().start().await;
    let process = gate.spawn("web", &[]);
    process.says("waiting for the receiver or the worker").await;
    gate.start_receiver().await;
    let pages = gate.when_shown(process).await;
    assert_eq!(pages.get("/readyz").await.body, "ready\n");
    let store = SqlitePages::open(&gate.data()).await.unwrap().expect("the database is there");
    assert!(store.known(jiff::Timestamp::UNIX_EPOCH, 10).await.unwrap().is_empty());
    store.close().await;
    pages.stop().await;
    gate.end().await;
}
