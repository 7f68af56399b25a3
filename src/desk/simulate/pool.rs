//! Many jobs on all processors, each of which may take only so long.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The most jobs at a time: each may hold the contents of a large change.
const MOST_THREADS: usize = 8;

/// What a thread tells.
enum News<T> {
    Began { thread: usize, job: usize },
    Ended { thread: usize, job: usize, result: T, took: Duration },
}

/// Does the jobs `0..jobs`, and tells `done` of each: its result and how long it took, or `None` for one that was not done within
/// `limit`, or that failed for a fault of ours. Nobody waits for such a job any more; its thread is replaced.
pub(super) fn each<T: Send + 'static>(
    jobs: usize,
    limit: Duration,
    work: impl Fn(usize) -> T + Send + Sync + 'static,
    mut done: impl FnMut(usize, Option<(T, Duration)>),
) {
    let (tell, hear) = channel();
    let crew = Crew { work: Arc::new(work), next: Arc::default(), jobs, tell };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = processors.min(MOST_THREADS).min(jobs);
    (0..threads).for_each(|thread| crew.hire(thread));
    let mut busy: BTreeMap<usize, (usize, Instant)> = BTreeMap::new();
    let mut left = jobs;
    while left > 0 {
        let oldest =
            busy.iter().min_by_key(|(_, (_, since))| *since).map(|(thread, (job, since))| (*thread, *job, *since));
        let patience = oldest.map_or(limit, |(.., since)| limit.saturating_sub(since.elapsed()));
        match hear.recv_timeout(patience) {
            Ok(News::Began { thread, job }) => drop(busy.insert(thread, (job, Instant::now()))),
            Ok(News::Ended { thread, job, result, took }) => {
                // One that was given up already is not heard any more.
                if busy.get(&thread).is_some_and(|(doing, _)| *doing == job) {
                    busy.remove(&thread);
                    left -= 1;
                    done(job, Some((result, took)));
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                if let Some((thread, job, _)) = oldest {
                    busy.remove(&thread);
                    left -= 1;
                    done(job, None);
                }
                crew.hire(threads);
                threads += 1;
            }
        }
    }
}

struct Crew<T, W> {
    work: Arc<W>,
    next: Arc<AtomicUsize>,
    jobs: usize,
    tell: Sender<News<T>>,
}

impl<T: Send + 'static, W: Fn(usize) -> T + Send + Sync + 'static> Crew<T, W> {
    fn hire(&self, thread: usize) {
        let (work, next, jobs, tell) = (Arc::clone(&self.work), Arc::clone(&self.next), self.jobs, self.tell.clone());
        std::thread::spawn(move || {
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= jobs || tell.send(News::Began { thread, job }).is_err() {
                    return;
                }
                let began = Instant::now();
                let result = work(job);
                if tell.send(News::Ended { thread, job, result, took: began.elapsed() }).is_err() {
                    return;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};

    use super::*;

    #[test]
    fn every_job_is_done_once() {
        let mut seen = vec![0; 40];
        each(
            40,
            Duration::from_mins(1),
            |job| job * 2,
            |job, result| {
                assert_eq!(result.map(|(twice, _)| twice), Some(job * 2));
                seen[job] += 1;
            },
        );
        assert_eq!(seen, vec![1; 40]);
    }

    #[test]
    fn a_job_that_takes_too_long_is_given_up_and_the_others_are_done() {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let held = Arc::clone(&gate);
        let mut late = Vec::new();
        let mut done = 0;
        each(
            10,
            Duration::from_secs(3),
            move |job| {
                let (open, opened) = &*held;
                if job == 3 {
                    drop(opened.wait_while(open.lock().unwrap(), |open| !*open).unwrap());
                }
            },
            |job, result| match result {
                Some(_) => done += 1,
                None => late.push(job),
            },
        );
        *gate.0.lock().unwrap() = true;
        gate.1.notify_all();
        assert_eq!((late, done), (vec![3], 9));
    }

    #[test]
    fn a_job_that_panics_is_one_that_was_not_done() {
        let mut missing = Vec::new();
        each(
            4,
            Duration::from_secs(3),
            |job| assert!(job != 1, "this job fails on purpose"),
            |job, result| missing.extend(result.is_none().then_some(job)),
        );
        assert_eq!(missing, [1]);
    }
}
