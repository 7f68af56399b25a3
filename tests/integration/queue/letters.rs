//! What failed for good, and how deep the queue is.

use evidence_gate::delivery::Stored;
use evidence_gate::queue::{Depth, JobId, MAX_ATTEMPTS, Queue as _, QueueError, Settled};

use super::cast::{House, at, closed, head, opened, pushed, what};

#[tokio::test]
async fn a_job_that_will_not_work_is_dead_with_its_last_error() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    let end = Settled::Dead { why: "the App's key is refused".to_owned() };
    let _held = house.queue.settle(&lease, end, at(1)).await.unwrap();
    let dead = house.queue.dead(10).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].0.trigger.pull.0, dead[0].1.as_str()), (7, "the App's key is refused"));
    assert_eq!(house.counts().await, (0, 0, 1));
    assert_eq!(house.claim(1000).await, None);
}

#[tokio::test]
async fn the_last_try_that_fails_makes_the_job_dead() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    for attempt in 1..=MAX_ATTEMPTS {
        let second = i64::from(attempt) * 10;
        let lease = house.claim(second).await.unwrap();
        assert_eq!(lease.job.attempt, attempt);
        house.retry(&lease, second + 1, second).await;
    }
    assert_eq!(house.claim(10_000).await, None);
    assert_eq!(house.queue.dead(10).await.unwrap()[0].1, "the forge answered 502");
}

#[tokio::test]
async fn a_job_that_kills_every_worker_is_dead_in_the_end() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    for attempt in 1..=MAX_ATTEMPTS {
        let lease = house.claim(i64::from(attempt) * 60).await.unwrap();
        assert_eq!(lease.job.attempt, attempt);
    }
    assert_eq!(house.claim(10_000).await, None);
    assert_eq!(house.queue.dead(10).await.unwrap()[0].1, "the lease ran out on try 8");
}

#[tokio::test]
async fn the_newest_dead_jobs_are_listed_first_and_no_more_than_asked() {
    let house = House::new().await;
    for pull in 1..=3 {
        house.store(&opened(pull, 'a', i64::try_from(pull).unwrap())).await;
        let lease = house.claim(10).await.unwrap();
        let _held = house.queue.settle(&lease, Settled::Dead { why: String::new() }, at(10)).await.unwrap();
    }
    let pulls: Vec<u64> = house.queue.dead(2).await.unwrap().iter().map(|(job, _)| job.trigger.pull.0).collect();
    assert_eq!(pulls, [3, 2]);
}

/// A dead job of pull request 7.
async fn dead_job(house: &House) -> JobId {
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    let _held = house.queue.settle(&lease, Settled::Dead { why: "no".to_owned() }, at(1)).await.unwrap();
    lease.job.id
}

#[tokio::test]
async fn a_revived_job_has_all_its_tries_again() {
    let house = House::new().await;
    let job = dead_job(&house).await;
    house.queue.revive(job, at(50)).await.unwrap();
    assert_eq!(house.claim(49).await, None);
    let lease = house.claim(50).await.unwrap();
    assert_eq!((lease.job.id, lease.job.attempt), (job, 1));
}

#[tokio::test]
async fn a_revived_job_runs_together_with_a_queued_one() {
    let house = House::new().await;
    let job = dead_job(&house).await;
    house.store(&pushed(7, 'b', 2)).await;
    house.queue.revive(job, at(3)).await.unwrap();
    assert_eq!(house.counts().await, (1, 0, 0));
    assert_eq!(what(&house.claim(3).await.unwrap()), (7, Some(head('b'))));
}

#[tokio::test]
async fn only_a_dead_job_can_be_revived() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    for job in [lease.job.id, JobId(99)] {
        let refused = house.queue.revive(job, at(1)).await.unwrap_err();
        assert!(matches!(refused, QueueError::NotDead { job: named } if named == job), "{refused}");
    }
}

#[tokio::test]
async fn a_redelivery_tries_again_what_failed_for_good() {
    let house = House::new().await;
    dead_job(&house).await;
    assert_eq!(house.store(&opened(7, 'a', 0)).await, Stored::Queued);
    assert_eq!(house.counts().await, (1, 0, 0));
    assert_eq!(house.store(&opened(7, 'a', 0)).await, Stored::Duplicate);
}

#[tokio::test]
async fn a_redelivered_closing_tries_nothing_again() {
    let house = House::new().await;
    dead_job(&house).await;
    house.store(&closed(7, 'a', 2)).await;
    assert_eq!(house.store(&closed(7, 'a', 2)).await, Stored::Duplicate);
    assert_eq!(house.counts().await, (0, 0, 1));
}

#[tokio::test]
async fn a_job_of_an_unknown_shape_is_dead_and_does_not_keep_others_waiting() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    house.store(&opened(8, 'a', 1)).await;
    let future = "UPDATE jobs SET v = 2 WHERE pull = 7";
    sqlx::query(future).execute(&mut house.by_hand().await).await.unwrap();
    assert_eq!(house.claim(2).await.unwrap().job.trigger.pull.0, 8);
    assert_eq!(house.counts().await, (0, 1, 1));
    let why: String = sqlx::query_scalar("SELECT error FROM jobs WHERE pull = 7")
        .fetch_one(&mut house.by_hand().await)
        .await
        .unwrap();
    assert_eq!(why, "row 1 of jobs cannot be read: v has a value that this version does not know");
    assert_eq!(house.queue.dead(10).await.unwrap().len(), 0, "there is no job to show");
}

#[tokio::test]
async fn a_push_writes_a_job_of_an_unknown_shape_anew() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let future = "UPDATE jobs SET cause = 'dreamt' WHERE pull = 7";
    sqlx::query(future).execute(&mut house.by_hand().await).await.unwrap();
    house.store(&pushed(7, 'b', 1)).await;
    assert_eq!(what(&house.claim(2).await.unwrap()), (7, Some(head('b'))));
}

#[tokio::test]
async fn the_depth_counts_every_job_once_and_knows_how_long_the_oldest_waits() {
    let house = House::new().await;
    assert_eq!(house.queue.depth(at(0)).await.unwrap(), Depth::default());
    let _dead = dead_job(&house).await;
    for (pull, second) in [(1, 5), (2, 15), (3, 25)] {
        house.store(&opened(pull, 'a', second)).await;
    }
    house.store(&pushed(2, 'b', 35)).await;
    let first = house.claim(40).await.unwrap();
    house.store(&pushed(1, 'b', 41)).await;
    let depth = house.queue.depth(at(45)).await.unwrap();
    assert_eq!(depth, Depth { queued: 3, running: 1, dead: 1, oldest_seconds: 30 });
    house.done(&first, 50).await;
    while let Some(lease) = house.claim(50).await {
        house.done(&lease, 50).await;
    }
    assert_eq!(house.counts().await, (0, 0, 1), "drained: nothing is queued or running");
}
