//! Who may bring a map for which commit: a job with its CI's own token, or whoever has a token of the operator's.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::claims::{self, Claims};
use super::keys::{KeySource, Keys, NoKey};
use super::store::{Place, Uploader};
use crate::config::{MapIssuer, MapToken, Maps, is_private};
use crate::words::ForgeKind;

/// The shortest token of the operator's own that is taken, in bytes.
const SHORTEST: usize = 32;

/// The longest token that is looked at, in bytes.
const LONGEST: usize = 16 * 1024;

/// Decides who may upload. It holds the operator's tokens, and keys of issuers as they are fetched.
pub struct Doorkeeper {
    audience: String,
    issuers: Vec<(MapIssuer, Keys)>,
    tokens: Vec<(MapToken, [u8; 32])>,
}

/// Why uploads cannot be taken as they are configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongUploads {
    /// Tokens of an issuer without an audience of our own would be good elsewhere too.
    #[error("`maps.audience` is not set: name this gate's own address, which jobs ask their token for")]
    NoAudience,
    /// Everybody who has an account can get a token of a public issuer.
    #[error(
        "`maps.issuers` {issuer}: `owners` is empty; name the numbers of the accounts or groups whose repositories may upload"
    )]
    NoOwners {
        /// Which issuer.
        issuer: String,
    },
    /// Keys fetched in clear can be replaced on the way.
    #[error("`maps.issuers` {issuer}: its keys must have an https address (http is for loopback only)")]
    ClearKeys {
        /// Which issuer.
        issuer: String,
    },
    /// A forge that issues no tokens.
    #[error(
        "`maps` names the forge \"local\", which has no CI: \"github\" and \"gitlab\" are the forges that there are"
    )]
    Local,
    /// Too short to withstand guessing.
    #[error(
        "the upload token in {file} has {length} bytes and needs at least {SHORTEST}; draw one with `openssl rand -hex 32`"
    )]
    ShortToken {
        /// Which file.
        file: String,
        /// Its length in bytes.
        length: usize,
    },
}

/// Why somebody may not upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// No token that holds. Outside, all causes look alike; the cause is for the log.
    Unauthenticated(String),
    /// A token that holds, and that is not good for this: why, for whoever sent it.
    Forbidden(String),
    /// It cannot be decided now.
    Unavailable(String),
}

impl Doorkeeper {
    /// Takes the section `[maps]` with the tokens that its files hold, in their order. `None`: nobody may upload.
    pub fn new(
        maps: &Maps,
        tokens: Vec<SecretString>,
        source: &Arc<dyn KeySource>,
    ) -> Result<Option<Self>, WrongUploads> {
        if maps.issuers.is_empty() && maps.tokens.is_empty() {
            return Ok(None);
        }
        let audience = maps.audience.clone().unwrap_or_default();
        if audience.is_empty() && !maps.issuers.is_empty() {
            return Err(WrongUploads::NoAudience);
        }
        let mut issuers = Vec::new();
        for rules in &maps.issuers {
            let issuer = rules.address();
            if rules.forge == ForgeKind::Local {
                return Err(WrongUploads::Local);
            }
            if rules.owners.is_empty() {
                return Err(WrongUploads::NoOwners { issuer });
            }
            let keys = rules.keys_url().filter(is_private).ok_or(WrongUploads::ClearKeys { issuer })?;
            issuers.push((rules.clone(), Keys::new(keys, Arc::clone(source))));
        }
        let mut known = Vec::new();
        for (token, secret) in maps.tokens.iter().zip(tokens) {
            let length = secret.expose_secret().len();
            if length < SHORTEST {
                return Err(WrongUploads::ShortToken { file: token.file.display().to_string(), length });
            }
            known.push((token.clone(), Sha256::digest(secret.expose_secret()).into()));
        }
        Ok(Some(Self { audience, issuers, tokens: known }))
    }

    /// Decides about one token.
    pub(super) async fn admit(&self, token: &str, place: &Place, now: Timestamp) -> Result<Uploader, Denied> {
        if let Some(known) = self.operators(token) {
            return Self::admit_operators(known, place);
        }
        if token.len() > LONGEST {
            return Err(unauthenticated("it is longer than any token of an issuer"));
        }
        let header = decode_header(token).map_err(|error| unauthenticated(&format!("it is no token: {error}")))?;
        // The one algorithm that both forges sign with. What the token says of itself never picks another.
        if header.alg != Algorithm::RS256 {
            return Err(unauthenticated(&format!("it is signed with {:?}", header.alg)));
        }
        let issuer = claimed_issuer(token).ok_or_else(|| unauthenticated("it names no issuer"))?;
        let known = self.issuers.iter().find(|(rules, _)| rules.forge == place.forge && rules.address() == issuer);
        let (rules, keys) = known.ok_or_else(|| unauthenticated("its issuer is not among `maps.issuers`"))?;
        let id = header.kid.ok_or_else(|| unauthenticated("it names no key"))?;
        let key = keys.get(&id, now).await.map_err(|no_key| match no_key {
            NoKey::Unknown => unauthenticated("its issuer has no key of that name"),
            NoKey::Unreachable(why) => Denied::Unavailable(format!("the keys of {issuer} cannot be had: {why}")),
        })?;
        let read =
            decode::<Value>(token, &key, &signature_only()).map_err(|error| unauthenticated(&error.to_string()))?;
        let claims = Claims(&read.claims);
        claims::check(&claims, rules, &self.audience, place, now).map_err(Denied::Forbidden)
    }

    /// The operator's token, if it is one. Every one is compared, in constant time.
    fn operators(&self, token: &str) -> Option<&MapToken> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let equal = self.tokens.iter().filter(|(_, known)| known.ct_eq(&digest).into());
        equal.fold(None, |_, (token, _)| Some(token))
    }

    fn admit_operators(known: &MapToken, place: &Place) -> Result<Uploader, Denied> {
        if (known.forge, known.repository) != (place.forge, place.repository.0) {
            let why = "this token is for another repository than the address names";
            return Err(Denied::Forbidden(why.to_owned()));
        }
        let what = format!("the token in {}", known.file.display());
        Ok(Uploader { name: known.name.clone(), reference: None, what, token: None })
    }
}

fn unauthenticated(why: &str) -> Denied {
    Denied::Unauthenticated(why.to_owned())
}

/// The times and the audience are looked at by `claims`, by the receiver's own clock and in our words.
fn signature_only() -> Validation {
    let mut rules = Validation::new(Algorithm::RS256);
    rules.validate_exp = false;
    rules.validate_aud = false;
    rules.required_spec_claims.clear();
    rules
}

/// The issuer that a token names, before anything of it is proven: it picks the keys, and nothing else.
fn claimed_issuer(token: &str) -> Option<String> {
    let claims = token.split('.').nth(1)?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    claims.get("iss")?.as_str().map(str::to_owned)
}
