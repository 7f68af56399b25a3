//! What an answer says about waiting: pure.
//!
//! Facts: <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;

use crate::forge::Budget;

/// A longer wait than GitHub ever asks for is taken for a fault in the header, and cut.
const LONGEST: Duration = Duration::from_hours(24);
/// Where GitHub does not say how long, this long, doubled each time in a row.
const UNSAID: Duration = Duration::from_mins(1);

/// A request was refused because there were too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// GitHub said how long to wait.
    Said(Duration),
    /// It did not.
    Unsaid,
}

impl Limit {
    /// How long to wait when this is limit number `in_a_row`, counted from 0.
    pub(super) fn wait(self, in_a_row: u32) -> Duration {
        match self {
            Self::Said(wait) => wait.min(LONGEST),
            Self::Unsaid => UNSAID * 2_u32.pow(in_a_row.min(6)),
        }
    }
}

/// Whether this answer is a rate limit, in GitHub's own order: `retry-after`, then `x-ratelimit-reset` when nothing remains, then
/// the words of a secondary limit, which often comes without a header. `None`: it is not; a 403 is then a missing permission.
pub(super) fn limit(status: StatusCode, headers: &HeaderMap, message: &str, now: Timestamp) -> Option<Limit> {
    if !matches!(status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) {
        return None;
    }
    if let Some(wait) = retry_after(headers, now) {
        return Some(Limit::Said(wait));
    }
    if let Some(wait) = until_reset(headers, now) {
        return Some(Limit::Said(wait));
    }
    let message = message.to_ascii_lowercase();
    let speaks_of_limits = ["rate limit", "abuse detection", "temporarily blocked"].iter().any(|w| message.contains(w));
    (speaks_of_limits || status == StatusCode::TOO_MANY_REQUESTS).then_some(Limit::Unsaid)
}

/// The time until the primary limit is lifted, if nothing remains of it. Good on an accepted answer too: the next would fail.
pub(super) fn until_reset(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    if number(headers, "x-ratelimit-remaining")? > 0 {
        return None;
    }
    let reset = Timestamp::from_second(number(headers, "x-ratelimit-reset")?).ok()?;
    // GitHub's own clock, where the answer shows it, since `reset` is told by that clock.
    Some(until(reset, date(headers).unwrap_or(now)).max(Duration::from_secs(1)))
}

/// What an answer says is left of the primary limit.
pub(super) fn budget(headers: &HeaderMap) -> Option<Budget> {
    let count = |name| u64::try_from(number(headers, name)?).ok();
    let resource = headers.get("x-ratelimit-resource").and_then(|value| value.to_str().ok());
    if resource.is_some_and(|resource| resource != "core") {
        return None;
    }
    Some(Budget {
        remaining: count("x-ratelimit-remaining")?,
        limit: count("x-ratelimit-limit")?,
        resets: number(headers, "x-ratelimit-reset")?,
    })
}

/// The header `retry-after`: seconds, or a date.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    if let Some(seconds) = number(headers, "retry-after") {
        return Some(Duration::from_secs(seconds.try_into().ok()?));
    }
    let text = headers.get("retry-after")?.to_str().ok()?;
    Some(until(http_date(text)?, date(headers).unwrap_or(now)))
}

/// The forge's clock when it answered.
pub(super) fn date(headers: &HeaderMap) -> Option<Timestamp> {
    http_date(headers.get(http::header::DATE)?.to_str().ok()?)
}

fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

fn number(headers: &HeaderMap, name: &str) -> Option<i64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn until(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn read(status: u16, headers: &[(&'static str, &str)], message: &str) -> Option<Limit> {
        let headers = headers.iter().map(|(n, v)| (n.parse().expect("a name"), v.parse().expect("a value"))).collect();
        let now = Timestamp::from_second(NOW).expect("in range");
        limit(StatusCode::from_u16(status).expect("a status"), &headers, message, now)
    }

    fn said(seconds: u64) -> Limit {
        Limit::Said(Duration::from_secs(seconds))
    }

    #[test]
    fn retry_after_goes_before_the_reset_and_the_reset_before_a_guess() {
        let reset = (NOW + 900).to_string();
        let both = [("retry-after", "7"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str())];
        assert_eq!(read(403, &both, "API rate limit exceeded"), Some(said(7)));
        assert_eq!(read(403, &both[1..], "API rate limit exceeded"), Some(said(900)));
        assert_eq!(read(403, &[], "You have exceeded a secondary rate limit"), Some(Limit::Unsaid));
        assert_eq!(read(429, &[], ""), Some(Limit::Unsaid));
    }

    #[test]
    fn a_missing_permission_is_no_limit_although_budget_remains_or_not_known() {
        assert_eq!(read(403, &[], "Resource not accessible by integration"), None);
        let remains = [("x-ratelimit-remaining", "4999"), ("x-ratelimit-reset", "1800000900")];
        assert_eq!(read(403, &remains, "Resource not accessible by integration"), None);
        assert_eq!(read(404, &[("retry-after", "7")], ""), None);
    }

    #[test]
    fn the_forges_own_date_decides_how_far_the_reset_is() {
        let reset = (NOW + 900).to_string();
        let five_minutes_on = "Fri, 15 Jan 2027 08:05:00 GMT";
        let headers =
            [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str()), ("date", five_minutes_on)];
        assert_eq!(read(403, &headers, ""), Some(said(600)));
        let soon = "Fri, 15 Jan 2027 08:05:30 GMT";
        assert_eq!(read(429, &[("retry-after", soon), ("date", five_minutes_on)], ""), Some(said(30)));
    }

    #[test]
    fn waits_that_github_does_not_state_double_from_a_minute_and_stay_bounded() {
        let waits: Vec<u64> = [0, 1, 2, 6, 40].iter().map(|n| Limit::Unsaid.wait(*n).as_secs()).collect();
        assert_eq!(waits, [60, 120, 240, 3840, 3840]);
        assert_eq!(Limit::Said(Duration::from_secs(u64::MAX)).wait(0), LONGEST);
        assert_eq!(read(403, &[("retry-after", "-3")], "rate limit"), Some(Limit::Unsaid));
    }
}
