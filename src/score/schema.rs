//! The published JSON Schema of the record.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::Record;

/// Where the schema is published.
const ID: &str = "https://raw.githubusercontent.com/evidence-gate/evidence-gate/main/docs/record.schema.json";

/// The JSON Schema (draft 2020-12) of a record as it is written: every key is there, and null where it has no value.
/// `docs/record.schema.json` is this value, and a test holds the two together.
pub fn record_schema() -> Value {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Record>();
    let mut schema = schema.to_value();
    if let Value::Object(keys) = &mut schema {
        keys.insert("$id".into(), ID.into());
        keys.insert("title".into(), "evidence-gate record".into());
    }
    schema
}
