//! GitHub's spelling of a delivery.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;

use super::Delivery;
use super::refusal::{HeaderFault, Refusal};
use super::secrets::WebhookSecrets;
use super::signature::ClaimedDigest;
use crate::words::{DeliveryId, ForgeKind};

/// The id of one delivery; a redelivery carries it again.
pub(super) const DELIVERY_ID: &str = "x-github-delivery";
/// The name of the event. No signature covers it.
pub(super) const EVENT: &str = "x-github-event";
/// The number of the hook.
pub(super) const HOOK_ID: &str = "x-github-hook-id";

impl Delivery {
    /// Takes a request of GitHub for what it says it is, if one of `secrets` signed exactly these bytes (R1, R2).
    ///
    /// The signature comes first: nothing about the body or the other headers is told to a sender who cannot sign. The headers are
    /// those of <https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers>.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`] for every fault of the signature; after it [`Refusal::ContentType`] for anything but
    /// `application/json` (R5), and [`Refusal::Header`] where the delivery id or the event is missing, repeated or impossible (R6).
    pub fn verify_github(
        headers: &HeaderMap,
        body: Bytes,
        secrets: &WebhookSecrets,
        received: Timestamp,
    ) -> Result<Self, Refusal> {
        let matched_secret = ClaimedDigest::of_github(headers)
            .and_then(|digest| digest.verify(&body, secrets))
            .map_err(Refusal::Unauthenticated)?;
        is_json(headers)?;
        let id: DeliveryId = one(headers, DELIVERY_ID)?
            .parse()
            .map_err(|_| Refusal::Header { name: DELIVERY_ID, problem: HeaderFault::Value })?;
        let event = word(EVENT, one(headers, EVENT)?)?;
        let hook = if headers.contains_key(HOOK_ID) { word(HOOK_ID, one(headers, HOOK_ID)?)? } else { String::new() };
        Ok(Self { forge: ForgeKind::Github, id, event, hook, body, received, matched_secret })
    }
}

/// Holds if the one content type is JSON, with or without parameters.
fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let found = match headers.get_all(CONTENT_TYPE).iter().collect::<Vec<_>>().as_slice() {
        [] => "no content type".to_owned(),
        [one] => {
            let text = String::from_utf8_lossy(one.as_bytes());
            let media_type = text.split(';').next().unwrap_or_default().trim();
            if media_type.eq_ignore_ascii_case("application/json") {
                return Ok(());
            }
            format!("`{}`", media_type.chars().take(80).collect::<String>())
        }
        _ => "several content types".to_owned(),
    };
    Err(Refusal::ContentType { found })
}

/// The value of a header that must be there once.
fn one<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Refusal> {
    let values: Vec<&HeaderValue> = headers.get_all(name).iter().collect();
    match values.as_slice() {
        [] => Err(Refusal::Header { name, problem: HeaderFault::Missing }),
        [value] => value.to_str().map_err(|_| Refusal::Header { name, problem: HeaderFault::Value }),
        _ => Err(Refusal::Header { name, problem: HeaderFault::Repeated }),
    }
}

/// An event name or a hook id: 1 to 100 letters, digits, `_` and `-`. They are stored and logged as they are.
fn word(name: &'static str, text: &str) -> Result<String, Refusal> {
    let fits = (1..=100).contains(&text.len());
    if fits && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
        Ok(text.to_owned())
    } else {
        Err(Refusal::Header { name, problem: HeaderFault::Value })
    }
}
