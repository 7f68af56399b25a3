//! The page on loopback: the form that leads to GitHub, and the way back.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::Url;

use super::args::{Addresses, SetupArgs};
use super::page::{self, Asked};
use super::place::{Place, Written};
use crate::desk::Failure;
use crate::desk::loopback::{self, Guard};
use crate::desk::manifest::Manifest;
use crate::forge;
use crate::words::with_causes;

/// A page that has an address and shows nothing yet.
pub(super) struct Site {
    listener: TcpListener,
    bound: SocketAddr,
}

/// One registration.
struct Registration {
    addresses: Addresses,
    /// Made for this registration: whoever comes back without it was not sent from here.
    state: String,
    back: Url,
    webhook: Option<Url>,
    organization: Option<String>,
    /// Taken by the first code that comes with the right state.
    open: Mutex<Option<Open>>,
}

/// What a registration ends with.
struct Open {
    place: Place,
    done: oneshot::Sender<Result<Written, Failure>>,
}

type Shared = State<Arc<Registration>>;

/// What GitHub sends a person back with.
#[derive(Deserialize)]
struct Back {
    code: Option<String>,
    state: Option<String>,
}

impl Site {
    /// Takes a port on loopback.
    pub(super) async fn bind(port: u16) -> Result<Self, Failure> {
        let taken = |error| {
            Failure::Usage(format!("cannot listen on port {port} of this machine: {error}; name another with --port"))
        };
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(taken)?;
        let bound = listener.local_addr().map_err(taken)?;
        Ok(Self { listener, bound })
    }

    /// Where it is.
    pub(super) fn address(&self) -> String {
        format!("http://{}/", self.bound)
    }

    /// Serves the page until somebody came back from GitHub and everything is written down, or cannot be.
    pub(super) async fn until_registered(
        self,
        place: Place,
        addresses: Addresses,
        args: &SetupArgs,
    ) -> Result<Written, Failure> {
        let back = Url::parse(&format!("{}back", self.address()));
        let back = back.map_err(|error| Failure::Ours(format!("the page has no address: {error}")))?;
        let (done, ended) = oneshot::channel();
        // The browser asks the policy again for where GitHub redirects to, which may be its own page for signing in.
        let forms = format!("'self' {}", addresses.registration.origin().ascii_serialization());
        let guard = Guard::new(self.bound, &forms);
        let registration = Arc::new(Registration {
            addresses,
            state: format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple()),
            back,
            webhook: args.webhook_url.clone(),
            organization: args.organization.clone(),
            open: Mutex::new(Some(Open { place, done })),
        });
        let router = Router::new()
            .route("/", get(ask).post(lead))
            .route("/back", get(take_over))
            .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
            .route("/style.css", get(async || ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], page::STYLE)))
            .layer(middleware::from_fn_with_state(guard, loopback::guarded))
            .with_state(registration);
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(
            axum::serve(self.listener, router)
                .with_graceful_shutdown(async move {
                    let _told = stopped.await;
                })
                .into_future(),
        );
        let written = ended.await.map_err(|_| Failure::Ours("the page ended".to_owned()))?;
        let _told = stop.send(());
        // The last page is still on its way to the browser, which may keep the connection after it.
        let _sent = tokio::time::timeout(std::time::Duration::from_secs(2), server).await;
        written
    }
}

fn shown(status: StatusCode, page: maud::Markup) -> Response {
    (status, Html(page.into_string())).into_response()
}

async fn ask(State(registration): Shared) -> Response {
    let webhook = registration.webhook.as_ref().map_or("", Url::as_str);
    shown(StatusCode::OK, page::ask(&Asked { name: "evidence-gate", webhook, wrong: None }, &registration.addresses))
}

/// The second step: the manifest, filled in, with a button that posts it to GitHub.
async fn lead(State(registration): Shared, form: Bytes) -> Response {
    let field = |name: &str| {
        let mut pairs = url::form_urlencoded::parse(&form);
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let (name, webhook) = (field("name"), field("webhook"));
    match checked(&name, &webhook) {
        Err(wrong) => {
            let asked = Asked { name: &name, webhook: &webhook, wrong: Some(wrong) };
            shown(StatusCode::UNPROCESSABLE_ENTITY, page::ask(&asked, &registration.addresses))
        }
        Ok(webhook) => {
            let manifest = Manifest::of_this_version().filled_in(&name, &webhook, &registration.back);
            let mut action = registration.addresses.registration.clone();
            action.query_pairs_mut().append_pair("state", &registration.state);
            shown(StatusCode::OK, page::lead(&action, &manifest, registration.organization.as_deref()))
        }
    }
}

/// GitHub takes 34 characters of a name; the address must be reachable from there.
fn checked(name: &str, webhook: &str) -> Result<Url, &'static str> {
    if name.is_empty() || name.chars().count() > 34 {
        return Err("The name has 1 to 34 characters, and nobody on GitHub has it yet.");
    }
    let url = Url::parse(webhook)
        .map_err(|_| "The webhook needs a whole address, such as https://gate.example.com/webhooks/github.")?;
    if url.scheme() == "https" || url.scheme() == "http" {
        Ok(url)
    } else {
        Err("The webhook's address begins with https://.")
    }
}

async fn take_over(State(registration): Shared, Query(back): Query<Back>) -> Response {
    let state = back.state.unwrap_or_default();
    if !bool::from(state.as_bytes().ct_eq(registration.state.as_bytes())) {
        return shown(
            StatusCode::FORBIDDEN,
            page::refused("This way back does not belong to a registration that was begun here."),
        );
    }
    let Some(code) = back.code.filter(|code| is_code(code)) else {
        return shown(
            StatusCode::BAD_REQUEST,
            page::refused("GitHub sent no code along. Begin again on the first page."),
        );
    };
    let open = registration.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Open { place, done }) = open else {
        return shown(StatusCode::CONFLICT, page::refused("This registration was taken over already."));
    };
    let converted = forge::convert_manifest(&registration.addresses.api, &code).await;
    let written = converted
        .map_err(|error| Failure::OutOfReach(with_causes(&error)))
        .and_then(|app| place.keep(&app, &registration.addresses));
    let page = match &written {
        Ok(written) => shown(StatusCode::OK, page::done(written)),
        Err(failure) => shown(StatusCode::BAD_GATEWAY, page::refused(&failure.to_string())),
    };
    // Whoever waits for it has ended with an error of its own.
    let _told = done.send(written);
    page
}

/// A code is a word; anything else would be a path of its own.
fn is_code(code: &str) -> bool {
    (1..=200).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
