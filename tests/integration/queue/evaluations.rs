//! Which evaluation may be published, and what is kept of each.

use evidence_gate::queue::{EvaluationId, EvaluationState, Fenced, Queue as _, Superseded};
use evidence_gate::words::{RunId, Verdict};
use uuid::Uuid;

use super::cast::{House, closed, head, opened, publish, pushed, retargeted};

#[tokio::test]
async fn an_evaluation_goes_from_started_over_posting_to_published() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    let read = || async { house.queue.evaluation(lease.evaluation).await.unwrap().unwrap() };

    let started = read().await;
    assert_eq!((started.state, started.generation, started.run), (EvaluationState::Started, lease.generation, None));

    assert_eq!(house.queue.posted(&lease).await.unwrap(), Fenced::Lost, "nothing was to be posted yet");
    assert_eq!(house.queue.run_opened(&lease, &head('a'), RunId(u64::MAX)).await.unwrap(), Fenced::Held);
    assert_eq!(house.queue.begin_post(&lease, Verdict::Reject, b"the record").await.unwrap(), Superseded::Current);
    let posting = read().await;
    assert_eq!((posting.state, posting.verdict), (EvaluationState::Posting, Some(Verdict::Reject)));
    assert_eq!(posting.record.as_deref(), Some(&b"the record"[..]));

    assert_eq!(house.queue.posted(&lease).await.unwrap(), Fenced::Held);
    let published = read().await;
    assert_eq!(
        (published.state, published.head, published.run),
        (EvaluationState::Published, Some(head('a')), Some(RunId(u64::MAX)))
    );
    house.done(&lease, 1).await;
    assert_eq!(read().await.state, EvaluationState::Published);
}

#[tokio::test]
async fn nobody_made_an_evaluation_of_an_unknown_name() {
    let house = House::new().await;
    assert!(house.queue.evaluation(EvaluationId(Uuid::from_u128(7))).await.unwrap().is_none());
}

#[tokio::test]
async fn a_newer_head_makes_a_running_evaluation_late_and_its_record_is_kept() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    house.store(&pushed(7, 'b', 1)).await;
    let answer = house.queue.begin_post(&lease, Verdict::Review, b"late record").await.unwrap();
    assert_eq!(answer, Superseded::ByNewer);
    let kept = house.queue.evaluation(lease.evaluation).await.unwrap().unwrap();
    assert_eq!((kept.state, kept.record.as_deref()), (EvaluationState::Late, Some(&b"late record"[..])));
    assert_eq!(house.queue.posted(&lease).await.unwrap(), Fenced::Lost, "a late evaluation does not become published");
}

#[tokio::test]
async fn another_target_branch_makes_a_running_evaluation_late() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    house.store(&retargeted(7, 'a', 1)).await;
    assert!(!publish(&house.queue, &lease).await);
}

#[tokio::test]
async fn closing_makes_a_running_evaluation_late() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    house.store(&closed(7, 'a', 1)).await;
    assert!(!publish(&house.queue, &lease).await);
    house.done(&lease, 2).await;
    assert_eq!(house.claim(100).await, None);
}

#[tokio::test]
async fn a_replay_does_not_keep_a_running_evaluation_from_being_published() {
    let house = House::new().await;
    let hook = opened(7, 'a', 0);
    house.store(&hook).await;
    let lease = house.claim(0).await.unwrap();
    house.try_store(hook.under("replay")).await.unwrap();
    assert!(publish(&house.queue, &lease).await);
}

#[tokio::test]
async fn work_of_another_pull_request_makes_nothing_late() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    house.store(&pushed(8, 'b', 1)).await;
    assert!(publish(&house.queue, &lease).await);
}

#[tokio::test]
async fn whoever_takes_over_finds_the_run_and_the_intent_to_post() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let killed = house.claim(0).await.unwrap();
    assert_eq!(house.queue.run_opened(&killed, &head('a'), RunId(31)).await.unwrap(), Fenced::Held);
    assert_eq!(house.queue.begin_post(&killed, Verdict::Hold, b"record").await.unwrap(), Superseded::Current);

    let heir = house.claim(60).await.unwrap();
    let found = house.queue.evaluation(heir.evaluation).await.unwrap().unwrap();
    assert_eq!(
        (found.generation, found.state, found.run),
        (heir.generation, EvaluationState::Posting, Some(RunId(31)))
    );
    assert_eq!(found.record.as_deref(), Some(&b"record"[..]));

    // What the killed one's twin still says does not reach the heir's row.
    assert_eq!(house.queue.begin_post(&killed, Verdict::Review, b"other").await.unwrap(), Superseded::ByNewer);
    let found = house.queue.evaluation(heir.evaluation).await.unwrap().unwrap();
    assert_eq!((found.state, found.verdict), (EvaluationState::Posting, Some(Verdict::Hold)));
    assert!(publish(&house.queue, &heir).await);
}

#[tokio::test]
async fn a_late_try_is_begun_afresh_when_it_is_taken_over() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let late = house.claim(0).await.unwrap();
    house.store(&pushed(7, 'b', 1)).await;
    assert!(!publish(&house.queue, &late).await);
    house.store(&closed(7, 'b', 2)).await;
    let heir = house.claim(60).await.unwrap();
    assert_eq!(heir.evaluation, late.evaluation);
    let found = house.queue.evaluation(heir.evaluation).await.unwrap().unwrap();
    assert_eq!((found.state, found.verdict, found.record), (EvaluationState::Started, None, None));
}

#[tokio::test]
async fn an_intent_to_post_is_void_once_a_run_is_opened_for_another_try() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    assert_eq!(house.queue.run_opened(&lease, &head('a'), RunId(1)).await.unwrap(), Fenced::Held);
    assert_eq!(house.queue.begin_post(&lease, Verdict::Review, b"first").await.unwrap(), Superseded::Current);
    assert_eq!(house.queue.run_opened(&lease, &head('a'), RunId(2)).await.unwrap(), Fenced::Held);
    let read = house.queue.evaluation(lease.evaluation).await.unwrap().unwrap();
    assert_eq!((read.state, read.run), (EvaluationState::Started, Some(RunId(2))));
    assert_eq!(house.queue.posted(&lease).await.unwrap(), Fenced::Lost, "nothing is to be posted any more");
}
