//! One request to one address, for what is no forge's API: the keys of an issuer, a job's own token, an upload.
//!
//! Deliberately absent: redirects, repeats, cookies, a proxy. What is sent goes to the address that was given, once.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::config::is_private;
use crate::delivery::KeySource;
use crate::words::with_causes;

/// No answer that is read here is larger: keys, a token, a line about an upload.
const LARGEST_ANSWER: usize = 1 << 20;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A request.
#[derive(Debug)]
pub struct HttpsRequest {
    /// How.
    pub method: Method,
    /// Where to.
    pub url: Url,
    /// The value of `Authorization: Bearer`.
    pub bearer: Option<SecretString>,
    /// More headers.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// What is sent.
    pub body: Bytes,
    /// The longest that it may take, with its whole answer.
    pub within: Duration,
}

/// An answer, whatever its status is.
#[derive(Clone, Debug)]
pub struct HttpsAnswer {
    /// Its status.
    pub status: StatusCode,
    /// How long to wait before another try, where it says so in seconds.
    pub retry_after: Option<Duration>,
    /// Its body.
    pub body: Bytes,
}

/// Why there is no answer. No text holds a token, or an address beyond its host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpsError {
    /// Neither https nor this machine.
    #[error("the address must begin with https:// (http:// is for loopback only) and hold no user name or password")]
    InClear,
    /// No certificate authorities on this machine.
    #[error("no certificate authorities are installed on this machine; install ca-certificates")]
    NoCertificates,
    /// A header cannot hold it.
    #[error("{0} holds characters that no header may hold")]
    Header(&'static str),
    /// Not within the time.
    #[error("no answer from {host} within {} s", within.as_secs())]
    Timeout {
        /// Who.
        host: String,
        /// The time.
        within: Duration,
    },
    /// The answer is too large.
    #[error("the answer of {host} is larger than {LARGEST_ANSWER} bytes")]
    TooLarge {
        /// Who.
        host: String,
    },
    /// Refused, cut, reset, no name, no trust.
    #[error("cannot speak to {host}: {why}")]
    Connection {
        /// Who.
        host: String,
        /// The causes.
        why: String,
    },
}

/// Sends the request once and reads the answer. A redirect is an answer like any other.
pub async fn send(request: HttpsRequest) -> Result<HttpsAnswer, HttpsError> {
    if !is_private(&request.url) {
        return Err(HttpsError::InClear);
    }
    let host = request.url.host_str().unwrap_or_default().to_owned();
    let within = request.within;
    let exchanged = tokio::time::timeout(within, exchange(request, &host));
    exchanged.await.map_err(|_| HttpsError::Timeout { host: host.clone(), within })?
}

async fn exchange(request: HttpsRequest, host: &str) -> Result<HttpsAnswer, HttpsError> {
    let mut outgoing = http::Request::builder()
        .method(request.method)
        .uri(request.url.as_str())
        .header(header::USER_AGENT, concat!("evidence-gate/", env!("CARGO_PKG_VERSION")));
    if let Some(token) = &request.bearer {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()))
            .map_err(|_| HttpsError::Header("the token"))?;
        value.set_sensitive(true);
        outgoing = outgoing.header(header::AUTHORIZATION, value);
    }
    for (name, value) in request.headers {
        outgoing = outgoing.header(name, value);
    }
    let outgoing = outgoing.body(Full::new(request.body)).map_err(|_| HttpsError::Header("the address"))?;
    let broken = |error: &(dyn std::error::Error + 'static)| HttpsError::Connection {
        host: host.to_owned(),
        why: with_causes(error),
    };
    let answer = answered(outgoing, request.url.scheme()).await?.map_err(|error| broken(&error))?;
    let (parts, body) = answer.into_parts();
    let body = Limited::new(body, LARGEST_ANSWER).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            HttpsError::TooLarge { host: host.to_owned() }
        } else {
            broken(error.as_ref())
        }
    })?;
    let seconds = parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Ok(HttpsAnswer { status: parts.status, retry_after: seconds.map(Duration::from_secs), body: body.to_bytes() })
}

type Answered = Result<Response<hyper::body::Incoming>, hyper_util::client::legacy::Error>;

async fn answered(outgoing: http::Request<Full<Bytes>>, scheme: &str) -> Result<Answered, HttpsError> {
    let mut tcp = HttpConnector::new();
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp.enforce_http(false);
    let client = Client::builder(TokioExecutor::new());
    // Plain http is for loopback only, and then no certificates are needed.
    if scheme == "http" {
        return Ok(client.build(tcp).request(outgoing).await);
    }
    let tls = hyper_rustls::HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(|_| HttpsError::NoCertificates)?
        .https_only()
        .enable_http1()
        .wrap_connector(tcp);
    Ok(client.build(tls).request(outgoing).await)
}

/// Issuers, asked over https.
#[derive(Clone, Copy, Debug)]
pub struct Issuers {
    /// How long one may take to show its keys. Whoever waits for them is an upload that has not begun.
    pub within: Duration,
}

impl Default for Issuers {
    fn default() -> Self {
        Self { within: Duration::from_secs(5) }
    }
}

#[async_trait]
impl KeySource for Issuers {
    async fn fetch(&self, url: &Url) -> Result<Bytes, String> {
        let request = HttpsRequest {
            method: Method::GET,
            url: url.clone(),
            bearer: None,
            headers: vec![(header::ACCEPT, HeaderValue::from_static("application/json"))],
            body: Bytes::new(),
            within: self.within,
        };
        let answer = send(request).await.map_err(|error| error.to_string())?;
        if answer.status == StatusCode::OK { Ok(answer.body) } else { Err(format!("it answered {}", answer.status)) }
    }
}
