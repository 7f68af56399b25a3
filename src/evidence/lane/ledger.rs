//! The entries that a change adds to the freeze ledger, or changes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::change::{Changed, changes, key};
use super::judge::{FREEZE_FOR_ADDED_TEST, LEDGER_ENTRY_INVALID};
use super::{EntryTest, ProposedLedger};
use crate::evidence::ledger::{Freeze, Ledger, entry_faults};
use crate::evidence::{Finding, Location, wording};
use crate::policy::Policy;

/// The entries of the new ledger that are not as they were. A removed one has nothing to answer for, and one that only ends sooner
/// neither.
pub fn entries_to_judge<'a>(before: &'a [Freeze], after: &'a Ledger) -> impl Iterator<Item = &'a Freeze> {
    changes(before, &after.freezes)
        .into_iter()
        .filter(|change| matches!(change.changed, Changed::Added | Changed::Extended | Changed::Changed))
        .map(|change| change.freeze)
}

/// What is wrong with the new ledger: one finding for each entry, on its own line.
pub(super) fn judge(ledger: &ProposedLedger, policy: &Policy, today: Date) -> Vec<Finding> {
    match ledger {
        ProposedLedger::Untouched | ProposedLedger::Gone(_) => Vec::new(),
        ProposedLedger::Unreadable { path, why } => {
            let message = format!("the freeze ledger {} cannot be used: {why}", wording::name(path));
            vec![Finding::new(&LEDGER_ENTRY_INVALID, message).at([Location::file(path)])]
        }
        ProposedLedger::Read { path, before, after, faults, lines, bound, tests, .. } => {
            let place = |entry: &str| match lines.get(entry) {
                Some(line) => Location::line(path, *line),
                None => Location::file(path),
            };
            let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for fault in faults {
                let text = match fault.field {
                    Some(field) => format!("`{field}` {}", fault.why),
                    None => fault.why.clone(),
                };
                wrong.entry(&fault.entry).or_default().push(text);
            }
            let numbers = numbers(after);
            let mut findings = Vec::new();
            for freeze in entries_to_judge(before, after) {
                let entry = numbers.get(key(freeze)).map_or(key(freeze), String::as_str);
                let mut said = entry_faults(freeze, after, bound, policy, today);
                let nodeid = wording::text(&freeze.nodeid);
                match tests.get(&freeze.nodeid) {
                    Some(EntryTest::Known) => {}
                    Some(EntryTest::InNoMap) => {
                        said.push(format!("{nodeid} is neither in the coverage map nor a property"));
                    }
                    Some(EntryTest::Untold) | None => said.push(format!(
                        "{nodeid} names no file of the base, and there is no coverage map that could know it"
                    )),
                    Some(EntryTest::NoProperty) => said.push(format!("the policy has no {nodeid}")),
                    Some(EntryTest::NotOnBase) => {
                        let message = format!("entry {entry} freezes {nodeid}, and the base has no such test");
                        findings.push(Finding::new(&FREEZE_FOR_ADDED_TEST, message).at([place(entry)]));
                    }
                }
                if !said.is_empty() {
                    wrong.entry(entry).or_default().extend(said);
                }
            }
            let over = over_budget(policy, after.freezes.len() + wrong_alone(faults));
            findings.extend(wrong.iter().map(|(entry, said)| {
                let message = format!("entry {} of the freeze ledger: {}", wording::text(entry), said.join("; "));
                Finding::new(&LEDGER_ENTRY_INVALID, message).at([place(entry)])
            }));
            findings.extend(over.map(|why| Finding::new(&LEDGER_ENTRY_INVALID, why).at([Location::file(path)])));
            findings
        }
    }
}

/// Entries that could not be read at all.
fn wrong_alone(faults: &[crate::evidence::ledger::LedgerFault]) -> usize {
    faults.iter().map(|fault| &fault.entry).collect::<BTreeSet<_>>().len()
}

fn over_budget(policy: &Policy, entries: usize) -> Option<String> {
    let most = policy.freeze.max_entries?;
    (u32::try_from(entries).unwrap_or(u32::MAX) > most).then(|| {
        format!("the freeze ledger has {}, and the policy allows {most}", wording::count(entries, "entry", "entries"))
    })
}

/// The numbers of entries without a signature, by their test: in a list an entry has no other name.
fn numbers(ledger: &Ledger) -> BTreeMap<&str, String> {
    let numbered = (1_u32..).zip(&ledger.freezes).filter(|(_, freeze)| freeze.failure.is_none());
    numbered.map(|(number, freeze)| (key(freeze), number.to_string())).collect()
}
