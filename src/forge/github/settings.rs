//! Where GitHub is, and who we are there.

use std::fmt;
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

/// What a GitHub client needs to know. [`GitHub::new`](super::GitHub::new) checks it.
#[derive(Clone)]
pub struct GitHubSettings {
    /// The REST API: `https://api.github.com`, or `https://HOST/api/v3` on GitHub Enterprise Server.
    pub api: Url,
    /// What stands before `/owner/name.git` in clone addresses: `https://github.com`, or `https://HOST`.
    pub git: Url,
    /// The number of the GitHub App, from its settings page.
    pub app_id: u64,
    /// The App's private key: the text of the PEM file that GitHub made.
    pub private_key: SecretString,
    /// The one name under which check runs are published (R34).
    pub check_name: String,
    /// How fast it goes.
    pub pace: Pace,
}

impl GitHubSettings {
    /// The public GitHub, the check name `evidence-gate`, and the pace that GitHub asks for.
    pub fn new(app_id: u64, private_key: SecretString) -> Self {
        Self {
            api: Url::parse("https://api.github.com").expect("a constant address"),
            git: Url::parse("https://github.com").expect("a constant address"),
            app_id,
            private_key,
            check_name: "evidence-gate".to_owned(),
            pace: Pace::default(),
        }
    }

    /// Refuses an address that would carry a token in clear or that holds user information, and an empty check name.
    pub(super) fn check(&self) -> Result<(), GitHubSettingsError> {
        check_address("api", &self.api)?;
        check_address("git", &self.git)?;
        if self.check_name.trim().is_empty() {
            return Err(GitHubSettingsError::NoCheckName);
        }
        Ok(())
    }
}

/// Hosts only: an address that a person mistyped may hold a password.
impl fmt::Debug for GitHubSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitHubSettings")
            .field("api", &self.api.host_str())
            .field("git", &self.git.host_str())
            .field("app_id", &self.app_id)
            .field("check_name", &self.check_name)
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}

/// How fast requests follow each other. The defaults are what GitHub asks of a good client:
/// <https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From the end of one write of an installation to the start of the next (R89).
    pub between_writes: Duration,
    /// A wait of at most this length is waited out in place; a longer one is handed to the queue.
    pub wait_in_place: Duration,
    /// The longest time for one request and its whole answer.
    pub request_timeout: Duration,
    /// The first wait before a repeatable request is sent again; doubled and jittered from there, at most twice.
    pub before_repeat: Duration,
    /// The first wait when a token younger than five seconds is refused; doubled from there, at most three times (R84).
    pub fresh_token: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            between_writes: Duration::from_secs(1),
            wait_in_place: Duration::from_secs(2),
            request_timeout: Duration::from_secs(30),
            before_repeat: Duration::from_millis(250),
            fresh_token: Duration::from_millis(500),
        }
    }
}

/// Why a GitHub client cannot be made of these settings. No text holds a byte of the key or an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitHubSettingsError {
    /// Not a PEM file, not RSA, or damaged.
    #[error(
        "the GitHub App's private key is not an RSA private key in PEM form; \
         use the .pem file that the App's settings page makes under \"Generate a private key\""
    )]
    NotAKey,
    /// The scheme is neither https nor http to this machine.
    #[error(
        "the github {which} address must begin with https:// (http:// is for loopback only), or tokens would travel in clear"
    )]
    InClear {
        /// `api` or `git`.
        which: &'static str,
    },
    /// `https://user:password@host`.
    #[error("the github {which} address must not hold a user name or password; the App's key is the only credential")]
    UserInfo {
        /// `api` or `git`.
        which: &'static str,
    },
    /// `?` or `#` in the address.
    #[error("the github {which} address must not hold a query or a fragment")]
    QueryOrFragment {
        /// `api` or `git`.
        which: &'static str,
    },
    /// Nothing to publish under.
    #[error("the check name is empty; branch protection needs a name to require")]
    NoCheckName,
    /// No certificate authorities on this machine.
    #[error(
        "no certificate authorities are installed on this machine, so no https connection can be checked; install ca-certificates"
    )]
    NoCertificates,
}

pub(super) fn check_address(which: &'static str, url: &Url) -> Result<(), GitHubSettingsError> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(GitHubSettingsError::UserInfo { which });
    }
    let loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    if !(url.scheme() == "https" || url.scheme() == "http" && loopback) {
        return Err(GitHubSettingsError::InClear { which });
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(GitHubSettingsError::QueryOrFragment { which });
    }
    Ok(())
}
