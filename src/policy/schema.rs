//! The schema of the policy file.

use crate::policy::Policy;

/// The JSON Schema (draft 2020-12) of a policy file, generated from the types that read it, so that the two cannot disagree.
pub fn schema() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Policy>().to_value()
}
