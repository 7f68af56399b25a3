//! What people may do, and what they and the App write beside the code.

use serde_json::{Value, json};

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

/// `POST /repos/{owner}/{repo}/issues/{number}/comments`, by the App.
pub fn comment(state: &mut State, repo: u64, issue: u64, body: &Value) -> Answer {
    let text = body["body"]
        .as_str()
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Refusal::plain(422, "Validation Failed"))?;
    if !state.pulls.contains_key(&(repo, issue)) {
        return Err(Refusal::not_found());
    }
    let id = state.write_comment(repo, issue, None, text);
    Ok((201, shapes::comment(state, id)))
}

/// `PATCH /repos/{owner}/{repo}/issues/comments/{id}`
pub fn edit(state: &mut State, repo: u64, id: u64, body: &Value) -> Answer {
    let text = body["body"].as_str().ok_or_else(|| Refusal::plain(422, "Validation Failed"))?.to_owned();
    let found = state.comments.get_mut(&id).filter(|comment| comment.repo == repo).ok_or_else(Refusal::not_found)?;
    found.body = text;
    if found.author.is_some() {
        state.violations.push(format!("comment {id} of a person was edited"));
    }
    Ok((200, shapes::comment(state, id)))
}

/// `POST /repos/{owner}/{repo}/issues/comments/{id}/reactions`
pub fn react(state: &mut State, repo: u64, id: u64, body: &Value) -> Answer {
    let words = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];
    let content = body["content"].as_str().filter(|word| words.contains(word)).map(ToOwned::to_owned);
    let content = content.ok_or_else(|| Refusal::plain(422, "Validation Failed"))?;
    let found = state.comments.get_mut(&id).filter(|comment| comment.repo == repo).ok_or_else(Refusal::not_found)?;
    let status = if found.reactions.contains(&content) { 200 } else { 201 };
    found.reactions.insert(content.clone());
    Ok((status, json!({ "id": 1, "node_id": "R_1", "content": content, "created_at": "2026-01-05T08:00:00Z" })))
}
