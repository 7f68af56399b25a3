//! JUnit XML, in the dialects of pytest, surefire, nextest, jest-junit, gotestsum, PHPUnit and RSpec.
//!
//! There is no standard; what they share is `testcase` with `name`, and inside it `failure` or `error`. Deliberately absent: document
//! types and entities of one's own, which are refused and never expanded.

mod case;
mod failure;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

pub use case::Case;
pub use failure::TestFailure;

/// The largest report that is read, in bytes.
pub const LARGEST_REPORT: u64 = 64 << 20;

/// Values of `status` by which `GoogleTest` and others say that a test did not run.
const NOT_RUN: [&str; 4] = ["notrun", "skipped", "disabled", "ignored"];

/// Elements nest no deeper than this.
const DEEPEST: usize = 256;

/// Why a report cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct JunitError {
    /// From 1.
    pub line: usize,
    /// What is wrong there.
    pub why: String,
}

/// Every test case of a report, in its order. A report without a test case is an error: whoever asks expects some.
pub fn read(bytes: &[u8]) -> Result<Vec<Case>, JunitError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| JunitError { line: line_at(bytes, error.valid_up_to()), why: "it is no UTF-8".to_owned() })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    let mut report = Report::default();
    loop {
        let event = reader.read_event();
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let fault = |why: String| JunitError { line: line_at(text.as_bytes(), at), why };
        match event.map_err(|error| fault(format!("it is no XML: {error}")))? {
            Event::Eof => return report.end().map_err(fault),
            event => report.take(&event).map_err(fault)?,
        }
    }
}

fn line_at(bytes: &[u8], at: usize) -> usize {
    bytes[..at.min(bytes.len())].split(|byte| *byte == b'\n').count()
}

/// The report as far as it was read.
#[derive(Default)]
struct Report {
    cases: Vec<Case>,
    open: Vec<String>,
    suites: Vec<String>,
    case: Option<Case>,
    /// The failure that is open, and the text in it.
    failure: Option<Raw>,
}

/// A failure as it stands in the report.
struct Raw {
    element: String,
    kind: Option<String>,
    message: Option<String>,
    text: String,
}

impl Report {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(element) => self.start(element),
            Event::Empty(element) => {
                self.start(element)?;
                self.close();
                Ok(())
            }
            Event::End(_) => {
                self.close();
                Ok(())
            }
            Event::Text(text) => {
                self.text(&text.xml10_content());
                Ok(())
            }
            Event::CData(text) => {
                self.text(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(reference) => {
                let name = reference.borrow().into_inner();
                let sign = reference.resolve_char_ref().map_err(|error| format!("it is no XML: {error}"))?;
                match sign {
                    Some(sign) => self.text(sign.encode_utf8(&mut [0; 4])),
                    None => match quick_xml::escape::resolve_predefined_entity(&name) {
                        Some(text) => self.text(text),
                        None => return Err(format!("the entity `{name}` is not known, and none is expanded")),
                    },
                }
                Ok(())
            }
            Event::DocType(_) => Err("it has a document type, which no test report needs: none is read".to_owned()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::Eof => Ok(()),
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let name = element.local_name();
        let name: &str = name.as_ref();
        if self.open.is_empty() && !matches!(name, "testsuites" | "testsuite") {
            return Err(format!("it begins with `{name}`, and a JUnit report with `testsuites` or `testsuite`"));
        }
        if self.open.len() >= DEEPEST {
            return Err(format!("elements nest more than {DEEPEST} deep"));
        }
        match name {
            "testsuite" => self.suites.push(attribute(element, "name")?.unwrap_or_default()),
            "testcase" => {
                if self.case.is_some() {
                    return Err("a test case stands inside another".to_owned());
                }
                let name = attribute(element, "name")?.ok_or("a test case has no `name`")?;
                self.case = Some(Case {
                    name,
                    class: attribute(element, "classname")?.filter(|class| !class.is_empty()),
                    php_class: attribute(element, "class")?.filter(|class| !class.is_empty()),
                    file: attribute(element, "file")?.filter(|file| !file.is_empty()),
                    suite: self.suites.last().cloned().unwrap_or_default(),
                    failures: Vec::new(),
                    skipped: attribute(element, "status")?.is_some_and(|status| NOT_RUN.contains(&status.as_str())),
                });
            }
            "failure" | "error" | "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError"
                if self.failure.is_none() =>
            {
                self.failure = Some(Raw {
                    element: name.to_owned(),
                    kind: attribute(element, "type")?,
                    message: attribute(element, "message")?,
                    text: String::new(),
                });
            }
            "skipped" => self.case.iter_mut().for_each(|case| case.skipped = true),
            _ => {}
        }
        self.open.push(name.to_owned());
        Ok(())
    }

    /// The reader has checked that the names fit.
    fn close(&mut self) {
        let Some(name) = self.open.pop() else { return };
        match name.as_str() {
            "testsuite" => drop(self.suites.pop()),
            "testcase" => self.cases.extend(self.case.take()),
            _ => {
                if let Some(raw) = self.failure.take_if(|raw| raw.element == name)
                    && let Some(case) = &mut self.case
                {
                    case.failures.push(TestFailure::new(&raw.element, raw.kind, raw.message, raw.text));
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        // A stack trace inside of `rerunFailure` is text of the failure like its own.
        if let Some(failure) = &mut self.failure {
            failure.text.push_str(text);
        }
    }

    fn end(self) -> Result<Vec<Case>, String> {
        match self.open.last() {
            Some(open) => Err(format!("it ends inside `{open}`")),
            None if self.cases.is_empty() => Err("it has no test case".to_owned()),
            None => Ok(self.cases),
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("an attribute cannot be read: {error}");
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| wrong(&error))?;
        let key: &str = attribute.key.as_ref();
        if key == name {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| wrong(&error))?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}
