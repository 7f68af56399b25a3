//! What a person who looks after an installation asks of a forge: facts about the App, its webhook, and what a branch requires.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::words::{InstallationId, RepoRef};

/// The App as it is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Its name in addresses.
    pub slug: String,
    /// Its public page.
    pub page: String,
    /// What it asks of whoever installs it: permission to level.
    pub permissions: BTreeMap<String, String>,
    /// The events that it subscribes to.
    pub events: BTreeSet<String>,
    /// The forge's clock when it answered.
    pub date: Option<Timestamp>,
}

/// The App's webhook. The secret itself is never answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Where deliveries go.
    pub url: Option<String>,
    /// Whether deliveries are signed.
    pub has_secret: bool,
    /// Whether deliveries are JSON; a form cannot be read here.
    pub is_json: bool,
    /// Whether the receiver's certificate is checked.
    pub checks_certificate: bool,
}

/// The App on an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its number.
    pub id: InstallationId,
    /// On whose account.
    pub account: String,
    /// Whether somebody has suspended it.
    pub suspended: bool,
    /// What its owner has granted.
    pub permissions: BTreeMap<String, String>,
    /// The events that reach it.
    pub events: BTreeSet<String>,
}

/// What a branch asks for before anything is merged into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchRules {
    /// The branch.
    pub branch: String,
    /// Required checks of rulesets and of branch protection.
    pub required: Vec<RequiredCheck>,
    /// Whether a merge queue merges here.
    pub queue: bool,
    /// Whether a head must contain the tip of the branch.
    pub strict: bool,
    /// Whether branch protection binds administrators too; `None` where no branch protection requires a check.
    pub binds_administrators: Option<bool>,
}

/// One required check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredCheck {
    /// Its name.
    pub name: String,
    /// The App that must have made it; `None`: anybody.
    pub app: Option<u64>,
}

/// A repository and its default branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The repository by its present name.
    pub repository: RepoRef,
    /// What its default branch asks for.
    pub rules: BranchRules,
}
