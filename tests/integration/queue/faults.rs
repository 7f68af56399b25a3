//! Crashes, full disks, and files that are not ours.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use evidence_gate::delivery::{Inbox as _, InboxError, Stored};
use evidence_gate::queue::{OpenError, Queue as _, SqliteOptions, SqliteQueue};
use futures::future::join_all;
use tempfile::TempDir;

use super::cast::{House, at, claim, head, opened, publish, pushed, what};

/// Text that does not compress: half a byte of chance per byte.
fn noise(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 32);
    while text.len() < bytes {
        text.push_str(&uuid::Uuid::new_v4().simple().to_string());
    }
    text
}

/// The files as a crash at this moment would leave them.
fn crash_image(house: &House) -> TempDir {
    let image = TempDir::new().unwrap();
    for file in fs::read_dir(house.folder.path()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), image.path().join(file.file_name())).unwrap();
    }
    image
}

#[tokio::test]
async fn what_was_answered_survives_a_crash() {
    let house = House::new().await;
    for pull in 1..=20 {
        house.store(&opened(pull, 'a', 0)).await;
    }
    let image = crash_image(&house);
    let reopened = SqliteQueue::open(image.path(), SqliteOptions::default()).await.unwrap();
    assert_eq!(reopened.depth(at(0)).await.unwrap().queued, 20);
    assert_eq!(reopened.store(opened(20, 'a', 0).sent()).await.unwrap(), Stored::Duplicate);
}

#[tokio::test]
async fn a_lease_survives_a_crash_and_is_taken_over_in_its_time() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    let lease = house.claim(0).await.unwrap();
    house.store(&pushed(8, 'b', 1)).await;
    let image = crash_image(&house);
    let after = SqliteQueue::open(image.path(), SqliteOptions::default()).await.unwrap();
    assert_eq!(what(&claim(&after, "heir", 1).await.unwrap()), (8, Some(head('b'))));
    assert_eq!(claim(&after, "heir", 59).await, None);
    let taken = claim(&after, "heir", 60).await.unwrap();
    assert_eq!((taken.evaluation, taken.job.attempt), (lease.evaluation, 2));
    assert!(publish(&after, &taken).await);
}

#[tokio::test]
async fn a_queue_that_is_closed_refuses_and_keeps_what_it_has() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    house.queue.close().await;
    let refused = house.try_store(opened(8, 'a', 0).sent()).await;
    assert!(matches!(refused, Err(InboxError::Unavailable(_))), "{refused:?}");
    assert_eq!(house.another_process().await.depth(at(0)).await.unwrap().queued, 1);
}

#[tokio::test]
async fn a_full_disk_refuses_the_delivery_and_keeps_nothing_of_it() {
    let small = SqliteOptions { max_bytes: Some(512 << 10), ..SqliteOptions::default() };
    let house = House::with(small).await;
    house.queue.ready().await.unwrap();
    let mut stored = 0;
    let refused = loop {
        let hook = pushed(stored + 1, 'a', 0).saying(noise(40 << 10));
        match house.try_store(hook.sent()).await {
            Ok(answer) => assert_eq!(answer, Stored::Queued),
            Err(error) => break (hook, error),
        }
        stored += 1;
        assert!(stored < 100, "512 KiB hold more than 2 MiB");
    };
    let (hook, error) = refused;
    assert!(matches!(error, InboxError::Unavailable(_)), "{error:?}");
    assert!(stored > 3);
    assert_eq!(house.counts().await, (stored, 0, 0));
    assert_eq!(house.outcome(&hook.id()).await, None);
    assert!(matches!(house.queue.ready().await, Err(InboxError::Unavailable(_))));

    // Work that is there goes on, and the same delivery is taken once there is room.
    let lease = house.claim(0).await.unwrap();
    house.done(&lease, 0).await;
    house.queue.close().await;
    let roomy = house.another_process().await;
    roomy.ready().await.unwrap();
    assert_eq!(roomy.store(hook.sent()).await.unwrap(), Stored::Queued);
}

#[tokio::test]
async fn a_delivery_that_is_too_large_does_not_spoil_the_others_of_its_group() {
    let small = SqliteOptions { max_bytes: Some((1 << 20) + (96 << 10)), ..SqliteOptions::default() };
    let house = House::with(small).await;
    let mut sending: Vec<_> = (1..=20).map(|pull| house.try_store(opened(pull, 'a', 0).sent())).collect();
    // Small enough to be compressed at once, so that it shares a group with the rest.
    for pull in 21..=32 {
        sending.push(house.try_store(opened(pull, 'a', 0).saying(noise(250 << 10)).sent()));
    }
    sending.extend((41..=60).map(|pull| house.try_store(opened(pull, 'a', 0).sent())));
    let answers = join_all(sending).await;
    let stored = |answers: &[Result<Stored, InboxError>]| answers.iter().filter(|one| one.is_ok()).count();
    assert_eq!((stored(&answers[..20]), stored(&answers[32..])), (20, 20));
    let large = stored(&answers[20..32]);
    assert!((1..12).contains(&large), "{large} of 12 large ones fit into 1 MiB");
    assert_eq!(house.counts().await, (40 + large as u64, 0, 0));
}

#[tokio::test]
async fn a_locked_database_refuses_in_bounded_time_and_recovers() {
    let short = SqliteOptions { busy: Duration::from_millis(50), ..SqliteOptions::default() };
    let house = House::with(short).await;
    let mut other = house.by_hand().await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let refused = house.try_store(opened(7, 'a', 0).sent()).await;
    assert!(matches!(refused, Err(InboxError::Unavailable(_))), "{refused:?}");
    assert!(house.queue.ready().await.is_err());
    assert_eq!(house.counts().await, (0, 0, 0), "reading goes on");
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    assert_eq!(house.store(&opened(7, 'a', 0)).await, Stored::Queued);
}

#[tokio::test]
async fn a_call_that_is_given_up_half_way_blocks_nothing() {
    let house = House::new().await;
    for round in 0..30 {
        let (polls, now) = (1 << round, round * 1000);
        house.store(&pushed(7, 'a', now)).await;
        let whole = {
            let mut claiming = Box::pin(house.claim(now));
            let mut answer = std::task::Poll::Pending;
            for _ in 0..polls {
                answer = futures::poll!(claiming.as_mut());
                if answer.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            answer.is_ready()
        };
        // Whether or not the given-up call had got the lease, nobody keeps it alive.
        let lease = house.claim(now + 61).await.unwrap();
        house.done(&lease, now + 61).await;
        assert_eq!(house.counts().await, (0, 0, 0));
        if whole {
            assert!(round > 0, "the call was never given up");
            return;
        }
    }
    panic!("the call never came to its end");
}

#[tokio::test]
async fn the_database_is_its_owners_alone() {
    let house = House::new().await;
    house.store(&opened(7, 'a', 0)).await;
    for file in fs::read_dir(house.folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
}

async fn refusal(house: &House) -> OpenError {
    SqliteQueue::open(house.folder.path(), SqliteOptions::default()).await.unwrap_err()
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_by_name() {
    let house = House::new().await;
    house.queue.close().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
        VALUES (9000, 'from the future', true, x'00', 0)";
    sqlx::query(newer).execute(&mut house.by_hand().await).await.unwrap();
    let error = refusal(&house).await;
    assert!(matches!(error, OpenError::Newer { found: 9000, .. }), "{error:?}");
    let text = error.to_string();
    let newest = fs::read_dir("migrations/sqlite").unwrap().map(|entry| entry.unwrap().file_name()).max().unwrap();
    let newest: u32 = newest.to_str().unwrap().split('_').next().unwrap().parse().unwrap();
    let told =
        format!("evidence-gate.sqlite has shape 9000, and this version knows shapes up to {newest}; run the newer");
    assert!(text.contains(&told), "{text}");
}

#[tokio::test]
async fn a_database_whose_past_is_another_one_is_refused() {
    let house = House::new().await;
    house.queue.close().await;
    let other = "UPDATE _sqlx_migrations SET checksum = x'00'";
    sqlx::query(other).execute(&mut house.by_hand().await).await.unwrap();
    let error = refusal(&house).await;
    assert!(matches!(error, OpenError::Migrate { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let house = House::new().await;
    house.queue.close().await;
    let text = "not a database, and not ours to overwrite ".repeat(100);
    fs::write(house.queue.path(), &text).unwrap();
    let error = refusal(&house).await;
    assert!(matches!(error, OpenError::Database { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(house.queue.path()).unwrap(), text);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_refused_by_name() {
    let house = House::new().await;
    let under_a_file = house.queue.path().join("data");
    let error = SqliteQueue::open(&under_a_file, SqliteOptions::default()).await.unwrap_err();
    assert!(matches!(error, OpenError::Folder { .. }), "{error:?}");
    assert!(error.to_string().contains("evidence-gate.sqlite/data; the data directory must belong"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_open_a_new_database_at_once() {
    let folder = TempDir::new().unwrap();
    let opening = (0..6).map(|_| {
        let path = folder.path().join("new");
        tokio::spawn(async move { SqliteQueue::open(&path, SqliteOptions::default()).await.map(drop) })
    });
    for opened in join_all(opening).await {
        opened.unwrap().unwrap();
    }
}
