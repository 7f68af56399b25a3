//! The page of a demonstration: its listener, its routes, and the headers of everything that it answers.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::Markup;
use tokio::net::TcpListener;

use super::forge::Forge;
use super::lack::Lack;
use super::{buttons, page};
use crate::desk::Failure;
use crate::desk::loopback::{self, Guard};

/// A page that has an address and shows nothing yet.
pub(super) struct Site {
    listener: TcpListener,
    bound: SocketAddr,
    address: String,
}

/// The page as people see it; it ends with this value.
pub(super) struct Open {
    address: String,
    task: tokio::task::JoinHandle<()>,
}

/// What the page shows.
pub(super) struct Shown {
    pub(super) forge: Arc<Forge>,
    /// What this machine lacks.
    pub(super) without: Option<Lack>,
}

impl Site {
    /// Takes a port on loopback.
    pub(super) async fn bind(port: u16) -> Result<Self, Failure> {
        let taken = |error| {
            Failure::Usage(format!("cannot listen on port {port} of this machine: {error}; name another with --port"))
        };
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(taken)?;
        let bound = listener.local_addr().map_err(taken)?;
        Ok(Self { listener, bound, address: format!("http://{bound}") })
    }

    /// Where it is, without a slash at the end.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Begins to answer.
    pub(super) fn open(self, forge: Arc<Forge>, without: Option<Lack>) -> Open {
        let guard = Guard::new(self.bound, "'self'");
        let shown = Arc::new(Shown { forge, without });
        let router = Router::new()
            .route("/", get(list))
            .route("/pulls/{number}", get(pull))
            .route("/pulls/{number}/{button}", post(press))
            .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
            .route("/rules", get(async || shown_as(page::rules())))
            .route("/style.css", get(async || ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], page::STYLE)))
            .layer(middleware::from_fn_with_state(guard, loopback::guarded))
            .with_state(shown);
        let listener = self.listener;
        let task = tokio::spawn(async move {
            // It ends by being dropped; an accept that fails is tried again by axum itself.
            let _ended = axum::serve(listener, router).await;
        });
        Open { address: self.address, task }
    }
}

impl Open {
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn list(State(shown): State<Arc<Shown>>) -> Html<String> {
    shown_as(page::list(&shown))
}

fn shown_as(page: Markup) -> Html<String> {
    Html(page.into_string())
}

async fn pull(State(shown): State<Arc<Shown>>, Path(number): Path<u64>) -> Response {
    match page::pull(&shown, number) {
        Some(page) => shown_as(page).into_response(),
        None => refused(StatusCode::NOT_FOUND, &format!("There is no pull request {number}.")),
    }
}

async fn press(State(shown): State<Arc<Shown>>, Path((number, button)): Path<(u64, String)>) -> Response {
    match buttons::press(&shown.forge, number, &button).await {
        Ok(()) => Redirect::to(&format!("/pulls/{number}")).into_response(),
        Err(failure) => refused(StatusCode::BAD_REQUEST, &failure.to_string()),
    }
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, shown_as(page::nothing(why))).into_response()
}
