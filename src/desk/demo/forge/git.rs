//! Git over smart HTTP, for reading: `git http-backend` behind a token. <https://git-scm.com/docs/git-http-backend>
#![expect(
    clippy::disallowed_methods,
    reason = "the demonstration's own forge is git's server; nothing of a pull request runs here"
)]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use tokio::io::AsyncWriteExt as _;

use super::auth::may_fetch;
use super::server::Inner;
use super::store::clean;

/// The most bytes of a request: what a client asks for is small.
const LARGEST: usize = 16 << 20;

/// The CGI program, below git's own folder. `None`: this git has none.
pub(super) fn backend() -> Option<PathBuf> {
    let mut command = std::process::Command::new("git");
    clean(&mut command, Path::new("/"));
    let out = command.arg("--exec-path").output().ok()?;
    let program = Path::new(String::from_utf8(out.stdout).ok()?.trim()).join("git-http-backend");
    program.is_file().then_some(program)
}

/// Everything that is no request of the API.
pub(super) async fn serve(State(inner): State<Arc<Inner>>, request: Request) -> Response<Body> {
    if !request.uri().path().starts_with(&format!("/{}.git/", super::server::FULL_NAME)) {
        return (StatusCode::NOT_FOUND, "no such page\n").into_response();
    }
    if !may_fetch(&inner, request.headers()) {
        let asks = [("www-authenticate", "Basic realm=\"forge\"")];
        return (StatusCode::UNAUTHORIZED, asks, "a token is needed\n").into_response();
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LARGEST).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "too much\n").into_response();
    };
    match run(&inner, &parts, body).await {
        Ok(output) => from_cgi(output).unwrap_or_else(|| failed("git http-backend wrote no header")),
        Err(error) => failed(&format!("cannot run git http-backend: {error}")),
    }
}

fn failed(why: &str) -> Response<Body> {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{why}\n")).into_response()
}

async fn run(inner: &Inner, parts: &Parts, body: Bytes) -> std::io::Result<Vec<u8>> {
    let mut command = std::process::Command::new(&inner.backend);
    clean(&mut command, &inner.repositories);
    command
        .env("GIT_PROJECT_ROOT", &inner.repositories)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", parts.method.as_str())
        .env("PATH_INFO", parts.uri.path())
        .env("QUERY_STRING", parts.uri.query().unwrap_or_default())
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("REMOTE_ADDR", "127.0.0.1");
    for (header, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ] {
        if let Some(value) = parts.headers.get(header).and_then(|value| value.to_str().ok()) {
            command.env(variable, value);
        }
    }
    let mut command = tokio::process::Command::from(command);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn()?;
    let mut input = child.stdin.take().expect("standard input is piped");
    // A backend that ends early closes its end; what it answered is then on standard output.
    let feed = tokio::spawn(async move { input.write_all(&body).await });
    let output = child.wait_with_output().await?;
    feed.abort();
    Ok(output.stdout)
}

fn from_cgi(output: Vec<u8>) -> Option<Response<Body>> {
    let end = output.windows(4).position(|window| window == b"\r\n\r\n")?;
    let mut response = Response::builder();
    for line in std::str::from_utf8(&output[..end]).ok()?.split("\r\n") {
        let (name, value) = line.split_once(": ")?;
        response = if name == "Status" { response.status(value.get(..3)?) } else { response.header(name, value) };
    }
    response.body(Body::from(Bytes::from(output).slice(end + 4..))).ok()
}
