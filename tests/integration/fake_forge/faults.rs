//! What goes wrong on purpose, and where a story stops a request to look around.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

/// What a request is for. Faults and the history are told in these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// `POST /app/installations/{id}/access_tokens`
    MintToken,
    /// `GET /repos/{owner}/{repo}/installation`
    FindInstallation,
    /// `GET /app`
    App,
    /// `GET /repos/{owner}/{repo}` and `GET /repositories/{id}`
    Repository,
    /// `GET …/pulls/{number}`
    Pull,
    /// `GET …/git/ref/heads/{branch}`
    BranchTip,
    /// `GET …/pulls/{number}/reviews`
    Reviews,
    /// `GET …/pulls/{number}/commits`
    PullCommits,
    /// `POST …/check-runs`
    CreateRun,
    /// `PATCH …/check-runs/{id}`
    UpdateRun,
    /// `GET …/check-runs/{id}`
    ReadRun,
    /// `GET …/commits/{ref}/check-runs`
    ListRuns,
    /// `GET …/check-runs/{id}/annotations`
    Annotations,
    /// `GET …/collaborators/{login}/permission`
    Permission,
    /// `GET …/pulls`
    OpenPulls,
    /// `GET` and `POST …/issues/{number}/comments`
    Comments,
    /// `PATCH …/issues/comments/{id}`
    EditComment,
    /// `POST …/issues/comments/{id}/reactions`
    React,
    /// `GET …/git/matching-refs/…`
    MatchingRefs,
    /// `GET /app/installations`
    Installations,
    /// `GET /installation/repositories`
    Repositories,
    /// `GET /app/hook/deliveries`
    DeliveryLog,
    /// `POST /app/hook/deliveries/{id}/attempts`
    DeliverAgain,
    /// `GET /app/hook/config`
    HookConfig,
    /// `GET …/rules/branches/{branch}`
    BranchRules,
    /// `GET …/branches/{branch}`
    ProtectedBranch,
    /// Everything below `….git/`
    Git,
    /// What the fake does not know.
    Unknown,
}

/// What the forge does instead of its work.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answers so, and does nothing.
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// Ends the connection before anything was done.
    CutBefore,
    /// Does its work, and ends the connection before the answer.
    CutAfter,
    /// Does its work, and answers with other bytes under a status of success.
    Garble,
    /// Stops before the work until the story lets go.
    HoldBefore(Held),
    /// Does its work, and stops before the answer until the story lets go.
    HoldAfter(Held),
}

impl Fault {
    /// An error in the forge's own shape.
    pub fn status(status: u16) -> Self {
        let message = match status {
            401 => "Bad credentials",
            403 => "Resource not accessible by integration",
            404 => "Not Found",
            422 => "Validation Failed",
            _ => "Server Error",
        };
        let body = serde_json::json!({
            "message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string(),
        });
        Self::Answer { status, headers: Vec::new(), body: body.to_string() }
    }

    /// A limit that ends after so many seconds, in the words of
    /// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits>.
    pub fn secondary_limit(retry_after: u64) -> Self {
        let body = serde_json::json!({
            "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            "documentation_url": "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api",
        });
        Self::Answer { status: 403, headers: vec![("retry-after", retry_after.to_string())], body: body.to_string() }
    }

    /// A page of a proxy with a status of success.
    pub fn garbage() -> Self {
        Self::Answer {
            status: 200,
            headers: vec![("content-type", "text/html".to_owned())],
            body: "<html><body>we will be back soon</body></html>".to_owned(),
        }
    }
}

/// A place where a request waits: the story sees it arrive and lets it go.
#[derive(Clone, Debug, Default)]
pub struct Held(Arc<Latch>);

#[derive(Debug, Default)]
struct Latch {
    arrived: Notify,
    released: Notify,
}

impl Held {
    /// Returns when a request stands here.
    pub async fn arrived(&self) {
        let long = std::time::Duration::from_mins(1);
        tokio::time::timeout(long, self.0.arrived.notified())
            .await
            .expect("no request came to the barrier in a minute");
    }

    /// Lets it go on.
    pub fn release(&self) {
        self.0.released.notify_one();
    }

    pub(super) async fn stand(&self) {
        self.0.arrived.notify_one();
        self.0.released.notified().await;
    }
}

/// The faults of a story, in the order in which they were asked for.
#[derive(Default)]
pub struct Script(VecDeque<(Route, Fault, Times)>);

#[derive(Clone, Copy)]
enum Times {
    Left(u32),
    Always,
}

impl Script {
    pub fn add(&mut self, route: Route, fault: Fault, times: u32) {
        self.0.push_back((route, fault, Times::Left(times)));
    }

    pub fn always(&mut self, route: Route, fault: Fault) {
        self.0.push_back((route, fault, Times::Always));
    }

    /// No fault from now on.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The fault that the next request of this kind meets.
    pub(super) fn next(&mut self, route: Route) -> Option<Fault> {
        let place = self.0.iter().position(|(at, ..)| *at == route)?;
        let (_, fault, times) = &mut self.0[place];
        let fault = fault.clone();
        match times {
            Times::Always => {}
            Times::Left(1) => drop(self.0.remove(place)),
            Times::Left(left) => *left -= 1,
        }
        Some(fault)
    }

    /// Faults that nothing met; a story that scripts what never happens is wrong about the product.
    pub(super) fn unused(&self) -> Vec<Route> {
        self.0.iter().filter(|(.., times)| matches!(times, Times::Left(_))).map(|(route, ..)| *route).collect()
    }
}
