//! Names of tests: which belong to one test, and which a freeze takes out.

use crate::policy::Reach;

/// The parts of a test's run that pytest-cov tells apart behind the last `|` of a context
/// (<https://pytest-cov.readthedocs.io/en/latest/contexts.html>).
const PHASES: [(&str, u8); 3] = [("setup", 1), ("run", 2), ("teardown", 3)];

/// The node id without its phase, and the phase's number in `PHASES`, or 0 for none. What stands before the last `|` may hold
/// further ones.
pub(super) fn split_phase(id: &str) -> (&str, u8) {
    match id.rsplit_once('|') {
        Some((test, phase)) if !test.is_empty() => {
            let known = PHASES.iter().find(|(name, _)| *name == phase);
            known.map_or((id, 0), |(_, number)| (test, *number))
        }
        _ => (id, 0),
    }
}

/// What the names begin with that a freeze takes out, besides its own name.
///
/// Parameters: `t.py::test_x[3]` of `t.py::test_x`; data sets of PHPUnit; subtests of Go, whose functions begin with `Test`, `Fuzz`,
/// `Example` or `Benchmark`.
pub(super) fn beginnings(frozen: &str, reach: Reach) -> Vec<String> {
    let mut found = Vec::new();
    if !frozen.ends_with(']') {
        found.push(format!("{frozen}["));
    }
    if frozen.contains("::") && !frozen.contains(" with data set ") {
        found.push(format!("{frozen} with data set "));
    }
    let name = frozen.rsplit(['.', '/', ':']).next().unwrap_or(frozen);
    let of_go = ["Test", "Fuzz", "Example", "Benchmark"].iter().any(|start| name.starts_with(start));
    if of_go && !frozen.contains("::") {
        found.push(format!("{frozen}/"));
    }
    let names_a_file = !frozen.contains("::") && frozen.contains(['/', '.']);
    if reach == Reach::File || (reach == Reach::Class && !names_a_file) {
        found.extend([format!("{frozen}::"), format!("{frozen}#")]);
    }
    found
}

/// Whether a frozen id takes out a test, whose id has no phase.
pub fn takes_out(frozen: &str, test: &str, reach: Reach) -> bool {
    let (frozen, _) = split_phase(frozen);
    frozen == test || beginnings(frozen, reach).iter().any(|start| test.starts_with(start.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_phase_behind_the_last_bar_is_cut_off() {
        assert_eq!(split_phase("t.py::test_a|run"), ("t.py::test_a", 2));
        assert_eq!(split_phase("t.py::test_a[x|run]"), ("t.py::test_a[x|run]", 0));
        assert_eq!(split_phase("t.py::test_a[x|y]|teardown"), ("t.py::test_a[x|y]", 3));
        assert_eq!(split_phase("t.py::test_a[|]"), ("t.py::test_a[|]", 0));
        assert_eq!(split_phase("|run"), ("|run", 0));
    }

    #[test]
    fn a_freeze_reaches_parameters_and_no_further_unless_asked() {
        let takes = |frozen: &str, id: &str, reach| {
            frozen == id || beginnings(frozen, reach).iter().any(|start| id.starts_with(start.as_str()))
        };
        for (frozen, id) in [
            ("t.py::test_x", "t.py::test_x[a::b|c d]"),
            ("t.py::test_x[a]", "t.py::test_x[a]"),
            ("MoneyTest::testUneven", "MoneyTest::testUneven with data set #0"),
            ("csvx.TestRead", "csvx.TestRead/Simple"),
        ] {
            assert!(takes(frozen, id, Reach::Function), "{frozen} {id}");
        }
        for (frozen, id) in [
            ("t.py::test_x", "t.py::test_xy"),
            ("t.py::test_x[a]", "t.py::test_x[a][b]"),
            ("t.py::TestC", "t.py::TestC::test_x"),
            ("t.py", "t.py::test_x"),
            ("tests", "tests/t.py::test_x"),
        ] {
            assert!(!takes(frozen, id, Reach::Function), "{frozen} {id}");
        }
        assert!(takes("t.py::TestC", "t.py::TestC::test_x", Reach::Class));
        assert!(!takes("t.py", "t.py::test_x", Reach::Class));
        assert!(takes("t.py", "t.py::test_x", Reach::File));
    }
}
