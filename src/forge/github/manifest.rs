//! The last step of registering an App from a manifest: a code that works once, for what only the App's owner may know.
//!
//! Facts: <https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>,
//! <https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest>

use http::{Method, StatusCode};
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use super::answer::Asked;
use super::http::{Http, Request};
use super::settings::{GitHubSettingsError, Pace, check_address};
use crate::forge::ForgeError;

/// An App that was just registered, with all that GitHub tells once.
#[derive(Debug)]
pub struct NewApp {
    /// Its number.
    pub id: u64,
    /// Its name in addresses.
    pub slug: String,
    /// Its public page, from which it is installed.
    pub page: String,
    /// Who it is when a person signs in through it.
    pub client_id: Option<String>,
    /// What it proves that with.
    pub client_secret: Option<SecretString>,
    /// The private key in PEM.
    pub private_key: SecretString,
    /// What its webhooks are signed with; `None` where the manifest had no active webhook.
    pub webhook_secret: Option<SecretString>,
}

#[derive(Deserialize)]
struct NewAppShape {
    id: u64,
    slug: Option<String>,
    html_url: String,
    client_id: Option<String>,
    client_secret: Option<SecretString>,
    pem: SecretString,
    webhook_secret: Option<SecretString>,
}

/// Why an App cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The address of the API.
    #[error(transparent)]
    Settings(#[from] GitHubSettingsError),
    /// GitHub's answer, or that there was none.
    #[error(transparent)]
    Forge(#[from] ForgeError),
}

/// Turns the code that GitHub sent a person back with into the App. It works once, and for an hour. Must be called within a tokio
/// runtime.
pub async fn convert_manifest(api: &Url, code: &str) -> Result<NewApp, ConvertError> {
    const DOING: &str = "take over the new App";
    check_address("api", api)?;
    let http = Http::new(api, Pace::default().request_timeout)?;
    let url = http.url(&["app-manifests", code, "conversions"]);
    let request = Request { method: Method::POST, url, authorization: None, body: None, etag: None };
    let answer = http.once(&request).await.map_err(|broken| {
        let why =
            format!("{}; nothing was taken over yet, and the code is good for an hour", super::wire::unusable(&broken));
        ForgeError::GiveUp { doing: DOING, why }
    })?;
    if answer.status == StatusCode::NOT_FOUND {
        let why = "GitHub does not know the code: it works once and for an hour; begin again".to_owned();
        return Err(ForgeError::GiveUp { doing: DOING, why }.into());
    }
    let asked = Asked { doing: DOING, installation: None, needs: "the code itself" };
    let shape: NewAppShape = answer.accepted(asked)?.json(DOING)?;
    Ok(NewApp {
        id: shape.id,
        slug: shape.slug.unwrap_or_else(|| "the-app".to_owned()),
        page: shape.html_url,
        client_id: shape.client_id,
        client_secret: shape.client_secret,
        private_key: shape.pem,
        webhook_secret: shape.webhook_secret,
    })
}
