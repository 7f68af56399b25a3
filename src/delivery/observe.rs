//! What is written down about a request: one log line and two counters.

use std::fmt::Write;
use std::time::Duration;

use http::HeaderMap;
use metrics::{counter, histogram};
use tracing::{error, info, warn};

use super::github::{DELIVERY_ID, EVENT, HOOK_ID};
use super::outcome::{Outcome, Weight};
use crate::words::{DeliveryId, ForgeKind};

/// The only headers that are ever logged (R14). Signatures, tokens and secrets come in headers too, and GitHub itself once sent
/// hook secrets in one that nobody knew of, so this is a list of what is allowed and not of what is forbidden.
const LOGGED_HEADERS: [&str; 10] = [
    "user-agent",
    "content-type",
    "content-length",
    DELIVERY_ID,
    EVENT,
    HOOK_ID,
    "x-github-hook-installation-target-type",
    "x-github-hook-installation-target-id",
    "x-github-enterprise-version",
    "x-github-enterprise-host",
];

/// How many characters of a header's value are logged.
const LOGGED_CHARS: usize = 120;

/// The events that have a label of their own. Everything else is `other`, so that no sender can grow the list (R12).
const LABELLED_EVENTS: [&str; 15] = [
    "check_run",
    "check_suite",
    "installation",
    "installation_repositories",
    "installation_target",
    "issue_comment",
    "issues",
    "merge_group",
    "ping",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "push",
    "repository",
];

/// What a request said of itself before anything of it was verified.
pub(super) struct Seen<'a> {
    forge: ForgeKind,
    headers: &'a HeaderMap,
    id: Option<DeliveryId>,
}

impl<'a> Seen<'a> {
    pub(super) fn of_github(headers: &'a HeaderMap) -> Self {
        let id = headers.get(DELIVERY_ID).and_then(|id| id.to_str().ok()).and_then(|id| id.parse().ok());
        Self { forge: ForgeKind::Github, headers, id }
    }

    /// The delivery id for the answer, where it can be one.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_ref().map(DeliveryId::as_str)
    }

    /// The event as a metric label.
    fn event_label(&self) -> &'static str {
        let event = self.headers.get(EVENT).map_or(&[][..], |event| event.as_bytes());
        LABELLED_EVENTS.into_iter().find(|known| known.as_bytes() == event).unwrap_or("other")
    }

    /// Writes down how the request ended.
    pub(super) fn note(&self, outcome: &Outcome, took: Duration) {
        self.count(outcome, took);
        self.log(outcome, took);
    }

    fn count(&self, outcome: &Outcome, took: Duration) {
        let (forge, event) = (self.forge.as_str(), self.event_label());
        counter!(DELIVERIES, "forge" => forge, "event" => event, "outcome" => outcome.label()).increment(1);
        histogram!(SECONDS, "forge" => forge).record(took.as_secs_f64());
    }

    fn log(&self, outcome: &Outcome, took: Duration) {
        let (id, event, label) = (self.id().unwrap_or("none"), self.event_label(), outcome.label());
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let status = outcome.status().as_u16();
        macro_rules! line {
            ($level:ident) => {
                $level!(
                    delivery.forge = %self.forge,
                    delivery.id = id,
                    delivery.event = event,
                    delivery.outcome = label,
                    delivery.cause = outcome.cause(),
                    http.status = status,
                    http.headers = (outcome.weight() != Weight::Fine).then(|| logged(self.headers)),
                    took_ms,
                    "delivery {id} ({event}): {label}"
                )
            };
        }
        match outcome.weight() {
            Weight::Fine => line!(info),
            Weight::TheirFault => line!(warn),
            Weight::Alarm => line!(error),
        }
    }
}

/// Requests to a hook's address, by forge, event and outcome.
const DELIVERIES: &str = "evidence_gate_deliveries_total";
/// Seconds from the request's head to its answer.
const SECONDS: &str = "evidence_gate_delivery_seconds";
/// Verified deliveries by the position of the secret that signed them, counted from 0.
const SECRETS: &str = "evidence_gate_webhook_secret_matches_total";

/// Counts which secret signed a delivery, so that an operator sees when an old one is idle and can go (R2).
pub(super) fn count_secret(forge: ForgeKind, position: usize) {
    counter!(SECRETS, "forge" => forge.as_str(), "secret" => position.to_string()).increment(1);
}

/// Tells a metrics recorder what the numbers mean.
pub(super) fn describe() {
    metrics::describe_counter!(DELIVERIES, "Requests to a webhook address by forge, event and outcome.");
    metrics::describe_histogram!(SECONDS, metrics::Unit::Seconds, "From a request's head to its answer.");
    metrics::describe_counter!(SECRETS, "Verified deliveries by the position of the secret that signed them.");
}

/// The allowed headers of a request as one text, values cut and escaped.
fn logged(headers: &HeaderMap) -> String {
    let mut text = String::new();
    for name in LOGGED_HEADERS {
        for value in headers.get_all(name) {
            let value: String = String::from_utf8_lossy(value.as_bytes()).chars().take(LOGGED_CHARS).collect();
            let separator = if text.is_empty() { "" } else { " " };
            write!(text, "{separator}{name}={value:?}").expect("writing to a String does not fail");
        }
    }
    text
}
