//! The record: one JSON document with a published schema, the same from the bot and from the command line (DESIGN section 5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::Class;
use crate::words::{ForgeKind, PullNumber, RepositoryId, Verdict};

/// All inputs' digests, all findings and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of this shape: 1.
    pub schema: u32,
    /// What made it.
    pub product: Product,
    /// Where the pull request lives.
    pub forge: ForgeKind,
    /// Whose repository it is.
    pub repository: RepositoryRow,
    /// The number of the pull request; null for a local change.
    pub pull: Option<PullNumber>,
    /// The name of the target branch, or the revision given on the command line.
    pub base_ref: String,
    /// Full object id of the target branch's tip.
    pub base: String,
    /// Full object id of the pull request's tip.
    pub head: String,
    /// Full object id of their one common ancestor; null when there is none or more than one.
    pub merge_base: Option<String>,
    /// Full object id of the tree that merging makes; null when they do not merge.
    pub merged_tree: Option<String>,
    /// sha256 of each input that decided, or null where there is none.
    pub digests: Digests,
    /// Every row of the change.
    pub rows: Vec<RecordRow>,
    /// Every finding, worst first.
    pub findings: Vec<FindingRow>,
    /// Changed lines that frozen tests cover and no live test covers.
    pub overlap: Vec<OverlapRow>,
    /// Changed lines that no test in the map runs.
    pub unobserved: Vec<UnobservedRow>,
    /// What each property did.
    pub properties: Vec<PropertyRow>,
    /// What second runners saw.
    pub citations: Vec<Citation>,
    /// The evidence lane, when the pull request asked for it.
    pub lane: Option<Lane>,
    /// Holds that a person acknowledged.
    pub acknowledged: Vec<Acknowledged>,
    /// What the live tests reported; null when none ran.
    pub tests: Option<Tests>,
    /// Evidence that is neither there nor required, so that a review never looks like more than it is.
    pub not_observed: Vec<String>,
    /// The worst finding's verdict; review when there is none.
    pub verdict: Verdict,
    /// One line for the head of a report.
    pub title: String,
    /// The only part that may differ between equal runs.
    pub run: Run,
}

/// What made a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// `evidence-gate`
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Whose repository it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepositoryRow {
    /// The forge's number; null for a local repository.
    pub id: Option<RepositoryId>,
    /// Its name; for a local repository the folder's name.
    pub name: String,
}

/// sha256 in hexadecimal, or null where there is no such input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// The policy's text.
    pub policy: Option<String>,
    /// The freeze ledger's text.
    pub ledger: Option<String>,
    /// The fixture lock's text.
    pub lock: Option<String>,
    /// Every oracle file.
    pub oracles: Option<String>,
    /// The coverage map.
    pub map: Option<String>,
}

/// One row of name-status. Bytes of a path that are no UTF-8 are written `\xNN`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordRow {
    /// git's letter.
    pub status: String,
    /// The path at the merge base; null for an added file.
    pub old_path: Option<String>,
    /// The path that names the row: at head, or at the merge base for a deleted file.
    pub path: String,
    /// Six octal digits; null for an added file.
    pub old_mode: Option<String>,
    /// Six octal digits; null for a deleted file.
    pub mode: Option<String>,
    /// What the path is.
    pub class: Class,
}

/// One reason with one verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingRow {
    /// The rule's id.
    pub rule: String,
    /// What it says.
    pub verdict: Verdict,
    /// What is the matter.
    pub message: String,
    /// What to do next.
    pub next: String,
    /// Where.
    pub locations: Vec<LocationRow>,
}

/// A place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocationRow {
    /// The file.
    pub path: String,
    /// From 1; null for the whole file.
    pub line: Option<u32>,
    /// The last line; null for one line.
    pub end_line: Option<u32>,
}

/// A changed line that frozen tests cover and no live test covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverlapRow {
    /// The file.
    pub path: String,
    /// Its number at the merge base; for an inserted line that of the neighbour that judges it.
    pub old_line: Option<u32>,
    /// Its number at head; null where it is gone.
    pub head_line: Option<u32>,
    /// Which frozen tests cover it.
    pub frozen_tests: Vec<String>,
}

/// A changed line that no test in the map runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnobservedRow {
    /// The file.
    pub path: String,
    /// Its number at the merge base; for an inserted line that of its neighbour; null in a new file.
    pub old_line: Option<u32>,
    /// Its number at head; null where it is gone.
    pub head_line: Option<u32>,
}

/// What one property did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertyRow {
    /// Its id in the policy.
    pub id: String,
    /// Which runner ran it.
    pub runner: String,
    /// `two-sandboxes` or `in-process`.
    pub isolation: String,
    /// The seed.
    pub seed: Option<i64>,
    /// How many draws.
    pub trials: Option<u64>,
    /// How many of them met the property's precondition.
    pub hits: Option<u64>,
    /// The smallest input that failed.
    pub counterexample: Option<serde_json::Value>,
    /// The exception's type.
    pub exc_type: Option<String>,
    /// Its message.
    pub message: Option<String>,
    /// The failure's signature.
    pub signature: Option<String>,
    /// The answer of sample mode.
    pub sample: Option<String>,
    /// The answer of known-bad mode.
    pub known_bad: Option<String>,
    /// sha256 of the trial log.
    pub log: Option<String>,
}

/// What a second runner saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// Its id.
    pub runner: String,
    /// What it saw.
    pub outcome: String,
    /// With which signature.
    pub signature: Option<String>,
}

/// The evidence lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// The label that asked for it.
    pub label: String,
    /// Who granted it.
    pub approved_by: Option<String>,
    /// On which head.
    pub sha: Option<String>,
    /// What it does to the freeze ledger, freeze by freeze.
    #[serde(default)]
    pub freezes: Vec<FreezeRow>,
    /// The covered lines that a live test runs; null where the ledger stays or no coverage map is known.
    #[serde(default)]
    pub surface: Option<LaneSurface>,
}

/// A freeze that the lane adds, removes or changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreezeRow {
    /// `added`, `removed`, `extended`, `shortened`, or `changed` in another way.
    pub change: String,
    /// The test, or `property:ID`.
    pub nodeid: String,
    /// The entry's key; null in ledgers without signatures.
    pub signature: Option<String>,
    /// Its last day before; null where there was none.
    pub before: Option<String>,
    /// Its last day after; null where there is none.
    pub after: Option<String>,
    /// Why, in the words of whoever wrote the entry.
    pub reason: Option<String>,
    /// What it costs; null where that is not known.
    pub price: Option<FreezePrice>,
}

/// What a freeze takes out of the surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreezePrice {
    /// How many tests of the coverage map it freezes.
    pub tests: u64,
    /// How many lines lose their only observer.
    pub lines: u64,
    /// Files that no live test runs any more.
    pub files: Vec<String>,
}

/// Lines that a live test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaneSurface {
    /// Before the change of the ledger.
    pub before: u64,
    /// After it.
    pub after: u64,
}

/// A hold that a person acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledged {
    /// Which rule.
    pub rule: String,
    /// Who.
    pub by: String,
    /// On which head.
    pub sha: String,
}

/// What the live tests reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tests {
    /// Ids that the report names.
    pub reported: Vec<String>,
    /// Ids that ran on the base and not on the merged tree.
    pub missing: Vec<String>,
    /// Ids that failed.
    pub failed: Vec<String>,
    /// Ids that a freeze names.
    pub frozen: Vec<String>,
}

/// The only part that may differ between equal runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC.
    pub finished: String,
    /// Which runner.
    pub runner: String,
    /// The version of the program on the scoring host.
    pub host_version: String,
}
