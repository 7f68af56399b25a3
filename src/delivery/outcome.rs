//! What a request ended as, and the answer that tells it.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderName, StatusCode};
use serde::Serialize;

use super::github::DELIVERY_ID;
use super::{InboxError, Refusal, SignatureFault, Stored};
use crate::words::with_causes;

/// How one request to a hook's address ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The store kept it.
    Stored(Stored),
    /// It is no delivery.
    Refused(Refusal),
    /// Its body is longer than the cap.
    TooLarge,
    /// Its body ended before its time.
    Broken(Cause),
    /// A delivery that the store did not keep.
    NotStored(InboxError),
    /// No answer within the deadline. The store may have kept it all the same; a redelivery is then a duplicate.
    TimedOut,
    /// Our own fault.
    Panicked,
}

/// An error of somebody else's making, for the log.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// How loud an outcome is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// As it should be.
    Fine,
    /// The sender's fault.
    TheirFault,
    /// Ours, or an attack: somebody must look.
    Alarm,
}

impl Outcome {
    /// The word in metrics, logs and answers. One of a fixed few.
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Stored(Stored::Queued) => "queued",
            Self::Stored(Stored::Coalesced) => "coalesced",
            Self::Stored(Stored::Ignored(_)) => "ignored",
            Self::Stored(Stored::Duplicate) => "duplicate",
            Self::Refused(Refusal::Unauthenticated(_)) => "unauthenticated",
            Self::Refused(Refusal::ContentType { .. }) => "content_type",
            Self::Refused(Refusal::Header { .. }) => "bad_header",
            Self::TooLarge => "too_large",
            Self::Broken(_) => "broken",
            Self::NotStored(InboxError::Malformed(_)) => "malformed",
            Self::NotStored(InboxError::OtherBody) => "other_body",
            Self::NotStored(InboxError::Unavailable(_)) => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Panicked => "failed",
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Stored(Stored::Queued | Stored::Coalesced) => StatusCode::ACCEPTED,
            Self::Stored(Stored::Ignored(_) | Stored::Duplicate) => StatusCode::OK,
            Self::Refused(refusal) => refusal.status(),
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Broken(_) | Self::NotStored(InboxError::Malformed(_)) => StatusCode::BAD_REQUEST,
            Self::NotStored(InboxError::OtherBody) => StatusCode::CONFLICT,
            Self::NotStored(InboxError::Unavailable(_)) | Self::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
            Self::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub(super) fn weight(&self) -> Weight {
        match self {
            Self::Stored(_) => Weight::Fine,
            Self::Refused(_) | Self::TooLarge | Self::Broken(_) | Self::NotStored(InboxError::Malformed(_)) => {
                Weight::TheirFault
            }
            Self::NotStored(InboxError::OtherBody | InboxError::Unavailable(_)) | Self::TimedOut | Self::Panicked => {
                Weight::Alarm
            }
        }
    }

    /// A class of what happened for the sender, without its cause.
    fn told(&self) -> Option<String> {
        match self {
            Self::Stored(Stored::Ignored(reason)) => Some(reason.clone()),
            Self::Stored(Stored::Queued | Stored::Coalesced | Stored::Duplicate) => None,
            Self::Refused(refusal) => Some(refusal.to_string()),
            Self::TooLarge => Some("the body is larger than this receiver takes".to_owned()),
            Self::Broken(_) => Some("the body ended before its time".to_owned()),
            Self::NotStored(error) => Some(error.to_string()),
            Self::TimedOut => Some("no answer in time; deliver it again".to_owned()),
            Self::Panicked => Some("the receiver failed; deliver it again".to_owned()),
        }
    }

    /// The whole cause for the log: every error of the chain, no header and no byte of the body.
    pub(super) fn cause(&self) -> Option<String> {
        match self {
            Self::Refused(Refusal::Unauthenticated(fault)) => Some(SignatureFault::as_str(*fault).to_owned()),
            Self::NotStored(error) => Some(with_causes(error)),
            Self::Broken(error) => Some(with_causes(error.as_ref())),
            other => other.told(),
        }
    }

    /// The answer to the sender.
    pub(super) fn answer(&self, delivery: Option<&str>) -> Response {
        let told = self.told();
        let answer = Answer { outcome: self.label(), delivery, reason: told.as_deref() };
        let json = serde_json::to_vec(&answer).expect("an answer is three texts");
        let mut response = (self.status(), json).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(id) = delivery.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(HeaderName::from_static(DELIVERY_ID), id);
        }
        response
    }
}

/// The body of an answer. GitHub shows it in the delivery log of the App.
#[derive(Serialize)]
struct Answer<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}
