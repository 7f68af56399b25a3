//! People who sign in with the App's own OAuth, and what they may read by GitHub's word at that moment.
//!
//! Facts: <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app>.
//! A person's token reaches what both the person and the App may reach, so a repository that it can read is one whose pages may be shown.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use http::{Method, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::answer::{Answer, Asked};
use super::http::{Broken, Http, Request};
use super::settings::{GitHubSettingsError, check_address};
use crate::forge::{Door, ForgeError, Person};
use crate::words::RepositoryId;

/// The longest time for one request and its whole answer: a person waits.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Signing in at GitHub.
pub struct GitHubDoor {
    site: Url,
    pages: Http,
    api: Http,
    client_id: String,
    client_secret: SecretString,
}

impl fmt::Debug for GitHubDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitHubDoor")
            .field("site", &self.site.host_str())
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// The answer to a code; a refusal comes with 200 too.
#[derive(Deserialize)]
struct TokenShape {
    access_token: Option<SecretString>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct UserShape {
    id: u64,
    login: String,
}

#[derive(Deserialize)]
struct RepositoryShape {
    id: u64,
}

impl GitHubDoor {
    /// `site` is where people are, `api` the REST API. Must be called within a tokio runtime.
    pub fn new(
        site: &Url,
        api: &Url,
        client_id: String,
        client_secret: SecretString,
    ) -> Result<Self, GitHubSettingsError> {
        check_address("git", site)?;
        check_address("api", api)?;
        Ok(Self {
            site: site.clone(),
            pages: Http::new(site, TIMEOUT)?,
            api: Http::new(api, TIMEOUT)?,
            client_id,
            client_secret,
        })
    }

    async fn read(&self, segments: &[&str], token: &SecretString, doing: &'static str) -> Result<Answer, ForgeError> {
        let authorization = SecretString::from(format!("Bearer {}", token.expose_secret()));
        let url = self.api.url(segments);
        let request = Request { method: Method::GET, url, authorization: Some(&authorization), body: None, etag: None };
        self.api.once(&request).await.map_err(|broken| unreachable(&broken, doing))
    }
}

fn unreachable(broken: &Broken, doing: &'static str) -> ForgeError {
    ForgeError::Retry { doing, why: format!("GitHub did not answer: {broken:?}"), after: TIMEOUT }
}

fn asked(doing: &'static str) -> Asked {
    Asked { doing, installation: None, needs: "Metadata: read" }
}

#[async_trait]
impl Door for GitHubDoor {
    fn address(&self, state: &str, challenge: &str, back: &Url) -> Url {
        let mut url = self.site.clone();
        url.path_segments_mut().expect("an http address has a path").pop_if_empty().extend([
            "login",
            "oauth",
            "authorize",
        ]);
        url.query_pairs_mut()
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", back.as_str())
            .append_pair("state", state)
            .append_pair("code_challenge", challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("allow_signup", "false");
        url
    }

    async fn person(&self, code: &str, verifier: &str, back: &Url) -> Result<Person, ForgeError> {
        const DOING: &str = "sign a person in";
        let body = json!({
            "client_id": self.client_id,
            "client_secret": self.client_secret.expose_secret(),
            "code": code,
            "redirect_uri": back.as_str(),
            "code_verifier": verifier,
        });
        let url = self.pages.url(&["login", "oauth", "access_token"]);
        let request = Request { method: Method::POST, url, authorization: None, body: Some(&body), etag: None };
        let answer = self.pages.once(&request).await.map_err(|broken| unreachable(&broken, DOING))?;
        let token = token(&answer.accepted(asked(DOING))?, DOING)?;
        let user = self.read(&["user"], &token, DOING).await?.accepted(asked(DOING))?;
        let UserShape { id, login } = user.json(DOING)?;
        Ok(Person { id, login, token })
    }

    async fn may_read(&self, token: &SecretString, repository: RepositoryId) -> Result<bool, ForgeError> {
        const DOING: &str = "ask whether a person may read a repository";
        let answer = self.read(&["repositories", &repository.to_string()], token, DOING).await?;
        match answer.status {
            StatusCode::NOT_FOUND | StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => Ok(false),
            _ => {
                let found: RepositoryShape = answer.accepted(asked(DOING))?.json(DOING)?;
                Ok(found.id == repository.0)
            }
        }
    }
}

/// GitHub answers in JSON or as a form, as the request's `Accept` goes.
fn token(answer: &Answer, doing: &'static str) -> Result<SecretString, ForgeError> {
    let shape = if answer.body.starts_with(b"{") {
        answer.json(doing)?
    } else {
        let field = |name: &str| {
            url::form_urlencoded::parse(&answer.body).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        TokenShape { access_token: field("access_token").map(SecretString::from), error: field("error") }
    };
    let refused = || {
        let word = shape.error.as_deref().filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
        let why = format!("GitHub refuses the code: {}", word.unwrap_or("it gives no token"));
        ForgeError::GiveUp { doing, why }
    };
    shape.access_token.clone().filter(|token| !token.expose_secret().is_empty()).ok_or_else(refused)
}
