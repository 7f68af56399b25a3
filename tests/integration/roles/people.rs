//! What people say is found out even where no delivery tells of it.

use crate::dsl::{Change, Gate, POLICY, Route, opened, pr};

fn bump() -> Change {
    pr(7).modifies("poetry.lock")
}

async fn waiting() -> Gate {
    let mut gate = Gate::with(bump()).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    gate
}

/// Approved, and told of.
async fn approved() -> Gate {
    let mut gate = waiting().await;
    let review = gate.reviews("mia", 7, "APPROVED");
    gate.deliver(review).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success", "{}", gate.told());
    gate
}

async fn found_out(mut gate: Gate, verdict: &str) {
    gate.reconcile().await;
    assert_eq!(gate.verdict(7), verdict, "{}", gate.told());
    let runs = gate.runs(7).len();
    gate.reconcile().await;
    assert_eq!(gate.runs(7).len(), runs, "nothing is done twice{}", gate.told());
    gate.end().await;
}

#[tokio::test]
async fn an_approval_that_nobody_told_of_is_found() {
    let mut gate = waiting().await;
    let _lost = gate.reviews("mia", 7, "APPROVED");
    found_out(gate, "completed/success").await;
}

#[tokio::test]
async fn a_dismissal_that_nobody_told_of_takes_the_green_back() {
    let mut gate = approved().await;
    let _lost = gate.dismisses("mia", 7);
    found_out(gate, "completed/action_required").await;
}

#[tokio::test]
async fn a_role_that_was_lost_takes_the_green_back() {
    let gate = approved().await;
    gate.has_role("mia", ("write", "write"));
    found_out(gate, "completed/action_required").await;
}

#[tokio::test]
async fn a_label_that_nobody_told_of_is_found() {
    let mut gate = Gate::with(pr(7).modifies("tests/fixtures/users.json")).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/failure");
    let _lost = gate.labels("ada", 7, "evidence-edit");
    found_out(gate, "completed/action_required").await;
}

#[tokio::test]
async fn a_pull_request_that_stands_on_nobody_is_not_asked_about_its_reviews() {
    let mut gate = Gate::world().policy(POLICY).pull(pr(7).modifies("src/a.py")).start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let asked = gate.forge.asked(Route::Reviews);
    gate.reconcile().await;
    assert_eq!(gate.forge.asked(Route::Reviews), asked);
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}
