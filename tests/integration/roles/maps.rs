//! Coverage maps from the base branch's CI to the verdicts that waited for them.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::dsl::{Fault, Gate, Route, opened, pr};
use crate::fake_forge::Happening;
use crate::issuer::Issuer;

const BEFORE: &str = "def live(a):\n    return a + 1\n\n\ndef frozen(a):\n    b = a + 2\n    return b\n";

/// A gate that takes maps, with a base on which `t.py::frozen` is frozen, and that base's tip.
async fn frozen(issuer: &Issuer) -> (Gate, String) {
    let mut gate = Gate::world().with_base("src/a.py", BEFORE).taking_maps_of(issuer).await;
    let bound = gate.tip("main");
    let ledger = json!({"schema": 1, "frozen": [{"nodeid": "t.py::frozen", "reason": "flaky", "bound_sha": bound}]});
    let tip = gate.commit_to("main", &pr(1).writes("freeze_ledger.json", ledger.to_string()));
    (gate, tip)
}

/// The map of a commit.
fn map(commit: &str) -> Value {
    json!({
        "schema": 2, "base_sha": commit,
        "tests": {"t.py::live": {"src/a.py": "2"}, "t.py::frozen": {"src/a.py": "6-7"}},
        "import": {"src/a.py": "1,5"},
    })
}

fn said(out: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn fates(maps: &[Value]) -> Vec<String> {
    maps.iter().map(|one| format!("{} {}", one["fate"].as_str().unwrap(), one["why"].as_str().unwrap_or("-"))).collect()
}

#[tokio::test]
async fn a_map_that_arrives_gives_the_waiting_pull_requests_the_verdicts_they_waited_for() {
    let issuer = Issuer::start().await;
    let (mut gate, tip) = frozen(&issuer).await;
    // One at a time, so that the order in which they are judged can be seen.
    gate.set("WORK__CONCURRENCY", "1");
    gate.open(&pr(7).writes("src/a.py", BEFORE.replace("a + 2", "a + 3")));
    gate.open(&pr(8).writes("src/a.py", BEFORE.replace("a + 1", "a + 4")));
    gate.open(&pr(9).writes("docs/a.md", "text\n"));
    for pull in [7, 8, 9] {
        gate.deliver(opened(pull)).await;
        gate.drain().await;
    }
    for pull in [7, 8] {
        assert!(gate.check_run(pull).contains("UNSCORED: coverage-map-missing"), "{}", gate.check_run(pull));
    }
    let before = gate.check_run(9);

    let pushed = gate.job_pushes(&issuer, &tip, &map(&tip)).await;
    assert!(pushed.status.success(), "{}\n{}", said(&pushed), gate.told());
    assert_eq!(fates(&gate.maps().await), ["pending -"]);
    gate.drain().await;

    assert_eq!(fates(&gate.maps().await), ["taken -"]);
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/action_required
    UNSCORED: freeze overlap entirely, 1 of 1 line
    ");
    assert!(gate.annotations(7).iter().any(|one| one.starts_with("src/a.py:6-6")), "{:?}", gate.annotations(7));
    assert!(gate.report(7).contains("t.py::frozen"), "{}", gate.report(7));
    assert_eq!(gate.verdict(8), "completed/success", "{}", gate.report(8));
    assert_eq!((gate.check_run(9), gate.runs(9).len()), (before, 1), "what needs no map is left alone");
    let order: Vec<String> = gate.forge.state().runs.values().rev().take(2).rev().map(|run| run.head.clone()).collect();
    assert_eq!(order, [gate.head(7), gate.head(8)], "the oldest verdict is judged again first");
    assert!(gate.audit(&["--kind", "map"]).await.contains("counts"));

    let again = gate.job_pushes(&issuer, &tip, &map(&tip)).await;
    assert!(said(&again).contains("was at the gate before"), "{}", said(&again));
    gate.drain().await;
    gate.reconcile().await;
    assert_eq!(gate.runs(7).len(), 2, "the same map asks for nothing{}", gate.told());
    gate.end().await;
}

#[tokio::test]
async fn a_green_falls_when_the_map_that_it_stands_on_becomes_another() {
    let issuer = Issuer::start().await;
    let (mut gate, tip) = frozen(&issuer).await;
    gate.open(&pr(8).writes("src/a.py", BEFORE.replace("a + 1", "a + 4")));
    assert!(gate.job_pushes(&issuer, &tip, &map(&tip)).await.status.success());
    gate.deliver(opened(8)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(8), "completed/success", "{}", gate.report(8));
    // A second run of the suite disagrees: the live test did not run the line this time.
    let other = json!({"schema": 2, "base_sha": tip, "tests": {"t.py::live": {"src/a.py": "3"}, "t.py::frozen": {"src/a.py": "2,6-7"}}});
    assert!(gate.job_pushes(&issuer, &tip, &other).await.status.success());
    gate.drain().await;
    assert!(gate.check_run(8).contains("UNSCORED: freeze overlap"), "{}", gate.check_run(8));
    assert!(gate.report(8).contains("map-jitter"), "{}", gate.report(8));
    assert_eq!(gate.maps().await[0]["jitter"], json!(2));
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_map_of_an_older_commit_of_the_branch_serves_a_pull_request_that_was_cut_later() {
    let issuer = Issuer::start().await;
    let (mut gate, tip) = frozen(&issuer).await;
    assert!(gate.job_pushes(&issuer, &tip, &map(&tip)).await.status.success());
    gate.commit_to("main", &pr(1).writes("src/a.py", format!("# one line more\n{BEFORE}")));
    gate.open(&pr(7).writes("src/a.py", format!("# one line more\n{}", BEFORE.replace("a + 2", "a + 3"))));
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert!(gate.check_run(7).contains("UNSCORED: freeze overlap"), "{}", gate.check_run(7));
    assert!(gate.annotations(7)[0].starts_with("src/a.py:7-7"), "{:?}", gate.annotations(7));
    gate.end().await;
}

#[tokio::test]
async fn a_map_of_a_commit_that_is_not_on_the_default_branch_is_refused_and_the_operator_sees_why() {
    let issuer = Issuer::start().await;
    let (mut gate, _) = frozen(&issuer).await;
    let astray = gate.commit_to("side", &pr(1).writes("src/b.py", "x = 1\n"));
    let absent = "1".repeat(40);
    for commit in [&astray, &absent] {
        assert!(gate.job_pushes(&issuer, commit, &map(commit)).await.status.success());
    }
    gate.drain().await;
    let why = |commit: &str| {
        format!("refused {commit} is not among the newest commits of the default branch refs/heads/main")
    };
    let mut told = fates(&gate.maps().await);
    told.sort();
    let mut wanted = [why(&astray), why(&absent)];
    wanted.sort();
    assert_eq!(told, wanted);
    assert!(gate.audit(&["--kind", "map"]).await.contains("is refused"));
    gate.end().await;
}

#[tokio::test]
async fn a_push_is_tried_again_while_the_gate_is_away_and_says_what_it_was_refused_for() {
    let issuer = Issuer::start().await;
    let (mut gate, tip) = frozen(&issuer).await;
    let refused = gate.job_pushes(&issuer, &"2".repeat(40), &map(&tip)).await;
    assert_eq!(refused.status.code(), Some(65));
    assert!(said(&refused).contains("is a map of"), "{}", said(&refused));
    issuer.rotates_to("second");
    let pushed = gate.job_pushes(&issuer, &tip, &map(&tip)).await;
    assert!(pushed.status.success(), "{}", said(&pushed));
    let coarse = gate.job_pushes(&issuer, &tip, &json!({"schema": 2, "tests": {}})).await;
    assert_eq!(coarse.status.code(), Some(65), "{}", said(&coarse));
    let in_clear = gate.job_pushes_to("http://gate.example.com", &issuer, &tip, &map(&tip)).await;
    assert_eq!(in_clear.status.code(), Some(64), "{}", said(&in_clear));
    gate.drain().await;
    gate.end().await;
}

#[tokio::test]
async fn a_worker_that_cannot_reach_the_forge_keeps_the_map_for_its_next_try() {
    let issuer = Issuer::start().await;
    let (mut gate, tip) = frozen(&issuer).await;
    assert!(gate.job_pushes(&issuer, &tip, &map(&tip)).await.status.success());
    gate.forge.once(Route::Git, Fault::status(502));
    gate.drain_through_retries().await;
    let maps = gate.maps().await;
    assert!(matches!(&fates(&maps)[..], [fate] if fate == "taken -"), "{maps:?}{}", gate.told());
    gate.end().await;
}

#[tokio::test]
async fn a_delivery_and_a_map_at_once_leave_one_right_verdict() {
    let issuer = Issuer::start().await;
    let (mut gate, tip) = frozen(&issuer).await;
    gate.open(&pr(7).writes("src/a.py", BEFORE.replace("a + 2", "a + 3")));
    gate.deliver(Happening::Opened(7)).await;
    assert!(gate.job_pushes(&issuer, &tip, &map(&tip)).await.status.success());
    gate.drain().await;
    assert!(gate.check_run(7).contains("UNSCORED: freeze overlap"), "{}", gate.check_run(7));
    gate.look_at_all_runs();
    gate.end().await;
}
