//! The field's own words as types, so that a base sha is never passed where a head sha is meant.
//!
//! Nothing here reads, writes or decides anything. No type of this file carries a secret.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `1 file`, `2 files`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// An error and all its causes on one line, parted by colons.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// Where a pull request lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForgeKind {
    /// github.com or a GitHub Enterprise Server.
    Github,
    /// gitlab.com or a self-managed GitLab.
    Gitlab,
    /// A repository on this machine, judged by the command line.
    Local,
}

impl ForgeKind {
    /// The word used in the record, in the database and in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for ForgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a text is not one of the words below.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {wanted}")]
pub struct NotAWord {
    text: String,
    wanted: &'static str,
}

/// The full, lower-case hexadecimal name of a git object: 40 digits (SHA-1) or 64 (SHA-256). Abbreviations are refused.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectId(String);

impl ObjectId {
    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The all-zero name that git writes where a side of a change does not exist.
    pub fn is_null(&self) -> bool {
        self.0.bytes().all(|b| b == b'0')
    }

    /// The first ten digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl FromStr for ObjectId {
    type Err = NotAWord;

    fn from_str(text: &str) -> Result<Self, NotAWord> {
        let hex = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if hex && matches!(text.len(), 40 | 64) {
            Ok(Self(text.to_owned()))
        } else {
            let text = text.chars().take(80).collect();
            Err(NotAWord { text, wanted: "a full object id (40 or 64 lower-case hexadecimal digits)" })
        }
    }
}

impl TryFrom<String> for ObjectId {
    type Error = NotAWord;

    fn try_from(text: String) -> Result<Self, NotAWord> {
        text.parse()
    }
}

impl From<ObjectId> for String {
    fn from(id: ObjectId) -> Self {
        id.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! sha {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub ObjectId);

        impl $name {
            /// The object id behind the role.
            pub fn id(&self) -> &ObjectId {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NotAWord;

            fn from_str(text: &str) -> Result<Self, NotAWord> {
                text.parse().map(Self)
            }
        }
    };
}

sha!(
    /// The tip of the pull request.
    HeadSha
);
sha!(
    /// The tip of the target branch.
    BaseSha
);
sha!(
    /// The one common ancestor of base and head: the parent of the change.
    MergeBase
);

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// The forge's own number of a repository; it survives renames and transfers, names do not (R87).
    RepositoryId
);
number!(
    /// The number of a pull request in its repository (GitLab: the `iid`).
    PullNumber
);
number!(
    /// The number of an App installation on GitHub.
    InstallationId
);
number!(
    /// The number of a check run on GitHub.
    RunId
);

/// `owner/name`, or `group/subgroup/name` on GitLab. Good for addresses and for people, never as a key (R87).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoName(String);

impl RepoName {
    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the last slash.
    pub fn owner(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(owner, _)| owner)
    }

    /// What stands behind the last slash.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.0.as_str(), |(_, name)| name)
    }
}

impl FromStr for RepoName {
    type Err = NotAWord;

    fn from_str(text: &str) -> Result<Self, NotAWord> {
        let part = |p: &str| {
            !p.is_empty()
                && p != "."
                && p != ".."
                && p.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        if text.len() <= 400 && text.contains('/') && text.split('/').all(part) {
            Ok(Self(text.to_owned()))
        } else {
            let text = text.chars().take(80).collect();
            Err(NotAWord { text, wanted: "a repository's full name such as `acme/widgets`" })
        }
    }
}

impl TryFrom<String> for RepoName {
    type Error = NotAWord;

    fn try_from(text: String) -> Result<Self, NotAWord> {
        text.parse()
    }
}

impl From<RepoName> for String {
    fn from(name: RepoName) -> Self {
        name.0
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A repository as a job names it: the id decides, the name is what the delivery said and may be out of date.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RepoRef {
    /// Which forge.
    pub forge: ForgeKind,
    /// The key.
    pub id: RepositoryId,
    /// For addresses and for people.
    pub name: RepoName,
}

impl fmt::Display for RepoRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

/// The forge's id of one delivery: a GUID on GitHub. 1 to 200 visible ASCII characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DeliveryId(String);

impl DeliveryId {
    /// The text as the forge sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DeliveryId {
    type Err = NotAWord;

    fn from_str(text: &str) -> Result<Self, NotAWord> {
        if (1..=200).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            let text = text.chars().take(80).collect();
            Err(NotAWord { text, wanted: "a delivery id (1 to 200 visible ASCII characters)" })
        }
    }
}

impl TryFrom<String> for DeliveryId {
    type Error = NotAWord;

    fn try_from(text: String) -> Result<Self, NotAWord> {
        text.parse()
    }
}

impl From<DeliveryId> for String {
    fn from(id: DeliveryId) -> Self {
        id.0
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The answer of the gate. The order is the order of severity: the worst finding's verdict is the verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The evidence is intact and still observes the change; a person may now review the product diff.
    Review,
    /// A person must look at paths or facts that the gate does not judge.
    Hold,
    /// An observer is missing, so there is no score; not a pass, and not a fault of the product.
    Unscored,
    /// Evidence was edited, or a live observer failed.
    Reject,
}

impl Verdict {
    /// The lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Hold => "hold",
            Self::Unscored => "unscored",
            Self::Reject => "reject",
        }
    }

    /// What `score` exits with. Every other failure of the command has a code of its own, 64 and up.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Review => 0,
            Self::Reject => 1,
            Self::Unscored => 2,
            Self::Hold => 3,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What somebody may do in a repository, as GitHub names it; least first. GitLab's Reporter, Developer, Maintainer and Owner are
/// `triage`, `write`, `maintain` and `admin`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// See.
    Read,
    /// Sort issues and pull requests.
    Triage,
    /// Push.
    Write,
    /// Manage.
    Maintain,
    /// Everything.
    Admin,
}

impl Role {
    /// Every role, least first.
    pub const ALL: [Self; 5] = [Self::Read, Self::Triage, Self::Write, Self::Maintain, Self::Admin];

    /// The lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
