//! `coverage json --show-contexts` (<https://coverage.readthedocs.io/en/latest/commands/cmd_json.html>), one file at a time.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::coarse::Coarse;
use super::contexts::Contexts;
use super::run::Draft;
use crate::maps::MapError;
use crate::maps::json::document;

pub(super) fn convert(
    draft: &mut Draft<'_>,
    contexts: &mut Contexts,
    plain: &mut dyn BufRead,
    origin: &str,
) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    let mut found = false;
    let report = Report { draft, contexts, origin, found: &mut found };
    document(origin, plain, &limits, report)?;
    if found { Ok(()) } else { Coarse::CoverageJsonWithoutContexts.refused(origin) }
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default)]
    version: String,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    executed_lines: Vec<u64>,
    #[serde(default)]
    missing_lines: Vec<u64>,
    #[serde(default)]
    contexts: BTreeMap<String, Vec<String>>,
}

struct Report<'r, 'a> {
    draft: &'r mut Draft<'a>,
    contexts: &'r mut Contexts,
    origin: &'r str,
    found: &'r mut bool,
}

impl<'de> DeserializeSeed<'de> for Report<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Report<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the report of coverage.py")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut top: A) -> Result<(), A::Error> {
        while let Some(key) = top.next_key::<String>()? {
            match key.as_str() {
                "meta" => {
                    let meta: Meta = top.next_value()?;
                    self.draft.tool(format!("coverage.py {}", meta.version).trim_end());
                }
                "files" => top.next_value_seed(Files(&mut self))?,
                _ => drop(top.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Files<'f, 'r, 'a>(&'f mut Report<'r, 'a>);

impl<'de> DeserializeSeed<'de> for Files<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Files<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files with their contexts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        while let Some((path, file)) = files.next_entry::<String, File>()? {
            self.0.file(&path, file).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

impl Report<'_, '_> {
    fn file(&mut self, path: &str, file: File) -> Result<(), String> {
        let mut executable = Vec::new();
        for line in file.executed_lines.into_iter().chain(file.missing_lines).filter(|line| *line > 0) {
            executable.push(self.draft.line(line)?);
        }
        self.draft.executable(path, &executable)?;
        let mut by_context: HashMap<usize, Vec<u32>> = HashMap::new();
        for (line, names) in file.contexts {
            let line = line.parse().map_err(|_| format!("\"{line}\" is no line number"))?;
            if line == 0 {
                continue;
            }
            let line = self.draft.line(line)?;
            for name in names {
                *self.found |= !name.is_empty();
                by_context.entry(self.contexts.add(&name, self.origin)).or_default().push(line);
            }
        }
        let mut cells: Vec<(usize, Vec<u32>)> = by_context.into_iter().collect();
        cells.sort_unstable();
        for (context, lines) in cells {
            self.contexts.ran(context, path, lines);
        }
        Ok(())
    }
}
