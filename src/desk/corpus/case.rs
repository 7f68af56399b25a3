//! One case as it lies in its folder.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Failure;
use super::super::score::read_map;
use crate::pipeline::{OperatorsFile, OperatorsMap};
use crate::words::{BaseSha, Verdict};

/// What makes a folder a case.
pub(super) const EXPECTED: &str = "expected.json";

/// The policy of a case that says nothing else.
const POLICY: &str = "schema = 1\n\n[classes]\nproduct = [\"src/**\"]\n";

/// A case and where it lies.
pub(super) struct Case {
    pub(super) folder: PathBuf,
    pub(super) expected: Expected,
}

/// What is expected of the gate. Fields that this program does not need (the proof by a framework) are left alone.
#[derive(Deserialize)]
pub(super) struct Expected {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) control: bool,
    pub(super) verdict: Verdict,
    #[serde(default)]
    pub(super) also_acceptable: Vec<Verdict>,
    #[serde(default)]
    pub(super) rules: Vec<String>,
    #[serde(default)]
    pub(super) known_gap: bool,
    #[serde(default)]
    policy: Option<Value>,
}

impl Case {
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(EXPECTED);
        let bytes = std::fs::read(&file).map_err(|source| Failure::read(file.display(), source))?;
        let expected = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::BadInput(format!("{} says nothing that can be expected: {error}", file.display()))
        })?;
        Ok(Self { folder: folder.to_owned(), expected })
    }

    pub(super) fn base(&self) -> PathBuf {
        self.folder.join("base")
    }

    pub(super) fn patch(&self) -> PathBuf {
        self.folder.join("patch.diff")
    }

    /// The policy, with the sections that the case names in place of the common ones.
    pub(super) fn policy(&self) -> Result<String, Failure> {
        let wrong = |why: String| Failure::BadInput(format!("{}: `policy`: {why}", self.folder.display()));
        let mut policy: toml::Table = POLICY.parse().expect("a constant policy is TOML");
        if let Some(own) = &self.expected.policy {
            policy.extend(toml::Table::try_from(own).map_err(|error| wrong(error.to_string()))?);
        }
        toml::to_string(&policy).map_err(|error| wrong(error.to_string()))
    }

    /// The case's freezes, bound to the base commit, which has another name each time.
    pub(super) fn ledger(&self, base: &BaseSha) -> Result<Option<OperatorsFile>, Failure> {
        let Some(mut ledger) = self.json("freeze.json")? else { return Ok(None) };
        for entry in ledger["frozen"].as_array_mut().into_iter().flatten() {
            entry["bound_sha"] = json!(base);
        }
        let bytes = ledger.to_string().into_bytes();
        Ok(Some(OperatorsFile { origin: "the case's freezes".to_owned(), bytes: bytes.into() }))
    }

    /// The case's coverage map, put together in a file from what ran for each test and at import.
    pub(super) fn map(&self, file: &Path) -> Result<Option<OperatorsMap>, Failure> {
        let Some(tests) = self.json("coverage_by_test.json")? else { return Ok(None) };
        let import = self.json("import_lines.json")?.unwrap_or_else(|| json!({}));
        let tests: serde_json::Map<String, Value> =
            tests.as_object().into_iter().flatten().map(|(id, files)| (id.clone(), ranges(files))).collect();
        let map = json!({
            "schema": 2, "tool": "corpus", "collected": [], "tests": tests, "import": ranges(&import),
        });
        std::fs::write(file, map.to_string()).map_err(|source| Failure::write(file.display(), source))?;
        read_map(file).map(Some)
    }

    fn json(&self, name: &str) -> Result<Option<Value>, Failure> {
        let file = self.folder.join(name);
        if !file.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(&file).map_err(|source| Failure::read(file.display(), source))?;
        let value = serde_json::from_slice(&bytes);
        value.map(Some).map_err(|error| Failure::BadInput(format!("{} is no JSON: {error}", file.display())))
    }
}

/// Lists of lines as the map spells them: `1,4,7`.
fn ranges(files: &Value) -> Value {
    let line = |lines: &Value| {
        let lines: Vec<String> = lines.as_array().into_iter().flatten().map(ToString::to_string).collect();
        json!(lines.join(","))
    };
    let files = files.as_object().into_iter().flatten().map(|(file, lines)| (file.clone(), line(lines)));
    files.collect::<serde_json::Map<_, _>>().into()
}
