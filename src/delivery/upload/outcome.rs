//! How an upload ended, and the answer that tells it.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::json;

use super::doorkeeper::Denied;
use super::store::{Kept, NotKept};
use crate::words::with_causes;

/// When to come again, in seconds, where another try may work.
const COME_AGAIN: u64 = 10;

/// How one upload ended.
#[derive(Debug)]
pub(super) enum UploadOutcome {
    /// It is here.
    Kept(Kept, String),
    /// Nobody may upload: it is not configured.
    Off,
    /// The address names no forge, repository or commit.
    BadAddress(String),
    /// There is no token.
    NoToken,
    /// The token does not do.
    Denied(Denied),
    /// An encoding that is not read.
    Encoding(String),
    /// More bytes than are taken.
    TooLarge(u64),
    /// It broke off.
    Cut(axum::Error),
    /// It took too long, or there is nothing in it.
    Broken(String),
    /// All places are taken.
    Busy,
    /// The store did not keep it.
    NotKept(NotKept),
    /// Our own fault.
    Failed(String),
}

impl UploadOutcome {
    /// The word in metrics, logs and answers. One of a fixed few.
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Kept(Kept::Pending, _) => "pending",
            Self::Kept(Kept::Duplicate, _) => "duplicate",
            Self::Off => "off",
            Self::BadAddress(_) => "bad_address",
            Self::NoToken | Self::Denied(Denied::Unauthenticated(_)) => "unauthenticated",
            Self::Denied(Denied::Forbidden(_)) => "forbidden",
            Self::Denied(Denied::Unavailable(_)) => "keys_unavailable",
            Self::Encoding(_) => "encoding",
            Self::TooLarge(_) | Self::NotKept(NotKept::TooLarge(_)) => "too_large",
            Self::Cut(_) | Self::Broken(_) => "broken",
            Self::Busy => "busy",
            Self::NotKept(NotKept::Damaged(_)) => "damaged",
            Self::NotKept(NotKept::TokenUsed) => "token_used",
            Self::NotKept(NotKept::Full(_)) => "full",
            Self::NotKept(NotKept::Unavailable(_)) => "unavailable",
            Self::Failed(_) => "failed",
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Kept(Kept::Pending, _) => StatusCode::ACCEPTED,
            Self::Kept(Kept::Duplicate, _) => StatusCode::OK,
            Self::Off => StatusCode::NOT_FOUND,
            Self::BadAddress(_) | Self::Cut(_) | Self::Broken(_) | Self::NotKept(NotKept::Damaged(_)) => {
                StatusCode::BAD_REQUEST
            }
            Self::NoToken | Self::Denied(Denied::Unauthenticated(_)) => StatusCode::UNAUTHORIZED,
            Self::Denied(Denied::Forbidden(_)) => StatusCode::FORBIDDEN,
            Self::Encoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) | Self::NotKept(NotKept::TooLarge(_)) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotKept(NotKept::TokenUsed) => StatusCode::CONFLICT,
            Self::Denied(Denied::Unavailable(_))
            | Self::Busy
            | Self::NotKept(NotKept::Full(_) | NotKept::Unavailable(_)) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What the sender is told besides the word.
    fn told(&self) -> Option<String> {
        Some(match self {
            Self::Kept(..) => return None,
            Self::Off => {
                "this gate takes no maps: its operator has set no `maps.issuers` and no `maps.tokens`".to_owned()
            }
            Self::BadAddress(why) | Self::Encoding(why) | Self::Broken(why) | Self::Denied(Denied::Forbidden(why)) => {
                why.clone()
            }
            Self::Cut(_) => "the upload ended before its time; send it again".to_owned(),
            Self::NoToken => "an upload needs a token: `Authorization: Bearer TOKEN`".to_owned(),
            Self::Denied(Denied::Unauthenticated(_)) => "the token does not hold".to_owned(),
            Self::Denied(Denied::Unavailable(_)) => {
                "the token cannot be checked now, since its issuer's keys cannot be had; try again".to_owned()
            }
            Self::TooLarge(most) => {
                format!("the map has more than {most} bytes as it is sent, which is the most; pack it")
            }
            Self::Busy => "as many maps are coming in as this gate takes at once; try again".to_owned(),
            Self::NotKept(error) => error.to_string(),
            Self::Failed(_) => "the receiver failed; try again".to_owned(),
        })
    }

    /// The whole cause, for the log.
    pub(super) fn cause(&self) -> Option<String> {
        match self {
            Self::Denied(Denied::Unauthenticated(why) | Denied::Unavailable(why)) | Self::Failed(why) => {
                Some(why.clone())
            }
            Self::NotKept(error) => Some(with_causes(error)),
            Self::Cut(error) => Some(with_causes(error)),
            other => other.told(),
        }
    }

    /// Whether somebody of ours must look.
    pub(super) fn is_alarm(&self) -> bool {
        matches!(self, Self::NotKept(NotKept::Full(_) | NotKept::Unavailable(_)) | Self::Failed(_))
    }

    pub(super) fn answer(&self) -> Response {
        let mut body = json!({ "outcome": self.label() });
        if let Self::Kept(_, digest) = self {
            body["sha256"] = json!(digest);
        }
        if let Some(told) = self.told() {
            body["reason"] = json!(told);
        }
        let mut response = (self.status(), body.to_string()).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(COME_AGAIN));
        }
        response
    }
}
