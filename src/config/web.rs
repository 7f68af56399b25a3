//! `[web]`: pages for people.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::Url;

use super::{ConfigError, Settings, read, span};

/// Variables that hold the secrets of pages: no other role may see them.
pub const WEB_SECRETS: &[&str] =
    &["EVIDENCE_GATE_WEB__SIGN_IN_SECRET", "EVIDENCE_GATE_WEB__CLIENT_SECRET", "EVIDENCE_GATE_WEB__OPERATOR_TOKEN"];

/// The fewest characters of a secret that nobody can guess.
const SHORTEST_SECRET: usize = 32;

/// `[web]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// Address and port of the pages.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// The address under which people reach them: scheme and host, no path.
    pub public_url: Url,
    /// How long a link in a check run opens its page.
    #[serde(default = "default_pass_lifetime", deserialize_with = "span")]
    pub pass_lifetime: Duration,
    /// How long somebody stays signed in.
    #[serde(default = "default_session_lifetime", deserialize_with = "span")]
    pub session_lifetime: Duration,
    /// The file of the secret that seals cookies, of at least 32 characters. Without it nobody can sign in.
    pub sign_in_secret_file: Option<PathBuf>,
    /// The client id of the App, for signing in at the forge.
    pub client_id: Option<String>,
    /// The file of the App's client secret.
    pub client_secret_file: Option<PathBuf>,
    /// Who may see every repository and the queue, by login at the forge.
    #[serde(default)]
    pub operators: Vec<String>,
    /// The file of a token, of at least 32 characters, with which an operator signs in.
    pub operator_token_file: Option<PathBuf>,
}

/// The secrets of pages.
#[derive(Debug)]
pub struct WebSecrets {
    /// Seals cookies.
    pub sign_in: SecretString,
    /// Client id and client secret of the App, where people sign in at the forge.
    pub client: Option<(String, SecretString)>,
    /// What an operator signs in with.
    pub operator: Option<SecretString>,
}

impl Web {
    /// The address with one slash at its end, or why it cannot be one.
    pub fn origin(&self) -> Result<Url, ConfigError> {
        let url = &self.public_url;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        if matches!(url.scheme(), "https" | "http") && bare && url.password().is_none() {
            return Ok(url.clone());
        }
        Err(ConfigError::Environment(
            "web.public_url must be scheme and host alone, such as https://gate.example.org".into(),
        ))
    }
}

impl Settings {
    /// The section `[web]`.
    pub fn web(&self) -> Result<&Web, ConfigError> {
        self.web.as_ref().ok_or(ConfigError::Missing {
            key: "web.public_url",
            hint: "add a section [web] with the address under which people reach the pages",
        })
    }

    /// The secrets of pages; `None` where nobody can sign in. Each is a file's or a variable's.
    pub fn web_secrets(&self, environment: &BTreeMap<String, String>) -> Result<Option<WebSecrets>, ConfigError> {
        let web = self.web()?;
        let one = |what, file: Option<&PathBuf>, variable: &str| match file {
            Some(path) => read(what, path).map(Some),
            None => Ok(environment.get(variable).cloned()),
        };
        let trimmed = |secret: String| SecretString::from(secret.trim().to_owned());
        let long = |key, secret: String| {
            let secret = trimmed(secret);
            let enough = secret.expose_secret().chars().count() >= SHORTEST_SECRET;
            enough.then_some(secret).ok_or(ConfigError::Missing {
                key,
                hint: "it needs a random text of at least 32 characters, such as `openssl rand -hex 32` prints",
            })
        };
        let sign_in = one("sign-in secret", web.sign_in_secret_file.as_ref(), WEB_SECRETS[0])?;
        let client = one("client secret", web.client_secret_file.as_ref(), WEB_SECRETS[1])?.map(trimmed);
        let operator = one("operator token", web.operator_token_file.as_ref(), WEB_SECRETS[2])?;
        let Some(sign_in) = sign_in else {
            if client.is_some() || operator.is_some() {
                return Err(ConfigError::Missing {
                    key: "web.sign_in_secret_file",
                    hint: "signing in needs a secret that seals cookies",
                });
            }
            return Ok(None);
        };
        let client = match (&web.client_id, client) {
            (Some(id), Some(secret)) => Some((id.clone(), secret)),
            (None, None) => None,
            (Some(_), None) => {
                let hint = "make a client secret on the App's settings page and name its file";
                return Err(ConfigError::Missing { key: "web.client_secret_file", hint });
            }
            (None, Some(_)) => {
                let hint = "it stands on the App's settings page beside the client secret";
                return Err(ConfigError::Missing { key: "web.client_id", hint });
            }
        };
        Ok(Some(WebSecrets {
            sign_in: long("web.sign_in_secret_file", sign_in)?,
            client,
            operator: operator.map(|token| long("web.operator_token_file", token)).transpose()?,
        }))
    }
}

fn default_listen() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8081))
}

fn default_pass_lifetime() -> Duration {
    Duration::from_hours(30 * 24)
}

fn default_session_lifetime() -> Duration {
    Duration::from_hours(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        let variables = pairs.iter().map(|(name, value)| (format!("EVIDENCE_GATE_{name}"), (*value).to_owned()));
        Settings::load(None, &variables.collect()).expect("a good configuration")
    }

    #[test]
    fn the_address_is_scheme_and_host_alone() {
        for (text, good) in [
            ("https://gate.example.org", true),
            ("http://127.0.0.1:8081/", true),
            ("https://gate.example.org/x", false),
            ("https://gate.example.org/?a", false),
            ("https://me:pw@gate.example.org", false),
            ("ftp://gate.example.org", false),
        ] {
            let web = settings(&[("WEB__PUBLIC_URL", text)]).web.expect("a section");
            assert_eq!(web.origin().is_ok(), good, "{text}");
        }
    }

    #[test]
    fn a_short_secret_is_refused_and_not_repeated() {
        let settings = settings(&[("WEB__PUBLIC_URL", "https://gate.example.org")]);
        let environment = BTreeMap::from([(WEB_SECRETS[0].to_owned(), "hunter2".to_owned())]);
        let error = settings.web_secrets(&environment).expect_err("too short").to_string();
        assert!(error.contains("web.sign_in_secret_file") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn nobody_signs_in_where_no_secret_seals_cookies() {
        let settings = settings(&[("WEB__PUBLIC_URL", "https://gate.example.org")]);
        assert!(settings.web_secrets(&BTreeMap::new()).expect("nothing is wrong").is_none());
        let environment = BTreeMap::from([(WEB_SECRETS[2].to_owned(), "x".repeat(32))]);
        settings.web_secrets(&environment).expect_err("a token without a secret for cookies");
    }
}
