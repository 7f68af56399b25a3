//! Where people sign in.

use async_trait::async_trait;
use secrecy::SecretString;
use url::Url;

use super::ForgeError;
use crate::words::RepositoryId;

/// Somebody whom the forge knows.
#[derive(Clone, Debug)]
pub struct Person {
    /// The forge's number; it never changes.
    pub id: u64,
    /// The login; it may change.
    pub login: String,
    /// What this person's requests are sent with.
    pub token: SecretString,
}

/// Signing in with the forge's own OAuth, with a state and a proof of possession (PKCE, RFC 7636).
#[async_trait]
pub trait Door: Send + Sync + 'static {
    /// Where a person is sent. `state` and `challenge` come back to be compared; `back` is where the forge sends the person afterwards.
    fn address(&self, state: &str, challenge: &str, back: &Url) -> Url;

    /// Who has brought this code back.
    async fn person(&self, code: &str, verifier: &str, back: &Url) -> Result<Person, ForgeError>;

    /// Whether the person may read a repository, by the forge's word now. A repository that the App is not installed on is none.
    async fn may_read(&self, token: &SecretString, repository: RepositoryId) -> Result<bool, ForgeError>;
}
