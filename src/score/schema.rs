//! The published JSON Schema of the record.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::Record;

/// Where the schema is published.
const ID: &str = "https://raw.githubusercontent.com/evidence-gate/evidence-gate/main/docs/record.schema.json";

/// The JSON Schema (draft 2020-12) of a record as it is written: every key is there, and null where it has no value.
/// `docs/record.schema.json` is this value, and a test holds the two together.
pub fn record_schema() -> Value {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Record>();
    let mut keys = Map::new();
    keys.insert("$schema".into(), SchemaSettings::draft2020_12().meta_schema.into());
    keys.insert("$id".into(), ID.into());
    keys.insert("title".into(), "evidence-gate record".into());
    let rest = schema.to_value().as_object().cloned().unwrap_or_default();
    for (key, value) in rest {
        keys.entry(key).or_insert(value);
    }
    keys.into()
}
