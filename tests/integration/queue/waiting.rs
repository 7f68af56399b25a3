//! How a worker hears of work.

use std::time::{Duration, Instant};

use evidence_gate::delivery::Inbox as _;
use evidence_gate::queue::Queue as _;

use super::cast::{House, claim, opened};

/// Far longer than any waking may take, so that a lost one shows.
const LONG: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_woken_by_its_own_process() {
    let house = House::new().await;
    assert_eq!(house.claim(0).await, None);
    let start = Instant::now();
    let (_stored, ()) = tokio::join!(house.queue.store(opened(7, 'a', 0).sent()), house.queue.wait(LONG));
    assert!(start.elapsed() < LONG / 2);
    assert!(house.claim(0).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_woken_by_another_process() {
    let house = House::new().await;
    let worker = house.another_process().await;
    assert_eq!(claim(&worker, "runner-1", 0).await, None);
    let start = Instant::now();
    let (_stored, ()) = tokio::join!(house.queue.store(opened(7, 'a', 0).sent()), worker.wait(LONG));
    assert!(start.elapsed() < LONG / 2);
    assert!(claim(&worker, "runner-1", 0).await.is_some());
}

#[tokio::test]
async fn work_that_came_between_looking_and_waiting_is_not_slept_through() {
    let house = House::new().await;
    let worker = house.another_process().await;
    assert_eq!(claim(&worker, "runner-1", 0).await, None);
    house.store(&opened(7, 'a', 0)).await;
    let start = Instant::now();
    worker.wait(LONG).await;
    assert!(start.elapsed() < LONG / 2);
}

#[tokio::test]
async fn a_quiet_queue_is_waited_for_no_longer_than_asked() {
    let house = House::new().await;
    assert_eq!(house.claim(0).await, None);
    let asked = Duration::from_millis(120);
    let start = Instant::now();
    house.queue.wait(asked).await;
    assert!(start.elapsed() >= asked);
}
