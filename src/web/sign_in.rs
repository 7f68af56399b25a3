//! Signing in and out.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{LOCATION, ORIGIN, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tracing::{info, warn};
use url::Url;

use super::access::Access;
use super::answer::{failed, nothing, shown};
use super::page::{Visitor, page};
use super::router::Shared;
use super::session::Who;
use crate::words::with_causes;

/// What the forge sends a person back with.
#[derive(Debug, Deserialize)]
pub(super) struct Back {
    code: Option<String>,
    state: Option<String>,
}

/// The page with the ways in.
pub(super) async fn ways_in(State(site): State<Arc<Shared>>) -> Response {
    match &site.access {
        Some(access) => shown(form(access, "")),
        None => nothing(&Visitor::default()),
    }
}

fn form(access: &Access, said: &str) -> Markup {
    let content = html! {
        h1 { "Sign in" }
        @if !said.is_empty() { p class="note" role="alert" { (said) } }
        @if access.door.is_some() {
            section class="panel" aria-labelledby="forge" {
                h2 id="forge" { "With your account" }
                p { "You see the repositories that you may read at the forge and that the App is installed on. It is asked each time." }
                p { a class="button" href="/sign-in/forge" { "Sign in with GitHub" } }
            }
        }
        @if access.takes_token() {
            section class="panel" aria-labelledby="operator" {
                h2 id="operator" { "As an operator" }
                form method="post" action="/sign-in/operator" {
                    label for="token" { "Operator's token" }
                    input id="token" name="token" type="password" autocomplete="current-password" required;
                    button type="submit" { "Sign in" }
                }
            }
        }
        @if access.door.is_none() && !access.takes_token() {
            p { "No way to sign in is configured. The " em { "Details" } " link of a check run opens its page." }
        }
    };
    page("Sign in", &access.visitor(None), &content)
}

/// Sends a person to the forge, and remembers what must come back.
pub(super) async fn leave(State(site): State<Arc<Shared>>) -> Response {
    let Some((access, door)) = site.access.as_ref().and_then(|access| Some((access, access.door.as_ref()?))) else {
        return nothing(&Visitor::default());
    };
    let (Some(state), Some(verifier)) = (random(), random()) else { return failed(&access.visitor(None)) };
    let address = door.address(&state, &URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)), &back_address(&site.origin));
    match access.sessions.leave(state, verifier, (site.clock)()) {
        Some(cookie) => go(address.as_str(), &[cookie]),
        None => failed(&access.visitor(None)),
    }
}

/// Takes a person back from the forge. Whoever did not leave from this browser moments ago is not signed in.
pub(super) async fn back(State(site): State<Arc<Shared>>, headers: HeaderMap, Query(query): Query<Back>) -> Response {
    let Some((access, door)) = site.access.as_ref().and_then(|access| Some((access, access.door.as_ref()?))) else {
        return nothing(&Visitor::default());
    };
    let now = (site.clock)();
    let flow = access.sessions.flow(&headers, now);
    let (Some(flow), Some(code), Some(state)) = (flow, query.code, query.state) else { return again(access) };
    if !bool::from(flow.state.as_bytes().ct_eq(state.as_bytes())) {
        return again(access);
    }
    match door.person(&code, &flow.verifier, &back_address(&site.origin)).await {
        Ok(person) => {
            info!(person.id = person.id, person.login = %person.login, "{} signed in to the pages", person.login);
            signed_in(&site, access, &Who::Person(person))
        }
        Err(error) => {
            warn!(cause = with_causes(&error), "somebody could not sign in at the forge");
            again(access)
        }
    }
}

/// Signs an operator in who knows the token.
pub(super) async fn operator(State(site): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(access) = site.access.as_ref().filter(|access| access.takes_token()) else {
        return nothing(&Visitor::default());
    };
    if !is_from_here(&site, &headers) {
        return again(access);
    }
    let said =
        url::form_urlencoded::parse(&body).find(|(name, _)| name == "token").map(|(_, value)| value.into_owned());
    if said.is_some_and(|said| access.is_token(said.trim())) {
        info!("an operator signed in to the pages with the token");
        return signed_in(&site, access, &Who::Operator);
    }
    warn!("somebody tried to sign in to the pages with a wrong operator's token");
    let mut response = shown(form(access, "This is not the operator's token."));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

/// Signs out.
pub(super) async fn out(State(site): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    match &site.access {
        Some(access) if is_from_here(&site, &headers) => go("/", &access.sessions.forgotten()),
        Some(access) => again(access),
        None => nothing(&Visitor::default()),
    }
}

/// A form of our own page, by the browser's own word. <https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Origin>
fn is_from_here(site: &Shared, headers: &HeaderMap) -> bool {
    let ours = site.origin.origin().ascii_serialization();
    headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()).is_some_and(|origin| origin == ours)
}

fn signed_in(site: &Shared, access: &Access, who: &Who) -> Response {
    let [_, no_flow] = access.sessions.forgotten();
    match access.sessions.begin(who, (site.clock)()) {
        Some(cookie) => go("/", &[cookie, no_flow]),
        None => failed(&access.visitor(None)),
    }
}

fn again(access: &Access) -> Response {
    let mut response = shown(form(access, "Signing in did not work. Please try again."));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

fn back_address(origin: &Url) -> Url {
    origin.join("sign-in/back").expect("a constant path fits any address")
}

/// 256 random bits as text; `None` where the system has none.
fn random() -> Option<String> {
    let mut bytes = [0; 32];
    aws_lc_rs::rand::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

fn go(address: &str, cookies: &[String]) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    if let Ok(address) = address.parse() {
        headers.insert(LOCATION, address);
    }
    for cookie in cookies.iter().filter_map(|cookie| cookie.parse().ok()) {
        headers.append(SET_COOKIE, cookie);
    }
    response
}
