//! The App's own credential: a JWT signed with its private key.
//!
//! Facts: <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app>

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::settings::GitHubSettingsError;

/// `iat` lies this far in the past and `exp` this far ahead, so that a clock that is off by some seconds does no harm. GitHub
/// allows at most ten minutes ahead (R83).
const BACK_SECONDS: i64 = 60;
const AHEAD_SECONDS: i64 = 540;

/// Signs JWTs, and knows how far this machine's clock is from GitHub's once GitHub has complained.
pub(super) struct Signer {
    issuer: String,
    key: EncodingKey,
    /// Seconds to add to this machine's clock.
    offset: AtomicI64,
}

#[derive(Serialize)]
struct Claims<'a> {
    iat: i64,
    exp: i64,
    iss: &'a str,
}

impl Signer {
    /// Reads the key, and signs once with it, so that a damaged key is refused at the start and not at the first delivery.
    pub(super) fn new(app_id: u64, pem: &SecretString) -> Result<Self, GitHubSettingsError> {
        let key = EncodingKey::from_rsa_pem(pem.expose_secret().trim().as_bytes())
            .map_err(|_| GitHubSettingsError::NotAKey)?;
        let signer = Self { issuer: app_id.to_string(), key, offset: AtomicI64::new(0) };
        signer.jwt(Timestamp::UNIX_EPOCH).ok_or(GitHubSettingsError::NotAKey)?;
        Ok(signer)
    }

    /// The whole value of an `Authorization` header, good for nine minutes. `None`: the key cannot sign.
    pub(super) fn jwt(&self, machine: Timestamp) -> Option<SecretString> {
        let now = self.corrected(machine).as_second();
        let claims = Claims { iat: now - BACK_SECONDS, exp: now + AHEAD_SECONDS, iss: &self.issuer };
        let jwt = jsonwebtoken::encode(&Header::new(Algorithm::RS256), &claims, &self.key).ok()?;
        Some(format!("Bearer {jwt}").into())
    }

    /// This machine's clock, moved to GitHub's.
    pub(super) fn corrected(&self, machine: Timestamp) -> Timestamp {
        let offset = SignedDuration::from_secs(self.offset.load(Ordering::Relaxed));
        machine.checked_add(offset).unwrap_or(machine)
    }

    /// Takes GitHub's `Date` for the true time. Returns the seconds by which this machine's clock is behind.
    pub(super) fn correct(&self, machine: Timestamp, github: Timestamp) -> i64 {
        let offset = github.as_second() - machine.as_second();
        self.offset.store(offset, Ordering::Relaxed);
        offset
    }
}
