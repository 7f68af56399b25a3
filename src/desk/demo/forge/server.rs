//! The small forge as it runs: its listener, its state, and what people do on it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::auth::AppKey;
use super::hooks::{self, Happening};
use super::state::{Comment, Pull, Review, State};
use super::store::{Edit, Store, StoreError};
use super::{api, git};
use crate::desk::Failure;

/// The App's number.
pub(in crate::desk::demo) const APP: u64 = 1;
/// The number of its installation.
pub(super) const INSTALLATION: u64 = 7;
/// The number of the repository.
pub(super) const REPOSITORY: u64 = 1001;
/// The repository's name, without its owner.
pub(super) const NAME: &str = "till";
/// And with it.
pub(in crate::desk::demo) const FULL_NAME: &str = "example/till";

/// A running forge; it ends with this value.
pub(in crate::desk::demo) struct Forge {
    inner: Arc<Inner>,
    task: tokio::task::JoinHandle<()>,
}

pub(super) struct Inner {
    state: Mutex<State>,
    pub(super) store: Store,
    pub(super) repositories: PathBuf,
    pub(super) backend: PathBuf,
    pub(super) origin: String,
    pub(super) key: AppKey,
    pub(super) secret: SecretString,
    clock: fn() -> Timestamp,
    receiver: Mutex<String>,
    changes: watch::Sender<u64>,
}

/// What is handed out once, when the App is registered.
pub(in crate::desk::demo) struct Registered {
    /// The private key, in PEM.
    pub(in crate::desk::demo) key: SecretString,
    /// What webhooks are signed with.
    pub(in crate::desk::demo) secret: SecretString,
}

impl Forge {
    /// Starts a forge with an empty repository below `folder`, and registers the App.
    pub(in crate::desk::demo) async fn start(
        folder: &Path,
        clock: fn() -> Timestamp,
    ) -> Result<(Self, Registered), Failure> {
        let backend = git::backend().ok_or_else(|| {
            Failure::Usage("this git has no http-backend: install git 2.45 or newer, with its HTTP server".to_owned())
        })?;
        let (key, private) = AppKey::generate().ok_or_else(|| Failure::Ours("cannot make a key".to_owned()))?;
        let secret = SecretString::from(format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple()));
        let listener =
            TcpListener::bind(("127.0.0.1", 0)).await.map_err(|source| Failure::read("127.0.0.1", source))?;
        let bound = listener.local_addr().map_err(|source| Failure::read("127.0.0.1", source))?;
        let inner = Arc::new(Inner {
            state: Mutex::default(),
            store: Store::create(folder.join(format!("{FULL_NAME}.git")))?,
            repositories: folder.to_owned(),
            backend,
            origin: format!("http://{bound}"),
            key,
            secret: secret.clone(),
            clock,
            receiver: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        let router = api::router(Arc::clone(&inner));
        let task = tokio::spawn(async move {
            // It ends by being dropped; an accept that fails is tried again by axum itself.
            let _ended = axum::serve(listener, router).await;
        });
        Ok((Self { inner, task }, Registered { key: private, secret }))
    }

    /// Where it answers, without a slash at the end.
    pub(in crate::desk::demo) fn origin(&self) -> &str {
        &self.inner.origin
    }

    /// The repository.
    pub(in crate::desk::demo) fn store(&self) -> &Store {
        &self.inner.store
    }

    /// What it remembers. Not to be held over an await.
    pub(in crate::desk::demo) fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state()
    }

    /// The forge's clock.
    pub(in crate::desk::demo) fn now(&self) -> Timestamp {
        self.inner.now()
    }

    /// Changes whenever something that a person could see has changed.
    pub(in crate::desk::demo) fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Sets the webhook's address.
    pub(in crate::desk::demo) fn set_receiver(&self, url: String) {
        *self.inner.receiver.lock().unwrap_or_else(PoisonError::into_inner) = url;
    }

    /// Tells the App what happened.
    pub(in crate::desk::demo) async fn deliver(&self, what: Happening) -> Result<(), Failure> {
        match hooks::deliver(&self.inner, &what).await {
            200..300 => Ok(()),
            status => Err(Failure::OutOfReach(format!("the receiver answered a webhook with status {status}"))),
        }
    }

    /// Opens a pull request.
    pub(in crate::desk::demo) async fn open(&self, pull: Pull) -> Result<(), Failure> {
        let number = pull.number;
        self.store().set_ref(&format!("refs/pull/{number}/head"), &pull.head)?;
        self.state().pulls.insert(number, pull);
        self.inner.changed();
        self.deliver(Happening::Opened(number)).await
    }

    /// Adds a commit to a pull request's branch.
    pub(in crate::desk::demo) async fn push(
        &self,
        number: u64,
        (author, message): (&str, &str),
        edits: &[Edit],
    ) -> Result<(), Failure> {
        let pull = self.pull(number)?;
        let at = self.now().as_second();
        let head = self.store().commit(&pull.head_branch, Some(&pull.head), (author, message), at, edits)?;
        self.store().set_ref(&format!("refs/pull/{number}/head"), &head)?;
        self.move_pull(Pull { head, ..pull.clone() })?;
        self.deliver(Happening::Pushed { pull: number, before: pull.head }).await
    }

    /// Gives a pull request another target.
    pub(in crate::desk::demo) async fn retarget(&self, number: u64, branch: &str) -> Result<(), Failure> {
        let pull = self.pull(number)?;
        self.move_pull(Pull { base_branch: branch.to_owned(), ..pull.clone() })?;
        self.deliver(Happening::Retargeted { pull: number, from: pull.base_branch }).await
    }

    /// Approves a pull request's present head.
    pub(in crate::desk::demo) async fn approve(&self, number: u64, author: &'static str) -> Result<(), Failure> {
        let pull = self.pull(number)?;
        let at = self.now();
        let id = {
            let mut state = self.state();
            let id = state.next_number();
            state.reviews.push(Review { id, pull: number, author, commit: pull.head, at });
            id
        };
        self.inner.changed();
        self.deliver(Happening::Reviewed(id)).await
    }

    /// Writes a comment.
    pub(in crate::desk::demo) async fn comment(
        &self,
        number: u64,
        author: &'static str,
        text: &str,
    ) -> Result<(), Failure> {
        self.pull(number)?;
        let id = self.inner.add_comment(number, author, text);
        self.deliver(Happening::Commented(id)).await
    }

    fn pull(&self, number: u64) -> Result<Pull, Failure> {
        let found = self.state().pulls.get(&number).cloned();
        found.ok_or_else(|| Failure::Usage(format!("there is no pull request {number}")))
    }

    /// Base and count of files follow head and target, as on the forge.
    fn move_pull(&self, mut pull: Pull) -> Result<(), Failure> {
        let tip = self.store().tip(&format!("refs/heads/{}", pull.base_branch));
        pull.base = tip.ok_or_else(|| Failure::Usage(format!("there is no branch {}", pull.base_branch)))?;
        pull.changed_files = self.store().changed_files(&pull.base, &pull.head)?;
        self.state().pulls.insert(pull.number, pull);
        self.inner.changed();
        Ok(())
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inner {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(super) fn receiver(&self) -> String {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells whoever watches.
    pub(super) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn add_comment(&self, pull: u64, author: &'static str, text: &str) -> u64 {
        let at = self.now();
        let mut state = self.state();
        let id = state.next_number();
        state.comments.insert(id, Comment { pull, author, body: text.to_owned(), reactions: BTreeSet::new(), at });
        drop(state);
        self.changed();
        id
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Start(_) => Self::Usage(error.to_string()),
            StoreError::Refused { .. } => Self::Ours(error.to_string()),
        }
    }
}
