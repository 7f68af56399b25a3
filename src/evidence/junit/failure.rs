//! What went wrong, as type and message.

use std::sync::LazyLock;

use regex::Regex;

/// A failure of a test: what a signature is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFailure {
    /// The exception's type; where the report names none, the one that the message begins with, or else the element.
    pub exc_type: String,
    /// The message, without the type in front of it.
    pub message: String,
}

/// A name of a type, a colon and the rest; or the name alone on its line.
static TYPED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?P<type>[A-Za-z_][\w$]*(?:(?:\.|\\|::)[A-Za-z_][\w$]*)*)(?::[ \t]|:?[ \t]*(?:\n|$))")
        .expect("it compiles")
});

impl TestFailure {
    /// Of an element's name, its attributes `type` and `message`, and its text.
    pub(in crate::evidence) fn new(element: &str, kind: Option<String>, message: Option<String>, text: String) -> Self {
        let said = |text: &str| !text.trim().is_empty();
        // gotestsum says `Failed` of everything, and what failed in the text.
        let message = message.filter(|message| said(message) && !(message.trim() == "Failed" && said(&text)));
        let message = message.unwrap_or(text);
        if let Some(exc_type) = kind.filter(|kind| said(kind)) {
            let rest = message.strip_prefix(&exc_type).and_then(|rest| rest.strip_prefix(": "));
            let message = rest.unwrap_or(&message).to_owned();
            return Self { exc_type, message };
        }
        let trimmed = message.trim_start();
        if let Some(found) = TYPED.captures(trimmed)
            && is_a_type(&found["type"])
        {
            let exc_type = found["type"].to_owned();
            return Self { exc_type, message: trimmed[found[0].len()..].to_owned() };
        }
        // pytest leaves the type of a plain assertion out.
        if trimmed.starts_with("assert ") {
            return Self { exc_type: "AssertionError".to_owned(), message };
        }
        Self { exc_type: element.to_owned(), message }
    }
}

fn is_a_type(name: &str) -> bool {
    let last = name.rsplit(['.', '\\', ':']).next().unwrap_or(name);
    let ends = ["Error", "Exception", "Failure", "Failed", "Exit", "Interrupt", "Warning", "Timeout", "Iteration"];
    last.starts_with(|sign: char| sign.is_uppercase()) && ends.iter().any(|end| last.ends_with(end))
}
