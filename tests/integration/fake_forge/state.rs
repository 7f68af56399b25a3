//! What the fake remembers. Stories change it; the HTTP side reads it and adds check runs and tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::keys::AppKey;

/// Everything that the fake holds.
pub struct State {
    /// Where it answers, without a slash at the end.
    pub origin: String,
    pub app: App,
    pub users: BTreeMap<String, User>,
    pub repos: BTreeMap<u64, Repo>,
    /// By repository and number.
    pub pulls: BTreeMap<(u64, u64), Pull>,
    pub installations: BTreeMap<u64, Installation>,
    pub tokens: BTreeMap<String, Token>,
    pub runs: BTreeMap<u64, Run>,
    /// `permission` and `role_name` by repository and login; who is not here has `read`, as in every public repository.
    pub roles: BTreeMap<(u64, String), (&'static str, &'static str)>,
    /// Comments of people and of the App.
    pub comments: BTreeMap<u64, Comment>,
    /// Reviews of pull requests, oldest first.
    pub reviews: Vec<Review>,
    /// Every try to deliver something, oldest first.
    pub log: Vec<LogRow>,
    /// Tries that the App asked to repeat.
    pub asked_again: Vec<u64>,
    /// What went over the wire and what the story did, in order.
    pub history: Vec<Entry>,
    /// What a real forge would not have forgiven, or what the product promises never to do.
    pub violations: Vec<String>,
    /// Whether every success that is posted is kept with what it stands on.
    pub watch_greens: bool,
    pub greens: Vec<Green>,
    /// What somebody sees who looks after the App.
    pub looks: super::looks::Looks,
    /// What is left of the rate limit, of 5000.
    pub remaining: u64,
    /// How far the fake's clock is ahead of the machine's.
    pub ahead: jiff::SignedDuration,
    pub(super) next_run: u64,
}

/// The App as registered.
pub struct App {
    pub id: u64,
    pub slug: &'static str,
    pub key: AppKey,
    pub hook_secret: String,
    /// What an installation grants at most.
    pub permissions: BTreeMap<String, String>,
}

/// A person, an organization or a bot; the login is the key of the map that holds it.
#[derive(Clone, Debug)]
pub struct User {
    pub id: u64,
    /// `User`, `Organization` or `Bot`.
    pub kind: &'static str,
}

/// A repository; its number is the key of the map that holds it.
#[derive(Clone, Debug)]
pub struct Repo {
    pub owner: String,
    pub name: String,
    /// Under which it was known before; a request for such a name is answered by a redirect.
    pub former_names: Vec<String>,
    pub private: bool,
    pub fork: bool,
}

impl Repo {
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

/// A pull request.
#[derive(Clone, Debug)]
pub struct Pull {
    pub id: u64,
    pub author: String,
    pub title: String,
    pub open: bool,
    pub merged: bool,
    pub draft: bool,
    pub labels: Vec<String>,
    pub base_branch: String,
    pub base: String,
    pub head_branch: String,
    pub head: String,
    /// `None` where the fork is gone.
    pub head_repo: Option<u64>,
    /// Whose branch it was; stays when the fork is gone.
    pub head_owner: String,
    pub changed_files: usize,
}

/// The App on an account.
#[derive(Clone, Debug)]
pub struct Installation {
    pub account: String,
    pub repos: BTreeSet<u64>,
    pub suspended: bool,
}

/// An installation token.
#[derive(Clone, Debug)]
pub struct Token {
    pub installation: u64,
    pub repos: BTreeSet<u64>,
    pub permissions: BTreeMap<String, String>,
    pub expires: Timestamp,
}

/// A check run.
#[derive(Clone, Debug)]
pub struct Run {
    pub id: u64,
    pub repo: u64,
    pub name: String,
    pub head: String,
    pub external_id: Option<String>,
    pub details_url: Option<String>,
    pub status: String,
    pub conclusion: Option<String>,
    pub started: Option<String>,
    pub completed: Option<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub text: Option<String>,
    pub annotations: Vec<Map<String, Value>>,
    pub actions: Vec<Value>,
    /// Every status and conclusion it went through, oldest first: `queued`, `in_progress`, `completed/failure`.
    pub stations: Vec<String>,
    /// Whether the story looked at it. A run that nobody looked at was not expected.
    pub seen: bool,
}

/// A comment on a pull request.
#[derive(Clone, Debug)]
pub struct Comment {
    pub repo: u64,
    pub issue: u64,
    /// `None`: the App wrote it.
    pub author: Option<String>,
    pub body: String,
    pub reactions: BTreeSet<String>,
}

/// A review of a pull request.
#[derive(Clone, Debug)]
pub struct Review {
    pub id: u64,
    pub repo: u64,
    pub pull: u64,
    pub author: String,
    pub state: &'static str,
    pub commit: String,
}

/// One try to deliver something.
#[derive(Clone, Debug)]
pub struct LogRow {
    pub id: u64,
    pub guid: String,
    pub status: u16,
    pub event: &'static str,
    pub again: bool,
}

/// A success, with what the forge had when it was posted.
#[derive(Clone, Debug)]
pub struct Green {
    pub run: u64,
    pub head: String,
    /// Each open pull request with that head, and the policy at the tip of its base.
    pub pulls: Vec<(u64, String)>,
}

/// One line of the history.
#[derive(Clone, Debug)]
pub struct Entry {
    pub what: String,
    /// For a request: what for, and its body.
    pub request: Option<Asked>,
    /// For a request: the status, or `None` for a connection that was cut.
    pub status: Option<u16>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub route: super::Route,
    pub body: Value,
}

impl State {
    /// The fake's clock.
    #[expect(clippy::disallowed_methods, reason = "the fake has a clock of its own, as the forge has")]
    pub fn now(&self) -> Timestamp {
        Timestamp::now() + self.ahead
    }

    pub fn repo_by_name(&self, full_name: &str) -> Option<(u64, &Repo)> {
        self.repos.iter().find(|(_, repo)| repo.full_name() == full_name).map(|(id, repo)| (*id, repo))
    }

    pub fn repo_by_former_name(&self, full_name: &str) -> Option<u64> {
        self.repos.iter().find(|(_, repo)| repo.former_names.iter().any(|n| n == full_name)).map(|(id, _)| *id)
    }

    /// The installation that reaches a repository.
    pub fn installation_of(&self, repo: u64) -> Option<(u64, &Installation)> {
        self.installations.iter().find(|(_, i)| i.repos.contains(&repo)).map(|(id, i)| (*id, i))
    }

    /// Runs on a commit, newest first.
    pub fn runs_on(&self, repo: u64, head: &str) -> Vec<&Run> {
        self.runs.values().rev().filter(|run| run.repo == repo && run.head == head).collect()
    }

    /// Writes a comment; `None` is the App.
    pub fn write_comment(&mut self, repo: u64, issue: u64, author: Option<&str>, text: &str) -> u64 {
        let id = 9_001 + self.comments.len() as u64;
        let author = author.map(ToOwned::to_owned);
        self.comments.insert(id, Comment { repo, issue, author, body: text.to_owned(), reactions: BTreeSet::new() });
        id
    }

    /// Writes a try to deliver something into the log.
    pub fn log_try(&mut self, guid: &str, status: u16) {
        let id = self.log.len() as u64 + 1;
        let again = self.log.iter().any(|row| row.guid == guid);
        self.log.push(LogRow { id, guid: guid.to_owned(), status, event: "pull_request", again });
    }

    pub fn note(&mut self, what: impl Into<String>) {
        self.history.push(Entry { what: what.into(), request: None, status: None });
    }

    /// The history as text, one line an entry, for a person who looks for the reason of a failure.
    pub fn told(&self) -> String {
        let mut out = String::new();
        for (n, entry) in self.history.iter().enumerate() {
            let status = match (&entry.request, entry.status) {
                (None, _) => String::new(),
                (Some(_), None) => " -> (cut)".to_owned(),
                (Some(_), Some(status)) => format!(" -> {status}"),
            };
            writeln!(out, "{n:>4}  {}{status}", entry.what).unwrap();
        }
        for violation in &self.violations {
            writeln!(out, "  !!  {violation}").unwrap();
        }
        out
    }
}
