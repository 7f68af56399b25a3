//! The git side of the fake forge: `git http-backend` behind axum, on loopback.
#![expect(clippy::disallowed_methods, reason = "the fake's git is started here; nothing of the product is")]

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// A running server; it ends when this value is dropped.
pub struct GitServer {
    /// `http://127.0.0.1:PORT/`; a bare repository `acme/widgets.git` under the root is at `{url}acme/widgets.git`.
    pub url: url::Url,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

/// A request as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {
    pub method: String,
    pub path: String,
    pub query: String,
    pub authorization: Option<String>,
    /// The body after the transport's encoding is undone by nobody: gzip stays gzip.
    pub body: Bytes,
    pub status: u16,
}

/// What goes wrong with the next request instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitFault {
    /// An answer with this status and a body that is not git's.
    Status(u16),
    /// The connection stays open and nothing comes.
    Stall,
    /// A redirect to another host.
    RedirectAway,
}

struct Shared {
    backend: Backend,
    authorization: Option<String>,
    requests: Mutex<Vec<GitRequest>>,
    faults: Mutex<VecDeque<GitFault>>,
}

/// `git http-backend` over a folder of bare repositories.
pub struct Backend {
    root: PathBuf,
    exec_path: PathBuf,
    protocol_v0: std::sync::atomic::AtomicBool,
}

/// Serves every bare repository under `root` over smart HTTP, for reading. With `required_authorization`, a request whose
/// `Authorization` header is not exactly that value is answered 401.
pub async fn serve_git(root: PathBuf, required_authorization: Option<String>) -> GitServer {
    let shared = Arc::new(Shared {
        backend: Backend::new(root),
        authorization: required_authorization,
        requests: Mutex::default(),
        faults: Mutex::default(),
    });
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&shared));
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    GitServer { url, shared, task }
}

impl GitServer {
    /// All requests so far, oldest first, refused ones included.
    pub fn requests(&self) -> Vec<GitRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The next requests fail in this way, one each.
    pub fn fail_next(&self, faults: impl IntoIterator<Item = GitFault>) {
        self.shared.faults.lock().unwrap().extend(faults);
    }

    /// From now on the server speaks protocol 0 only, in which an object that no ref names is refused.
    pub fn speak_protocol_v0(&self) {
        self.shared.backend.protocol_v0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 64 << 20).await.unwrap();
    let authorization = text(&parts.headers, "authorization");
    let fault = shared.faults.lock().unwrap().pop_front();
    let response = match fault {
        Some(GitFault::Stall) => std::future::pending().await,
        Some(GitFault::Status(status)) => plain(status, "the fake forge fails on purpose\n"),
        Some(GitFault::RedirectAway) => {
            let mut response = plain(302, "");
            let away = format!("http://localhost:9{}", parts.uri.path());
            response.headers_mut().insert("location", away.parse().unwrap());
            response
        }
        None if shared.authorization.is_some() && shared.authorization != authorization => {
            let mut response = plain(401, "authorization is missing or wrong\n");
            response.headers_mut().insert("www-authenticate", "Basic realm=\"git\"".parse().unwrap());
            response
        }
        None => shared.backend.answer(&parts, &body).await,
    };
    shared.requests.lock().unwrap().push(GitRequest {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        authorization,
        body,
        status: response.status().as_u16(),
    });
    response
}

impl Backend {
    pub fn new(root: PathBuf) -> Self {
        let found = std::process::Command::new("git").arg("--exec-path").output().expect("git is installed");
        let exec_path = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
        Self { root, exec_path, protocol_v0: false.into() }
    }

    /// One run of the CGI program, <https://git-scm.com/docs/git-http-backend>.
    pub async fn answer(&self, parts: &axum::http::request::Parts, body: &Bytes) -> Response<Body> {
        let mut command = Command::new(self.exec_path.join("git-http-backend"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs([
                ("GIT_CONFIG_COUNT", "2"),
                ("GIT_CONFIG_KEY_0", "uploadpack.allowFilter"),
                ("GIT_CONFIG_VALUE_0", "true"),
            ])
            .envs([("GIT_CONFIG_KEY_1", "safe.directory"), ("GIT_CONFIG_VALUE_1", "*")])
            .env("GIT_PROJECT_ROOT", &self.root)
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
            let v0 = variable == "GIT_PROTOCOL" && self.protocol_v0.load(std::sync::atomic::Ordering::SeqCst);
            if let Some(value) = text(&parts.headers, header).filter(|_| !v0) {
                command.env(variable, value);
            }
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let body = body.clone();
        // A backend that ends early closes its end; what it answered is then on stdout.
        let feed = tokio::spawn(async move { stdin.write_all(&body).await });
        let output = child.wait_with_output().await.unwrap();
        drop(feed.await.unwrap());
        cgi_response(output.stdout)
    }
}

fn cgi_response(output: Vec<u8>) -> Response<Body> {
    let Some(end) = output.windows(4).position(|w| w == b"\r\n\r\n") else {
        return plain(500, "git http-backend wrote no header\n");
    };
    let mut response = Response::builder();
    for line in std::str::from_utf8(&output[..end]).unwrap().split("\r\n") {
        let (name, value) = line.split_once(": ").expect("a CGI header has a name and a value");
        response = match name {
            "Status" => response.status(&value[..3]),
            _ => response.header(name, value),
        };
    }
    response.body(Body::from(Bytes::from(output).slice(end + 4..))).unwrap()
}

fn plain(status: u16, body: &'static str) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header("content-type", "text/plain")
        .body(Body::from(body))
        .unwrap()
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned())
}
