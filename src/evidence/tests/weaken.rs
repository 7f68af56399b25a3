//! What became weaker in a rewritten test. It tells a person where to look and changes no verdict.
//!
//! Assertions of both sides are paired by what they ask about; what is left over on the old side is gone, and what a pair asks for is
//! compared: the value, the strictness, the tolerance.

mod assertion;

use assertion::{Assertion, assertions, callee, short};

use super::compare::Note;
use super::inventory::Item;
use crate::evidence::grammar::Node;

/// Calls that put something in the place of what is tested.
const MOCKS: &[&str] = &[
    "patch",
    "patch.object",
    "monkeypatch.setattr",
    "mocker.patch",
    "MagicMock",
    "Mock",
    "jest.mock",
    "jest.spyOn",
    "vi.mock",
    "vi.spyOn",
    "mockReturnValue",
    "mockImplementation",
    "mockResolvedValue",
    "sinon.stub",
    "when",
    "Mockito.when",
    "given",
    "every",
    "mockk",
    "allow",
    "allow_any_instance_of",
    "stub",
    "createMock",
    "createStub",
    "Setup",
    "Substitute.For",
    "ON_CALL",
    "EXPECT_CALL_",
    "mock.method",
    "setattr",
    "mock.patch",
    "mock.patch.object",
    "unittest.mock.patch",
    "shouldReceive",
    "doReturn",
    "mockStatic",
];

/// Names what is weaker in the new form of a test or helper. Lines are those of the head, but for assertions that are gone.
pub(super) fn compare(old: &Item<'_>, new: &Item<'_>) -> Vec<Note> {
    let (before, after) = (assertions(old), assertions(new));
    let mut notes = Vec::new();
    let mut free: Vec<Option<&Assertion<'_>>> = after.iter().map(Some).collect();
    let mut left: Vec<&Assertion<'_>> = Vec::new();
    for assertion in &before {
        let same = free.iter().position(|a| a.is_some_and(|a| a.node.tokens() == assertion.node.tokens()));
        match same {
            Some(at) => free[at] = None,
            None => left.push(assertion),
        }
    }
    let alone = left.len() == 1 && free.iter().flatten().count() == 1;
    for assertion in left {
        let find = |fits: &dyn Fn(&Assertion<'_>) -> bool| free.iter().position(|a| a.is_some_and(fits));
        let partner = find(&|a| a.subject == assertion.subject)
            .or_else(|| find(&|a| a.expected == assertion.expected && !a.expected.is_empty()))
            .or_else(|| find(&|a| a.subject == assertion.expected || a.expected == assertion.subject))
            .or_else(|| find(&|_| alone))
            .and_then(|at| free[at].take());
        match partner {
            Some(now) => notes.extend(weaker(assertion, now)),
            None => {
                notes.push(remark(format!("an assertion is gone: `{}`", short(assertion.node.text())), old, true));
            }
        }
    }
    notes.extend(swallowed(old, new));
    notes.extend(mocked(old, new));
    notes
}

fn remark(text: String, item: &Item<'_>, gone: bool) -> Note {
    Note { text, lines: Some((item.line(), item.end_line())), gone }
}

fn at(text: String, node: Node<'_>) -> Note {
    Note { text, lines: Some((node.line(), node.end_line())), gone: false }
}

fn weaker(old: &Assertion<'_>, new: &Assertion<'_>) -> Option<Note> {
    if new.strictness < old.strictness {
        let (was, now) = (short(old.node.text()), short(new.node.text()));
        return Some(at(format!("`{was}` asks for less now: `{now}`"), new.node));
    }
    if let (Some(was), Some(now)) = (old.tolerance, new.tolerance)
        && now > was
    {
        return Some(at(format!("a tolerance widens from {was} to {now}"), new.node));
    }
    if new.expected != old.expected {
        return Some(at(
            format!("an expected value changes from `{}` to `{}`", short(&old.expected), short(&new.expected)),
            new.node,
        ));
    }
    (new.subject != old.subject).then(|| {
        at(
            format!(
                "an assertion asks about something else: `{}` instead of `{}`",
                short(&new.subject),
                short(&old.subject)
            ),
            new.node,
        )
    })
}

/// A handler around assertions that was not there before.
fn swallowed(old: &Item<'_>, new: &Item<'_>) -> Vec<Note> {
    const HANDLERS: &[&str] = &["except_clause", "catch_clause", "rescue", "catch_block"];
    fn count<'t>(item: &Item<'t>) -> Vec<Node<'t>> {
        let words = item.node.subtree().filter(|n| {
            n.is(HANDLERS)
                || (n.is(&["call_expression", "call"])
                    && (n.text() == "recover()"
                        || n.text().starts_with("suppress(")
                        || n.text().starts_with("contextlib.suppress(")
                        || n.text().starts_with("std::panic::catch_unwind")))
        });
        words.collect()
    }
    let (before, after) = (count(old), count(new));
    if after.len() <= before.len() {
        return Vec::new();
    }
    let fresh = after.iter().find(|n| !before.iter().any(|b| b.tokens() == n.tokens()));
    fresh.map(|n| at(format!("an exception is swallowed: `{}`", short(n.text())), *n)).into_iter().collect()
}

/// A stand-in that was not there before.
fn mocked(old: &Item<'_>, new: &Item<'_>) -> Vec<Note> {
    let calls = |item: &Item<'_>| -> Vec<(String, u32)> {
        item.node
            .subtree()
            .filter(|n| {
                n.is(&[
                    "call",
                    "call_expression",
                    "method_invocation",
                    "invocation_expression",
                    "member_call_expression",
                ])
            })
            .filter_map(|n| callee(n).map(|name| (name, n)))
            .filter(|(name, _)| MOCKS.iter().any(|m| name == m || name.ends_with(&format!(".{m}"))))
            .map(|(_, n)| (short(n.text()), n.index()))
            .collect()
    };
    let before = calls(old);
    let fresh = calls(new).into_iter().find(|(text, _)| !before.iter().any(|(b, _)| b == text));
    fresh
        .map(|(text, index)| at(format!("a stand-in comes in: `{text}`"), new.node.syntax().node(index)))
        .into_iter()
        .collect()
}
