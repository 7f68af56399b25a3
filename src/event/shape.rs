//! What stands at the top of a body, held against what its event header promises (R13).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    List,
    Text,
    Number,
    Bool,
    Null,
}

/// What an event's body always has at its top.
pub(super) type Promise = &'static [(&'static str, Kind)];

/// The events that the product knows, now or later, and what each of them always carries, as in
/// <https://docs.github.com/en/webhooks/webhook-events-and-payloads>. `pull_request` is not here: it is read whole.
///
/// `None`: an event that no rule reads. Its body need only be a JSON object.
pub(super) fn promise(event: &str) -> Option<Promise> {
    use Kind::{List, Number, Object, Text};
    let promise: Promise = match event {
        "check_run" => &[("action", Text), ("check_run", Object), ("repository", Object)],
        "check_suite" => &[("action", Text), ("check_suite", Object), ("repository", Object)],
        "installation" => &[("action", Text), ("installation", Object)],
        "installation_repositories" => &[("action", Text), ("installation", Object), ("repositories_added", List)],
        "installation_target" => &[("action", Text), ("account", Object)],
        "issue_comment" => &[("action", Text), ("issue", Object), ("comment", Object), ("repository", Object)],
        "issues" => &[("action", Text), ("issue", Object), ("repository", Object)],
        "merge_group" => &[("action", Text), ("merge_group", Object), ("repository", Object)],
        "ping" => &[("zen", Text), ("hook_id", Number)],
        "pull_request_review" => &[("action", Text), ("review", Object), ("pull_request", Object)],
        "pull_request_review_comment" => &[("action", Text), ("comment", Object), ("pull_request", Object)],
        "pull_request_review_thread" => &[("action", Text), ("thread", Object), ("pull_request", Object)],
        "push" => &[("ref", Text), ("before", Text), ("after", Text), ("repository", Object)],
        "repository" => &[("action", Text), ("repository", Object)],
        _ => return None,
    };
    Some(promise)
}

/// What was found of a promise.
#[derive(Debug)]
pub(super) struct Top<'a> {
    action: Option<Word<'a>>,
    kinds: Vec<(&'static str, Kind)>,
}

impl Top<'_> {
    /// The action, where there is one.
    pub(super) fn action(&self) -> Option<&str> {
        self.action.as_ref().map(|action| &*action.0)
    }

    /// The first key of the promise that is not there, or is of another kind.
    pub(super) fn broken(&self, promise: Promise) -> Option<&'static str> {
        let kept = |key, kind| match key {
            "action" => self.action.is_some(),
            _ => self.kinds.contains(&(key, kind)),
        };
        promise.iter().find(|(key, kind)| !kept(*key, *kind)).map(|(key, _)| *key)
    }
}

/// A text that borrows from the body where it has no escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Word<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Reads the top of a body and walks over everything else without keeping it, however deep it is.
pub(super) struct TopOf(pub(super) Promise);

impl<'de> DeserializeSeed<'de> for TopOf {
    type Value = Top<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Top<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TopOf {
    type Value = Top<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top<'de>, A::Error> {
        let mut top = Top { action: None, kinds: Vec::with_capacity(self.0.len()) };
        while let Some(Word(key)) = map.next_key()? {
            if key == "action" {
                if top.action.is_some() {
                    return Err(A::Error::duplicate_field("action"));
                }
                top.action = map.next_value()?;
            } else if let Some((key, _)) = self.0.iter().find(|(wanted, _)| key == *wanted) {
                if top.kinds.iter().any(|(seen, _)| seen == key) {
                    return Err(A::Error::duplicate_field(key));
                }
                top.kinds.push((*key, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(top)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindOf)
    }
}

struct KindOf;

impl<'de> Visitor<'de> for KindOf {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Kind, E> {
        Ok(Kind::Bool)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Kind, E> {
        Ok(Kind::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Kind, E> {
        Ok(Kind::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kind, E> {
        Ok(Kind::Number)
    }

    fn visit_str<E>(self, _: &str) -> Result<Kind, E> {
        Ok(Kind::Text)
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Kind, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Kind::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Kind::Object)
    }
}
