//! Whose approval counts (DESIGN section 2): a person's, on the exact head, with the role, who has no part in the change.
//!
//! Names and addresses in commits are their author's word. They can take an approval away and never give one; the forge's accounts,
//! reviews and roles are the forge's word.

use std::collections::{BTreeMap, BTreeSet};

use super::lane::Labelled;
use super::{Finding, Rule};
use crate::change::{Signature, Signed};
use crate::forge::{Account, PullCommit, Review, ReviewState};
use crate::policy::Policy;
use crate::words::{HeadSha, Role, Verdict};

/// Somebody approves, and it does not count.
pub(super) static APPROVAL_NOT_COUNTED: Rule = Rule {
    id: "approval-not-counted",
    verdict: Verdict::Hold,
    when: "The change waits for a person, and an approving review is there that does not count: of another head, without the role, of an \
           author, co-author, bot or agent, or of somebody who cannot be told from an author.",
    innocent: "A push after the approval, or commits under an address that belongs to no account of the forge.",
    next: "A maintainer who has no part in these commits approves this very head; where an author cannot be told, commit again under an \
           address that belongs to an account of the forge.",
};

/// Every rule of this file.
pub(super) static RULES: &[&Rule] = &[&APPROVAL_NOT_COUNTED];

/// What the forge says of the reviews of a pull request, asked at the moment of the decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviews {
    /// Every review, oldest first.
    pub reviews: Vec<Review>,
    /// What each reviewer may do now, by login. Who is not here may do nothing.
    pub roles: BTreeMap<String, Role>,
    /// The commits of the pull request with their accounts.
    pub commits: Vec<PullCommit>,
    /// The newest setting of each label that may grant something, as far as it was told of and the forge confirms it.
    pub labels: BTreeMap<String, Labelled>,
}

/// Whose approvals count, and whose do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    /// Logins, in the order of the alphabet.
    pub counted: Vec<String>,
    /// Logins, and why not.
    pub not_counted: Vec<(String, String)>,
}

/// A decision about approvals.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Whoever opened the pull request.
    pub author: &'a Account,
    /// Its tip.
    pub head: &'a HeadSha,
    /// The least role that counts.
    pub least: Role,
    /// The policy, for what it calls an agent.
    pub policy: &'a Policy,
    /// The forge's word.
    pub reviews: &'a Reviews,
    /// The commits' word.
    pub signed: &'a [Signed],
}

impl Reviews {
    /// The newest review of each account that says yes, no or taken back.
    pub fn decisive(&self) -> impl Iterator<Item = &Review> {
        let mut newest: BTreeMap<u64, &Review> = BTreeMap::new();
        let decides = |review: &&Review| match review.state {
            ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Dismissed => true,
            ReviewState::Commented | ReviewState::Pending => false,
        };
        newest.extend(self.reviews.iter().filter(decides).map(|review| (review.author.id, review)));
        newest.into_values()
    }

    /// The accounts whose newest decisive review is an approval of this head.
    pub fn approving<'a>(&'a self, head: &'a HeadSha) -> impl Iterator<Item = &'a Account> {
        let approves = |review: &&Review| review.state == ReviewState::Approved && on(review, head);
        self.decisive().filter(approves).map(|review| &review.author)
    }
}

fn on(review: &Review, head: &HeadSha) -> bool {
    review.commit.as_ref() == Some(head.id())
}

/// Which approvals count. Pure.
pub fn approvals(asked: &Asked<'_>) -> Approvals {
    let people = People::of(asked);
    let mut answer = Approvals::default();
    for review in asked.reviews.decisive().filter(|review| review.state == ReviewState::Approved) {
        let login = review.author.login.clone();
        match refusal(asked, &people, review) {
            None => answer.counted.push(login),
            Some(why) => answer.not_counted.push((login, why)),
        }
    }
    answer.counted.sort();
    answer.not_counted.sort();
    answer
}

/// What a report says of approvals that do not count.
pub fn not_counted(approvals: &Approvals) -> Option<Finding> {
    let said: Vec<String> =
        approvals.not_counted.iter().map(|(who, why)| format!("{} ({why})", super::wording::text(who))).collect();
    (!said.is_empty())
        .then(|| Finding::new(&APPROVAL_NOT_COUNTED, format!("no approval counts: {}", super::wording::list(said))))
}

fn refusal(asked: &Asked<'_>, people: &People, review: &Review) -> Option<String> {
    let Account { id, login, is_bot } = &review.author;
    if !on(review, asked.head) {
        return Some("of another head than the present one".to_owned());
    }
    if *is_bot {
        return Some("no person".to_owned());
    }
    if is_agent(asked.policy, login) {
        return Some("an agent by [scope] of the policy".to_owned());
    }
    if *id == asked.author.id || login.eq_ignore_ascii_case(&asked.author.login) {
        return Some("the author of the pull request".to_owned());
    }
    if people.ids.contains(id) || people.logins.contains(&login.to_lowercase()) {
        return Some("an author, committer or co-author of these commits".to_owned());
    }
    match asked.reviews.roles.get(login) {
        Some(role) if *role >= asked.least => {}
        Some(role) => return Some(format!("the role is {role}, and {} is needed", asked.least)),
        None => return Some(format!("no role here, and {} is needed", asked.least)),
    }
    let (who, more) = people.untold.iter().next().map(|who| (who, people.untold.len() - 1))?;
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    Some(format!("cannot be told from {}, whom no account of the forge is known for{more}", super::wording::text(who)))
}

/// Whether the policy calls an account an agent's.
pub fn is_agent(policy: &Policy, login: &str) -> bool {
    policy.scope.authors.iter().any(|agent| agent.matches(login))
}

/// Everybody who has a part in the commits.
#[derive(Default)]
struct People {
    ids: BTreeSet<u64>,
    /// In lower case.
    logins: BTreeSet<String>,
    /// Those who may be anybody.
    untold: BTreeSet<String>,
}

impl People {
    fn of(asked: &Asked<'_>) -> Self {
        let mut people = Self::default();
        let known: BTreeMap<_, _> = asked.reviews.commits.iter().map(|commit| (&commit.sha, commit)).collect();
        let mut addresses: BTreeMap<String, Vec<&Account>> = BTreeMap::new();
        for (account, email) in asked.reviews.commits.iter().flat_map(|commit| [&commit.author, &commit.committer]) {
            let Some(account) = account else { continue };
            people.add(account.id, &account.login);
            if !email.is_empty() {
                addresses.entry(email.to_lowercase()).or_default().push(account);
            }
        }
        let account = |side: &(Option<Account>, String)| side.0.is_some();
        for signed in asked.signed {
            let commit = known.get(&signed.commit);
            let author = commit.is_some_and(|commit| account(&commit.author));
            let committer = commit.is_some_and(|commit| account(&commit.committer));
            let sides = [(&signed.author, author), (&signed.committer, committer)];
            let co_authors = signed.co_authors.iter().map(|who| (who, false));
            for (who, told) in sides.into_iter().chain(co_authors) {
                people.sign(asked.policy, who, told || addresses.contains_key(&who.email.to_lowercase()));
            }
        }
        people
    }

    fn add(&mut self, id: u64, login: &str) {
        self.ids.insert(id);
        self.logins.insert(login.to_lowercase());
    }

    /// Notes a name in a commit. `told`: the forge knows the account, which was added already.
    fn sign(&mut self, policy: &Policy, who: &Signature, told: bool) {
        let Signature { name, email } = who;
        let email = email.to_lowercase();
        if let Some(local) = email.strip_suffix("@users.noreply.github.com") {
            let (id, login) = local.split_once('+').unwrap_or(("", local));
            self.ids.extend(id.parse::<u64>());
            self.logins.insert(login.to_owned());
            return;
        }
        let line = format!("Co-authored-by: {name} <{email}>");
        let agent = policy.scope.trailers.iter().any(|trailer| trailer.matches(&line));
        // What the forge itself commits, such as an edit in its own pages.
        if !told && !agent && email != "noreply@github.com" {
            self.untold.insert(format!("{name} <{email}>"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::ObjectId;

    fn id(digit: char) -> ObjectId {
        digit.to_string().repeat(40).parse().expect("an object id")
    }

    fn account(login: &str) -> Account {
        let id = login.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte));
        Account { id, login: login.to_owned(), is_bot: login.ends_with("[bot]") }
    }

    fn review(login: &str, state: ReviewState, commit: char) -> Review {
        Review { author: account(login), state, commit: Some(id(commit)), submitted: None }
    }

    fn who(text: &str) -> Signature {
        let (name, email) = text.split_once(" <").expect("a name and an address");
        Signature { name: name.to_owned(), email: email.trim_end_matches('>').to_owned() }
    }

    /// The pull request of `ada` with one commit, head `a…`, that Ada wrote and `cody` committed.
    fn decide(reviews: &[Review], co_authors: &[&str], roles: &[(&str, Role)]) -> Approvals {
        let commit = PullCommit {
            sha: id('a'),
            author: (Some(account("ada")), "ada@example.com".to_owned()),
            committer: (Some(account("cody")), "cody@example.com".to_owned()),
        };
        let reviews = Reviews {
            reviews: reviews.to_vec(),
            roles: roles.iter().map(|(login, role)| ((*login).to_owned(), *role)).collect(),
            commits: vec![commit],
            labels: BTreeMap::new(),
        };
        let signed = Signed {
            commit: id('a'),
            author: who("Ada <ada@example.com>"),
            committer: who("Cody <cody@example.com>"),
            co_authors: co_authors.iter().map(|text| who(text)).collect(),
        };
        let (policy, head) = (Policy::default(), HeadSha(id('a')));
        approvals(&Asked {
            author: &account("ada"),
            head: &head,
            least: Role::Maintain,
            policy: &policy,
            reviews: &reviews,
            signed: &[signed],
        })
    }

    use ReviewState::{Approved, ChangesRequested, Commented, Dismissed};

    #[test]
    fn an_approval_counts_only_of_a_person_with_the_role_and_without_a_part() {
        let all = ["ada", "cody", "mia", "max", "rita", "agent[bot]"];
        let roles: Vec<(&str, Role)> =
            all.iter().map(|login| (*login, if *login == "rita" { Role::Write } else { Role::Admin })).collect();
        for (login, expected) in [
            ("mia", None),
            ("ada", Some("the author of the pull request")),
            ("cody", Some("an author, committer or co-author of these commits")),
            ("rita", Some("the role is write, and maintain is needed")),
            ("nobody", Some("no role here, and maintain is needed")),
            ("agent[bot]", Some("no person")),
        ] {
            let answer = decide(&[review(login, Approved, 'a')], &[], &roles);
            assert_eq!(answer.not_counted.first().map(|(_, why)| why.as_str()), expected, "{login}");
            assert_eq!(answer.counted, if expected.is_none() { vec![login] } else { Vec::new() }, "{login}");
        }
        let upper = decide(&[review("ADA", Approved, 'a')], &[], &[("ADA", Role::Admin)]);
        assert_eq!(upper.counted, Vec::<String>::new());
    }

    #[test]
    fn only_the_newest_decisive_review_speaks_and_only_for_its_head() {
        let mia = |state, commit| review("mia", state, commit);
        for (reviews, counts) in [
            (vec![mia(Approved, 'a')], true),
            (vec![mia(Approved, 'b')], false),
            (vec![mia(Approved, 'a'), mia(Commented, 'a')], true),
            (vec![mia(Approved, 'a'), mia(ChangesRequested, 'a')], false),
            (vec![mia(ChangesRequested, 'a'), mia(Approved, 'a')], true),
            (vec![mia(Approved, 'a'), mia(Dismissed, 'a')], false),
            (vec![mia(Dismissed, 'a')], false),
            (vec![mia(Commented, 'a')], false),
            (vec![Review { commit: None, ..mia(Approved, 'a') }], false),
        ] {
            let answer = decide(&reviews, &[], &[("mia", Role::Maintain)]);
            assert_eq!(!answer.counted.is_empty(), counts, "{reviews:?}");
        }
    }

    #[test]
    fn a_co_author_is_told_by_account_or_nobodys_approval_counts() {
        let renamed = format!("Mia <{}+old-name@users.noreply.github.com>", account("mia").id);
        for (co_author, counts) in [
            ("Mia <mia@users.noreply.github.com>", false),
            ("Mia <1+Mia@users.noreply.github.com>", false),
            (renamed.as_str(), false),
            ("Rita <rita@users.noreply.github.com>", true),
            ("Ada <ADA@example.com>", true),
            ("Somebody <who@example.com>", false),
            ("Claude <noreply@anthropic.com>", true),
            ("dependabot[bot] <support@example.com>", true),
        ] {
            let answer = decide(&[review("mia", Approved, 'a')], &[co_author], &[("mia", Role::Maintain)]);
            assert_eq!(!answer.counted.is_empty(), counts, "{co_author}: {answer:?}");
        }
    }
}
