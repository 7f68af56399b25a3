//! The policy as read: one type per section, one field per key. What a field's comment says is what the schema says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builtin::Ecosystem;
use super::pattern::{NamePattern, Pattern};
use super::word::{CommandLine, Keep, PropertyId, RepoPath, Span};
use crate::policy::Class;
use crate::words::Role;
use crate::words::Verdict;

/// The rules of one repository: `.evidence-gate.toml` at the tip of the base branch, or the operator's copy. Every key but `schema`
/// may be left out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "evidence-gate policy", extend("required" = ["schema"]))]
pub struct Policy {
    /// The version of this file's shape: 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// Whether added tests, and tests that a file only gains, wait for a person (`hold`) or are only listed (`record`).
    pub added_tests: AddedTests,
    /// Which pull requests are gated.
    pub scope: Scope,
    /// What paths are.
    pub classes: Classes,
    /// How much a pull request may be.
    pub limits: Limits,
    /// Evidence that must be there for a review.
    pub require: Require,
    /// Where properties, samples and known-bad inputs live.
    pub oracles: Oracles,
    /// Recorded inputs.
    pub fixtures: Fixtures,
    /// Recorded outputs.
    pub snapshots: Snapshots,
    /// What a change of existing tests means.
    pub tests: Tests,
    /// Ways to disable a test.
    pub markers: Markers,
    /// Known flaky failures.
    pub freeze: Freeze,
    /// What live tests observe.
    pub surface: Surface,
    /// Seeded checks kept on the evidence path.
    pub property: Vec<Property>,
    /// The live tests of the merged tree.
    pub tree_tests: Option<TreeTests>,
    /// What the pull request's own host says.
    pub proposal: Proposal,
    /// How a hold ends.
    pub holds: Holds,
    /// How evidence itself is changed.
    pub lane: Lane,
    /// Commands in comments.
    pub commands: Commands,
}

impl Default for Policy {
    /// What an empty policy says.
    fn default() -> Self {
        Self {
            schema: Self::SCHEMA,
            added_tests: AddedTests::Hold,
            scope: Scope::default(),
            classes: Classes::default(),
            limits: Limits::default(),
            require: Require::default(),
            oracles: Oracles::default(),
            fixtures: Fixtures::default(),
            snapshots: Snapshots::default(),
            tests: Tests::default(),
            markers: Markers::default(),
            freeze: Freeze::default(),
            surface: Surface::default(),
            property: Vec::new(),
            tree_tests: None,
            proposal: Proposal::default(),
            holds: Holds::default(),
            lane: Lane::default(),
            commands: Commands::default(),
        }
    }
}

impl Policy {
    /// The version that this program reads.
    pub const SCHEMA: u32 = 1;

    /// Where a repository keeps its policy.
    pub const FILE: &'static str = ".evidence-gate.toml";

    /// The paths that the policy itself names, with the key that names them and what that makes of them: evidence, whatever the
    /// patterns say. A property's script and its samples live below the oracle root.
    pub fn named_paths(&self) -> [(Class, &'static str, &RepoPath); 3] {
        [
            (Class::FreezeLedger, "freeze.ledger", &self.freeze.ledger),
            (Class::Oracle, "oracles.root", &self.oracles.root),
            (Class::Fixture, "fixtures.lock", &self.fixtures.lock),
        ]
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a default is a path")
}

fn names(texts: &[&str]) -> Vec<NamePattern> {
    texts.iter().filter_map(|text| NamePattern::new(*text)).collect()
}

/// What an added test, or a test file that only gains tests, means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AddedTests {
    /// A person looks at them.
    Hold,
    /// They are listed.
    Record,
}

/// A choice between the two blocking verdicts that a policy can give.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strictness {
    /// A person must look.
    Hold,
    /// The change is refused.
    Reject,
}

impl Strictness {
    /// The verdict.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Hold => Verdict::Hold,
            Self::Reject => Verdict::Reject,
        }
    }
}

/// Which pull requests are gated. What a pull request says of itself is its author's word: `agents` is a convenience, no control.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// `all`, or `agents`: only pull requests that match one of the lists below. Any other is published as a review titled `not gated`.
    pub gate: Gate,
    /// Logins of agents; `*` stands for any run of signs.
    pub authors: Vec<NamePattern>,
    /// Names of head branches that agents use; `*` stands for any run of signs.
    pub branches: Vec<NamePattern>,
    /// Trailers that agents leave in commit messages, as whole lines; `*` stands for any run of signs.
    pub trailers: Vec<NamePattern>,
    /// Labels that mark an agent's pull request; `*` stands for any run of signs.
    pub labels: Vec<NamePattern>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            gate: Gate::All,
            authors: names(&["*[bot]"]),
            branches: names(&["copilot/*", "codex/*", "claude/*", "devin/*", "cursor/*", "agent/*"]),
            trailers: names(&[
                "Co-authored-by: *[bot]*",
                "Co-authored-by: Claude*",
                "Co-authored-by: Codex*",
                "Co-authored-by: Copilot*",
                "Co-authored-by: Cursor*",
            ]),
            labels: Vec::new(),
        }
    }
}

/// Which pull requests are gated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// Every one.
    All,
    /// Those that match a list of the section.
    Agents,
}

/// What paths are. Each list holds patterns in the manner of `.gitignore`; the first class in this order that has a matching pattern
/// wins: policy, `freeze_ledger`, oracle, snapshot, fixture, generated, intent, `test_config`, build, test, allowed, product. Within a
/// class the lists here come before the built-in ones. A pattern in a later class takes nothing from an earlier one, so that
/// `allowed = ["tests/fixtures/**"]` does not make fixtures anything else than evidence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Classes {
    /// The built-in sets that apply. Left out: all of them, since evidence of a language that was forgotten here would be
    /// unprotected, and a pattern of a language that the repository does not use matches nothing. `generic` comes with every other
    /// set. An empty list leaves only what always applies: policies, freeze ledgers and oracles.
    pub extends: Vec<Ecosystem>,
    /// Evidence: the gate's own rules.
    pub policy: Vec<Pattern>,
    /// Evidence: lists of known flaky failures.
    pub freeze_ledger: Vec<Pattern>,
    /// Evidence: properties, seeds, samples, coverage maps.
    pub oracle: Vec<Pattern>,
    /// Evidence: recorded outputs.
    pub snapshot: Vec<Pattern>,
    /// Evidence: recorded inputs.
    pub fixture: Vec<Pattern>,
    /// Made by a tool from something else.
    pub generated: Vec<Pattern>,
    /// Tests that agents may write freely: recorded, never scored, never counted.
    pub intent: Vec<Pattern>,
    /// What configures the runner of the tests, and files that run code.
    pub test_config: Vec<Pattern>,
    /// What builds the product and brings its dependencies.
    pub build: Vec<Pattern>,
    /// Tests.
    pub test: Vec<Pattern>,
    /// Paths that a review may ignore.
    pub allowed: Vec<Pattern>,
    /// The product.
    pub product: Vec<Pattern>,
}

impl Default for Classes {
    fn default() -> Self {
        Self {
            extends: Ecosystem::ALL.to_vec(),
            policy: Vec::new(),
            freeze_ledger: Vec::new(),
            oracle: Vec::new(),
            snapshot: Vec::new(),
            fixture: Vec::new(),
            generated: Vec::new(),
            intent: Vec::new(),
            test_config: Vec::new(),
            build: Vec::new(),
            test: Vec::new(),
            allowed: Vec::new(),
            product: Vec::new(),
        }
    }
}

impl Classes {
    /// The policy's own patterns for a class; none for `other`, which is what is left.
    pub fn of(&self, class: Class) -> &[Pattern] {
        match class {
            Class::Policy => &self.policy,
            Class::FreezeLedger => &self.freeze_ledger,
            Class::Oracle => &self.oracle,
            Class::Snapshot => &self.snapshot,
            Class::Fixture => &self.fixture,
            Class::Generated => &self.generated,
            Class::Intent => &self.intent,
            Class::TestConfig => &self.test_config,
            Class::Build => &self.build,
            Class::Test => &self.test,
            Class::Allowed => &self.allowed,
            Class::Product => &self.product,
            Class::Other => &[],
        }
    }

    pub(super) fn of_mut(&mut self, class: Class) -> &mut [Pattern] {
        match class {
            Class::Policy => &mut self.policy,
            Class::FreezeLedger => &mut self.freeze_ledger,
            Class::Oracle => &mut self.oracle,
            Class::Snapshot => &mut self.snapshot,
            Class::Fixture => &mut self.fixture,
            Class::Generated => &mut self.generated,
            Class::Intent => &mut self.intent,
            Class::TestConfig => &mut self.test_config,
            Class::Build => &mut self.build,
            Class::Test => &mut self.test,
            Class::Allowed => &mut self.allowed,
            Class::Product => &mut self.product,
            Class::Other => &mut [],
        }
    }
}

/// How much a pull request may be.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The most files that one pull request may change. A file that only moved counts once.
    #[schemars(range(min = 1))]
    pub max_changed_files: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_changed_files: 60 }
    }
}

/// Evidence that must be there for a review. What is missing is a finding of its own, and the change is unscored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Require {
    /// Whether the base must hold a fixture lock.
    pub fixture_lock: bool,
    /// Whether properties run: `off`, `configured` (those below), or `touched` (and every product path that changes must be named by one).
    pub properties: RequireProperties,
}

impl Default for Require {
    fn default() -> Self {
        Self { fixture_lock: false, properties: RequireProperties::Configured }
    }
}

/// Whether properties run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequireProperties {
    /// No.
    Off,
    /// Those that the policy configures.
    Configured,
    /// Those, and every product path that changes must be named by one.
    Touched,
}

/// Where properties, samples and known-bad inputs live.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Oracles {
    /// The folder with `properties/`, `samples/` and `known_bad/`. Everything below it is evidence.
    pub root: RepoPath,
}

impl Default for Oracles {
    fn default() -> Self {
        Self { root: path("oracle") }
    }
}

/// Recorded inputs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fixtures {
    /// The fixture lock: sha256 and path of every input file that the oracles may read.
    pub lock: RepoPath,
    /// What a new fixture or snapshot means.
    pub added: Strictness,
    /// Folders of inputs that only people look at: a change there waits for a person.
    pub human_prefixes: Vec<RepoPath>,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self { lock: path("fixtures.lock"), added: Strictness::Reject, human_prefixes: Vec::new() }
    }
}

/// Recorded outputs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Snapshots {
    /// What an edited, added or deleted snapshot means; `hold` is for teams whose own tests write them.
    pub edited: Strictness,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self { edited: Strictness::Reject }
    }
}

/// What a change of existing tests means.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tests {
    /// What the disappearance of a test or test file means (rule `test-removed`).
    pub removed: Strictness,
    /// What a change of existing tests, helpers or assertions means (rule `test-rewritten`).
    pub rewritten: Strictness,
}

impl Default for Tests {
    fn default() -> Self {
        Self { removed: Strictness::Reject, rewritten: Strictness::Hold }
    }
}

/// Ways to disable a test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Markers {
    /// What a skip under a condition means, on a test that the base has (rule `skip-marker-conditional`).
    pub conditional: Strictness,
    /// A team's own spellings, for example `{ text = "@broken_on_ci", kind = "skip" }`.
    pub extra: Vec<ExtraMarker>,
}

impl Default for Markers {
    fn default() -> Self {
        Self { conditional: Strictness::Hold, extra: Vec::new() }
    }
}

/// A team's own spelling of a marker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtraMarker {
    /// The spelling, as it stands in the source.
    #[schemars(length(min = 1))]
    pub text: String,
    /// What it does.
    #[serde(default = "skip")]
    pub kind: MarkerKind,
    /// In which files it counts; left out: in all.
    #[serde(default)]
    pub paths: Vec<Pattern>,
}

fn skip() -> MarkerKind {
    MarkerKind::Skip
}

/// What a marker does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkerKind {
    /// The test does not run, or its outcome does not count.
    Skip,
    /// Only this test runs.
    Focus,
    /// The test runs again until it passes.
    Retry,
    /// Lines are not counted as coverage.
    Coverage,
}

/// Known flaky failures.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Freeze {
    /// The freeze ledger.
    pub ledger: RepoPath,
    /// How many days after it was first seen a freeze may last.
    #[schemars(range(min = 1))]
    pub max_days: u32,
    /// The most entries that the ledger may have; left out: any number.
    pub max_entries: Option<u32>,
    /// The most lines that only frozen tests may observe; left out: any number.
    pub max_lines: Option<u32>,
    /// How much one entry may take out of the surface: `function` (a test with all its parameters), `class`, or `file`. The test itself
    /// always. An entry that names more than this reaches no test, and is `freeze-without-coverage`.
    pub reach: Reach,
    /// Regular expressions for parts of a failure message that normalising leaves alone. The default for `freeze add`; an entry's own
    /// list counts once it is written.
    pub keep: Vec<Keep>,
}

impl Default for Freeze {
    fn default() -> Self {
        Self {
            ledger: path("freeze_ledger.json"),
            max_days: 30,
            max_entries: None,
            max_lines: None,
            reach: Reach::Function,
            keep: Vec::new(),
        }
    }
}

/// How much one entry of the freeze ledger may name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// A test with all its parameters.
    Function,
    /// All tests of a class, too.
    Class,
    /// All tests of a file, too.
    File,
}

/// What live tests observe.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Surface {
    /// What a change of the product without an added line of code means: `unscored` while a freeze is live, else a hold; or `score`:
    /// the removed lines are judged like any others.
    pub deletion_only: DeletionOnly,
    /// Whether changed lines that no test runs are reported, or leave the change unscored.
    pub unobserved: Unobserved,
    /// How many commits old a coverage map may be, counted along first parents from the merge base.
    pub max_map_age: u32,
}

impl Default for Surface {
    fn default() -> Self {
        Self { deletion_only: DeletionOnly::Unscored, unobserved: Unobserved::Report, max_map_age: 20 }
    }
}

/// What a change without an added line of code means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeletionOnly {
    /// Unscored while a freeze is live, else a hold.
    Unscored,
    /// The removed lines are judged like any others.
    Score,
}

/// What changed lines without an observer mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unobserved {
    /// They are listed.
    Report,
    /// There is no score.
    Unscored,
}

/// A seeded check kept on the evidence path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// Its name: `samples/ID.json` and `known_bad/ID.json` below the oracle root belong to it.
    pub id: PropertyId,
    /// The program and its arguments, run in the oracle root.
    pub command: CommandLine,
    /// A second command, for the code under test alone: driver and subject then run in two sandboxes and speak JSON lines.
    #[serde(default)]
    pub subject: Option<CommandLine>,
    /// The seed that it must draw from.
    #[serde(default)]
    pub seed: i64,
    /// How many draws it must make.
    #[serde(default = "trials")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub trials: u64,
    /// How long one run may take, such as `45s`.
    #[serde(default = "timeout")]
    pub timeout: Span,
    /// How much memory one run may use, in MiB; the scoring host's own limit where it is left out or smaller.
    #[serde(default)]
    #[schemars(range(min = 16))]
    pub memory_mib: Option<u32>,
    /// The product paths that it observes.
    #[serde(default)]
    pub paths: Vec<Pattern>,
}

fn trials() -> u64 {
    100
}

fn timeout() -> Span {
    Span(std::time::Duration::from_mins(1))
}

/// The live tests of the merged tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeTests {
    /// The program and its arguments, run at the root of a throw-away copy of the merged tree.
    pub command: CommandLine,
    /// Where it writes its JUnit XML, counted from that root.
    #[serde(default = "report")]
    pub report: RepoPath,
    /// How long it may take, such as `10m`.
    #[serde(default = "tree_timeout")]
    pub timeout: Span,
    /// How much memory it may use, in MiB; the scoring host's own limit where it is left out or smaller.
    #[serde(default)]
    #[schemars(range(min = 16))]
    pub memory_mib: Option<u32>,
    /// Words that are put behind the command so that the runner leaves frozen tests out. With `{nodeid}` they are repeated for each
    /// test (pytest: `["--deselect", "{nodeid}"]`); with `{nodeids:SEP}` they stand once, with `SEP` between the tests (Go:
    /// `["-skip", "^({nodeids:|})$"]`). Only tests that are frozen without a signature are left out.
    #[serde(default)]
    pub deselect: Vec<String>,
}

fn report() -> RepoPath {
    path("junit.xml")
}

fn tree_timeout() -> Span {
    Span(std::time::Duration::from_mins(10))
}

/// What the pull request's own host says.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Proposal {
    /// Names of check runs of the pull request's own CI. A failed one is a cheap reject; a green one counts for nothing.
    pub checks: Vec<String>,
}

/// How a hold ends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Holds {
    /// `approval`: an approving review on the exact head acknowledges the holds; `never`: only another change does.
    pub release: Release,
    /// The least role whose review counts.
    pub min_role: Role,
}

impl Default for Holds {
    fn default() -> Self {
        Self { release: Release::Approval, min_role: Role::Maintain }
    }
}

/// How a hold ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Release {
    /// By an approving review on the exact head.
    Approval,
    /// Not at all.
    Never,
}

/// How evidence itself is changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lane {
    /// The label that asks for the lane. It grants nothing by itself.
    #[schemars(length(min = 1))]
    pub label: String,
    /// What grants it: an approving review on the exact head, or a maintainer's own label on it.
    pub authority: Authority,
    /// The least role that can grant it.
    pub min_role: Role,
}

impl Default for Lane {
    fn default() -> Self {
        Self { label: "evidence-edit".to_owned(), authority: Authority::Approval, min_role: Role::Maintain }
    }
}

/// What grants the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Authority {
    /// An approving review on the exact head.
    Approval,
    /// The label itself, set by somebody of the role on that head.
    Label,
}

/// Commands in comments.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Commands {
    /// The least role whose commands are obeyed.
    pub min_role: Role,
}

impl Default for Commands {
    fn default() -> Self {
        Self { min_role: Role::Write }
    }
}
