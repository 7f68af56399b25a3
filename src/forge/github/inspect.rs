//! Facts about the App and about branches, for `doctor`. They are read with what the App has anyway: no permission is needed for them
//! that the worker does not need.
//!
//! Facts: <https://docs.github.com/en/rest/apps/apps>, <https://docs.github.com/en/rest/apps/webhooks>,
//! <https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch>, <https://docs.github.com/en/rest/branches/branches#get-a-branch>

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::answer::Asked;
use super::client::{GitHub, next_page};
use super::limits::date;
use super::tokens::Scope;
use crate::forge::{BranchRules, ForgeError, Inspected, Installed, Registration, RequiredCheck, Webhook};
use crate::words::{ForgeKind, InstallationId, RepoName, RepoRef, RepositoryId};

/// More pages than these are an error and not a shorter list.
const MOST_PAGES: usize = 50;

#[derive(Deserialize)]
struct AppShape {
    slug: String,
    html_url: String,
    #[serde(default)]
    permissions: BTreeMap<String, String>,
    #[serde(default)]
    events: BTreeSet<String>,
}

#[derive(Deserialize)]
struct HookShape {
    url: Option<String>,
    secret: Option<String>,
    content_type: Option<String>,
    /// A number or a text.
    insecure_ssl: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct InstalledShape {
    id: u64,
    account: Option<AccountShape>,
    suspended_at: Option<String>,
    #[serde(default)]
    permissions: BTreeMap<String, String>,
    #[serde(default)]
    events: BTreeSet<String>,
}

/// A user or organization has a login, an enterprise a slug.
#[derive(Deserialize)]
struct AccountShape {
    login: Option<String>,
    slug: Option<String>,
}

#[derive(Deserialize)]
struct RepositoryShape {
    id: u64,
    full_name: String,
    default_branch: String,
}

#[derive(Deserialize)]
struct FoundShape {
    id: u64,
}

#[derive(Deserialize)]
struct RuleShape {
    r#type: String,
    parameters: Option<ParametersShape>,
}

#[derive(Deserialize)]
struct ParametersShape {
    #[serde(default)]
    required_status_checks: Vec<ContextShape>,
    #[serde(default)]
    strict_required_status_checks_policy: bool,
}

#[derive(Deserialize)]
struct ContextShape {
    context: String,
    integration_id: Option<i64>,
}

#[derive(Deserialize)]
struct BranchShape {
    protection: Option<ProtectionShape>,
}

#[derive(Deserialize)]
struct ProtectionShape {
    required_status_checks: Option<ChecksShape>,
}

#[derive(Deserialize)]
struct ChecksShape {
    /// `off`, `non_admins` or `everyone`.
    enforcement_level: Option<String>,
    #[serde(default)]
    contexts: Vec<String>,
    #[serde(default)]
    checks: Vec<CheckShape>,
    #[serde(default)]
    strict: bool,
}

#[derive(Deserialize)]
struct CheckShape {
    context: String,
    app_id: Option<i64>,
}

/// -1 and nothing mean any App.
fn pinned(app: Option<i64>) -> Option<u64> {
    app.and_then(|app| u64::try_from(app).ok())
}

impl GitHub {
    /// The App as it is registered.
    pub async fn registration(&self) -> Result<Registration, ForgeError> {
        const DOING: &str = "read the App's registration";
        let answer = self.as_app(self.wire.http.url(&["app"]), DOING).await?;
        let date = date(&answer.headers);
        let shape: AppShape = answer.json(DOING)?;
        let AppShape { slug, html_url: page, permissions, events } = shape;
        Ok(Registration { slug, page, permissions, events, date })
    }

    /// The App's webhook.
    pub async fn webhook(&self) -> Result<Webhook, ForgeError> {
        const DOING: &str = "read the App's webhook";
        let answer = self.as_app(self.wire.http.url(&["app", "hook", "config"]), DOING).await?;
        let shape: HookShape = answer.json(DOING)?;
        let insecure = shape.insecure_ssl.is_some_and(|value| value == "1" || value == 1);
        Ok(Webhook {
            url: shape.url.filter(|url| !url.is_empty()),
            has_secret: shape.secret.is_some_and(|secret| !secret.is_empty()),
            is_json: shape.content_type.as_deref() == Some("json"),
            checks_certificate: !insecure,
        })
    }

    /// Every installation, suspended ones too.
    pub async fn installed(&self) -> Result<Vec<Installed>, ForgeError> {
        const DOING: &str = "list the App's installations";
        let mut url = self.wire.http.url(&["app", "installations"]);
        url.query_pairs_mut().append_pair("per_page", "100");
        let mut found = Vec::new();
        for _ in 0..MOST_PAGES {
            let answer = self.as_app(url.clone(), DOING).await?;
            found.extend(answer.json::<Vec<InstalledShape>>(DOING)?.into_iter().map(InstalledShape::installed));
            let Some(next) = next_page(&url, &answer.headers) else { return Ok(found) };
            url = next;
        }
        Err(ForgeError::GiveUp {
            doing: DOING,
            why: format!("more than {MOST_PAGES} pages; the list would not be whole"),
        })
    }

    /// The installation that reaches a repository. [`ForgeError::NotFound`]: none does.
    pub async fn installation_on(&self, repository: &RepoName) -> Result<InstallationId, ForgeError> {
        const DOING: &str = "find the App's installation";
        let url = self.wire.http.url(&["repos", repository.owner(), repository.name(), "installation"]);
        let found: FoundShape = self.as_app(url, DOING).await?.json(DOING)?;
        Ok(InstallationId(found.id))
    }

    /// What the default branch of a repository asks for, by its rulesets and by its branch protection.
    pub async fn inspect(&self, repository: &RepoRef, installation: InstallationId) -> Result<Inspected, ForgeError> {
        const DOING: &str = "read the rules of the default branch";
        let shape: RepositoryShape = self.read(repository, installation, &[], DOING).await?;
        let name = shape.full_name.parse().map_err(|_| ForgeError::GiveUp {
            doing: DOING,
            why: "GitHub's `full_name` is no name of a repository".to_owned(),
        })?;
        let repository = RepoRef { forge: ForgeKind::Github, id: RepositoryId(shape.id), name };
        let branch = shape.default_branch;
        let mut rules = BranchRules { branch: branch.clone(), ..BranchRules::default() };
        let path: Vec<&str> = ["rules", "branches"].into_iter().chain(branch.split('/')).collect();
        let active: Vec<RuleShape> = self.read(&repository, installation, &path, DOING).await?;
        for rule in active {
            rule.join(&mut rules);
        }
        let path: Vec<&str> = ["branches"].into_iter().chain(branch.split('/')).collect();
        let protected: BranchShape = self.read(&repository, installation, &path, DOING).await?;
        if let Some(checks) = protected.protection.and_then(|protection| protection.required_status_checks) {
            checks.join(&mut rules);
        }
        Ok(Inspected { repository, rules })
    }

    async fn as_app(&self, url: Url, doing: &'static str) -> Result<super::answer::Answer, ForgeError> {
        let asked = Asked { doing, installation: None, needs: "the App's own key" };
        self.app.ask(&self.wire, &self.lanes, Method::GET, url, None, asked).await
    }

    async fn read<T: DeserializeOwned>(
        &self,
        repository: &RepoRef,
        installation: InstallationId,
        path: &[&str],
        doing: &'static str,
    ) -> Result<T, ForgeError> {
        let key = self.key(repository, Some(installation), Scope::Read).await?;
        self.get(key, self.repo_url(repository, path), doing).await?.json(doing)
    }
}

impl InstalledShape {
    fn installed(self) -> Installed {
        let account = self.account.and_then(|account| account.login.or(account.slug));
        Installed {
            id: InstallationId(self.id),
            account: account.unwrap_or_else(|| "an account that is gone".to_owned()),
            suspended: self.suspended_at.is_some(),
            permissions: self.permissions,
            events: self.events,
        }
    }
}

impl RuleShape {
    fn join(self, rules: &mut BranchRules) {
        match (self.r#type.as_str(), self.parameters) {
            ("merge_queue", _) => rules.queue = true,
            ("required_status_checks", Some(parameters)) => {
                rules.strict |= parameters.strict_required_status_checks_policy;
                let checks = parameters.required_status_checks.into_iter();
                rules.required.extend(
                    checks.map(|check| RequiredCheck { name: check.context, app: pinned(check.integration_id) }),
                );
            }
            _ => {}
        }
    }
}

impl ChecksShape {
    fn join(self, rules: &mut BranchRules) {
        let level = self.enforcement_level.as_deref().unwrap_or("off");
        if level == "off" && self.checks.is_empty() && self.contexts.is_empty() {
            return;
        }
        rules.binds_administrators = Some(level == "everyone");
        rules.strict |= self.strict;
        let named: BTreeSet<String> = self.checks.iter().map(|check| check.context.clone()).collect();
        let checks = self.checks.into_iter();
        rules.required.extend(checks.map(|check| RequiredCheck { name: check.context, app: pinned(check.app_id) }));
        let others = self.contexts.into_iter().filter(|name| !named.contains(name));
        rules.required.extend(others.map(|name| RequiredCheck { name, app: None }));
    }
}
