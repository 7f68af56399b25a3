//! What people may do, and what they and the App write beside the code.

use serde_json::json;

use super::rest::{Answer, Refusal};
use super::shapes;
use super::state::State;

/// `GET /repos/{owner}/{repo}/collaborators/{username}/permission`
pub fn permission(state: &State, repo: u64, login: &str) -> Answer {
    if !state.users.contains_key(login) {
        return Err(Refusal::not_found());
    }
    let (permission, role_name) = state.roles.get(&(repo, login.to_owned())).copied().unwrap_or(("read", "read"));
    let mut user = shapes::object(shapes::user(state, login));
    user.insert("role_name".to_owned(), role_name.into());
    Ok((200, json!({ "permission": permission, "role_name": role_name, "user": user })))
}
