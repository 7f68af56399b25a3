//! What a person can choose.

use std::path::PathBuf;

use url::{Host, Url};

use crate::desk::Failure;

/// Where the App is registered, and where its files go.
#[derive(Clone, Debug, clap::Args)]
pub struct SetupArgs {
    /// Register the App for this organization in place of your own account.
    #[arg(long, value_name = "NAME")]
    pub organization: Option<String>,
    /// GitHub, or the address of your GitHub Enterprise Server.
    #[arg(long, value_name = "URL", default_value = "https://github.com/")]
    pub github_url: Url,
    /// The REST API, where it is not at the usual place for that address.
    #[arg(long, value_name = "URL")]
    pub api_url: Option<Url>,
    /// Where GitHub is to send webhooks; the page asks for it where it is not given.
    #[arg(long, value_name = "URL")]
    pub webhook_url: Option<Url>,
    /// The new folder for key, secret and configuration.
    #[arg(long, value_name = "DIR", default_value = "evidence-gate-app")]
    pub directory: PathBuf,
    /// The port of the page on this machine; 0 takes any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
}

/// Where GitHub is.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// Where a person registers the App.
    pub(super) registration: Url,
    /// The REST API.
    pub(super) api: Url,
    /// What clone addresses begin with.
    pub(super) git: Url,
}

impl SetupArgs {
    /// The addresses that follow from what was said.
    pub(super) fn addresses(&self) -> Result<Addresses, Failure> {
        let git = secure("--github-url", &self.github_url)?;
        let api = match &self.api_url {
            Some(api) => secure("--api-url", api)?,
            None => usual_api(&git)?,
        };
        let mut registration = git.clone();
        {
            let mut path = registration
                .path_segments_mut()
                .map_err(|()| Failure::Usage("--github-url: the address has no path".to_owned()))?;
            path.pop_if_empty();
            match &self.organization {
                Some(name) => path.extend(["organizations", name, "settings", "apps", "new"]),
                None => path.extend(["settings", "apps", "new"]),
            };
        }
        Ok(Addresses { registration, api, git })
    }
}

/// A secret comes back over this: https, or this very machine.
fn secure(option: &str, url: &Url) -> Result<Url, Failure> {
    let loopback = url.host().is_some_and(|host| match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    });
    if url.scheme() != "https" && !(url.scheme() == "http" && loopback) {
        return Err(Failure::Usage(format!("{option}: the App's key comes back over it, so that it must be https")));
    }
    Ok(url.clone())
}

/// <https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api>,
/// <https://docs.github.com/en/enterprise-server/rest/enterprise-admin> and, for `ghe.com`,
/// <https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/network-details-for-ghecom>
fn usual_api(github: &Url) -> Result<Url, Failure> {
    let host = github.host_str().unwrap_or_default();
    let text = if host == "github.com" {
        "https://api.github.com/".to_owned()
    } else if host.ends_with(".ghe.com") {
        format!("https://api.{host}/")
    } else {
        format!("{}/api/v3", github.as_str().trim_end_matches('/'))
    };
    Url::parse(&text).map_err(|error| Failure::Usage(format!("--github-url: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(github: &str, organization: Option<&str>) -> Result<[String; 2], Failure> {
        let args = SetupArgs {
            organization: organization.map(str::to_owned),
            github_url: Url::parse(github).expect("an address"),
            api_url: None,
            webhook_url: None,
            directory: PathBuf::new(),
            port: 0,
        };
        args.addresses().map(|found| [found.registration.to_string(), found.api.to_string()])
    }

    #[test]
    fn the_addresses_follow_from_where_github_is() {
        for (github, organization, registration, api) in [
            ("https://github.com", None, "https://github.com/settings/apps/new", "https://api.github.com/"),
            ("https://acme.ghe.com", None, "https://acme.ghe.com/settings/apps/new", "https://api.acme.ghe.com/"),
            (
                "https://git.acme.example/",
                Some("a/b"),
                "https://git.acme.example/organizations/a%2Fb/settings/apps/new",
                "https://git.acme.example/api/v3",
            ),
        ] {
            assert_eq!(addresses(github, organization).expect("addresses"), [registration, api]);
        }
    }

    #[test]
    fn a_key_is_never_sent_back_in_clear() {
        assert!(addresses("http://git.acme.example", None).is_err());
        assert!(addresses("http://127.0.0.1:4000", None).is_ok());
    }
}
