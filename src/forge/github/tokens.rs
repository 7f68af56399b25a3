//! Installation tokens: narrowed to one repository and few permissions, minted once however many wait, kept while good (R84).
//!
//! Facts: <https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app>

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use moka::future::Cache;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use url::Url;

use super::answer::{Answer, Asked};
use super::auth::Signer;
use super::http::Request;
use super::lane::Lanes;
use super::limits::date;
use super::wire::{Repeat, Wire};
use crate::forge::ForgeError;
use crate::words::{InstallationId, RepoRef, RepositoryId};

/// A token with less time left than this is not handed out.
const LEAST_LEFT: SignedDuration = SignedDuration::from_mins(5);
/// GitHub may refuse a token for this long after it was minted.
const FRESH: SignedDuration = SignedDuration::from_secs(5);
/// An installation that was looked up is looked up again after this time, since an App can be removed and installed anew.
const LOOKED_UP_FOR: Duration = Duration::from_mins(10);

/// What a token is for. One that git sees can publish nothing, and one that publishes can read no code. Each is for one repository,
/// but for the one that reads names only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Scope {
    /// The pull request and the repository's objects.
    Read,
    /// Check runs.
    Checks,
    /// Comments and reactions.
    Comments,
    /// The names of all repositories of the installation, and nothing in them.
    Names,
}

impl Scope {
    /// As the API takes it.
    fn permissions(self) -> Value {
        match self {
            Self::Read => json!({ "contents": "read", "pull_requests": "read" }),
            Self::Checks => json!({ "checks": "write" }),
            Self::Comments => json!({ "pull_requests": "write" }),
            Self::Names => json!({ "metadata": "read" }),
        }
    }

    /// As the App's settings page names it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Read => "`contents: read` and `pull requests: read`",
            Self::Checks => "`checks: write`",
            Self::Comments => "`pull requests: write`",
            Self::Names => "`metadata: read`",
        }
    }
}

/// Whose token, for what, for which repository.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) installation: InstallationId,
    pub(super) repository: RepositoryId,
    pub(super) scope: Scope,
}

/// A token. Its text is behind [`SecretString`], whose `Debug` shows nothing.
#[derive(Debug)]
pub(super) struct Token {
    /// The bare token.
    pub(super) secret: SecretString,
    /// The value of an `Authorization` header with it.
    pub(super) bearer: SecretString,
    minted: Timestamp,
    expires: Timestamp,
}

impl Token {
    /// Whether GitHub may not know it everywhere yet.
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        now.duration_since(self.minted) < FRESH
    }

    fn is_good(&self, now: Timestamp) -> bool {
        self.expires.duration_since(now) >= LEAST_LEFT
    }
}

/// What is known about one key. The lock is held while a token is minted, so that it is minted once.
#[derive(Default)]
struct Slot {
    tries: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    token: Option<Arc<Token>>,
    /// The last try that failed, for those who already waited for it.
    failed: Option<(u64, ForgeError)>,
}

/// The App: signs for itself, finds its installations, mints their tokens.
pub(super) struct App {
    signer: Signer,
    slots: Cache<Key, Arc<Slot>>,
    installations: Cache<RepositoryId, InstallationId>,
}

#[derive(Deserialize)]
struct Minted {
    token: String,
    expires_at: String,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
    suspended_at: Option<String>,
}

impl App {
    pub(super) fn new(signer: Signer) -> Self {
        Self {
            signer,
            slots: Cache::builder().max_capacity(10_000).time_to_idle(Duration::from_hours(2)).build(),
            installations: Cache::builder().max_capacity(10_000).time_to_live(LOOKED_UP_FOR).build(),
        }
    }

    /// GitHub's time, as far as it is known.
    pub(super) fn now(&self, wire: &Wire) -> Timestamp {
        self.signer.corrected(wire.clock.now())
    }

    /// A token with at least five minutes left. `refused` is one that GitHub did not take: if it is still the one kept, it is
    /// thrown away and minted anew.
    pub(super) async fn token(
        &self,
        wire: &Wire,
        lanes: &Lanes,
        key: Key,
        refused: Option<&Arc<Token>>,
    ) -> Result<Arc<Token>, ForgeError> {
        let slot = self.slots.get_with(key, async { Arc::default() }).await;
        let before = slot.tries.load(Ordering::Acquire);
        let mut kept = slot.kept.lock().await;
        if let Some(token) = &kept.token
            && token.is_good(self.now(wire))
            && refused.is_none_or(|refused| !Arc::ptr_eq(refused, token))
        {
            return Ok(Arc::clone(token));
        }
        // A try that failed while this caller waited is its answer too: many waiters make no storm.
        if let Some((at, error)) = &kept.failed
            && *at > before
        {
            return Err(error.clone());
        }
        kept.token = None;
        let minted = self.mint(wire, lanes, key).await;
        // Counted at the end, so that whoever came while it ran shares its outcome.
        let this = slot.tries.fetch_add(1, Ordering::AcqRel) + 1;
        match minted {
            Ok(token) => {
                let token = Arc::new(token);
                *kept = Kept { token: Some(Arc::clone(&token)), failed: None };
                Ok(token)
            }
            Err(error) => {
                self.installations.invalidate(&key.repository).await;
                kept.failed = Some((this, error.clone()));
                Err(error)
            }
        }
    }

    /// The installation that reaches the repository, asked of GitHub.
    pub(super) async fn installation(
        &self,
        wire: &Wire,
        lanes: &Lanes,
        repo: &RepoRef,
    ) -> Result<InstallationId, ForgeError> {
        const DOING: &str = "find the App's installation";
        if let Some(known) = self.installations.get(&repo.id).await {
            return Ok(known);
        }
        let url = wire.http.url(&["repos", repo.name.owner(), repo.name.name(), "installation"]);
        let asked = Asked { doing: DOING, installation: None, needs: "`metadata: read`" };
        let found = match self.ask(wire, lanes, Method::GET, url, None, asked).await {
            Err(ForgeError::NotFound { .. }) => {
                let why = format!("the App is not installed on {}; install it from the App's public page", repo.name);
                return Err(ForgeError::GiveUp { doing: DOING, why });
            }
            other => other?.json::<Installation>(DOING)?,
        };
        let id = InstallationId(found.id);
        if found.suspended_at.is_some() {
            let why =
                format!("installation {id} is suspended; its owner lifts that on the installation's settings page");
            return Err(ForgeError::GiveUp { doing: DOING, why });
        }
        self.installations.insert(repo.id, id).await;
        Ok(id)
    }

    async fn mint(&self, wire: &Wire, lanes: &Lanes, key: Key) -> Result<Token, ForgeError> {
        const DOING: &str = "mint an installation token";
        let Key { installation, repository, scope } = key;
        let url = wire.http.url(&["app", "installations", &installation.to_string(), "access_tokens"]);
        let mut body = json!({ "permissions": scope.permissions() });
        if scope != Scope::Names {
            body["repository_ids"] = json!([repository.0]);
        }
        let asked = Asked { doing: DOING, installation: Some(installation), needs: scope.words() };
        let minted = match self.ask(wire, lanes, Method::POST, url, Some(&body), asked).await {
            Err(ForgeError::NotFound { .. }) => {
                let why = format!("installation {installation} does not exist any more; the App was removed there");
                return Err(ForgeError::GiveUp { doing: DOING, why });
            }
            other => other?.json::<Minted>(DOING)?,
        };
        let expires = minted
            .expires_at
            .parse()
            .map_err(|_| ForgeError::GiveUp { doing: DOING, why: "the answer's `expires_at` is no date".to_owned() })?;
        let bearer = format!("Bearer {}", minted.token).into();
        Ok(Token { bearer, secret: minted.token.into(), minted: self.now(wire), expires })
    }

    /// Asks as the App itself. A token minted twice does no harm, so that every such request may be repeated.
    pub(super) async fn ask(
        &self,
        wire: &Wire,
        lanes: &Lanes,
        method: Method,
        url: Url,
        body: Option<&Value>,
        asked: Asked,
    ) -> Result<Answer, ForgeError> {
        let lane = lanes.of(None);
        let mut corrected = false;
        loop {
            let authorization = self.signer.jwt(wire.clock.now()).ok_or_else(|| ForgeError::GiveUp {
                doing: asked.doing,
                why: "the App's private key cannot sign any more".to_owned(),
            })?;
            let request = Request {
                method: method.clone(),
                url: url.clone(),
                authorization: Some(&authorization),
                body,
                etag: None,
            };
            let answer = wire.send(&lane, None, &request, Repeat::Safe, asked.doing).await?;
            if answer.status != StatusCode::UNAUTHORIZED {
                return answer.accepted(asked);
            }
            let said = answer.said();
            if !corrected && speaks_of_time(&said) && self.take_time(wire, &answer) {
                corrected = true;
                continue;
            }
            let why = format!(
                "GitHub does not take the App's JWT (401): {said}; check that the App id and the private key belong \
                 together, and this machine's clock"
            );
            return Err(ForgeError::GiveUp { doing: asked.doing, why });
        }
    }

    /// Learns GitHub's time from the answer (R83). `false`: the answer shows none.
    fn take_time(&self, wire: &Wire, answer: &Answer) -> bool {
        let Some(github) = date(&answer.headers) else { return false };
        let offset = self.signer.correct(wire.clock.now(), github);
        tracing::warn!(
            clock.offset_seconds = offset,
            "GitHub's clock and this machine's differ by {offset} s; going by GitHub's, but have the clock set"
        );
        true
    }
}

/// GitHub's complaints are about the claim `exp` "too far in the future" and about `iat`.
fn speaks_of_time(said: &str) -> bool {
    ["'exp'", "'iat'"].iter().any(|claim| said.contains(claim))
}
