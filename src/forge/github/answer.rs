//! What came back, and what may be said about it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::forge::ForgeError;
use crate::words::InstallationId;

/// No longer text of GitHub's is repeated.
const LONGEST_MESSAGE: usize = 240;
/// A longer run of letters and digits may be a credential; object ids go with it, which is a small loss.
const LONGEST_WORD: usize = 24;

/// An answer. No `Debug`: a body may hold a token.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The authorization that was sent, so that it can be struck out should the answer repeat it.
    pub(super) sent: SecretString,
}

/// What was asked, for the words of an error.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// The step, as a verb.
    pub(super) doing: &'static str,
    /// Whose token was used.
    pub(super) installation: Option<InstallationId>,
    /// The permission it takes, as GitHub's settings page names it.
    pub(super) needs: &'static str,
}

#[derive(Deserialize)]
struct ErrorBody {
    message: String,
    #[serde(default)]
    errors: Vec<serde_json::Value>,
}

impl Answer {
    /// GitHub's own sentence, made harmless: short, on one line, without our credential and without long words. Empty if there is none.
    pub(super) fn said(&self) -> String {
        let Ok(body) = serde_json::from_slice::<ErrorBody>(&self.body) else { return String::new() };
        let mut text = body.message;
        for error in &body.errors {
            let parts = ["field", "code", "message"].iter().filter_map(|key| error.get(key)?.as_str());
            let parts: Vec<&str> = error.as_str().into_iter().chain(parts).collect();
            if !parts.is_empty() {
                text.push_str("; ");
                text.push_str(&parts.join(" "));
            }
        }
        tame(&text, Some(&self.sent))
    }

    /// Decodes an accepted answer. What is no JSON came from something between us and GitHub and may pass; JSON of another
    /// shape will not.
    pub(super) fn json<T: DeserializeOwned>(&self, doing: &'static str) -> Result<T, ForgeError> {
        serde_json::from_slice(&self.body).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => ForgeError::GiveUp { doing, why: unknown_shape(&error) },
            _ => ForgeError::Retry {
                doing,
                why: format!("the answer ({}) is not JSON; is there a proxy in between?", self.status.as_u16()),
                after: Duration::from_secs(30),
            },
        })
    }

    /// The answer if it was accepted, else the error that it stands for. Limits, 5xx and 401 were dealt with before.
    pub(super) fn accepted(self, asked: Asked) -> Result<Self, ForgeError> {
        if self.status.is_success() { Ok(self) } else { Err(self.refusal(asked)) }
    }

    fn refusal(&self, asked: Asked) -> ForgeError {
        let Asked { doing, installation, needs } = asked;
        let status = self.status.as_u16();
        let said = self.said();
        let whose = installation.map_or_else(|| "the App".to_owned(), |id| format!("installation {id}"));
        let why = match status {
            404 | 410 => return ForgeError::NotFound { doing },
            409 => {
                let why = format!("GitHub is busy with the same thing (409): {said}");
                return ForgeError::Retry { doing, why, after: Duration::from_secs(5) };
            }
            403 if said.contains("suspended") => format!(
                "{whose} is suspended; nothing can be read or published until its owner lifts that on the installation's settings page"
            ),
            403 => format!(
                "{whose} may not do this (403): {said}; it takes the permission {needs}, granted in the App's settings \
                 and then accepted by the installation's owner"
            ),
            422 if said.contains("permissions requested are not granted") => format!(
                "{whose} lacks the permission {needs} (422); add it in the App's settings under \"Permissions & events\", and then \
                 have the installation's owner accept it"
            ),
            _ => format!("GitHub refuses it ({status}): {said}"),
        };
        ForgeError::GiveUp { doing, why }
    }
}

/// Names a missing field, which is our own word; a value of another type is the forge's and stays out.
fn unknown_shape(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let missing = text.strip_prefix("missing field `").and_then(|rest| rest.split_once('`'));
    match missing {
        Some((field, _)) => format!("the answer has no `{field}`; is the API address GitHub's?"),
        None => format!("the answer has another shape than GitHub documents (column {})", error.column()),
    }
}

/// Foreign text that may stand in an error: one line, bounded, without `secret`, no word long enough to be one.
pub(super) fn tame(text: &str, secret: Option<&SecretString>) -> String {
    let mut text = text.to_owned();
    if let Some(secret) = secret {
        let secret = secret.expose_secret();
        // An authorization is "Bearer TOKEN"; either half of the pair may come back alone.
        for part in secret.split(' ').filter(|part| part.len() > 6).chain((!secret.is_empty()).then_some(secret)) {
            text = text.replace(part, "***");
        }
    }
    let in_word = |c: char| c.is_ascii_alphanumeric() || "_-.+/=".contains(c);
    let mut tamed = String::new();
    for word in text.split_inclusive(|c: char| !in_word(c)) {
        let core = word.trim_end_matches(|c| !in_word(c));
        if core.len() > LONGEST_WORD {
            tamed.push_str("***");
        } else {
            tamed.push_str(core);
        }
        tamed.extend(word[core.len()..].chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
    tamed.chars().take(LONGEST_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &'static str) -> Answer {
        let status = StatusCode::from_u16(status).expect("a status");
        let body = Bytes::from_static(body.as_bytes());
        Answer { status, headers: HeaderMap::new(), body, sent: SecretString::default() }
    }

    const ASKED: Asked =
        Asked { doing: "create the check run", installation: Some(InstallationId(99)), needs: "checks: write" };

    #[test]
    fn foreign_text_is_one_short_line_without_secrets() {
        let secret: SecretString = "Bearer short-canary".to_owned().into();
        let text =
            "bad\r\n::error::short-canary ghs_0123456789abcdefghijklmnopqrstuvwxyz, Bearer short-canary\u{1b}[31m";
        assert_eq!(tame(text, Some(&secret)), "bad  ::error::*** ***, Bearer *** [31m");
        assert_eq!(tame(&"word ".repeat(100), None).len(), LONGEST_MESSAGE);
    }

    #[test]
    fn a_refusal_names_the_permission_and_who_grants_it() {
        let answer = answer(403, r#"{"message":"Resource not accessible by integration"}"#);
        let error = answer.accepted(ASKED).err().expect("403 is no success");
        assert!(matches!(error, ForgeError::GiveUp { .. }));
        let text = error.to_string();
        assert!(text.contains("installation 99") && text.contains("checks: write"), "{text}");
    }

    #[test]
    fn a_validation_error_names_field_and_code() {
        let body = r#"{"message":"Validation Failed","errors":[{"resource":"CheckRun","field":"head_sha","code":"custom"},"plain"]}"#;
        assert_eq!(answer(422, body).said(), "Validation Failed; head_sha custom; plain");
    }

    #[test]
    fn an_answer_of_another_shape_is_given_up_and_garbage_is_tried_again() {
        #[derive(Debug, Deserialize)]
        struct Numbered {
            #[expect(dead_code, reason = "decoded only")]
            id: u64,
        }
        let missing = answer(200, r#"{"name":"x"}"#).json::<Numbered>("read").expect_err("no id");
        assert_eq!(missing.to_string(), "read: the answer has no `id`; is the API address GitHub's?");
        let other = answer(200, r#"{"id":"ghs_canary"}"#).json::<Numbered>("read").expect_err("id is text");
        assert!(!other.to_string().contains("canary") && matches!(other, ForgeError::GiveUp { .. }));
        let garbage = answer(200, "<html>proxy</html>").json::<Numbered>("read").expect_err("no JSON");
        assert!(matches!(garbage, ForgeError::Retry { .. }));
    }
}
