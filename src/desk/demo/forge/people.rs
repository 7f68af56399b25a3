//! Who has an account on the small forge.

/// An account.
#[derive(Clone, Copy, Debug)]
pub(in crate::desk::demo) struct Person {
    /// Its number.
    pub(in crate::desk::demo) id: u64,
    /// Its name.
    pub(in crate::desk::demo) login: &'static str,
    /// `User`, `Organization` or `Bot`.
    pub(in crate::desk::demo) kind: &'static str,
    /// `permission` and `role_name` in the one repository.
    pub(in crate::desk::demo) role: (&'static str, &'static str),
}

impl Person {
    /// The address in its commits; the forge knows the account by it.
    pub(in crate::desk::demo) fn email(&self) -> String {
        format!("{}@example.com", self.login.trim_end_matches("[bot]"))
    }
}

/// A developer.
pub(in crate::desk::demo) const ADA: &str = "ada";
/// A coding agent.
pub(in crate::desk::demo) const AGENT: &str = "till-agent[bot]";
/// The maintainer.
pub(in crate::desk::demo) const MIA: &str = "mia";
/// Whom the repository belongs to.
pub(super) const OWNER: &str = "example";
/// The App itself.
pub(super) const APP_LOGIN: &str = "evidence-gate[bot]";

/// Everybody.
pub(in crate::desk::demo) const PEOPLE: &[Person] = &[
    Person { id: 10, login: OWNER, kind: "Organization", role: ("none", "none") },
    Person { id: 11, login: ADA, kind: "User", role: ("write", "write") },
    Person { id: 12, login: MIA, kind: "User", role: ("write", "maintain") },
    Person { id: 13, login: AGENT, kind: "Bot", role: ("write", "write") },
    Person { id: 14, login: APP_LOGIN, kind: "Bot", role: ("none", "none") },
];

/// Somebody by name.
pub(in crate::desk::demo) fn person(login: &str) -> Option<&'static Person> {
    PEOPLE.iter().find(|person| person.login == login)
}
