//! How a run ended -> what it says of the property.

use serde_json::Value;

use super::log::Line;
use super::{Asked, KnownBad, LogFault, Sample, TrialLog};
use crate::evidence::json::Json;
use crate::evidence::junit::TestFailure;
use crate::evidence::wording;
use crate::policy::{Keep, PropertyId};
use crate::sandbox::{Ended, Outcome as Run};

/// What one run of a property came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It made every trial, and none failed.
    Complete(TrialLog),
    /// It failed.
    Failed(Failed),
    /// It ended, and does not say enough: why, in a phrase that stands behind the name of the property.
    Incomplete(String),
}

/// A failure of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// The type of what was thrown; `ExitCode`, `Signal`, `Timeout`, `OutOfMemory` or `OutputLimit` where the log names none.
    pub exc_type: String,
    /// Its message.
    pub message: String,
    /// The trial log, where it left a whole one.
    pub log: Option<TrialLog>,
}

impl Failed {
    /// The smallest input that failed.
    pub fn counterexample(&self) -> Option<&Value> {
        self.log.as_ref()?.counterexample.as_ref()
    }

    /// Whether what failed is that a module or a program is not there.
    pub fn misses_something(&self) -> bool {
        const TYPES: [&str; 5] =
            ["ModuleNotFoundError", "ImportError", "ClassNotFoundException", "NoClassDefFoundError", "LoadError"];
        const PHRASES: [&str; 5] = [
            "No module named",
            "Cannot find module",
            "Cannot find package",
            "command not found",
            "error while loading shared libraries",
        ];
        let exc_type = self.exc_type.rsplit(['.', ':']).next().unwrap_or_default();
        let shells = self.exc_type == EXIT && self.message == exit_message(127);
        shells || TYPES.contains(&exc_type) || PHRASES.iter().any(|phrase| self.message.contains(phrase))
    }

    /// Whether two failures of one property with one seed have the same signature.
    pub fn is_same(&self, other: &Self, keep: &[Keep]) -> bool {
        let digest = |failed: &Self| {
            use crate::evidence::ledger::{MessageDigest, Normaliser};
            MessageDigest::of(&failed.message, Normaliser::default(), keep, None)
        };
        self.exc_type == other.exc_type && digest(self) == digest(other)
    }
}

impl Outcome {
    /// In a few words.
    pub fn told(&self) -> String {
        match self {
            Self::Complete(_) => "complete".to_owned(),
            Self::Failed(failed) => format!("failed with {}", wording::text(&failed.exc_type)),
            Self::Incomplete(_) => "incomplete".to_owned(),
        }
    }

    /// Higher is worse.
    pub fn severity(&self) -> u8 {
        match self {
            Self::Complete(_) => 0,
            Self::Incomplete(_) => 1,
            Self::Failed(_) => 2,
        }
    }
}

/// How much of a line of standard error is a message, in characters.
const LONGEST_LINE: usize = 2_000;

const EXIT: &str = "ExitCode";

fn exit_message(code: i32) -> String {
    format!("the process ended with {code}")
}

/// What a run in the mode `trials` says. A log that tells of a failure is a failure whatever the process ended with, and an end
/// other than 0 is one whatever the log says; only an end with 0 and a whole log is complete.
pub fn trials(run: &Run, asked: &Asked) -> Outcome {
    let log = TrialLog::read(&run.log, asked);
    match (run.ended, log) {
        (_, Ok(log)) if log.is_failure() => {
            let failed = thrown(&log).unwrap_or_else(|| {
                let (exc_type, message) = killed(run.ended).unwrap_or_else(|| died(run));
                let counterexample = ("Counterexample".to_owned(), "the property does not hold".to_owned());
                if run.ended == Ended::Exited(0) { counterexample } else { (exc_type, message) }
            });
            Outcome::Failed(Failed { exc_type: failed.0, message: failed.1, log: Some(log) })
        }
        (Ended::Exited(0), Ok(log)) => Outcome::Complete(log),
        (Ended::Exited(0), Err(LogFault::Absent)) => {
            Outcome::Incomplete("it ended with 0 and left no trial log".to_owned())
        }
        (Ended::Exited(0), Err(fault)) => Outcome::Incomplete(fault.to_string()),
        (ended, log) => {
            let (exc_type, message) = killed(ended).unwrap_or_else(|| died(run));
            Outcome::Failed(Failed { exc_type, message, log: log.ok() })
        }
    }
}

/// What the log says was thrown.
fn thrown(log: &TrialLog) -> Option<(String, String)> {
    let exc_type = log.exc_type.clone()?;
    Some((exc_type, log.message.clone().unwrap_or_default()))
}

/// Ends that are not the program's own.
fn killed(ended: Ended) -> Option<(String, String)> {
    let (exc_type, message) = match ended {
        Ended::Exited(_) => return None,
        Ended::Signalled(signal) => ("Signal", format!("the process was ended by signal {signal}")),
        Ended::TimedOut => ("Timeout", "the time ran out".to_owned()),
        Ended::OutOfMemory => ("OutOfMemory", "it used more memory than it may".to_owned()),
        Ended::OutputLimit => ("OutputLimit", "it wrote more than it may".to_owned()),
    };
    Some((exc_type.to_owned(), message))
}

/// The last line of standard error that names a type, such as `ModuleNotFoundError: No module named 'x'`; else the exit code.
fn died(run: &Run) -> (String, String) {
    let text = String::from_utf8_lossy(&run.stderr);
    let named = text.lines().rev().take(200).find_map(|line| {
        let line = line.chars().take(LONGEST_LINE).collect();
        let failure = TestFailure::new("", None, Some(line), String::new());
        (!failure.exc_type.is_empty()).then_some((failure.exc_type, failure.message))
    });
    named.unwrap_or_else(|| match run.ended {
        Ended::Exited(code) => (EXIT.to_owned(), exit_message(code)),
        other => killed(other).unwrap_or_default(),
    })
}

/// The reason why a run in another mode says nothing: how it ended, where that was not with 0.
fn no_answer(run: &Run) -> Option<String> {
    let (exc_type, message) = killed(run.ended).unwrap_or_else(|| died(run));
    (run.ended != Ended::Exited(0)).then(|| format!("{}: {}", wording::text(&exc_type), wording::text(&message)))
}

/// What a run in the mode `sample` says: its log is `{"property_id": ..., "sample": VALUE}`, and the value must be what the oracles
/// hold. Who compares is not the program.
pub fn sample(run: &Run, id: &PropertyId, held: &Value) -> Sample {
    if let Some(why) = no_answer(run) {
        return Sample::Incomplete(why);
    }
    let line = match Line::read(&run.log, id, &["property_id", "sample"]) {
        Ok(line) => line,
        Err(fault) => return Sample::Incomplete(fault.to_string()),
    };
    match line.value("sample") {
        None => Sample::Incomplete(LogFault::Missing("sample").to_string()),
        Some(made) => difference(held, made, "$").map_or(Sample::Same, Sample::Stale),
    }
}

/// The first place where two values differ.
fn difference(held: &Value, made: &Value, place: &str) -> Option<String> {
    match (held, made) {
        (Value::Array(held), Value::Array(made)) if held.len() == made.len() => held
            .iter()
            .zip(made)
            .enumerate()
            .find_map(|(at, (held, made))| difference(held, made, &format!("{place}[{at}]"))),
        (Value::Object(held), Value::Object(made))
            if held.keys().all(|key| made.contains_key(key)) && held.len() == made.len() =>
        {
            held.iter().find_map(|(key, held)| difference(held, &made[key], &format!("{place}.{key}")))
        }
        (held, made) if held == made => None,
        (held, made) => {
            let shown = |value: &Value| wording::text(&value.to_string());
            Some(format!("{} holds {}, and {} comes out now", wording::text(place), shown(held), shown(made)))
        }
    }
}

/// What a run in the mode `known_bad` says: its log is `{"property_id": ..., "judged": N, "accepted": [numbers from 1]}`, and it must
/// have judged every one of `held` inputs.
pub fn known_bad(run: &Run, id: &PropertyId, held: usize) -> KnownBad {
    if let Some(why) = no_answer(run) {
        return KnownBad::Incomplete(why);
    }
    let read = || -> Result<(u64, Vec<usize>), LogFault> {
        let line = Line::read(&run.log, id, &["property_id", "judged", "accepted"])?;
        let wanted = |found| LogFault::Kind { key: "accepted", found, wanted: "a list of numbers from 1" };
        let accepted = match line.get("accepted") {
            None => return Err(LogFault::Missing("accepted")),
            Some(Json::List(items)) => items,
            Some(other) => return Err(wanted(other.kind())),
        };
        let number = |item: &Json| match item {
            Json::Integer(number) => usize::try_from(*number).ok().filter(|number| (1..=held).contains(number)),
            _ => None,
        };
        let accepted: Option<Vec<usize>> = accepted.iter().map(number).collect();
        Ok((line.count("judged")?, accepted.ok_or_else(|| wanted("a list with something else in it"))?))
    };
    match read() {
        Err(fault) => KnownBad::Incomplete(fault.to_string()),
        Ok((_, accepted)) if !accepted.is_empty() => KnownBad::Accepted(accepted),
        Ok((judged, _)) if usize::try_from(judged) != Ok(held) || held == 0 => {
            KnownBad::Incomplete(format!("it judged {judged} of {held} inputs"))
        }
        Ok(_) => KnownBad::Rejected(held),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> PropertyId {
        PropertyId::new("p").unwrap()
    }

    fn asked() -> Asked {
        Asked { id: id(), seed: 7, trials: 200 }
    }

    fn run(ended: Ended, log: &str, stderr: &str) -> Run {
        let log = if log.is_empty() { Vec::new() } else { format!("{log}\n").into_bytes() };
        Run { ended, stdout: Vec::new(), stderr: stderr.into(), log, took: std::time::Duration::ZERO }
    }

    const GOOD: &str = r#"{"property_id":"p","seed":7,"trials":200,"hits":180,"counterexample":null}"#;
    const BAD: &str = r#"{"property_id":"p","seed":7,"trials":3,"hits":3,"counterexample":0,"exc_type":"AssertionError","message":"3 > 2"}"#;

    /// `exc_type: message` of a failure, or the outcome in words.
    fn told(run: &Run) -> String {
        match trials(run, &asked()) {
            Outcome::Failed(failed) => format!("{}: {}", failed.exc_type, failed.message),
            Outcome::Incomplete(why) => why,
            Outcome::Complete(_) => "complete".to_owned(),
        }
    }

    #[test]
    fn only_an_end_with_0_and_a_whole_log_is_complete() {
        assert_eq!(told(&run(Ended::Exited(0), GOOD, "")), "complete");
        assert_eq!(told(&run(Ended::Exited(0), "", "")), "it ended with 0 and left no trial log");
        assert_eq!(
            told(&run(Ended::Exited(0), "{", "")),
            "line 1 of its trial log cannot be read: it is no JSON: EOF while parsing an object at line 1 column 1"
        );
        assert_eq!(told(&run(Ended::Exited(0), BAD, "")), "AssertionError: 3 > 2");
        assert_eq!(told(&run(Ended::Exited(1), GOOD, "")), "ExitCode: the process ended with 1");
        assert_eq!(told(&run(Ended::Exited(1), GOOD, "Traceback\nValueError: no\n")), "ValueError: no");
        assert_eq!(told(&run(Ended::Exited(1), BAD, "ValueError: no")), "AssertionError: 3 > 2");
        assert_eq!(told(&run(Ended::Signalled(11), GOOD, "")), "Signal: the process was ended by signal 11");
        assert_eq!(told(&run(Ended::TimedOut, GOOD, "")), "Timeout: the time ran out");
        assert_eq!(told(&run(Ended::OutOfMemory, "", "")), "OutOfMemory: it used more memory than it may");
        assert_eq!(told(&run(Ended::OutputLimit, "", "")), "OutputLimit: it wrote more than it may");
    }

    #[test]
    fn a_missing_module_is_told_from_a_wrong_answer() {
        let misses = |stderr: &str, code: i32| match trials(&run(Ended::Exited(code), "", stderr), &asked()) {
            Outcome::Failed(failed) => failed.misses_something(),
            other => panic!("{other:?}"),
        };
        assert!(misses("Traceback\nModuleNotFoundError: No module named 'yaml'", 1));
        assert!(misses("Error: Cannot find module 'left-pad'\n    at x", 1));
        assert!(misses("sh: 1: jq: not found", 127));
        assert!(!misses("AssertionError: 3 > 2", 1));
        assert!(!misses("", 1));
    }

    #[test]
    fn a_sample_is_compared_here_and_not_by_the_program() {
        let held = serde_json::json!([{"in": 1, "out": "a"}, {"in": 2, "out": "b"}]);
        let of = |log: &str| sample(&run(Ended::Exited(0), log, ""), &id(), &held);
        let whole = format!(r#"{{"property_id":"p","sample":{held}}}"#);
        assert_eq!(of(&whole), Sample::Same);
        assert_eq!(
            of(&whole.replace("\"b\"", "\"c\"")),
            Sample::Stale("$[1].out holds \"b\", and \"c\" comes out now".into())
        );
        assert_eq!(of(r#"{"property_id":"p"}"#), Sample::Incomplete("its trial log has no `sample`".into()));
        assert!(matches!(of(r#"{"property_id":"p","sample":[]}"#), Sample::Stale(_)));
        assert!(matches!(sample(&run(Ended::Exited(1), &whole, ""), &id(), &held), Sample::Incomplete(_)));
    }

    #[test]
    fn known_bad_inputs_are_all_judged_and_all_rejected() {
        let of = |log: &str| known_bad(&run(Ended::Exited(0), log, ""), &id(), 2);
        assert_eq!(of(r#"{"property_id":"p","judged":2,"accepted":[]}"#), KnownBad::Rejected(2));
        assert_eq!(of(r#"{"property_id":"p","judged":2,"accepted":[2]}"#), KnownBad::Accepted(vec![2]));
        assert_eq!(
            of(r#"{"property_id":"p","judged":1,"accepted":[]}"#),
            KnownBad::Incomplete("it judged 1 of 2 inputs".into())
        );
        assert!(matches!(of(r#"{"property_id":"p","judged":2,"accepted":[3]}"#), KnownBad::Incomplete(_)));
        assert!(matches!(of(""), KnownBad::Incomplete(_)));
        assert!(matches!(known_bad(&run(Ended::TimedOut, "", ""), &id(), 2), KnownBad::Incomplete(_)));
    }
}
