//! Who may see what.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use moka::future::Cache;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tracing::warn;

use super::page::Visitor;
use super::session::{Sessions, Who};
use crate::forge::{Door, Person};
use crate::queue::RepositoryKey;
use crate::words::{ForgeKind, with_causes};

/// How long the forge's word on one person and one repository is repeated.
const REPEATED: Duration = Duration::from_mins(1);

/// How people get in besides by the link of a check run.
pub struct Entrance {
    /// Seals cookies.
    pub secret: SecretString,
    /// How long somebody stays signed in.
    pub lifetime: Duration,
    /// Signing in at the forge, where that is configured.
    pub door: Option<Arc<dyn Door>>,
    /// Logins that may see every repository and the queue.
    pub operators: Vec<String>,
    /// What an operator without an account at the forge signs in with.
    pub token: Option<SecretString>,
}

/// An [`Entrance`] at work.
pub(super) struct Access {
    pub(super) sessions: Sessions,
    pub(super) door: Option<Arc<dyn Door>>,
    operators: Vec<String>,
    token: Option<SecretString>,
    /// Person and repository.
    said: Cache<(u64, u64), bool>,
}

impl Access {
    pub(super) fn new(entrance: Entrance, https: bool) -> Self {
        let Entrance { secret, lifetime, door, operators, token } = entrance;
        Self {
            sessions: Sessions::new(&secret, lifetime, https),
            door,
            operators,
            token,
            said: Cache::builder().max_capacity(10_000).time_to_live(REPEATED).build(),
        }
    }

    /// Who is signed in.
    pub(super) fn who(&self, headers: &HeaderMap, now: Timestamp) -> Option<Who> {
        self.sessions.who(headers, now)
    }

    /// Whether operators can sign in with a token.
    pub(super) fn takes_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether this is the operator's token. The time tells nothing about it.
    pub(super) fn is_token(&self, said: &str) -> bool {
        let digest = |text: &str| Sha256::digest(text);
        self.token.as_ref().is_some_and(|token| digest(token.expose_secret()).ct_eq(&digest(said)).into())
    }

    /// Whether somebody may see every repository, and the queue.
    pub(super) fn is_operator(&self, who: &Who) -> bool {
        match who {
            Who::Operator => self.token.is_some(),
            Who::Person(person) => self.operators.iter().any(|login| login.eq_ignore_ascii_case(&person.login)),
        }
    }

    /// Whether somebody may see a repository. What the forge does not say is no.
    pub(super) async fn may_read(&self, who: &Who, repository: RepositoryKey) -> bool {
        if self.is_operator(who) {
            return true;
        }
        let (Who::Person(person), Some(door), ForgeKind::Github) = (who, &self.door, repository.forge) else {
            return false;
        };
        let key = (person.id, repository.id.0);
        if let Some(said) = self.said.get(&key).await {
            return said;
        }
        match door.may_read(&person.token, repository.id).await {
            Ok(may) => {
                self.said.insert(key, may).await;
                may
            }
            Err(error) => {
                warn!(cause = with_causes(&error), "the forge does not say whether somebody may read a repository");
                false
            }
        }
    }

    /// What the frame of a page shows of somebody.
    pub(super) fn visitor(&self, who: Option<&Who>) -> Visitor {
        let name = who.map(|who| match who {
            Who::Operator => "operator".to_owned(),
            Who::Person(Person { login, .. }) => login.clone(),
        });
        Visitor { name, operator: who.is_some_and(|who| self.is_operator(who)), can_sign_in: true }
    }
}
