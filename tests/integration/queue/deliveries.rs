//! What becomes of a delivery.

use std::sync::Arc;

use evidence_gate::delivery::{Inbox as _, InboxError, Stored};
use evidence_gate::event::Cause;
use evidence_gate::queue::Queue as _;
use evidence_gate::words::{DeliveryId, ForgeKind, InstallationId};
use futures::future::join_all;
use tokio::sync::Barrier;

use super::cast::{House, assigned, at, closed, head, opened, pushed, reopened, retargeted, sent, what};

#[tokio::test(flavor = "multi_thread")]
async fn the_same_delivery_five_times_at_once_through_two_processes_makes_one_job() {
    let house = House::new().await;
    let other = house.another_process().await;
    let hook = opened(7, 'a', 0);
    let together = Arc::new(Barrier::new(5));
    let sending = (0..5).map(|n| {
        let queue = if n % 2 == 0 { house.queue.clone() } else { other.clone() };
        let (delivery, together) = (hook.sent(), Arc::clone(&together));
        tokio::spawn(async move {
            together.wait().await;
            queue.store(delivery).await.unwrap()
        })
    });
    let mut answers: Vec<Stored> = join_all(sending).await.into_iter().map(Result::unwrap).collect();
    answers.sort_by_key(|answer| *answer != Stored::Queued);
    let once = Stored::Duplicate;
    assert_eq!(answers, [Stored::Queued, once.clone(), once.clone(), once.clone(), once]);
    assert_eq!(house.counts().await, (1, 0, 0));
}

#[tokio::test]
async fn a_delivery_is_kept_whole_with_what_became_of_it() {
    let house = House::new().await;
    let hook = opened(7, 'a', 3);
    house.store(&hook).await;
    let kept = house.queue.delivery(ForgeKind::Github, &hook.id().parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(kept.body.as_deref(), Some(hook.body().as_bytes()));
    assert_eq!((kept.event.as_str(), kept.hook.as_str(), kept.received), ("pull_request", "292430182", at(3)));
    assert_eq!(kept.outcome, "queued");
}

#[tokio::test]
async fn the_job_carries_what_the_delivery_said() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let job = house.claim(1).await.unwrap().job;
    assert_eq!((job.trigger.cause, job.trigger.head, job.attempt), (Cause::Opened, Some(head('a')), 1));
    assert_eq!((job.trigger.installation, job.queued), (Some(InstallationId(5)), at(0)));
    assert_eq!(job.trigger.repository.to_string(), "acme/widgets");
}

#[tokio::test]
async fn what_is_ignored_is_kept_with_the_reason_and_asks_for_nothing() {
    let house = House::new().await;
    let answer = house.store(&assigned(7, 'a', 0)).await;
    let why = r#"event "pull_request", action "assigned""#;
    assert_eq!(answer, Stored::Ignored(why.to_owned()));
    assert_eq!(house.outcome(&assigned(7, 'a', 0).id()).await, Some(format!("ignored: {why}")));
    assert_eq!(house.counts().await, (0, 0, 0));
    assert_eq!(house.store(&assigned(7, 'a', 0)).await, Stored::Duplicate);
}

#[tokio::test]
async fn a_body_that_is_not_what_its_header_says_is_not_kept() {
    let house = House::new().await;
    let refused = house.try_store(sent("broken", "pull_request", "{\"action\":\"opened\"}", at(0))).await;
    assert!(matches!(refused, Err(InboxError::Malformed(_))), "{refused:?}");
    assert_eq!(house.outcome("broken").await, None);
    // Its id is free for the true delivery.
    let answer = house.try_store(opened(7, 'a', 0).under("broken")).await.unwrap();
    assert_eq!(answer, Stored::Queued);
}

#[tokio::test]
async fn a_known_id_with_another_body_is_refused_and_changes_nothing() {
    let house = House::new().await;
    house.try_store(opened(7, 'a', 0).under("one")).await.unwrap();
    let refused = house.try_store(closed(7, 'a', 1).under("one")).await;
    assert!(matches!(refused, Err(InboxError::OtherBody)), "{refused:?}");
    assert_eq!(house.counts().await, (1, 0, 0));
    let kept = house.queue.delivery(ForgeKind::Github, &"one".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(kept.body.as_deref(), Some(opened(7, 'a', 0).body().as_bytes()));
}

#[tokio::test]
async fn a_known_body_under_another_id_asks_for_one_look_at_the_present_state() {
    let house = House::new().await;
    let old = pushed(7, 'a', 0);
    house.store(&old).await;
    let first = house.claim(0).await.unwrap();
    house.done(&first, 1).await;

    assert_eq!(house.try_store(old.under("replay-1")).await.unwrap(), Stored::Queued);
    assert_eq!(house.try_store(old.under("replay-2")).await.unwrap(), Stored::Coalesced);
    assert_eq!(house.try_store(old.under("replay-2")).await.unwrap(), Stored::Duplicate);
    assert_eq!(house.claim(9).await, None, "replays alone are held back for ten seconds");
    let look = house.claim(10).await.unwrap();
    assert_eq!((look.job.trigger.cause, look.job.trigger.head.clone()), (Cause::Replayed, None));
    assert_ne!(look.evaluation, first.evaluation);
    house.done(&look, 11).await;
    assert_eq!(house.claim(100).await, None);
}

#[tokio::test]
async fn a_replay_is_kept_without_a_second_copy_of_the_body() {
    let house = House::new().await;
    let hook = pushed(7, 'a', 0);
    house.store(&hook).await;
    house.try_store(hook.under("again")).await.unwrap();
    let kept = house.queue.delivery(ForgeKind::Github, &"again".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(kept.body.as_deref(), Some(hook.body().as_bytes()));
    assert_eq!(kept.outcome, "coalesced");
    let copies: i64 =
        sqlx::query_scalar("SELECT count(body) FROM deliveries").fetch_one(&mut house.by_hand().await).await.unwrap();
    assert_eq!(copies, 1);
}

#[tokio::test]
async fn the_same_body_for_another_event_is_no_replay() {
    let house = House::new().await;
    let body = "{\"zen\":\"Keep it logically awesome.\",\"hook_id\":1}";
    house.try_store(sent("one", "ping", body, at(0))).await.unwrap();
    let answer = house.try_store(sent("two", "gollum", body, at(0))).await.unwrap();
    assert_eq!(answer, Stored::Ignored("event \"gollum\"".to_owned()));
    let replays: i64 =
        sqlx::query_scalar("SELECT sum(replay) FROM seen").fetch_one(&mut house.by_hand().await).await.unwrap();
    assert_eq!(replays, 0);
}

#[tokio::test]
async fn a_newer_head_takes_the_place_of_a_queued_one() {
    let house = House::new().await;
    assert_eq!(house.store(&opened(7, 'a', 0)).await, Stored::Queued);
    assert_eq!(house.store(&pushed(7, 'b', 1)).await, Stored::Coalesced);
    assert_eq!(house.store(&pushed(7, 'c', 2)).await, Stored::Coalesced);
    let lease = house.claim(3).await.unwrap();
    assert_eq!(what(&lease), (7, Some(head('c'))));
    assert_eq!(lease.job.queued, at(0));
    assert_eq!(house.claim(3).await, None);
}

#[tokio::test]
async fn deliveries_out_of_order_leave_the_newest_head_and_the_weightiest_cause() {
    let house = House::new().await;
    house.store(&pushed(7, 'c', 9)).await;
    house.store(&retargeted(7, 'b', 5)).await;
    house.store(&opened(7, 'a', 10)).await;
    let trigger = house.claim(11).await.unwrap().job.trigger;
    assert_eq!((trigger.cause, trigger.head), (Cause::Retargeted, Some(head('c'))));
    assert_eq!(house.claim(11).await, None);
}

#[tokio::test]
async fn closing_drops_the_queued_job_and_reopening_queues_one() {
    let house = House::new().await;
    house.store(&pushed(7, 'a', 0)).await;
    let answer = house.store(&closed(7, 'a', 1)).await;
    assert_eq!(answer, Stored::Ignored("closed, and no work is left".to_owned()));
    assert_eq!(house.counts().await, (0, 0, 0));
    assert_eq!(house.store(&reopened(7, 'a', 2)).await, Stored::Queued);
    assert_eq!(house.claim(3).await.unwrap().job.trigger.cause, Cause::Reopened);
}

#[tokio::test]
async fn a_replayed_closing_drops_nothing() {
    let house = House::new().await;
    let closing = closed(7, 'a', 0);
    house.store(&closing).await;
    house.store(&reopened(7, 'b', 1)).await;
    assert_eq!(house.try_store(closing.under("replay")).await.unwrap(), Stored::Coalesced);
    assert_eq!(what(&house.claim(2).await.unwrap()), (7, Some(head('b'))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_deliveries_is_kept_in_groups_and_every_one_is_answered_for_itself() {
    let house = House::new().await;
    let mut sending = Vec::new();
    for pull in 1..=300 {
        sending.push(house.try_store(opened(pull, 'a', 0).under(&format!("open-{pull}"))));
        if pull % 10 == 0 {
            sending.push(house.try_store(opened(pull, 'a', 0).under(&format!("open-{pull}"))));
            sending.push(house.try_store(opened(pull, 'a', 0).under(&format!("replay-{pull}"))));
            sending.push(house.try_store(closed(pull, 'b', 0).under(&format!("open-{pull}"))));
            sending.push(house.try_store(assigned(pull, 'a', 0).under(&format!("label-{pull}"))));
        }
    }
    let answers = join_all(sending).await;
    let count = |wanted: &dyn Fn(&Result<Stored, InboxError>) -> bool| answers.iter().filter(|one| wanted(one)).count();
    assert_eq!(count(&|one| matches!(one, Ok(Stored::Queued))), 300);
    assert_eq!(count(&|one| matches!(one, Ok(Stored::Duplicate))), 30);
    assert_eq!(count(&|one| matches!(one, Ok(Stored::Coalesced))), 30);
    assert_eq!(count(&|one| matches!(one, Ok(Stored::Ignored(_)))), 30);
    assert_eq!(count(&|one| matches!(one, Err(InboxError::OtherBody))), 30);
    assert_eq!(house.counts().await, (300, 0, 0));
}

#[tokio::test]
async fn old_deliveries_are_forgotten_and_young_ones_are_not() {
    let house = House::new().await;
    let hooks: Vec<_> = (1..=1200).map(|pull| assigned(pull, 'a', i64::try_from(pull).unwrap())).collect();
    for some in hooks.chunks(20) {
        join_all(some.iter().map(|hook| house.store(hook))).await;
    }
    assert_eq!(house.queue.forget(at(1101)).await.unwrap(), 1100);
    assert_eq!(house.outcome(&assigned(1100, 'a', 1100).id()).await, None);
    assert!(house.outcome(&assigned(1101, 'a', 1101).id()).await.is_some());
    assert_eq!(house.store(&assigned(1101, 'a', 1101)).await, Stored::Duplicate);
    assert!(matches!(house.store(&assigned(1, 'a', 1)).await, Stored::Ignored(_)), "it is new again");
    assert_eq!(house.queue.forget(at(0)).await.unwrap(), 0);
}

#[tokio::test]
async fn a_large_body_is_kept_whole() {
    let house = House::new().await;
    let hook = opened(7, 'a', 0).saying("many words ".repeat(200_000));
    house.store(&hook).await;
    let id: DeliveryId = hook.id().parse().unwrap();
    let kept = house.queue.delivery(ForgeKind::Github, &id).await.unwrap().unwrap();
    assert_eq!(kept.body.map(|body| body.len()), Some(hook.body().len()));
}
