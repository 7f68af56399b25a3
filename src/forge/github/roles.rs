//! What somebody may do in a repository now.
//!
//! Facts: <https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user>

use serde::Deserialize;

use super::answer::tame;
use super::client::GitHub;
use super::tokens::Scope;
use crate::forge::ForgeError;
use crate::words::{InstallationId, RepoRef, Role};

const DOING: &str = "ask what a user may do";

/// The permission of one user. `permission` is the older, coarser word: `maintain` is `write` in it and `triage` is `read`.
#[derive(Deserialize)]
struct PermissionShape {
    permission: String,
    role_name: Option<String>,
}

impl GitHub {
    /// [`crate::forge::Forge::role`]. A login that no account can have is nobody, and is not asked about.
    pub(super) async fn role_of(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        login: &str,
    ) -> Result<Option<Role>, ForgeError> {
        if !may_be_a_login(login) {
            return Ok(None);
        }
        let key = self.key(repo, installation, Scope::Read).await?;
        let url = self.repo_url(repo, &["collaborators", login, "permission"]);
        match self.get(key, url, DOING).await {
            Err(ForgeError::NotFound { .. }) => Ok(None),
            answer => answer?.json::<PermissionShape>(DOING)?.role(),
        }
    }
}

impl PermissionShape {
    /// The built-in role, or for one that an organization made the coarse word of what it builds on.
    fn role(&self) -> Result<Option<Role>, ForgeError> {
        let named = self.role_name.as_deref().and_then(|name| Role::ALL.into_iter().find(|role| role.as_str() == name));
        if let Some(role) = named {
            return Ok(Some(role));
        }
        match self.permission.as_str() {
            "admin" => Ok(Some(Role::Admin)),
            "write" => Ok(Some(Role::Write)),
            "read" => Ok(Some(Role::Read)),
            "none" => Ok(None),
            other => {
                let other = tame(other, None);
                let why = format!("GitHub's `permission` is {other:?}, which this version does not know");
                Err(ForgeError::GiveUp { doing: DOING, why })
            }
        }
    }
}

/// Letters, digits and hyphens, with `[bot]` behind an App's and `_` in managed accounts.
fn may_be_a_login(login: &str) -> bool {
    let name = login.strip_suffix("[bot]").unwrap_or(login);
    (1..=100).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(permission: &str, role_name: Option<&str>) -> Result<Option<Role>, ForgeError> {
        PermissionShape { permission: permission.to_owned(), role_name: role_name.map(ToOwned::to_owned) }.role()
    }

    #[test]
    fn the_finer_word_wins_and_a_role_of_an_organizations_own_counts_as_what_it_builds_on() {
        for (permission, name, expected) in [
            ("write", Some("maintain"), Some(Role::Maintain)),
            ("read", Some("triage"), Some(Role::Triage)),
            ("admin", Some("admin"), Some(Role::Admin)),
            ("write", Some("release captain"), Some(Role::Write)),
            ("read", Some("Maintain "), Some(Role::Read)),
            ("write", None, Some(Role::Write)),
            ("none", Some("none"), None),
        ] {
            assert_eq!(role(permission, name).expect("a known word"), expected, "{permission} {name:?}");
        }
        assert!(matches!(role("owner", None), Err(ForgeError::GiveUp { .. })));
    }

    #[test]
    fn what_is_no_login_is_nobody() {
        assert!(may_be_a_login("ada") && may_be_a_login("dependabot[bot]") && may_be_a_login("ada_acme"));
        assert!(!may_be_a_login("") && !may_be_a_login("../pulls") && !may_be_a_login("a b"));
    }
}
