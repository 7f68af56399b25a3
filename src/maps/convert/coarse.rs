//! Output that does not say which test ran which line.

use crate::maps::MapError;

/// A format that is known and of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coarse {
    Lcov,
    LcovOfCoveragePy,
    Cobertura,
    CoberturaOfCoveragePy,
    Clover,
    Sonar,
    JacocoXml,
    JacocoExec,
    Testmon,
    SimpleCov,
    CoverageJsonWithoutContexts,
    CoverageSqliteWithoutContexts,
    StrykerWithoutTests,
}

const MERGED: &str = "it counts the lines of all tests together";
const COVERAGE_PY: &str = "run `pytest --cov --cov-context=test` and convert the file `.coverage` itself";
const JAVA: &str = "record each test with the Teamscale JaCoCo agent in testwise mode and convert its testwise JSON";

impl Coarse {
    pub(super) fn error(self, origin: &str) -> MapError {
        let (format, why, next) = match self {
            Self::Lcov => (
                "LCOV without test names, as Jest, c8, nyc, vitest and node write it",
                MERGED,
                "write istanbul's counters after each test, one file per test, and convert the folder (docs/coverage.md, JavaScript)",
            ),
            Self::LcovOfCoveragePy => ("the LCOV report of coverage.py", MERGED, COVERAGE_PY),
            Self::CoberturaOfCoveragePy => ("the XML report of coverage.py", MERGED, COVERAGE_PY),
            Self::Cobertura => (
                "a Cobertura report",
                MERGED,
                "convert what the tool recorded per test instead; docs/coverage.md names it for each ecosystem",
            ),
            Self::Clover => (
                "a Clover report",
                MERGED,
                "for PHP run `phpunit --coverage-xml DIR` and convert that folder; docs/coverage.md names more",
            ),
            Self::Sonar => (
                "a report in Sonar's generic format",
                MERGED,
                "convert what the tool recorded per test instead; docs/coverage.md names it for each ecosystem",
            ),
            Self::JacocoXml => ("a merged JaCoCo report", MERGED, JAVA),
            Self::JacocoExec => ("JaCoCo execution data", "it holds probes of classes and no lines", JAVA),
            Self::Testmon => (
                "the database of pytest-testmon",
                "it holds checksums of blocks and no lines",
                "run `pytest --cov --cov-context=test` and convert the file `.coverage`",
            ),
            Self::SimpleCov => (
                "a result set of SimpleCov",
                MERGED,
                "write what Ruby's own Coverage says after each example as a map of `{id: {file: [lines]}}` (docs/coverage.md, Ruby)",
            ),
            Self::CoverageJsonWithoutContexts => (
                "the JSON report of coverage.py without contexts",
                MERGED,
                "run `pytest --cov --cov-context=test`, then `coverage json --show-contexts`",
            ),
            Self::CoverageSqliteWithoutContexts => {
                ("data of coverage.py without contexts", MERGED, "run `pytest --cov --cov-context=test`")
            }
            Self::StrykerWithoutTests => (
                "a report of Stryker without tests per mutant",
                "no mutant says which tests cover it",
                "set `coverageAnalysis` to `perTest` and run Stryker again",
            ),
        };
        MapError::TooCoarse { origin: origin.to_owned(), format, why, next }
    }
}
