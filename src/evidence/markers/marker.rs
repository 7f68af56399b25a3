//! A marker and what it is.

/// What a marker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkerKind {
    /// A test does not run, or its failure does not count.
    Skip,
    /// A test that ran must fail now: `should_panic` and its kin. Nothing on a new test.
    Inverted,
    /// Only this test runs.
    Focus,
    /// A test may fail and run again, or takes longer.
    Retry,
    /// Outcomes or exit codes are set.
    Forced,
    /// Tests are not collected.
    Disabled,
    /// Product code raises a test framework's skip.
    SkipInProduct,
    /// Lines are kept out of the coverage.
    Coverage,
    /// Product code asks whether a test runs.
    Probe,
    /// The process ends with success where nothing was judged.
    ExitZero,
    /// Everything is equal to everything.
    Equality,
    /// Product code imports, patches or opens evidence or the test framework.
    Touches,
    /// A test run rewrites its snapshots.
    Snapshot,
    /// A step of the tests cannot fail.
    Masked,
}

/// Whether a marker always holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// Always.
    Always,
    /// Only when this, in the file's own words.
    When(String),
}

impl Condition {
    /// Whether it always holds.
    pub fn is_always(&self) -> bool {
        *self == Self::Always
    }
}

/// How a file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Tests and what runs them.
    Test,
    /// The product; tests inside it are looked at as tests.
    Product,
}

/// One marker of one side of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// What it does.
    pub kind: MarkerKind,
    /// Whether always.
    pub condition: Condition,
    /// How it is written, for people.
    pub spelling: String,
    /// The test, suite or function that holds it; empty at the top of the file.
    pub scope: String,
    /// The tests that it hides, as far as they can be told.
    pub tests: Vec<String>,
    /// The tokens of the body of the test that holds it, by which a renamed test is known.
    pub body: Option<Vec<u8>>,
    /// How many retries, how much time.
    pub amount: Option<f64>,
    /// Whether it hides nothing on a test that the base does not have.
    pub only_existing: bool,
    /// Its line, from 1.
    pub line: u32,
}

impl Marker {
    /// A marker at the top of a file.
    pub fn new(kind: MarkerKind, spelling: impl Into<String>, line: u32) -> Self {
        Self {
            kind,
            condition: Condition::Always,
            spelling: spelling.into(),
            scope: String::new(),
            tests: Vec::new(),
            body: None,
            amount: None,
            only_existing: kind == MarkerKind::Inverted,
            line,
        }
    }
}
