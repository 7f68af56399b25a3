//! What pull requests have together: a commit, a merge group.

use crate::dsl::{Fault, Gate, NARROW_POLICY, POLICY_PATH, Route, opened, pr};
use crate::fake_forge::Happening;

/// Two pull requests with one commit; #8 targets a branch that holds it.
async fn sharing() -> Gate {
    let mut gate = Gate::with(pr(7).modifies("engine/a.dat")).await;
    gate.commit_to("strict", &pr(1).writes(POLICY_PATH, NARROW_POLICY));
    gate.copy_pull(7, 8);
    gate.retarget(8, "strict");
    for pull in [8, 7] {
        gate.deliver(opened(pull)).await;
        gate.drain().await;
    }
    assert!(gate.check_run(7).contains("HOLD: #8 has this commit too"), "{}", gate.check_run(7));
    gate
}

#[tokio::test]
async fn a_commit_is_unblocked_when_the_worse_pull_request_is_closed() {
    let mut gate = sharing().await;
    let closed = gate.close(8);
    gate.deliver(closed).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success", "{}", gate.told());
    gate.end().await;
}

#[tokio::test]
async fn a_commit_is_unblocked_when_the_worse_pull_request_moves_on() {
    let mut gate = sharing().await;
    let shared = gate.head(7);
    let pushed = gate.push(&pr(8).writes("engine/b.dat", "more\n"));
    gate.deliver(pushed).await;
    gate.drain().await;
    assert!(gate.check_run_on(&shared).contains("completed/success"), "{}", gate.told());
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn one_member_of_the_evidence_lane_beside_product_members_is_judged_by_itself() {
    let changes = [pr(7).writes("src/a.py", "a = 1\n"), pr(8).writes("tests/fixtures/users.json", "[]\n")];
    let mut gate = Gate::world().pull(changes[0].clone()).labelled_pull(changes[1].clone()).start().await;
    for pull in [7, 8] {
        gate.deliver(opened(pull)).await;
    }
    let review = gate.reviews("mia", 8, "APPROVED");
    gate.deliver(review).await;
    gate.drain().await;
    assert_eq!(gate.verdict(8), "completed/success", "{}", gate.told());
    let group = gate.queue_up(&changes.each_ref());
    let head = gate.group_head(&group);
    gate.deliver(group).await;
    gate.drain().await;
    assert!(gate.check_run_on(&head).contains("completed/success"), "{}", gate.check_run_on(&head));
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_group_that_was_taken_apart_is_not_judged_any_more() {
    let changes = [pr(7).writes("src/a.py", "a = 1\n")];
    let mut gate = Gate::with(changes[0].clone()).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let group = gate.queue_up(&changes.each_ref());
    let head = gate.group_head(&group);
    gate.deliver(Happening::GroupDestroyed(Box::new(group.clone()))).await;
    gate.drain().await;
    gate.deliver(group).await;
    gate.drain().await;
    assert!(gate.runs_on(&head).is_empty(), "{}", gate.told());
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_verdict_that_is_posted_at_the_second_try_stands_once_in_the_audit_log() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    gate.deliver(opened(7)).await;
    // What was posted cannot be read back at first.
    gate.forge.times(3, Route::ListRuns, Fault::status(502));
    gate.drain_through_retries().await;
    assert_eq!(gate.verdict(7), "completed/success");
    let audit = gate.audit(&["--kind", "verdict"]).await;
    assert_eq!(audit.lines().count(), 1, "{audit}");
    gate.look_at_all_runs();
    gate.end().await;
}
