//! The keys of a scoring host, read from where it publishes them.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use url::{Host, Url};

use super::super::Failure;
use super::LARGEST_KEYS;
use crate::words::with_causes;

/// How long the host may take, in all.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks once. Keys that came over an open line would prove nothing, so the address is https, or loopback. No redirect is followed.
pub(super) fn keys(address: &str) -> Result<Vec<u8>, Failure> {
    let url: Url = address.parse().map_err(|error| Failure::Usage(format!("{address} is no address: {error}")))?;
    if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
        return Err(Failure::Usage(format!("{address} is no https address: keys are read over a safe line only")));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Ours(format!("cannot start the runtime: {error}")))?;
    let answered = runtime.block_on(async { tokio::time::timeout(PATIENCE, ask(&url)).await });
    let out_of_reach = |why: String| Failure::OutOfReach(format!("cannot read the keys from {address}: {why}"));
    answered.map_err(|_| out_of_reach(format!("no answer in {} s", PATIENCE.as_secs())))?.map_err(out_of_reach)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

async fn ask(url: &Url) -> Result<Vec<u8>, String> {
    let client = Client::builder(TokioExecutor::new());
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    if url.scheme() == "http" {
        return exchange(client.build(tcp), url).await;
    }
    let tls = hyper_rustls::HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(|error| format!("this machine has no certificates: {error}"))?
        .https_only()
        .enable_http1()
        .wrap_connector(tcp);
    exchange(client.build(tls), url).await
}

async fn exchange<C>(client: Client<C, Empty<Bytes>>, url: &Url) -> Result<Vec<u8>, String>
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let uri = url.as_str().parse().map_err(|error| format!("{error}"))?;
    let answer = client.get(uri).await.map_err(|error| with_causes(&error))?;
    if answer.status() != http::StatusCode::OK {
        return Err(format!("the answer is {}", answer.status()));
    }
    let most = usize::try_from(LARGEST_KEYS).unwrap_or(usize::MAX);
    let body = Limited::new(answer.into_body(), most).collect().await.map_err(|error| error.to_string())?;
    Ok(body.to_bytes().to_vec())
}
