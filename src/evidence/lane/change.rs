//! What a change does to the freeze ledger.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::evidence::ledger::Freeze;

/// What happened to a freeze.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// It is new.
    Added,
    /// Its last day is a later one, or there is none any more.
    Extended,
    /// Its last day is an earlier one.
    Shortened,
    /// Something else of it is another.
    Changed,
    /// It is gone.
    Removed,
}

impl Changed {
    /// The word of the record and of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Extended => "extended",
            Self::Shortened => "shortened",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// One freeze that is not as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreezeChange<'a> {
    /// What happened.
    pub changed: Changed,
    /// The entry: the new one, or the old one where it is gone.
    pub freeze: &'a Freeze,
    /// Its last day before.
    pub before: Option<Date>,
    /// Its last day after.
    pub after: Option<Date>,
}

/// The key of an entry: its signature, or its test where it has none.
pub(super) fn key(freeze: &Freeze) -> &str {
    freeze.failure.as_ref().map_or(&freeze.nodeid, |failure| failure.signature.as_str())
}

/// Every freeze that is not as it was, the new ones first, then in the order of their keys.
pub fn changes<'a>(before: &'a [Freeze], after: &'a [Freeze]) -> Vec<FreezeChange<'a>> {
    let by_key = |freezes: &'a [Freeze]| freezes.iter().map(|freeze| (key(freeze), freeze)).collect::<BTreeMap<_, _>>();
    let (old, new) = (by_key(before), by_key(after));
    let mut changes: Vec<FreezeChange<'_>> = new
        .iter()
        .filter_map(|(key, freeze)| {
            let earlier = old.get(key).copied();
            let changed = changed(earlier, freeze)?;
            let before = earlier.and_then(|freeze| freeze.expires_on);
            Some(FreezeChange { changed, freeze, before, after: freeze.expires_on })
        })
        .collect();
    let gone = old.iter().filter(|(key, _)| !new.contains_key(*key));
    changes.extend(gone.map(|(_, freeze)| FreezeChange {
        changed: Changed::Removed,
        freeze,
        before: freeze.expires_on,
        after: None,
    }));
    changes.sort_by(|one, other| (one.changed, key(one.freeze)).cmp(&(other.changed, key(other.freeze))));
    changes
}

/// `None` for one that is as it was. A freeze without a last day lasts longest.
fn changed(earlier: Option<&Freeze>, now: &Freeze) -> Option<Changed> {
    let Some(earlier) = earlier else { return Some(Changed::Added) };
    if earlier == now {
        return None;
    }
    let last = |freeze: &Freeze| freeze.expires_on.unwrap_or(Date::MAX);
    Some(match last(earlier).cmp(&last(now)) {
        std::cmp::Ordering::Less => Changed::Extended,
        std::cmp::Ordering::Greater => Changed::Shortened,
        std::cmp::Ordering::Equal => Changed::Changed,
    })
}
