//! Stories of the processes: what a crash, a fault of the forge or a wrong configuration leaves behind.
//!
//! Nothing is lost, nothing is published twice, and nothing becomes a success wrongly.

mod approvals;
mod base;
mod commands;
mod crowd;
mod lane;
mod maps;
mod missed;
mod model;
mod people;
mod together;

use std::time::Duration;

use insta::assert_snapshot;

use crate::dsl::{Fault, Gate, Held, Route, World, opened, pr};
use crate::fake_forge::{Happening, INSTALLATION};

/// A change that a person may review.
fn harmless() -> World {
    Gate::world().pull(pr(7).modifies("src/login.py"))
}

/// A change that must be rejected.
fn harmful() -> World {
    Gate::world().pull(pr(7).modifies("tests/fixtures/users.json"))
}

// Deliveries.

#[tokio::test(flavor = "multi_thread")]
async fn one_delivery_five_times_at_once_makes_one_check_run() {
    let mut gate = harmful().start().await;
    let signed = gate.sign(&opened(7));
    let statuses = futures::future::join_all((0..5).map(|_| gate.send(&signed))).await;
    assert!(statuses.iter().all(|status| (200..300).contains(status)), "{statuses:?}");
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 1);
    assert_eq!(gate.verdict(7), "completed/failure");
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_deliveries_of_one_event_at_once_make_one_check_run() {
    let mut gate = harmful().start().await;
    let signed = gate.sign(&opened(7));
    let copies: Vec<_> = (0..5).map(|_| signed.replayed()).collect();
    let statuses = futures::future::join_all(copies.iter().map(|copy| gate.send(copy))).await;
    assert_eq!(statuses, [202; 5]);
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 1);
    gate.end().await;
}

#[tokio::test]
async fn a_redelivered_event_posts_one_check_run() {
    let mut gate = harmful().start().await;
    let signed = gate.deliver(opened(7)).await;
    gate.drain().await;
    assert!((200..300).contains(&gate.send(&signed).await));
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 1);
    gate.end().await;
}

#[tokio::test]
async fn a_delivery_that_nobody_signed_is_refused_and_makes_no_work() {
    let mut gate = harmless().start().await;
    let mut signed = gate.sign(&opened(7));
    signed.signature = crate::fake_forge::signature("a secret of somebody else", &signed.body);
    assert_eq!(gate.send(&signed).await, 401);
    gate.drain().await;
    assert_eq!(gate.check_run(7), "no check run");
    gate.end().await;
}

#[tokio::test]
async fn what_is_none_of_ours_is_taken_and_makes_no_work() {
    let mut gate = harmless().start().await;
    gate.deliver(Happening::Ping).await;
    gate.deliver(Happening::Retitled(7)).await;
    gate.drain().await;
    assert_eq!(gate.check_run(7), "no check run");
    gate.end().await;
}

// Crashes.

#[tokio::test]
async fn a_receiver_that_is_killed_after_its_answer_has_lost_nothing() {
    let mut gate = harmful().start().await;
    gate.deliver(opened(7)).await;
    gate.kill_receiver().await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/failure");
    gate.start_receiver().await;
    gate.end().await;
}

/// Kills a worker while the request of this kind stands at the barrier, and lets the next worker finish.
async fn killed_at(route: Route, fault: impl FnOnce(Held) -> Fault) -> Gate {
    let mut gate = harmful().set("WORK__LEASE", "1s").start().await;
    let held = Held::default();
    gate.forge.once(route, fault(held.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.start_work();
    held.arrived().await;
    work.kill().await;
    held.release();
    gate.drain_through_retries().await;
    gate
}

#[tokio::test]
async fn a_worker_killed_before_its_run_was_created_is_followed_by_one_that_creates_it() {
    let gate = killed_at(Route::CreateRun, Fault::HoldBefore).await;
    assert_eq!(gate.runs(7)[0].stations, ["queued", "in_progress", "completed/failure"]);
    gate.end().await;
}

#[tokio::test]
async fn a_run_that_a_killed_worker_created_is_found_again_by_its_external_id() {
    let gate = killed_at(Route::CreateRun, Fault::HoldAfter).await;
    let runs = gate.runs(7);
    assert_eq!(runs.len(), 1, "{}", gate.told());
    assert_eq!(runs[0].stations, ["queued", "in_progress", "completed/failure"]);
    gate.end().await;
}

#[tokio::test]
async fn a_worker_killed_while_it_judged_is_followed_by_one_that_finishes_the_same_run() {
    let gate = killed_at(Route::UpdateRun, Fault::HoldAfter).await;
    let runs = gate.runs(7);
    assert_eq!(runs.len(), 1, "{}", gate.told());
    assert_eq!(runs[0].stations, ["queued", "in_progress", "completed/failure"]);
    gate.end().await;
}

#[tokio::test]
async fn a_worker_killed_after_it_posted_is_followed_by_one_that_only_takes_note() {
    let mut gate = harmful().set("WORK__LEASE", "1s").start().await;
    let (started, posted) = (Held::default(), Held::default());
    gate.forge.once(Route::UpdateRun, Fault::HoldBefore(started.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.start_work();
    started.arrived().await;
    gate.forge.once(Route::UpdateRun, Fault::HoldAfter(posted.clone()));
    started.release();
    posted.arrived().await;
    work.kill().await;
    posted.release();
    let written = gate.forge.asked(Route::UpdateRun);
    gate.drain_through_retries().await;
    assert_eq!(gate.forge.asked(Route::UpdateRun), written, "it was posted twice{}", gate.told());
    assert_eq!(gate.runs(7).len(), 1);
    assert_eq!(gate.verdict(7), "completed/failure");
    gate.end().await;
}

#[tokio::test]
async fn two_workers_at_once_publish_one_result() {
    let mut gate = harmful().start().await;
    gate.deliver(opened(7)).await;
    let (first, second) = (gate.start_work(), gate.start_work());
    gate.finish(first).await;
    gate.finish(second).await;
    assert_eq!(gate.runs(7).len(), 1);
    assert_eq!(gate.verdict(7), "completed/failure");
    gate.end().await;
}

// Faults of the forge.

/// Opens the pull request while one request of this kind meets the fault, and works through all tries.
async fn once(world: World, route: Route, fault: Fault) -> Gate {
    let mut gate = world.start().await;
    gate.forge.once(route, fault);
    gate.deliver(opened(7)).await;
    gate.drain_through_retries().await;
    gate
}

/// The kinds of requests that one evaluation makes.
const EVERY_STEP: [Route; 6] =
    [Route::MintToken, Route::Pull, Route::BranchTip, Route::CreateRun, Route::UpdateRun, Route::Git];

#[tokio::test]
async fn a_fault_of_the_forge_at_any_step_is_survived_and_publishes_one_result() {
    for route in EVERY_STEP {
        let faults = [Fault::status(500), Fault::status(502), Fault::CutBefore, Fault::secondary_limit(1)];
        let stories = faults.map(|fault| async move {
            let said = format!("{route:?} {fault:?}");
            let gate = once(harmful(), route, fault).await;
            let open = gate.runs(7).iter().filter(|run| run.status != "completed").count();
            assert_eq!((gate.verdict(7).as_str(), open), ("completed/failure", 0), "{said}{}", gate.told());
            gate.end().await;
        });
        futures::future::join_all(stories).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_after_the_work_was_done_does_not_make_it_twice() {
    for route in [Route::CreateRun, Route::UpdateRun] {
        for fault in [Fault::CutAfter, Fault::Garble] {
            let said = format!("{route:?} {fault:?}");
            let gate = once(harmful(), route, fault).await;
            let runs = gate.runs(7);
            assert_eq!(runs.len(), 1, "{said}{}", gate.told());
            assert_eq!(runs[0].stations, ["queued", "in_progress", "completed/failure"], "{said}");
            gate.end().await;
        }
    }
}

#[tokio::test]
async fn a_token_that_is_refused_once_is_minted_anew() {
    let gate = once(harmless(), Route::Pull, Fault::status(401)).await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

#[tokio::test]
async fn a_token_that_is_void_before_the_result_is_posted_is_minted_anew() {
    let mut gate = harmless().start().await;
    let started = Held::default();
    gate.forge.once(Route::UpdateRun, Fault::HoldAfter(started.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.start_work();
    started.arrived().await;
    gate.forge.state().tokens.clear();
    started.release();
    gate.finish_through_retries(work).await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

#[tokio::test]
async fn a_clock_that_is_behind_the_forges_is_no_obstacle() {
    let mut gate = harmless().start().await;
    gate.forge.state().ahead = jiff::SignedDuration::from_mins(20);
    gate.deliver(opened(7)).await;
    gate.drain_through_retries().await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

/// Opens the pull request while every request of this kind meets the fault: the job fails for good, and says so.
async fn always(route: Route, fault: Fault) -> Gate {
    let mut gate = harmless().start().await;
    gate.forge.always(route, fault);
    gate.expect_error("giving up");
    gate.leaves_jobs();
    gate.deliver(opened(7)).await;
    gate.drain_through_retries().await;
    assert!(gate.queue().await.contains("1 failed for good"), "{}{}", gate.queue().await, gate.told());
    gate
}

/// The same, with no word on the pull request: the forge would not take it.
async fn always_in_vain(route: Route, status: u16) {
    let gate = always(route, Fault::status(status)).await;
    let stations: Vec<String> = gate.runs(7).iter().flat_map(|run| run.stations.clone()).collect();
    assert!(stations.iter().all(|s| !s.contains("success")), "{route:?} {status}: {stations:?}");
    let requests = gate.forge.state().history.len();
    assert!(requests < 150, "{route:?} {status}: a storm of {requests} requests");
    let mut gate = gate;
    gate.leaves_runs_open();
    gate.end().await;
}

#[tokio::test]
async fn a_forge_that_refuses_for_good_is_left_alone() {
    let refusals = [
        (Route::MintToken, 401),
        (Route::MintToken, 422),
        (Route::Pull, 401),
        (Route::Pull, 403),
        (Route::Pull, 404),
        (Route::CreateRun, 403),
        (Route::CreateRun, 422),
    ];
    futures::future::join_all(refusals.map(|(route, status)| always_in_vain(route, status))).await;
}

#[tokio::test]
async fn garbage_from_the_forge_is_no_verdict() {
    for route in [Route::MintToken, Route::Pull, Route::BranchTip, Route::CreateRun] {
        let mut gate = always(route, Fault::garbage()).await;
        gate.leaves_runs_open();
        let stations: Vec<String> = gate.runs(7).iter().flat_map(|run| run.stations.clone()).collect();
        assert!(stations.iter().all(|s| !s.contains("success")), "{route:?}: {stations:?}");
        gate.end().await;
    }
}

#[tokio::test]
async fn a_change_that_git_cannot_fetch_is_unscored_on_the_pull_request() {
    let gate = always(Route::Git, Fault::status(404)).await;
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/action_required
    UNSCORED: could-not-judge: fetching the pull request: the remote has no such repository, or hides it from the App
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_report_that_the_forge_refuses_is_replaced_by_a_short_one() {
    let mut gate = harmful().start().await;
    let started = Held::default();
    gate.forge.once(Route::UpdateRun, Fault::HoldAfter(started.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.start_work();
    started.arrived().await;
    gate.forge.once(Route::UpdateRun, Fault::status(422));
    started.release();
    gate.finish_through_retries(work).await;
    assert_eq!(gate.verdict(7), "completed/failure");
    assert!(gate.report(7).len() < 2_000, "{}", gate.report(7));
    gate.end().await;
}

#[tokio::test]
async fn a_suspended_installation_ends_the_job_without_a_storm() {
    let mut gate = harmless().start().await;
    gate.deliver(opened(7)).await;
    gate.forge.state().installations.get_mut(&INSTALLATION).unwrap().suspended = true;
    gate.expect_error("suspended");
    gate.leaves_jobs();
    gate.drain_through_retries().await;
    assert_eq!(gate.check_run(7), "no check run");
    let asked = gate.forge.asked(Route::MintToken);
    assert!(asked <= 10, "{asked} tokens were asked for{}", gate.told());
    gate.end().await;
}

#[tokio::test]
async fn a_failed_job_that_is_tried_again_publishes_its_result() {
    let mut gate = always(Route::Pull, Fault::status(404)).await;
    gate.forge.heal();
    let listed = gate.queue().await;
    let job = listed.split_once("\njob ").unwrap().1.split_once(':').unwrap().0.to_owned();
    let told = gate.run(&["queue", "retry", &job]).await;
    assert!(told.status.success(), "{told:?}");
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    assert!(gate.queue().await.starts_with("0 queued"), "{}", gate.queue().await);
    gate.end().await;
}

// Wrong configurations.

/// How `work --drain` ends, and the one thing that it says.
async fn refused(mut gate: Gate) -> String {
    gate.leaves_jobs();
    let out = gate.run(&["work", "--drain"]).await;
    let told = String::from_utf8(out.stderr).unwrap();
    gate.end().await;
    let told = told.lines().find(|line| line.starts_with("evidence-gate: ")).unwrap_or("(nothing)").to_owned();
    format!("{}\n{told}", out.status.code().unwrap())
}

#[tokio::test]
async fn a_key_that_is_no_key_is_refused_in_one_sentence() {
    let mut told = Vec::new();
    for text in ["", "hunter2", "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n"] {
        let gate = harmless().app_key(text).start().await;
        gate.deliver(opened(7)).await;
        told.push(refused(gate).await);
    }
    told.dedup();
    assert_snapshot!(told.join("\n"), @r#"
    65
    evidence-gate: the GitHub App's private key is not an RSA private key in PEM form; use the .pem file that the App's settings page makes under "Generate a private key"
    "#);
}

#[tokio::test]
async fn a_data_directory_that_cannot_be_made_is_named() {
    let mut gate = harmless().start().await;
    let config = gate.config();
    gate.set("DATA_DIR", config.join("data").to_str().unwrap());
    gate.leaves_jobs();
    let out = gate.run(&["work", "--drain"]).await;
    let data = gate.data();
    gate.set("DATA_DIR", data.to_str().unwrap());
    gate.end().await;
    let told = format!("{}\n{}", out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap());
    assert!(told.starts_with("74\n") && told.contains("evidence-gate.toml/data"), "{told}");
}

#[tokio::test]
async fn a_typo_in_the_configuration_is_named_with_its_line() {
    let gate = harmless().without_receiver().start().await;
    let text = std::fs::read_to_string(gate.config()).unwrap();
    std::fs::write(gate.config(), text.replace("check_name", "chek_name")).unwrap();
    let out = gate.run(&["work", "--drain"]).await;
    std::fs::write(gate.config(), text).unwrap();
    let told = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(65), "{told}");
    assert!(told.contains("chek_name") && told.contains("line "), "{told}");
    gate.end().await;
}

#[tokio::test]
async fn a_database_that_may_not_grow_takes_nothing_and_says_so() {
    let mut gate = harmless().set("RECEIVE__MAX_DATABASE_BYTES", "262144").start().await;
    let mut taken = 0;
    let refused = loop {
        gate.change_pull(7, |pull| pull.title = format!("{taken} {}", noise(20_000, taken)));
        let signed = gate.sign(&opened(7));
        match gate.send(&signed).await {
            202 => taken += 1,
            other => break other,
        }
        assert!(taken < 100, "the database grew without bound");
    };
    assert_eq!(refused, 503);
    assert_eq!(gate.get("/readyz").await.0, 503);
    gate.expect_error("full");
    gate.kill_receiver().await;
    gate.set("RECEIVE__MAX_DATABASE_BYTES", "268435456");
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

/// Text that does not compress.
fn noise(length: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: Vec<String> = (0..length / 16).map(|_| format!("{:016x}", next())).collect();
    words.concat()
}

#[tokio::test]
async fn a_mirror_that_cannot_be_written_is_no_success() {
    let mut gate = harmless().start().await;
    // A file stands where the folder of mirrors belongs.
    std::fs::write(gate.data().join("mirrors"), "in the way").unwrap();
    gate.expect_error("giving up");
    gate.leaves_jobs();
    gate.deliver(opened(7)).await;
    gate.drain_through_retries().await;
    let run = gate.check_run(7);
    assert!(run.starts_with("queued > in_progress > completed/action_required\nUNSCORED: could-not-judge"), "{run}");
    gate.end().await;
}

// `serve`.

#[tokio::test]
async fn serve_runs_both_roles_and_stops_both() {
    let mut gate = harmful().without_receiver().start().await;
    let serve = gate.spawn("serve", &[]);
    gate.until_it_listens(&serve).await;
    gate.deliver(opened(7)).await;
    serve.says("scored acme/widgets#7").await;
    serve.terminate();
    let status = serve.ended(|| gate.told()).await;
    assert!(status.success(), "{status}{}", gate.told());
    assert_eq!(gate.verdict(7), "completed/failure");
    gate.end().await;
}

#[tokio::test]
async fn serve_starts_a_dead_role_again() {
    let mut gate = harmful().without_receiver().start().await;
    gate.expect_error("receive ended");
    let serve = gate.spawn("serve", &[]);
    gate.until_it_listens(&serve).await;
    std::fs::remove_file(gate.data().join("receive.addr")).unwrap();
    let line = serve.says("started receive").await;
    let id: i32 = line.split_once("process.id=").unwrap().1.split_whitespace().next().unwrap().parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), rustix::process::Signal::KILL).unwrap();
    gate.until_it_listens(&serve).await;
    gate.deliver(opened(7)).await;
    serve.says("scored acme/widgets#7").await;
    serve.terminate();
    let status = serve.ended(|| gate.told()).await;
    assert!(status.success(), "{status}{}", gate.told());
    assert_eq!(gate.verdict(7), "completed/failure");
    // A duty of the start may wait for the next one.
    gate.leaves_jobs();
    gate.end().await;
}

#[tokio::test]
async fn neither_role_is_given_the_secrets_of_the_other() {
    let mut gate = harmful().without_receiver().start().await;
    let (key, secret) = {
        let state = gate.forge.state();
        (state.app.key.private_pem.clone(), state.app.hook_secret.clone())
    };
    let text = std::fs::read_to_string(gate.config()).unwrap();
    let files = |line: &&str| !line.starts_with("private_key_file") && !line.starts_with("webhook_secret_files");
    std::fs::write(gate.config(), text.lines().filter(files).collect::<Vec<_>>().join("\n")).unwrap();
    gate.set("GITHUB__PRIVATE_KEY", &key);
    gate.set("GITHUB__WEBHOOK_SECRETS", &secret);
    let serve = gate.spawn("serve", &[]);
    gate.until_it_listens(&serve).await;
    for (role, foreign) in
        [("receive", "EVIDENCE_GATE_GITHUB__PRIVATE_KEY"), ("work", "EVIDENCE_GATE_GITHUB__WEBHOOK_SECRETS")]
    {
        let line = serve.says(&format!("started {role}")).await;
        let id = line.split_once("process.id=").unwrap().1.split_whitespace().next().unwrap().to_owned();
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(environment.contains("PATH="), "{role} has no environment: {environment}");
        assert!(!environment.contains(foreign), "{role} sees {foreign}");
    }
    serve.terminate();
    assert!(serve.ended(|| gate.told()).await.success());
    gate.end().await;
}

#[tokio::test]
async fn the_receiver_shows_its_health_and_its_counts() {
    let gate = harmless().start().await;
    gate.deliver(Happening::Ping).await;
    assert_eq!(gate.get("/healthz").await.0, 200);
    assert_eq!(gate.get("/readyz").await.0, 200);
    let (status, metrics) = gate.get("/metrics").await;
    assert_eq!(status, 200);
    assert!(metrics.lines().any(|line| line.contains("deliveries") && line.ends_with(" 1")), "{metrics}");
    gate.end().await;
}

#[tokio::test]
async fn work_that_is_told_to_stop_finishes_what_it_has_begun() {
    let mut gate = harmful().start().await;
    let started = Held::default();
    gate.forge.once(Route::UpdateRun, Fault::HoldAfter(started.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.spawn("work", &[]);
    started.arrived().await;
    work.terminate();
    work.says("stopping").await;
    started.release();
    let ended = tokio::time::timeout(Duration::from_secs(30), work.ended(|| gate.told())).await;
    assert!(ended.is_ok_and(|status| status.success()), "{}", gate.told());
    assert_eq!(gate.verdict(7), "completed/failure");
    // A duty of the start may wait for the next one.
    gate.leaves_jobs();
    gate.end().await;
}
