//! How long a failed job waits.

use std::time::Duration;

/// Tries that a job gets before it is dead.
pub const MAX_ATTEMPTS: u32 = 8;

const FIRST: Duration = Duration::from_secs(15);
const LONGEST: Duration = Duration::from_hours(1);

/// The pause after try number `attempt` (from 1) failed: 15 s, three times longer each time, at most an hour. `jitter` from 0 to 1 is
/// drawn by the caller and takes away up to half, so that jobs which failed together do not come back together.
///
/// All [`MAX_ATTEMPTS`] tries together outlast an outage of the forge of more than an hour.
pub fn backoff(attempt: u32, jitter: f64) -> Duration {
    let factor = 3_u32.saturating_pow(attempt.saturating_sub(1));
    let longest = FIRST.saturating_mul(factor).min(LONGEST);
    longest.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_grows_threefold_and_ends_at_an_hour() {
        let pauses: Vec<u64> = (1..=8).map(|attempt| backoff(attempt, 0.0).as_secs()).collect();
        assert_eq!(pauses, [15, 45, 135, 405, 1215, 3600, 3600, 3600]);
    }

    #[test]
    fn jitter_takes_away_at_most_half_and_adds_nothing() {
        assert_eq!(backoff(2, 1.0), Duration::from_millis(22_500));
        assert_eq!(backoff(2, 7.5), Duration::from_millis(22_500));
        assert_eq!(backoff(2, -1.0), Duration::from_secs(45));
    }

    #[test]
    fn an_absurd_attempt_does_not_overflow() {
        assert_eq!(backoff(u32::MAX, 0.0), LONGEST);
        assert_eq!(backoff(0, 0.0), FIRST);
    }

    #[test]
    fn all_tries_together_outlast_an_hour_even_with_the_worst_luck() {
        let total: Duration = (1..MAX_ATTEMPTS).map(|attempt| backoff(attempt, 1.0)).sum();
        assert!(total > Duration::from_hours(1), "{total:?}");
    }
}
