//! A small GitHub that holds state and speaks HTTP: the REST API that the worker calls, and git, on one port of loopback.
//!
//! Stories change the state and deliver signed webhooks about it; the shipped program does the rest. The fake keeps GitHub's
//! own rules, and writes down what a real forge would not have forgiven.

mod checks;
mod faults;
pub mod git_http;
mod hooks;
mod keys;
mod lists;
pub mod looks;
mod own;
mod people;
mod rest;
mod reviews;
mod shapes;
mod state;
pub mod store;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

pub use faults::{Fault, Held, Route};
pub use hooks::{Happening, Signed, signature};
use state::{App, Installation, User};
pub use state::{Pull, Repo, Review, Run, State};
use store::Store;

/// The App's number.
pub const APP: u64 = 4711;
/// The number of its installation on `acme`.
pub const INSTALLATION: u64 = 99;
/// The number of `acme/widgets`.
pub const WIDGETS: u64 = 1001;
/// The number of `mallory/widgets`, a fork of it.
pub const FORK: u64 = 1002;

/// A running forge; it ends when this value is dropped.
pub struct FakeForge {
    inner: Arc<Inner>,
    task: tokio::task::JoinHandle<()>,
}

struct Inner {
    state: Mutex<State>,
    script: Mutex<faults::Script>,
    store: Store,
    git: git_http::Backend,
}

impl FakeForge {
    /// Starts a forge that knows `acme/widgets`, its fork `mallory/widgets` and the App installed on the first. Its
    /// repositories are kept under `folder`.
    pub async fn start(folder: PathBuf) -> Self {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let store = Store::new(folder.clone());
        for repo in ["acme/widgets", "mallory/widgets"] {
            store.create(repo);
        }
        let inner = Arc::new(Inner {
            state: Mutex::new(first_state(origin)),
            script: Mutex::default(),
            store,
            git: git_http::Backend::new(folder),
        });
        let router = axum::Router::new().fallback(rest::serve).with_state(Arc::clone(&inner));
        let service = router.into_make_service_with_connect_info::<wire::Scissors>();
        let task = tokio::spawn(async move { axum::serve(wire::Wire(listener), service).await.unwrap() });
        Self { inner, task }
    }

    /// What it remembers. Not to be held over an await.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap()
    }

    /// Its repositories.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Where it answers, without a slash at the end.
    pub fn origin(&self) -> String {
        self.state().origin.clone()
    }

    /// The next request of this kind meets this fault.
    pub fn once(&self, route: Route, fault: Fault) {
        self.times(1, route, fault);
    }

    /// The next requests of this kind meet this fault.
    pub fn times(&self, times: u32, route: Route, fault: Fault) {
        self.inner.script.lock().unwrap().add(route, fault, times);
    }

    /// Every request of this kind meets this fault, until [`FakeForge::heal`].
    pub fn always(&self, route: Route, fault: Fault) {
        self.inner.script.lock().unwrap().always(route, fault);
    }

    /// No fault from now on.
    pub fn heal(&self) {
        self.inner.script.lock().unwrap().clear();
    }

    /// Faults that nothing met.
    pub fn unused_faults(&self) -> Vec<Route> {
        self.inner.script.lock().unwrap().unused()
    }

    /// How often a request of this kind came.
    pub fn asked(&self, route: Route) -> usize {
        let state = self.state();
        state.history.iter().filter(|e| e.request.as_ref().is_some_and(|asked| asked.route == route)).count()
    }

    /// The bodies of all requests of this kind, oldest first.
    pub fn bodies(&self, route: Route) -> Vec<serde_json::Value> {
        let state = self.state();
        let asked = state.history.iter().filter_map(|entry| entry.request.as_ref());
        asked.filter(|asked| asked.route == route).map(|asked| asked.body.clone()).collect()
    }
}

impl Drop for FakeForge {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn first_state(origin: String) -> State {
    let user = |id: u64, login: &str, kind: &'static str| (login.to_owned(), User { id, kind });
    let repo = |owner: &str, fork: bool| Repo {
        owner: owner.to_owned(),
        name: "widgets".to_owned(),
        former_names: Vec::new(),
        private: false,
        fork,
    };
    let permissions = [("checks", "write"), ("contents", "read"), ("metadata", "read"), ("pull_requests", "write")];
    State {
        origin,
        app: App {
            id: APP,
            slug: "evidence-gate",
            key: keys::AppKey::generate(),
            hook_secret: format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple()),
            permissions: permissions.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        },
        users: BTreeMap::from([
            user(10, "acme", "Organization"),
            user(11, "ada", "User"),
            user(12, "mallory", "User"),
            user(14, "mia", "User"),
            user(15, "rita", "User"),
            user(13, "agent[bot]", "Bot"),
            user(16, "evidence-gate[bot]", "Bot"),
        ]),
        repos: BTreeMap::from([(WIDGETS, repo("acme", false)), (FORK, repo("mallory", true))]),
        pulls: BTreeMap::new(),
        installations: BTreeMap::from([(
            INSTALLATION,
            Installation { account: "acme".to_owned(), repos: BTreeSet::from([WIDGETS]), suspended: false },
        )]),
        tokens: BTreeMap::new(),
        runs: BTreeMap::new(),
        roles: BTreeMap::from([((WIDGETS, "mia".to_owned()), ("write", "maintain"))]),
        watch_greens: false,
        greens: Vec::new(),
        remaining: 4999,
        looks: looks::Looks::first(),
        comments: BTreeMap::new(),
        reviews: Vec::new(),
        log: Vec::new(),
        asked_again: Vec::new(),
        history: Vec::new(),
        violations: Vec::new(),
        ahead: jiff::SignedDuration::ZERO,
        next_run: 70_001,
    }
}
