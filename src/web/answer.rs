//! Answers: what every one of them carries, and those that are always the same.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use maud::{Markup, html};

use super::page::{Visitor, page};

/// Nothing is loaded but our own style sheet and icon, nothing runs, nobody frames a page, and forms come back to us.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What browsers are told about each answer. An answer that says nothing else about keeping it is kept nowhere.
pub(super) fn guarded(mut response: Response, https: bool) -> Response {
    let headers = response.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if https {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// A page.
pub(super) fn shown(markup: Markup) -> Response {
    (StatusCode::OK, [(CONTENT_TYPE, "text/html; charset=utf-8")], markup.into_string()).into_response()
}

/// A file that never changes under its address.
pub(super) fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "public, max-age=31536000, immutable")], text).into_response()
}

/// The bytes of a document, to be saved under a name.
pub(super) fn download(name: &str, bytes: Vec<u8>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let named = HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let mut response = ([(CONTENT_TYPE, "application/json")], bytes).into_response();
    response.headers_mut().insert(CONTENT_DISPOSITION, named);
    response
}

/// The one answer to everything that is not there, has expired, or is not for whoever asks.
pub(super) fn nothing(visitor: &Visitor) -> Response {
    let content = html! {
        h1 { "Nothing to show" }
        p { "There is no page here, its link has expired, or it is not for you to see." }
        p { "The " em { "Details" } " link of the newest check run on the pull request opens its page. A new evaluation makes a new link." }
        @if visitor.can_sign_in && visitor.name.is_none() { p { "Or " a href="/sign-in" { "sign in" } "." } }
    };
    let body = page("Nothing to show", visitor, &content).into_string();
    (StatusCode::NOT_FOUND, [(CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}

/// Something of ours failed; the log says what.
pub(super) fn failed(visitor: &Visitor) -> Response {
    let content = html! {
        h1 { "This page cannot be shown now" }
        p { "Something failed on our side, and the log of the pages says what. The check run on the commit still holds." }
    };
    let body = page("Cannot be shown", visitor, &content).into_string();
    (StatusCode::INTERNAL_SERVER_ERROR, [(CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}
