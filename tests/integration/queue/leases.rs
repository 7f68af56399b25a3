//! Who may work on what.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use evidence_gate::delivery::{Inbox as _, Stored};
use evidence_gate::queue::{Fenced, Queue as _, Settled};
use futures::future::join_all;

use super::cast::{House, LEASE, at, claim, closed, head, opened, publish, pushed, reopened, what};

#[tokio::test]
async fn the_job_that_has_been_due_longest_is_taken_first() {
    let house = House::new().await;
    for (pull, second) in [(3, 30), (1, 10), (2, 20)] {
        house.store(&opened(pull, 'a', second)).await;
    }
    house.store(&pushed(1, 'b', 40)).await;
    let mut order = Vec::new();
    while let Some(lease) = house.claim(50).await {
        order.push(lease.job.trigger.pull.0);
    }
    assert_eq!(order, [1, 2, 3]);
}

#[tokio::test]
async fn a_job_is_not_taken_before_it_is_due() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 10)).await;
    assert_eq!(house.claim(9).await, None);
    assert!(house.claim(10).await.is_some());
}

#[tokio::test]
async fn a_trigger_that_comes_while_its_pull_request_is_worked_on_waits_for_the_end() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let first = house.claim(1).await.unwrap();
    assert_eq!(house.store(&pushed(7, 'b', 2)).await, Stored::Queued);
    assert_eq!(house.store(&pushed(7, 'c', 3)).await, Stored::Coalesced);
    assert_eq!(house.claim(4).await, None);
    house.done(&first, 5).await;
    let second = house.claim(5).await.unwrap();
    assert_eq!(what(&second), (7, Some(head('c'))));
    assert!(second.generation > first.generation);
    assert_ne!(second.evaluation, first.evaluation);
}

#[tokio::test]
async fn other_pull_requests_do_not_wait() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let _held = house.claim(1).await.unwrap();
    house.store(&pushed(7, 'b', 2)).await;
    house.store(&opened(8, 'a', 3)).await;
    assert_eq!(house.claim(4).await.unwrap().job.trigger.pull.0, 8);
}

#[tokio::test]
async fn a_lease_that_ran_out_is_taken_over_under_the_same_evaluation_and_a_newer_generation() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lost = claim(&house.queue, "killed", 0).await.unwrap();
    assert_eq!(house.claim(59).await, None);
    let taken = claim(&house.another_process().await, "heir", 60).await.unwrap();
    assert_eq!((taken.job.id, taken.evaluation, taken.job.attempt), (lost.job.id, lost.evaluation, 2));
    assert!(taken.generation > lost.generation);

    assert_eq!(house.queue.heartbeat(&lost, at(61), LEASE).await.unwrap(), Fenced::Lost);
    assert_eq!(house.queue.run_opened(&lost, &head('a'), evidence_gate::words::RunId(1)).await.unwrap(), Fenced::Lost);
    assert!(!publish(&house.queue, &lost).await);
    assert_eq!(house.queue.posted(&lost).await.unwrap(), Fenced::Lost);
    assert_eq!(house.queue.settle(&lost, Settled::Done, at(61)).await.unwrap(), Fenced::Lost);
    let dead = Settled::Dead { why: "no".to_owned() };
    assert_eq!(house.queue.settle(&lost, dead, at(61)).await.unwrap(), Fenced::Lost);

    assert_eq!(house.counts().await, (0, 1, 0));
    assert!(publish(&house.queue, &taken).await);
    house.done(&taken, 62).await;
    assert_eq!(house.counts().await, (0, 0, 0));
}

#[tokio::test]
async fn a_heartbeat_keeps_the_lease() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    assert_eq!(house.queue.heartbeat(&lease, at(50), LEASE).await.unwrap(), Fenced::Held);
    assert_eq!(house.claim(109).await, None);
    assert!(house.claim(110).await.is_some());
}

#[tokio::test]
async fn a_lease_that_ran_out_and_that_nobody_took_can_still_be_kept() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    assert_eq!(house.queue.heartbeat(&lease, at(70), LEASE).await.unwrap(), Fenced::Held);
    assert_eq!(house.claim(129).await, None);
    house.done(&lease, 129).await;
}

#[tokio::test]
async fn newer_work_is_done_instead_of_a_try_whose_lease_ran_out() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lost = house.claim(0).await.unwrap();
    house.store(&pushed(7, 'b', 30)).await;
    assert_eq!(house.claim(59).await, None);
    let newer = house.claim(60).await.unwrap();
    assert_eq!((what(&newer), newer.job.attempt), ((7, Some(head('b'))), 1));
    assert_ne!(newer.evaluation, lost.evaluation);
    assert_eq!(house.queue.settle(&lost, Settled::Done, at(61)).await.unwrap(), Fenced::Lost);
    assert_eq!(house.counts().await, (0, 1, 0));
}

#[tokio::test]
async fn a_replay_does_not_take_the_place_of_a_try_whose_lease_ran_out() {
    let house = House::new().await;
    let hook = opened(7, 'a', 0);
    house.store(&hook).await;
    let lost = house.claim(0).await.unwrap();
    house.try_store(hook.under("replay")).await.unwrap();
    let taken = house.claim(60).await.unwrap();
    assert_eq!((taken.evaluation, what(&taken)), (lost.evaluation, (7, Some(head('a')))));
    assert_eq!(house.counts().await, (1, 1, 0));
}

#[tokio::test]
async fn a_failed_try_waits_and_comes_again_under_the_same_evaluation() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let first = house.claim(0).await.unwrap();
    house.retry(&first, 20, 5).await;
    assert_eq!(house.claim(19).await, None);
    let second = house.claim(20).await.unwrap();
    assert_eq!((second.evaluation, second.job.attempt), (first.evaluation, 2));
    assert!(second.generation > first.generation);
    assert_eq!(second.job.queued, at(0));
}

#[tokio::test]
async fn a_push_ends_the_pause_of_a_failed_try_and_begins_a_new_evaluation() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let first = house.claim(0).await.unwrap();
    house.retry(&first, 900, 5).await;
    assert_eq!(house.store(&pushed(7, 'b', 6)).await, Stored::Coalesced);
    let second = house.claim(6).await.unwrap();
    assert_eq!((what(&second), second.job.attempt), ((7, Some(head('b'))), 1));
    assert_ne!(second.evaluation, first.evaluation);
}

#[tokio::test]
async fn a_failed_try_gives_way_to_newer_work() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let first = house.claim(0).await.unwrap();
    house.store(&pushed(7, 'b', 1)).await;
    house.retry(&first, 20, 2).await;
    assert_eq!(house.counts().await, (1, 0, 0));
    assert_eq!(what(&house.claim(2).await.unwrap()), (7, Some(head('b'))));
}

#[tokio::test]
async fn a_failed_try_takes_a_waiting_replay_in() {
    let house = House::new().await;
    let hook = opened(7, 'a', 0);
    house.store(&hook).await;
    let first = house.claim(0).await.unwrap();
    house.try_store(hook.under("replay")).await.unwrap();
    house.retry(&first, 20, 2).await;
    assert_eq!(house.counts().await, (1, 0, 0));
    assert_eq!(house.claim(20).await.unwrap().evaluation, first.evaluation);
}

#[tokio::test]
async fn a_pull_request_that_was_closed_meanwhile_is_not_tried_again() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    house.store(&closed(7, 'a', 1)).await;
    house.retry(&lease, 20, 2).await;
    assert_eq!(house.counts().await, (0, 0, 0));
}

#[tokio::test]
async fn reopening_while_the_closed_evaluation_still_runs_makes_one_job_after_it() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    house.store(&closed(7, 'a', 1)).await;
    house.store(&reopened(7, 'a', 2)).await;
    assert!(!publish(&house.queue, &lease).await);
    assert_eq!(house.claim(3).await, None);
    house.done(&lease, 3).await;
    let next = house.claim(3).await.unwrap();
    assert!(next.generation > lease.generation);
    assert!(publish(&house.queue, &next).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_never_work_on_one_pull_request_at_once() {
    let house = House::new().await;
    let other = house.another_process().await;
    let busy = Arc::new(Mutex::new(HashSet::new()));
    let work = (0..4).map(|n| {
        let queue = if n % 2 == 0 { house.queue.clone() } else { other.clone() };
        let busy = Arc::clone(&busy);
        tokio::spawn(async move {
            let mut done = 0;
            for round in 0..40 {
                let pull = round % 5 + 1;
                queue
                    .store(pushed(pull, 'a', 0).saying(format!("{n}-{round}")).under(&format!("{n}-{round}")))
                    .await
                    .unwrap();
                let Some(lease) = claim(&queue, &format!("runner-{n}"), 1).await else { continue };
                let pull = lease.job.trigger.pull;
                assert!(busy.lock().unwrap().insert(pull), "somebody works on {pull}");
                let published = publish(&queue, &lease).await;
                assert!(busy.lock().unwrap().remove(&pull));
                assert_eq!(queue.settle(&lease, Settled::Done, at(1)).await.unwrap(), Fenced::Held);
                done += u32::from(published);
            }
            done
        })
    });
    let published: u32 = join_all(work).await.into_iter().map(Result::unwrap).sum();
    assert!(published > 0, "every evaluation was superseded");
    while let Some(lease) = house.claim(2).await {
        house.done(&lease, 2).await;
    }
    assert_eq!(house.counts().await, (0, 0, 0));
}
