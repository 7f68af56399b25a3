//! Who is signed in, and for how long.

use std::time::Duration;

use http::HeaderMap;
use http::header::COOKIE;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::seal::Seal;
use crate::forge::Person;

/// How long somebody may take at the forge.
const AT_THE_FORGE: Duration = Duration::from_mins(10);

/// Somebody who is signed in.
#[derive(Clone, Debug)]
pub(super) enum Who {
    /// Whoever has the operator's token.
    Operator,
    /// A person of the forge.
    Person(Person),
}

/// On the way to the forge and back.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Flow {
    pub(super) state: String,
    pub(super) verifier: String,
    until: i64,
}

/// As it is sealed.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Number, login and token; nothing for the operator's token.
    person: Option<(u64, String, String)>,
    until: i64,
}

/// Makes and reads the two cookies.
#[derive(Debug)]
pub(super) struct Sessions {
    seal: Seal,
    lifetime: Duration,
    https: bool,
}

/// What a cookie is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Session,
    Flow,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Flow => "flow",
        }
    }
}

impl Sessions {
    pub(super) fn new(secret: &SecretString, lifetime: Duration, https: bool) -> Self {
        Self { seal: Seal::new(secret), lifetime, https }
    }

    /// The value of `Set-Cookie` that signs somebody in.
    pub(super) fn begin(&self, who: &Who, now: Timestamp) -> Option<String> {
        let person = match who {
            Who::Operator => None,
            Who::Person(person) => Some((person.id, person.login.clone(), person.token.expose_secret().to_owned())),
        };
        let kept = Kept { person, until: end(now, self.lifetime) };
        Some(self.cookie(Purpose::Session, &self.seal.close(Purpose::Session.word(), &kept)?, self.lifetime))
    }

    /// Who has signed in, if that has not ended.
    pub(super) fn who(&self, headers: &HeaderMap, now: Timestamp) -> Option<Who> {
        let kept: Kept = self.read(Purpose::Session, headers)?;
        (now.as_second() < kept.until).then(|| match kept.person {
            None => Who::Operator,
            Some((id, login, token)) => Who::Person(Person { id, login, token: token.into() }),
        })
    }

    /// The value of `Set-Cookie` that remembers what must come back from the forge.
    pub(super) fn leave(&self, state: String, verifier: String, now: Timestamp) -> Option<String> {
        let flow = Flow { state, verifier, until: end(now, AT_THE_FORGE) };
        Some(self.cookie(Purpose::Flow, &self.seal.close(Purpose::Flow.word(), &flow)?, AT_THE_FORGE))
    }

    /// What must come back, if it is not too late.
    pub(super) fn flow(&self, headers: &HeaderMap, now: Timestamp) -> Option<Flow> {
        self.read(Purpose::Flow, headers).filter(|flow: &Flow| now.as_second() < flow.until)
    }

    /// Values of `Set-Cookie` after which the browser keeps nothing.
    pub(super) fn forgotten(&self) -> [String; 2] {
        [Purpose::Session, Purpose::Flow].map(|purpose| self.cookie(purpose, "", Duration::ZERO))
    }

    fn read<T: serde::de::DeserializeOwned>(&self, purpose: Purpose, headers: &HeaderMap) -> Option<T> {
        let name = self.name(purpose);
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, sealed) = pairs.find(|(key, _)| *key == name)?;
        self.seal.open(purpose.word(), sealed)
    }

    /// Behind https the name itself binds the cookie to this host and to `Secure`.
    fn name(&self, purpose: Purpose) -> String {
        let prefix = if self.https { "__Host-" } else { "" };
        format!("{prefix}evidence-gate-{}", purpose.word())
    }

    /// `Lax`: the way back from the forge begins at another site.
    fn cookie(&self, purpose: Purpose, value: &str, lifetime: Duration) -> String {
        let secure = if self.https { "; Secure" } else { "" };
        let (name, seconds) = (self.name(purpose), lifetime.as_secs());
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
    }
}

fn end(now: Timestamp, lifetime: Duration) -> i64 {
    now.as_second().saturating_add(i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(set_cookie: &str) -> HeaderMap {
        let pair = set_cookie.split(';').next().expect("a pair");
        [(COOKIE, format!("other=1; {pair}").parse().expect("a value"))].into_iter().collect()
    }

    fn sessions(https: bool) -> Sessions {
        Sessions::new(&SecretString::from("a secret"), Duration::from_hours(1), https)
    }

    #[test]
    fn a_session_ends_by_itself_and_behind_https_stays_there() {
        let now = Timestamp::UNIX_EPOCH;
        let cookie = sessions(true).begin(&Who::Operator, now).expect("random bytes");
        assert!(cookie.starts_with("__Host-evidence-gate-session=") && cookie.ends_with("; Secure"), "{cookie}");
        assert!(cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=3600"), "{cookie}");
        assert!(matches!(sessions(true).who(&headers(&cookie), now), Some(Who::Operator)));
        let later = now + jiff::SignedDuration::from_hours(1);
        assert!(sessions(true).who(&headers(&cookie), later).is_none());
        assert!(sessions(false).who(&headers(&cookie), now).is_none());
    }

    #[test]
    fn a_persons_token_does_not_stand_in_the_cookie() {
        let person = Person { id: 7, login: "ada".into(), token: "ghu_canary".into() };
        let cookie = sessions(false).begin(&Who::Person(person), Timestamp::UNIX_EPOCH).expect("random bytes");
        let bytes = base64::Engine::decode(
            &base64::engine::general_purpose::URL_SAFE_NO_PAD,
            cookie.split(['=', ';']).nth(1).expect("a value"),
        );
        let bytes = bytes.expect("base64");
        assert!(!bytes.windows(3).any(|part| part == b"ghu" || part == b"ada"));
        let Some(Who::Person(read)) = sessions(false).who(&headers(&cookie), Timestamp::UNIX_EPOCH) else {
            panic!("signed in")
        };
        assert_eq!((read.id, read.login.as_str(), read.token.expose_secret()), (7, "ada", "ghu_canary"));
    }

    #[test]
    fn a_flow_is_no_session() {
        let now = Timestamp::UNIX_EPOCH;
        let cookie = sessions(false).leave("s".into(), "v".into(), now).expect("random bytes");
        assert!(
            sessions(false).flow(&headers(&cookie), now).is_some_and(|flow| flow.state == "s" && flow.verifier == "v")
        );
        let renamed = cookie.replace("-flow=", "-session=");
        assert!(sessions(false).who(&headers(&renamed), now).is_none());
    }
}
