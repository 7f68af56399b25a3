//! The App's key, and who a request comes from.
//!
//! Facts: <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app>

use std::collections::BTreeMap;

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::answer::{Answer, Refusal, Reply};
use super::server::{APP, Inner};
use super::state::Token;

/// What an installation of the App grants at most.
pub(super) const PERMISSIONS: [(&str, &str); 6] = [
    ("checks", "write"),
    ("contents", "read"),
    ("issues", "read"),
    ("merge_queues", "read"),
    ("metadata", "read"),
    ("pull_requests", "write"),
];

/// The public half of the App's key, which the forge keeps; the private half is handed out once.
pub(super) struct AppKey {
    public: Vec<u8>,
}

impl AppKey {
    /// A new key, and its private half in PEM. `None`: this machine cannot make one.
    pub(super) fn generate() -> Option<(Self, SecretString)> {
        let pair = KeyPair::generate(KeySize::Rsa2048).ok()?;
        let private: Pkcs8V1Der<'_> = pair.as_der().ok()?;
        Some((Self { public: pair.public_key().as_ref().to_owned() }, pem(private.as_ref()).into()))
    }

    /// Verifies an App's JWT. The error is the message of the forge's 401.
    fn verify(&self, jwt: &str, now: i64) -> Result<(), &'static str> {
        const NOT_READ: &str = "A JSON web token could not be decoded";
        let (signed, signature) = jwt.rsplit_once('.').ok_or(NOT_READ)?;
        let (_, claims) = signed.split_once('.').ok_or(NOT_READ)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| NOT_READ)?;
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &self.public);
        key.verify(signed.as_bytes(), &signature).map_err(|_| NOT_READ)?;
        let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| NOT_READ)?;
        let claims: Value = serde_json::from_slice(&claims).map_err(|_| NOT_READ)?;
        let expires = claims["exp"].as_i64().ok_or("Missing 'expiration' claim ('exp') in assertion")?;
        if expires <= now {
            return Err("'Expiration time' claim ('exp') must be in the future");
        }
        if expires > now + 600 {
            return Err("'Expiration time' claim ('exp') is too far in the future");
        }
        if claims["iat"].as_i64().is_none_or(|issued| issued > now + 60) {
            return Err(
                "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
            );
        }
        let issuer = &claims["iss"];
        let ours = issuer.as_u64() == Some(APP) || issuer.as_str() == Some(&APP.to_string());
        if ours { Ok(()) } else { Err("'Issuer' claim ('iss') must be an Integer") }
    }
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<String> =
        text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
}

/// The signature of a webhook: <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>
pub(super) fn signature(secret: &SecretString, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    format!("sha256={}", hex::encode(hmac::sign(&key, body)))
}

/// A request that the App itself signed.
pub(super) fn as_app(inner: &Inner, headers: &HeaderMap) -> Result<(), Refusal> {
    let jwt = bearer(headers).ok_or(Refusal::unauthorized("Requires authentication"))?;
    inner.key.verify(jwt, inner.now().as_second()).map_err(Refusal::unauthorized)
}

/// A request with an installation token that has this permission.
pub(super) fn may(inner: &Inner, headers: &HeaderMap, permission: &str, level: &str) -> Result<(), Refusal> {
    let token = bearer(headers).ok_or(Refusal::unauthorized("Requires authentication"))?;
    if holds(inner, token, permission, level)? { Ok(()) } else { Err(Refusal::NOT_ACCESSIBLE) }
}

/// The same for git, which sends the token as a password.
pub(super) fn may_fetch(inner: &Inner, headers: &HeaderMap) -> bool {
    let sent =
        headers.get("authorization").and_then(|value| value.to_str().ok()).and_then(|v| v.strip_prefix("Basic "));
    let pair = sent.and_then(|text| STANDARD.decode(text).ok()).and_then(|bytes| String::from_utf8(bytes).ok());
    let token = pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, token)| token);
    token.is_some_and(|token| holds(inner, token, "contents", "read").unwrap_or(false))
}

fn holds(inner: &Inner, token: &str, permission: &str, level: &str) -> Result<bool, Refusal> {
    let now = inner.now();
    let state = inner.state();
    let token = state.tokens.get(token).filter(|token| token.expires > now).ok_or(Refusal::BAD_CREDENTIALS)?;
    let granted = token.permissions.get(permission).map(String::as_str);
    Ok(granted == Some("write") || granted == Some(level))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")
}

/// A token with no more than what was asked for, for an hour:
/// <https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app>
pub(super) fn mint(inner: &Inner, asked: &Value) -> Answer {
    const TOO_MUCH: Refusal = Refusal::NOT_ACCESSIBLE;
    let granted: BTreeMap<&str, &str> = PERMISSIONS.into();
    let mut permissions = BTreeMap::from([("metadata".to_owned(), "read".to_owned())]);
    for (name, level) in asked["permissions"].as_object().ok_or(Refusal::invalid("permissions are missing"))? {
        let level = level.as_str().filter(|level| matches!(*level, "read" | "write")).ok_or(TOO_MUCH)?;
        let most = granted.get(name.as_str()).ok_or(TOO_MUCH)?;
        if *most != "write" && *most != level {
            return Err(TOO_MUCH);
        }
        permissions.insert(name.clone(), level.to_owned());
    }
    let expires = inner.now().checked_add(SignedDuration::from_hours(1)).unwrap_or(Timestamp::MAX);
    let text = format!("ghs_{}", uuid::Uuid::new_v4().simple());
    let body = json!({ "token": text, "expires_at": moment(expires), "permissions": permissions });
    inner.state().tokens.insert(text, Token { permissions, expires });
    Ok(Reply::created(body))
}

/// A time as the API writes it, in whole seconds.
pub(super) fn moment(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}
