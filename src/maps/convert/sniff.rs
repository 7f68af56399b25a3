//! Which tool wrote some bytes.

use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::coarse::Coarse;

/// What can be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A map already.
    Map,
    CoverageSqlite,
    CoverageJson,
    Lcov,
    Testwise,
    Tarpaulin,
    Go,
    Stryker,
    Istanbul,
    Coarse(Coarse),
    /// None that is known.
    Unknown,
}

/// How many bytes at the start tell formats apart that are no JSON.
const HEAD: usize = 4096;

/// Reads as much as it takes to know.
pub(super) fn sniff(plain: &mut dyn BufRead) -> io::Result<Format> {
    let mut head = Vec::with_capacity(HEAD);
    (&mut *plain).take(HEAD as u64).read_to_end(&mut head)?;
    if head.starts_with(b"SQLite format 3\0") {
        return Ok(Format::CoverageSqlite);
    }
    if head.starts_with(&[0x01, 0xc0, 0xc0]) {
        return Ok(Format::Coarse(Coarse::JacocoExec));
    }
    let lossy = String::from_utf8_lossy(&head).into_owned();
    let text = lossy.trim_start_matches('\u{feff}').trim_start();
    Ok(match text {
        text if text.starts_with("mode: ") => Format::Go,
        text if text.starts_with("TN:") || text.starts_with("SF:") => Format::Lcov,
        text if text.starts_with('<') => xml(text),
        text if text.starts_with('{') => json(io::Read::chain(&head[..], plain)),
        _ => Format::Unknown,
    })
}

fn xml(text: &str) -> Format {
    let coarse = if text.contains("<report") && text.to_lowercase().contains("jacoco") {
        Coarse::JacocoXml
    } else if text.contains("<coverage") && text.contains("line-rate") {
        if text.contains("coverage.py") { Coarse::CoberturaOfCoveragePy } else { Coarse::Cobertura }
    } else if text.contains("<coverage") && text.contains("<project") {
        Coarse::Clover
    } else if text.contains("<coverage version=\"1\"") {
        Coarse::Sonar
    } else {
        return Format::Unknown;
    };
    Format::Coarse(coarse)
}

/// The keys of a document, and those of its first value that is an object.
#[derive(Default)]
struct Shape {
    top: Vec<String>,
    inner: Vec<String>,
}

/// How many keys are looked at. Every tool's own keys come among the first ones.
const KEYS: usize = 16;

fn json(from: impl Read) -> Format {
    let mut shape = Shape::default();
    // Broken JSON is named by whoever reads it for good.
    let _read = Top(&mut shape).deserialize(&mut serde_json::Deserializer::from_reader(io::BufReader::new(from)));
    let top = |key: &str| shape.top.iter().any(|known| known == key);
    let inner = |key: &str| shape.inner.iter().any(|known| known == key);
    if top("schema") || top("base_sha") || top("collected") {
        Format::Map
    } else if top("files") && (top("testFiles") || top("schemaVersion")) {
        Format::Stryker
    } else if top("meta") && top("files") {
        Format::CoverageJson
    } else if top("files") && top("coverable") {
        Format::Tarpaulin
    } else if top("tests") {
        Format::Testwise
    } else if inner("statementMap") || inner("data") {
        Format::Istanbul
    } else if inner("coverage") && inner("timestamp") {
        Format::Coarse(Coarse::SimpleCov)
    } else {
        Format::Map
    }
}

struct Top<'s>(&'s mut Shape);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.0.top.push(key);
            map.next_value_seed(Inner(&mut self.0.inner))?;
            if self.0.top.len() >= KEYS {
                // Enough is known; the rest is not read, so the document ends in an error that nobody asks about.
                return Err(serde::de::Error::custom("enough"));
            }
        }
        Ok(())
    }
}

/// Notes the keys of the first object, and passes over everything else.
struct Inner<'s>(&'s mut Vec<String>);

impl<'de> DeserializeSeed<'de> for Inner<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inner<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let note = self.0.is_empty();
        while let Some(key) = map.next_key::<String>()? {
            if note && self.0.len() < KEYS {
                self.0.push(key);
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
