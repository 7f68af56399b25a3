//! The App's key pair, made anew for each test, and the check of what was signed with it.

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A private key as the forge hands it out once, and the public half that the forge keeps.
pub struct AppKey {
    /// For the worker's `private_key_file`.
    pub private_pem: String,
    /// For whoever checks what was signed.
    pub public_pem: String,
    public: jsonwebtoken::DecodingKey,
}

impl AppKey {
    pub fn generate() -> Self {
        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let private: Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
        let public = pem("PUBLIC KEY", public.as_ref());
        Self {
            private_pem: pem("PRIVATE KEY", private.as_ref()),
            public: jsonwebtoken::DecodingKey::from_rsa_pem(public.as_bytes()).unwrap(),
            public_pem: public,
        }
    }

    /// What the forge says of a JWT: nothing, or the message of its 401. The rules are those of
    /// <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app>.
    pub fn refuses(&self, token: &str, app_id: u64, now: i64) -> Option<&'static str> {
        let mut rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::RS256);
        rules.validate_exp = false;
        rules.required_spec_claims.clear();
        let Ok(read) = jsonwebtoken::decode::<serde_json::Value>(token, &self.public, &rules) else {
            return Some("A JSON web token could not be decoded");
        };
        let claims = read.claims;
        let Some(issued) = claims["iat"].as_i64().filter(|iat| *iat <= now + 60) else {
            return Some(
                "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
            );
        };
        match claims["exp"].as_i64() {
            None => return Some("Missing 'expiration' claim ('exp') in assertion"),
            Some(exp) if exp <= now => return Some("'Expiration time' claim ('exp') must be in the future"),
            Some(exp) if exp > now + 600 || exp - issued > 660 => {
                return Some("'Expiration time' claim ('exp') is too far in the future");
            }
            Some(_) => {}
        }
        let issuer = &claims["iss"];
        let ours = issuer.as_u64() == Some(app_id) || issuer.as_str() == Some(&app_id.to_string());
        (!ours).then_some("'Issuer' claim ('iss') must be an Integer")
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in STANDARD.encode(der).as_bytes().chunks(64) {
        text.push_str(std::str::from_utf8(line).unwrap());
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}
