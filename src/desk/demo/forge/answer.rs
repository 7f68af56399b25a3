//! What the small forge answers: JSON, or one page of a list, or a refusal.

use axum::body::Body;
use axum::http::{Response, StatusCode, Uri};
use axum::response::IntoResponse;
use serde_json::{Value, json};

/// An answer, or why there is none.
pub(super) type Answer = Result<Reply, Refusal>;

/// A body with its status, and where the next page of a list is.
pub(super) struct Reply {
    status: StatusCode,
    body: Value,
    next: Option<String>,
}

/// The forge's refusal, in its own shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: &'static str,
}

impl Reply {
    pub(super) fn ok(body: Value) -> Self {
        Self { status: StatusCode::OK, body, next: None }
    }

    pub(super) fn created(body: Value) -> Self {
        Self { status: StatusCode::CREATED, body, next: None }
    }
}

impl Refusal {
    pub(super) const NOT_FOUND: Self = Self { status: StatusCode::NOT_FOUND, message: "Not Found" };
    pub(super) const BAD_CREDENTIALS: Self = Self { status: StatusCode::UNAUTHORIZED, message: "Bad credentials" };
    pub(super) const NOT_ACCESSIBLE: Self =
        Self { status: StatusCode::FORBIDDEN, message: "Resource not accessible by integration" };

    pub(super) fn unauthorized(message: &'static str) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, message }
    }

    pub(super) fn invalid(message: &'static str) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, message }
    }

    pub(super) fn failed(message: &'static str) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message }
    }
}

/// The page of a list that the query asks for; `wrap` makes the body of it.
pub(super) fn page(origin: &str, uri: &Uri, all: &[Value], wrap: impl FnOnce(Vec<Value>) -> Value) -> Reply {
    let asked = |key: &str, otherwise: usize| {
        let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        query.filter(|(name, _)| name == key).find_map(|(_, value)| value.parse().ok()).unwrap_or(otherwise).max(1)
    };
    let (per_page, page) = (asked("per_page", 30).min(100), asked("page", 1));
    let shown: Vec<Value> = all.iter().skip((page - 1) * per_page).take(per_page).cloned().collect();
    let next = (all.len() > page * per_page).then(|| {
        let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let mut pairs = url::form_urlencoded::Serializer::new(String::new());
        pairs.extend_pairs(query.filter(|(name, _)| name != "page"));
        pairs.append_pair("page", &(page + 1).to_string());
        format!("{origin}{}?{}", uri.path(), pairs.finish())
    });
    Reply { status: StatusCode::OK, body: wrap(shown), next }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response<Body> {
        let link = self.next.map(|next| ("link", format!("<{next}>; rel=\"next\"")));
        let fixed = [("content-type", "application/json; charset=utf-8".to_owned())];
        let mut response = Response::builder().status(self.status);
        for (name, value) in fixed.into_iter().chain(link) {
            response = response.header(name, value);
        }
        let body = Body::from(self.body.to_string());
        response.body(body).unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        let body = json!({ "message": self.message, "documentation_url": "https://docs.github.com/rest" });
        Reply { status: self.status, body, next: None }.into_response()
    }
}
