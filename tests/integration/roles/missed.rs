//! Nothing is missed: deliveries that failed, pull requests that nobody told of, runs that hang.

use crate::dsl::{Fault, Gate, Held, Route, opened, pr};
use crate::fake_forge::{Happening, INSTALLATION, WIDGETS};

#[tokio::test]
async fn three_days_without_a_webhook_are_caught_up_with_and_nothing_is_done_twice() {
    let mut gate =
        Gate::world().pull(pr(7).modifies("src/a.py")).pull(pr(8).modifies("tests/fixtures/users.json")).start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    // From here on nobody tells: one opens, one moves, one is retargeted.
    gate.push(&pr(7).writes("src/more.py", "x = 1\n"));
    gate.open(&pr(9).modifies("src/a.py"));
    gate.reconcile().await;
    assert_eq!(gate.verdict(7), "completed/success");
    assert_eq!(gate.verdict(8), "completed/failure");
    assert_eq!(gate.verdict(9), "completed/success");
    let runs = gate.forge.state().runs.len();
    gate.reconcile().await;
    assert_eq!(gate.forge.state().runs.len(), runs, "{}", gate.told());
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_delivery_that_failed_is_asked_for_again_and_one_that_we_refused_is_not() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    gate.deliver(opened(7)).await;
    for (guid, status) in [("lost", 0), ("refused", 400), ("fell-over", 503), ("arrived", 202), ("fell-over", 503)] {
        gate.forge.state().log_try(guid, status);
    }
    gate.reconcile().await;
    let asked = |gate: &Gate| gate.forge.state().asked_again.clone();
    assert_eq!(asked(&gate), [1, 5], "the newest try of each");
    gate.reconcile().await;
    assert_eq!(asked(&gate), [1, 5], "what was read is not read again");
    for _ in 0..5 {
        gate.forge.state().log_try("fell-over", 503);
        gate.reconcile().await;
    }
    assert_eq!(asked(&gate).len(), 4, "three times, and then no more: {:?}", asked(&gate));
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_run_that_a_dead_worker_left_open_is_ended() {
    let mut gate = Gate::world().pull(pr(7).modifies("src/a.py")).set("WORK__LEASE", "1s").start().await;
    let held = Held::default();
    gate.forge.once(Route::UpdateRun, Fault::HoldAfter(held.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.start_work();
    held.arrived().await;
    work.kill().await;
    held.release();
    let old = gate.head(7);
    // Newer work takes the place of the lost try, and knows nothing of its run.
    let pushed = gate.push(&pr(7).writes("src/more.py", "x = 1\n"));
    gate.deliver(pushed).await;
    gate.drain_through_retries().await;
    gate.make_old().await;
    gate.reconcile().await;
    let run = gate.check_run_on(&old);
    assert!(run.ends_with("completed/action_required\nUNSCORED: superseded"), "{run}{}", gate.told());
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

#[tokio::test]
async fn a_retarget_that_nobody_told_of_takes_the_green_back() {
    let mut gate = Gate::with(pr(7).modifies("engine/a.dat")).await;
    gate.commit_to("strict", &pr(1).writes(crate::dsl::POLICY_PATH, crate::dsl::NARROW_POLICY));
    gate.deliver(opened(7)).await;
    gate.drain().await;
    gate.retarget(7, "strict");
    gate.reconcile().await;
    let stations: Vec<String> = gate.runs(7).iter().map(|run| run.stations.join(" > ")).collect();
    assert_eq!(
        stations,
        [
            "queued > in_progress > completed/action_required",
            "completed/action_required",
            "queued > in_progress > completed/success"
        ]
    );
    gate.end().await;
}

#[tokio::test]
async fn an_app_that_was_just_installed_looks_at_what_is_open() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    gate.deliver(Happening::Installed(INSTALLATION)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    let audit = gate.audit(&["--kind", "installation"]).await;
    assert!(audit.contains("reaches 1 repositories"), "{audit}");
    gate.end().await;
}

#[tokio::test]
async fn work_for_a_repository_that_was_taken_away_is_dropped() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    gate.deliver(opened(7)).await;
    gate.deliver(Happening::RepositoryRemoved { installation: INSTALLATION, repo: WIDGETS }).await;
    let asked = gate.forge.asked(Route::Pull);
    gate.drain().await;
    assert_eq!(gate.check_run(7), "no check run");
    assert_eq!(gate.forge.asked(Route::Pull), asked);
    gate.end().await;
}

#[tokio::test]
async fn a_suspended_installation_is_said_once_and_resumes_when_it_is_lifted() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    let suspend =
        |gate: &Gate, on: bool| gate.forge.state().installations.get_mut(&INSTALLATION).unwrap().suspended = on;
    suspend(&gate, true);
    gate.deliver(Happening::Suspended(INSTALLATION)).await;
    gate.reconcile().await;
    assert_eq!(gate.check_run(7), "no check run");
    suspend(&gate, false);
    gate.deliver(Happening::Installed(INSTALLATION)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

#[tokio::test]
async fn background_work_stops_where_only_the_reserve_is_left() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    gate.forge.state().remaining = 400;
    gate.leaves_jobs();
    let work = gate.spawn("work", &["--drain", "--reconcile"]);
    work.says("are kept for verdicts").await;
    work.kill().await;
    assert_eq!(gate.check_run(7), "no check run");
    gate.end().await;
}

#[tokio::test]
async fn the_audit_log_is_only_ever_added_to() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    let signed = gate.deliver(opened(7)).await;
    gate.drain().await;
    let audit = gate.audit(&["--kind", "verdict", "--format", "json"]).await;
    let row: serde_json::Value = serde_json::from_str(audit.lines().next().unwrap()).unwrap();
    assert_eq!((&row["pull"], &row["delivery"]), (&7.into(), &signed.id.into()));
    assert_eq!(row["details"]["head"], gate.head(7));
    assert!(row["details"]["digests"]["policy"].is_string(), "{row}");
    assert!(gate.audit(&["--kind", "configuration"]).await.contains("started with version"));
    for sql in ["DELETE FROM audit", "UPDATE audit SET who = 'nobody'"] {
        assert!(gate.by_hand(sql).await.unwrap_err().contains("never"), "{sql}");
    }
    gate.look_at_all_runs();
    gate.end().await;
}
