//! What is signed: an in-toto statement about the head commit, <https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md>.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::score::Record;

/// The type of every in-toto statement of version 1.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// What our predicates are called, and the page that describes them.
pub const PREDICATE_TYPE: &str = "https://github.com/evidence-gate/evidence-gate/blob/main/docs/verdict-v1.md";

/// Where the schema is published.
const ID: &str = "https://raw.githubusercontent.com/evidence-gate/evidence-gate/main/docs/verdict-v1.schema.json";

/// The version of the predicate's shape.
pub(super) const SCHEMA: u32 = 1;

/// The verdict about one commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub statement_type: String,
    /// The head commit, and nothing else.
    pub subject: Vec<Subject>,
    /// [`PREDICATE_TYPE`].
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// What is said of it.
    pub predicate: VerdictPredicate,
}

/// What a statement is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The repository's name.
    pub name: String,
    /// The commit.
    pub digest: SubjectDigest,
}

/// A commit by its object id, <https://github.com/in-toto/attestation/blob/main/spec/v1/digest_set.md>.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SubjectDigest {
    /// Full object id.
    pub git_commit: String,
}

/// The record, and its place among the repository's records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictPredicate {
    /// The version of this shape: 1.
    pub schema: u32,
    /// Counted from 1 in each repository, without a gap.
    pub number: u64,
    /// The statement before it in the repository; null for the first.
    pub previous: Option<Previous>,
    /// When it was signed: RFC 3339, UTC. It must lie in the key's life.
    pub signed: String,
    /// The record. Whole numbers past 2^53 - 1 are strings of their digits.
    #[schemars(with = "Record")]
    pub record: Value,
}

/// Another statement by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Previous {
    /// sha256 of the payload of its envelope, in hexadecimal.
    pub sha256: String,
}

/// The JSON Schema (draft 2020-12) of a statement as it is signed. `docs/verdict-v1.schema.json` is this value.
pub fn statement_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<Statement>();
    let mut value = schema.to_value();
    if let Some(keys) = value.as_object_mut() {
        keys.insert("$id".into(), ID.into());
        keys.insert("title".into(), "in-toto statement with an evidence-gate verdict".into());
    }
    value
}
