//! Testwise coverage as Teamscale's tools write it (<https://docs.teamscale.com/reference/upload-formats-and-samples/testwise-coverage/>).
//! Its paths are those of packages.

use std::fmt;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::run::Draft;
use crate::maps::json::document;
use crate::maps::{MapError, lines};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    uniform_path: String,
    #[serde(default)]
    paths: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    #[serde(default)]
    path: String,
    files: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    file_name: String,
    covered_lines: String,
}

pub(super) fn convert(draft: &mut Draft<'_>, plain: &mut dyn BufRead, origin: &str) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    draft.tool("testwise coverage");
    document(origin, plain, &limits, Report(draft))
}

struct Report<'r, 'a>(&'r mut Draft<'a>);

impl<'de> DeserializeSeed<'de> for Report<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Report<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a testwise report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut top: A) -> Result<(), A::Error> {
        while let Some(key) = top.next_key::<String>()? {
            match key.as_str() {
                "tests" => top.next_value_seed(Tests(self.0))?,
                // Whether the agent saw only the tests that a change impacts.
                "partial" => self.0.map.about.partial |= top.next_value::<bool>()?,
                _ => drop(top.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Tests<'r, 'a>(&'r mut Draft<'a>);

impl<'de> DeserializeSeed<'de> for Tests<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Tests<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tests")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut tests: A) -> Result<(), A::Error> {
        while let Some(test) = tests.next_element::<Test>()? {
            take(self.0, &test).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

fn take(draft: &mut Draft<'_>, test: &Test) -> Result<(), String> {
    let number = draft.map.test(&test.uniform_path)?;
    for package in &test.paths {
        for file in &package.files {
            let path = [package.path.trim_matches('/'), file.file_name.as_str()].join("/");
            let mut ran = Vec::new();
            lines::parse_ranges(&file.covered_lines, draft.asked.limits.line, &mut ran)?;
            if let Some(file) = draft.source(path.trim_start_matches('/'))? {
                draft.map.ran(number, file, &mut ran);
            }
        }
    }
    Ok(())
}
