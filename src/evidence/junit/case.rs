//! A test case, and the ids by which people and runners call it.

use super::TestFailure;

/// One `testcase`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// `name`
    pub name: String,
    /// `classname`: a class, a module, a package or a crate.
    pub class: Option<String>,
    /// `class`, which PHPUnit writes with backslashes where `classname` has dots.
    pub php_class: Option<String>,
    /// `file`, where the dialect has it.
    pub file: Option<String>,
    /// The name of the innermost suite.
    pub suite: String,
    /// What went wrong, in order; a flaky test has some and may have passed in the end.
    pub failures: Vec<TestFailure>,
    /// Whether it did not run: `skipped`, or a status that says so.
    pub skipped: bool,
}

impl Case {
    /// The id that its own runner prints, as far as the report tells; the first that [`Case::is_called`] knows.
    pub fn id(&self) -> String {
        self.ids().remove(0)
    }

    /// Whether a node id means this case, in one of the spellings that runners use.
    pub fn is_called(&self, nodeid: &str) -> bool {
        let nodeid = nodeid.strip_prefix("./").unwrap_or(nodeid);
        self.ids().iter().any(|id| id == nodeid) || self.is_pytest(nodeid)
    }

    /// Whether a node id means this case, or all parameters of a test of which this is one: `t.py::test_x` for `t.py::test_x[3]`.
    pub fn is_one_of(&self, nodeid: &str) -> bool {
        let plain =
            || self.name.split_once('[').filter(|(_, rest)| rest.ends_with(']')).map(|(name, _)| name.to_owned());
        self.is_called(nodeid)
            || plain().is_some_and(|name| Self { name, failures: Vec::new(), ..self.clone() }.is_called(nodeid))
    }

    fn ids(&self) -> Vec<String> {
        let name = &self.name;
        let file = self.file.as_deref().map(|file| file.strip_prefix("./").unwrap_or(file));
        let mut ids = Vec::new();
        if let Some(class) = &self.php_class {
            // PHPUnit
            ids.push(format!("{class}::{name}"));
        }
        ids.extend(self.pytest_of_file());
        if let Some(file) = file {
            // RSpec, and jest-junit with `addFileAttribute`
            ids.extend(["::", " > ", " "].map(|joint| format!("{file}{joint}{name}")));
        }
        if let Some(class) = &self.class {
            // surefire, nextest, gotestsum
            ids.extend(["::", "#", ".", "/", " ", "$"].map(|joint| format!("{class}{joint}{name}")));
        }
        if !self.suite.is_empty() {
            ids.extend(["::", " "].map(|joint| format!("{}{joint}{name}", self.suite)));
        }
        ids.push(name.clone());
        ids
    }

    /// pytest with the family `xunit1` writes the file: its class name is the file's with dots, and the classes behind it.
    fn pytest_of_file(&self) -> Option<String> {
        let file = self.file.as_deref()?.strip_suffix(".py")?;
        let classes = self.class.as_deref()?.strip_prefix(&file.replace('/', "."))?;
        let classes: Vec<&str> = classes.split('.').filter(|class| !class.is_empty()).collect();
        let mut parts = vec![format!("{file}.py")];
        parts.extend(classes.into_iter().map(str::to_owned));
        parts.push(self.name.clone());
        Some(parts.join("::"))
    }

    /// Without the file (family `xunit2`, the default) its node id cannot be told from the report, but made into class name and name as
    /// pytest does: <https://docs.pytest.org/en/stable/how-to/output.html#creating-junitxml-format-files>.
    fn is_pytest(&self, nodeid: &str) -> bool {
        let (path, parameters) = match nodeid.split_once('[') {
            Some((path, parameters)) => (path, format!("[{parameters}")),
            None => (nodeid, String::new()),
        };
        let mut parts: Vec<String> = path.split("::").map(str::to_owned).collect();
        if parts.len() < 2 {
            return false;
        }
        let module = parts[0].strip_suffix(".py").unwrap_or(&parts[0]).replace('/', ".");
        parts[0] = module;
        let name = parts.pop().unwrap_or_default() + &parameters;
        self.name == name && self.class.as_deref() == Some(&parts.join("."))
    }
}
