//! The folder of PHPUnit's `--coverage-xml` (<https://docs.phpunit.de/en/11.5/code-coverage.html>): `index.xml` names tests and files,
//! and each file's own document which test covers which line.

use std::path::Path;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::run::{Draft, wrong};
use crate::maps::MapError;

/// The largest document that is read.
const LARGEST: u64 = 256 << 20;

pub(super) fn convert(draft: &mut Draft<'_>, folder: &Path) -> Result<(), MapError> {
    let at = folder.join("index.xml");
    let origin = at.display().to_string();
    let mut index = Index::default();
    each(&at, &mut |element| index.take(element))?;
    if index.tests.is_empty() {
        return Err(wrong(&origin)("it is no index of PHPUnit, or one without tests".to_owned()));
    }
    draft.tool(format!("phpunit {}", index.version).trim_end());
    for test in &index.tests {
        draft.map.test(test).map_err(wrong(&origin))?;
    }
    for href in &index.files {
        crate::maps::paths::in_tree(href).map_err(wrong(&origin))?;
        let at = folder.join(href);
        let path = format!("{}/{}", index.source.trim_end_matches('/'), href.strip_suffix(".xml").unwrap_or(href));
        let mut cover = Cover::default();
        each(&at, &mut |element| cover.take(element))?;
        let origin = at.display().to_string();
        for (line, test) in cover.covered {
            let line = draft.line(line).map_err(wrong(&origin))?;
            draft.ran(&test, &path, &mut vec![line]).map_err(wrong(&origin))?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Index {
    version: String,
    source: String,
    tests: Vec<String>,
    files: Vec<String>,
}

impl Index {
    fn take(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        match element.local_name().as_ref() {
            "build" => self.version = attribute(element, "phpunit")?.unwrap_or_default(),
            "project" => self.source = attribute(element, "source")?.unwrap_or_default(),
            "test" => self.tests.extend(attribute(element, "name")?),
            "file" => self.files.extend(attribute(element, "href")?),
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
struct Cover {
    line: Option<u64>,
    covered: Vec<(u64, String)>,
}

impl Cover {
    fn take(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        match element.local_name().as_ref() {
            "line" => {
                let number = attribute(element, "nr")?;
                self.line =
                    number.map(|text| text.parse().map_err(|_| format!("\"{text}\" is no line"))).transpose()?;
            }
            "covered" => {
                let by = attribute(element, "by")?.ok_or("`covered` does not say by what")?;
                self.covered.push((self.line.ok_or("`covered` stands outside a line")?, by));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Calls `take` with each element of a document.
fn each(path: &Path, take: &mut dyn FnMut(&BytesStart<'_>) -> Result<(), String>) -> Result<(), MapError> {
    let origin = path.display().to_string();
    let read = |source| MapError::Read { origin: origin.clone(), source };
    if std::fs::metadata(path).map_err(read)?.len() > LARGEST {
        return Err(wrong(&origin)(format!("it has more than {} MiB", LARGEST >> 20)));
    }
    let text = std::fs::read_to_string(path).map_err(read)?;
    let mut reader = Reader::from_str(&text);
    loop {
        let at = reader.buffer_position();
        let fault = |why: String| wrong(&origin)(format!("byte {at}: {why}"));
        match reader.read_event().map_err(|error| fault(format!("it is no XML: {error}")))? {
            Event::Start(element) | Event::Empty(element) => take(&element).map_err(fault)?,
            Event::DocType(_) => return Err(fault("it declares a document type".to_owned())),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let found = element.try_get_attribute(name).map_err(|error| error.to_string())?;
    let text = found.map(|found| found.normalized_value(XmlVersion::Implicit1_0).map(std::borrow::Cow::into_owned));
    text.transpose().map_err(|error| error.to_string())
}
