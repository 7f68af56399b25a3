//! Pages for the person at this machine: only under their own address, and never on behalf of another page.

use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What a request must be addressed to, and what every answer carries.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    hosts: [String; 2],
    policy: HeaderValue,
}

impl Guard {
    /// For a listener on this address. `forms` says where forms may lead, as in a content security policy.
    pub(super) fn new(bound: SocketAddr, forms: &str) -> Self {
        let policy = format!(
            "default-src 'none'; style-src 'self'; form-action {forms}; base-uri 'none'; frame-ancestors 'none'"
        );
        Self {
            hosts: [bound.to_string(), format!("localhost:{}", bound.port())],
            policy: HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'")),
        }
    }
}

/// A name that leads here from elsewhere (DNS rebinding) is refused, and so is a form of another page.
pub(super) async fn guarded(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let text = |headers: &HeaderMap, name: HeaderName| {
        headers.get(name).map(|value| value.to_str().unwrap_or_default().to_owned())
    };
    let host = text(request.headers(), header::HOST).is_some_and(|host| guard.hosts.contains(&host));
    let own = |origin: &String| guard.hosts.iter().any(|host| *origin == format!("http://{host}"));
    let writes = !request.method().is_safe();
    let origin = text(request.headers(), header::ORIGIN);
    if !host || (writes && !origin.as_ref().is_none_or(own)) {
        return (StatusCode::FORBIDDEN, "this page answers under its own address only\n").into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, guard.policy.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // With no referrer at all a browser would send `Origin: null` with our own forms.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
