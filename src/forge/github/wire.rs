//! A request sent until it is answered or must wait: repeats, limits and turns in one place.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use http::Method;

use super::answer::Answer;
use super::http::{Broken, Http, Request};
use super::lane::{Lane, Turn};
use super::limits::{Limit, budget, limit, retry_after, until_reset};
use super::settings::Pace;
use crate::forge::{Clock, ForgeError};

/// How often a short wait that GitHub asked for is waited out in place before the queue gets the job back.
const MOST_WAITS_IN_PLACE: usize = 2;
/// After a fault of the network or of GitHub.
const AFTER_A_FAULT: Duration = Duration::from_secs(10);

/// Whether a request may be sent again when nobody knows what became of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Twice does no more than once.
    Safe,
    /// It might be done twice: the caller must look first.
    Never,
}

/// The way to GitHub.
pub(super) struct Wire {
    pub(super) http: Http,
    pub(super) pace: Pace,
    pub(super) clock: Clock,
}

impl Wire {
    /// Sends the request. Every answer but a rate limit and a 5xx is the caller's to judge.
    ///
    /// A rate limit shuts the lane; a short one is waited out here, a long one becomes [`ForgeError::Retry`], and until it ends
    /// nothing of this lane is sent, since GitHub bans clients that go on.
    pub(super) async fn send(
        &self,
        lane: &Lane,
        mut turn: Option<&mut Turn<'_>>,
        request: &Request<'_>,
        repeat: Repeat,
        doing: &'static str,
    ) -> Result<Answer, ForgeError> {
        let mut repeats =
            ExponentialBuilder::new().with_min_delay(self.pace.before_repeat).with_max_times(2).with_jitter().build();
        let mut waited = 0;
        loop {
            self.wait_while_shut(lane, doing).await?;
            if let Some(turn) = &turn {
                turn.space(self.pace.between_writes).await;
            }
            let outcome = self.http.once(request).await;
            if let Some(turn) = &mut turn {
                turn.written();
            }
            match self.judge(lane, request, outcome, doing) {
                Outcome::Answer(answer) => return Ok(answer),
                Outcome::Limited { wait, why } => {
                    if wait > self.pace.wait_in_place || waited == MOST_WAITS_IN_PLACE {
                        return Err(ForgeError::Retry { doing, why, after: wait });
                    }
                    waited += 1;
                    tokio::time::sleep(wait).await;
                }
                Outcome::Fault(error) => match repeats.next() {
                    Some(delay) if repeat == Repeat::Safe => tokio::time::sleep(delay).await,
                    _ => return Err(error),
                },
                Outcome::Final(error) => return Err(error),
            }
        }
    }

    async fn wait_while_shut(&self, lane: &Lane, doing: &'static str) -> Result<(), ForgeError> {
        let wait = lane.shut_for(self.clock.now());
        if wait > self.pace.wait_in_place {
            let why = format!("GitHub asked this installation to wait {} s more", wait.as_secs());
            return Err(ForgeError::Retry { doing, why, after: wait });
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    fn judge(
        &self,
        lane: &Lane,
        request: &Request<'_>,
        outcome: Result<Answer, Broken>,
        doing: &'static str,
    ) -> Outcome {
        let unclear = if request.method == Method::GET { "" } else { "; whether it took effect is not known" };
        let answer = match outcome {
            Ok(answer) => answer,
            Err(Broken::Connection(cause)) => return fault(doing, format!("the connection failed: {cause}{unclear}")),
            Err(Broken::Timeout(limit)) => {
                return fault(doing, format!("no answer within {} s{unclear}", limit.as_secs_f32()));
            }
            Err(broken) => return Outcome::Final(ForgeError::GiveUp { doing, why: unusable(&broken) }),
        };
        let now = self.clock.now();
        let status = answer.status.as_u16();
        if answer.status.is_server_error() {
            let why = format!("GitHub answered {status}{unclear}");
            let after = retry_after(&answer.headers, now).unwrap_or(AFTER_A_FAULT).max(AFTER_A_FAULT);
            return Outcome::Fault(ForgeError::Retry { doing, why, after });
        }
        if let Some(limit) = limit(answer.status, &answer.headers, &answer.said(), now) {
            let wait = lane.limited(limit, now);
            let why = format!("GitHub's rate limit ({status}); it is lifted in {} s", wait.as_secs());
            return Outcome::Limited { wait, why };
        }
        lane.note_budget(budget(&answer.headers));
        lane.accepted(now);
        if let Some(wait) = until_reset(&answer.headers, now) {
            lane.limited(Limit::Said(wait), now);
        }
        Outcome::Answer(answer)
    }
}

enum Outcome {
    Answer(Answer),
    Limited { wait: Duration, why: String },
    Fault(ForgeError),
    Final(ForgeError),
}

fn fault(doing: &'static str, why: String) -> Outcome {
    Outcome::Fault(ForgeError::Retry { doing, why, after: AFTER_A_FAULT })
}

pub(super) fn unusable(broken: &Broken) -> String {
    match broken {
        Broken::TooLarge => "the answer is larger than 16 MiB".to_owned(),
        Broken::Elsewhere(host) => format!("GitHub sends us on to {host}, which is not the API's host; not followed"),
        Broken::Redirects => "a redirect that leads nowhere, or more than three of them".to_owned(),
        Broken::Connection(why) => why.clone(),
        Broken::Timeout(limit) => format!("no answer within {} s", limit.as_secs_f32()),
    }
}
