//! Coverage maps: real ones through reading, indexing and asking, generated ones against a plain implementation, and broken ones.

mod broken;
mod commands;
mod convert;
mod depot;
mod price;
mod real;
mod round_trip;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;

use evidence_gate::maps::{Index, Limits, Map, MapError, read_map};

/// `{test: {file: lines}}`, as plain as can be.
pub type Plain = BTreeMap<String, BTreeMap<String, BTreeSet<u32>>>;

pub fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/maps").join(name)
}

pub fn json(plain: &Plain) -> Vec<u8> {
    serde_json::to_vec(plain).unwrap()
}

pub fn read(bytes: &[u8]) -> Result<Map, MapError> {
    read_map("map.json", bytes, Limits::default())
}

pub fn index(bytes: &[u8]) -> Index {
    Index::in_memory("map.json", read(bytes).unwrap()).unwrap()
}

pub fn refusal(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

pub fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}
