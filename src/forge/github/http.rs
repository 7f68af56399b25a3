//! One request, sent once: octocrab's service over a connector of our own, redirects within the API host, a bound on time and size.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::answer::{Answer, tame};
use super::settings::GitHubSettingsError;

/// No answer that we ask for is larger: a page holds at most fifty runs, each with at most 128 kB of text.
const LARGEST_ANSWER: usize = 16 << 20;
const MOST_REDIRECTS: usize = 3;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends requests to one API host.
pub(super) struct Http {
    octocrab: Octocrab,
    api: Url,
    timeout: Duration,
}

/// A request with its whole authorization.
pub(super) struct Request<'a> {
    pub(super) method: Method,
    pub(super) url: Url,
    /// The value of the `Authorization` header; nothing where a request carries its own proof.
    pub(super) authorization: Option<&'a SecretString>,
    pub(super) body: Option<&'a serde_json::Value>,
    /// What the answer is known by; unchanged, it comes as 304.
    pub(super) etag: Option<&'a str>,
}

/// Why no answer came, or none that may be used.
#[derive(Debug)]
pub(super) enum Broken {
    /// Refused, cut, reset, no name, no trust. The text names the cause.
    Connection(String),
    /// Not within the time.
    Timeout(Duration),
    /// Larger than [`LARGEST_ANSWER`].
    TooLarge,
    /// A redirect to somewhere else; the authorization was not sent there, and nothing was asked there.
    Elsewhere(String),
    /// A redirect without an address, or too many.
    Redirects,
}

impl Http {
    /// Must be called within a tokio runtime, which octocrab's service needs.
    pub(super) fn new(api: &Url, timeout: Duration) -> Result<Self, GitHubSettingsError> {
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        tcp.enforce_http(false);
        let client = Client::builder(TokioExecutor::new());
        // Plain http is for loopback only (the settings were checked), and then no certificates are needed.
        let octocrab = if api.scheme() == "http" {
            infallible(OctocrabBuilder::new_empty().with_service(client.build(tcp)).with_auth(AuthState::None).build())
        } else {
            let tls = hyper_rustls::HttpsConnectorBuilder::new()
                .with_native_roots()
                .map_err(|_| GitHubSettingsError::NoCertificates)?
                .https_only()
                .enable_http1()
                .wrap_connector(tcp);
            infallible(OctocrabBuilder::new_empty().with_service(client.build(tls)).with_auth(AuthState::None).build())
        };
        Ok(Self { octocrab, api: api.clone(), timeout })
    }

    /// The address of an API path, each segment escaped.
    pub(super) fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.api.clone();
        url.path_segments_mut().expect("an http address has a path").pop_if_empty().extend(segments);
        url
    }

    /// Sends the request, follows redirects on the API host with method, body and authorization kept, and reads the answer.
    pub(super) async fn once(&self, request: &Request<'_>) -> Result<Answer, Broken> {
        tokio::time::timeout(self.timeout, self.follow(request)).await.map_err(|_| Broken::Timeout(self.timeout))?
    }

    async fn follow(&self, request: &Request<'_>) -> Result<Answer, Broken> {
        let mut url = request.url.clone();
        for _ in 0..=MOST_REDIRECTS {
            // A `link` or `Location` header is the forge's word; the token goes to the API host and nowhere else (R87).
            if !self.is_api(&url) {
                return Err(Broken::Elsewhere(tame(url.host_str().unwrap_or("no host"), None)));
            }
            let answer = self.exchange(request, &url).await?;
            if !is_redirect(answer.status) {
                return Ok(answer);
            }
            url = location(&url, &answer.headers).ok_or(Broken::Redirects)?;
        }
        Err(Broken::Redirects)
    }

    async fn exchange(&self, request: &Request<'_>, url: &Url) -> Result<Answer, Broken> {
        let bytes = request.body.map(|body| body.to_string().into_bytes());
        let mut outgoing = http::Request::builder()
            .method(request.method.clone())
            .uri(url.as_str())
            .header(header::ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
            .header(header::USER_AGENT, concat!("evidence-gate/", env!("CARGO_PKG_VERSION")));
        if let Some(authorization) = request.authorization {
            let mut value = HeaderValue::from_str(authorization.expose_secret())
                .map_err(|_| Broken::Connection("the token holds characters that no header may hold".to_owned()))?;
            value.set_sensitive(true);
            outgoing = outgoing.header(header::AUTHORIZATION, value);
        }
        if let Some(etag) = request.etag {
            outgoing = outgoing.header(header::IF_NONE_MATCH, etag);
        }
        if bytes.is_some() {
            outgoing = outgoing.header(header::CONTENT_TYPE, "application/json");
        }
        let outgoing = outgoing
            .body(bytes.unwrap_or_default())
            .map_err(|_| Broken::Connection("the address cannot be sent over HTTP".to_owned()))?;
        let answer = self.octocrab.execute(outgoing).await.map_err(|error| broken_by(&error))?;
        let (parts, body) = answer.into_parts();
        let body = Limited::new(body, LARGEST_ANSWER).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { Broken::TooLarge } else { broken_by(error.as_ref()) }
        })?;
        let sent = request.authorization.cloned().unwrap_or_default();
        Ok(Answer { status: parts.status, headers: parts.headers, body: body.to_bytes(), sent })
    }

    fn is_api(&self, url: &Url) -> bool {
        url.origin() == self.api.origin() && url.username().is_empty() && url.password().is_none()
    }
}

/// GitHub asks to repeat the request as it is for each of these:
/// <https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects>.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 307 | 308)
}

fn location(from: &Url, headers: &HeaderMap) -> Option<Url> {
    from.join(headers.get(header::LOCATION)?.to_str().ok()?).ok()
}

/// The innermost cause, which names what happened ("Connection refused"); the layers around it repeat themselves.
fn broken_by(error: &(dyn std::error::Error + 'static)) -> Broken {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    Broken::Connection(tame(&cause.to_string(), None))
}

fn infallible<T>(result: Result<T, std::convert::Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
