//! `[maps]`: who may upload coverage maps, and how long they are kept.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

use super::span;
use crate::words::{ForgeKind, RepoName};

/// `[maps]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Maps {
    /// What a job asks its token for: a text that no other service uses, such as this gate's own address.
    pub audience: Option<String>,
    /// Whose tokens of CI jobs are taken.
    pub issuers: Vec<MapIssuer>,
    /// Tokens of the operator's own, for CI that issues none.
    pub tokens: Vec<MapToken>,
    /// The most bytes of one map as it is sent.
    pub max_upload_bytes: u64,
    /// The most bytes of one map when it is unpacked.
    pub max_unpacked_bytes: u64,
    /// The most bytes that all maps may take on this host, pending ones and indexes included.
    pub max_bytes: u64,
    /// How long a map is kept after it was taken up.
    #[serde(deserialize_with = "span")]
    pub keep: Duration,
    /// The newest maps of each repository that are kept however old they are.
    pub keep_newest: usize,
}

impl Default for Maps {
    fn default() -> Self {
        Self {
            audience: None,
            issuers: Vec::new(),
            tokens: Vec::new(),
            max_upload_bytes: 256 << 20,
            max_unpacked_bytes: 4 << 30,
            max_bytes: 20 << 30,
            keep: Duration::from_hours(90 * 24),
            keep_newest: 20,
        }
    }
}

/// `[[maps.issuers]]`: an issuer of tokens, and which of them may bring maps (R69).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapIssuer {
    /// Whose CI it is.
    pub forge: ForgeKind,
    /// `iss` of its tokens; github.com's or gitlab.com's where it is not set.
    pub issuer: Option<String>,
    /// Where its public keys are; the forge's usual place below `issuer` where it is not set.
    pub keys: Option<Url>,
    /// Numbers of the accounts (GitHub) or groups and users (GitLab) whose repositories may upload.
    #[serde(default)]
    pub owners: Vec<u64>,
    /// Events for which a job may have run, in the forge's words.
    pub events: Option<Vec<String>>,
    /// Full names of the workflows that may upload; where there are none, every one of the repository's own on the branch that it ran on.
    #[serde(default)]
    pub workflows: Vec<String>,
    /// On which runners a job may have run.
    #[serde(default)]
    pub runners: Runners,
}

/// On which runners a job may have run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runners {
    /// On any.
    #[default]
    Any,
    /// On the forge's own only.
    Hosted,
}

impl MapIssuer {
    /// `iss` of its tokens.
    pub fn address(&self) -> String {
        let usual = match self.forge {
            ForgeKind::Github => "https://token.actions.githubusercontent.com",
            ForgeKind::Gitlab => "https://gitlab.com",
            ForgeKind::Local => "",
        };
        self.issuer.clone().unwrap_or_else(|| usual.to_owned())
    }

    /// Where its public keys are. It is written down here and not asked of the issuer, so that no answer can name another host.
    /// `None`: the issuer's name is no address.
    ///
    /// <https://docs.github.com/en/actions/reference/security/oidc>,
    /// <https://docs.gitlab.com/ci/secrets/id_token_authentication/>
    pub fn keys_url(&self) -> Option<Url> {
        let below = match self.forge {
            ForgeKind::Github => ".well-known/jwks",
            ForgeKind::Gitlab => "oauth/discovery/keys",
            ForgeKind::Local => return None,
        };
        let usual = || Url::parse(&format!("{}/{below}", self.address().trim_end_matches('/'))).ok();
        self.keys.clone().or_else(usual)
    }

    /// Events for which a job may have run: those that only somebody with write access to the repository makes happen on a branch.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        let usual: &[&str] = match (&self.events, self.forge) {
            (Some(_), _) | (None, ForgeKind::Local) => &[],
            (None, ForgeKind::Github) => &["push", "schedule", "workflow_dispatch"],
            (None, ForgeKind::Gitlab) => &["push", "schedule", "web"],
        };
        self.events.iter().flatten().map(String::as_str).chain(usual.iter().copied())
    }
}

/// `[[maps.tokens]]`: a token of the operator's own, for one repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapToken {
    /// The file that holds it. The receiver reads it.
    pub file: PathBuf,
    /// On which forge the repository is.
    pub forge: ForgeKind,
    /// The forge's number of the repository.
    pub repository: u64,
    /// Its name.
    pub name: RepoName,
}

/// Whether what is sent to this address cannot be read on the way: https, or http to this machine; and whether it holds no secret itself.
pub fn is_private(url: &Url) -> bool {
    let loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    let plain = url.username().is_empty() && url.password().is_none();
    plain && (url.scheme() == "https" || url.scheme() == "http" && loopback)
}
