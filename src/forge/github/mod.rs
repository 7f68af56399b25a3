//! GitHub and GitHub Enterprise Server, spoken to as a GitHub App.
//!
//! The order of the files is the way of a request: [`GitHubSettings`] names the addresses and the key; `auth` signs the App's
//! JWT; `http` sends one request; `limits` reads what an answer says about waiting; `lane` keeps one installation to one write
//! at a time; `wire` joins these; `tokens` mints and keeps installation tokens; `shapes` decodes answers; `client` is the
//! [`Forge`](super::Forge).
//!
//! Deliberately absent: octocrab's own retries, redirects, pages, token cache and models. Each was seen to do a thing that a
//! gate must not do: repeat a POST, drop the authorization on page 2, mint once for each waiter, fail on a new word.

mod answer;
mod auth;
mod client;
mod conditional;
mod http;
mod inspect;
mod lane;
mod limits;
mod manifest;
mod reviews;
mod roles;
mod settings;
mod shapes;
mod sign_in;
mod surroundings;
mod tokens;
mod wire;

pub use client::GitHub;
pub use manifest::{ConvertError, NewApp, convert_manifest};
pub use settings::{GitHubSettings, GitHubSettingsError, Pace};
pub use sign_in::GitHubDoor;
