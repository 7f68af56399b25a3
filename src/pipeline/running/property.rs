//! One property: its trials, its sample, its known-bad inputs.

use std::path::PathBuf;

use serde_json::Value;

use super::bench::{Bench, ORACLES, REPO, Side, Stopped, not_started, shown};
use super::kept::Left;
use crate::change::Sha256;
use crate::evidence::Facts;
use crate::evidence::ledger::{MessageDigest, Normaliser, Signature};
use crate::evidence::property::{
    self, Asked, Flaky, KnownBad, Outcome, PropertyFacts, Sample, frozen, known_bad, node_id, sample, trials,
};
use crate::policy::{Keep, Property};
use crate::sandbox::{Ended, FROM_SUBJECT, Order, Outcome as Run, TO_SUBJECT};
use crate::score::PropertyRow;

/// What the property is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Trials,
    Sample,
    KnownBad,
}

impl Mode {
    fn as_str(self) -> &'static str {
        match self {
            Self::Trials => "trials",
            Self::Sample => "sample",
            Self::KnownBad => "known_bad",
        }
    }
}

impl Bench<'_> {
    /// Runs it on the merged tree, and on the base where that decides.
    pub(super) fn property(
        &mut self,
        facts: &Facts<'_>,
        property: &Property,
    ) -> Result<(PropertyFacts, PropertyRow), Stopped> {
        let (mut found, row) = self.observed(property)?;
        if matches!(found.merged, Outcome::Failed(_)) && !frozen(facts, &found) {
            self.tell(&format!("property {}: {}; the base with the same seed", property.id, found.merged.told()));
            found.base = Some(self.trials_on_base(property, &self.asked(property))?);
        }
        Ok((found, row))
    }

    fn asked(&self, property: &Property) -> Asked {
        let seed = self.question.running.seed.unwrap_or(property.seed);
        Asked { id: property.id.clone(), seed, trials: property.trials }
    }

    /// Runs it on the merged tree alone.
    pub(super) fn observed(&mut self, property: &Property) -> Result<(PropertyFacts, PropertyRow), Stopped> {
        let asked = self.asked(property);
        let seed = asked.seed;
        let keep = self.policy.freeze.keep.clone();
        self.tell(&format!("property {}: {} trials with the seed {seed}", property.id, property.trials));
        let (merged, log, flaky) = self.trials(property, &asked, Side::Merged, &keep)?;
        let found = PropertyFacts {
            id: property.id.clone(),
            seed,
            merged,
            base: None,
            sample: self.sample(property, seed)?,
            known_bad: self.known_bad(property, seed)?,
            flaky,
        };
        self.tell(&format!("property {}: {}", property.id, found.merged.told()));
        let row = self.row(property, &found, &log, &keep);
        Ok((found, row))
    }

    fn trials(
        &mut self,
        property: &Property,
        asked: &Asked,
        side: Side,
        keep: &[Keep],
    ) -> Result<(Outcome, Vec<u8>, Option<Flaky>), Stopped> {
        let key = self.property_key(property, asked.seed, Mode::Trials, side);
        let run = match self.start(property, asked.seed, Mode::Trials, side)? {
            Ok(run) => run,
            Err(why) => return Ok((Outcome::Incomplete(why), Vec::new(), None)),
        };
        let log = run.log.clone();
        let (stands, other) = self.kept.settle(
            &key,
            &Left { run, no_report: None },
            |left| trials(&left.run, asked),
            Outcome::severity,
            |one, other| same(one, other, keep),
        );
        let flaky = other.map(|other| Flaky { stands: stands.told(), other: other.told() });
        Ok((stands, log, flaky))
    }

    /// The base's outcome does not change: one that is known is not asked for again.
    fn trials_on_base(&mut self, property: &Property, asked: &Asked) -> Result<Outcome, Stopped> {
        let key = self.property_key(property, asked.seed, Mode::Trials, Side::Base);
        if let Some(left) = self.kept.get(&key) {
            return Ok(trials(&left.run, asked));
        }
        let keep = self.policy.freeze.keep.clone();
        Ok(self.trials(property, asked, Side::Base, &keep)?.0)
    }

    fn sample(&mut self, property: &Property, seed: i64) -> Result<Option<Sample>, Stopped> {
        let held = match self.oracle_file("samples", property) {
            None => return Ok(None),
            Some(Err(why)) => return Ok(Some(Sample::Incomplete(why))),
            Some(Ok(held)) => held,
        };
        let key = self.property_key(property, seed, Mode::Sample, Side::Merged);
        let run = match self.start(property, seed, Mode::Sample, Side::Merged)? {
            Ok(run) => run,
            Err(why) => return Ok(Some(Sample::Incomplete(why))),
        };
        let severity = |sample: &Sample| match sample {
            Sample::Same => 0,
            Sample::Incomplete(_) => 1,
            Sample::Stale(_) => 2,
        };
        let read = |left: &Left| sample(&left.run, &property.id, &held);
        let left = Left { run, no_report: None };
        let alike = |one: &Sample, other: &Sample| severity(one) == severity(other);
        Ok(Some(self.kept.settle(&key, &left, read, severity, alike).0))
    }

    fn known_bad(&mut self, property: &Property, seed: i64) -> Result<Option<KnownBad>, Stopped> {
        let held = match self.oracle_file("known_bad", property) {
            None => return Ok(None),
            Some(Err(why)) => return Ok(Some(KnownBad::Incomplete(why))),
            Some(Ok(Value::Array(inputs))) => inputs.len(),
            Some(Ok(_)) => {
                let why = format!("known_bad/{}.json is no list of inputs", property.id);
                return Ok(Some(KnownBad::Incomplete(why)));
            }
        };
        let key = self.property_key(property, seed, Mode::KnownBad, Side::Merged);
        let run = match self.start(property, seed, Mode::KnownBad, Side::Merged)? {
            Ok(run) => run,
            Err(why) => return Ok(Some(KnownBad::Incomplete(why))),
        };
        let severity = |answer: &KnownBad| match answer {
            KnownBad::Rejected(_) => 0,
            KnownBad::Incomplete(_) => 1,
            KnownBad::Accepted(_) => 2,
        };
        let read = |left: &Left| known_bad(&left.run, &property.id, held);
        let left = Left { run, no_report: None };
        let alike = |one: &KnownBad, other: &KnownBad| severity(one) == severity(other);
        Ok(Some(self.kept.settle(&key, &left, read, severity, alike).0))
    }

    /// A property's own file among the oracles. `None` when it is not there, an error when it is no JSON.
    fn oracle_file(&self, folder: &str, property: &Property) -> Option<Result<Value, String>> {
        let name = format!("{folder}/{}.json", property.id);
        match std::fs::read(self.oracles().join(&name)) {
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| format!("{name} is no JSON: {error}"))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(format!("{name} cannot be read: {error}"))),
        }
    }

    fn property_key(&self, property: &Property, seed: i64, mode: Mode, side: Side) -> Sha256 {
        let tree = match side {
            Side::Merged => self.tree_id(side).as_str().to_owned(),
            Side::Base => format!("commit {}", self.tree_id(side)),
        };
        self.key(&serde_json::json!({
            "property": property.id.as_str(),
            "command": property.command.words(),
            "subject": property.subject.as_ref().map(crate::policy::CommandLine::words),
            "seed": seed,
            "trials": property.trials,
            "timeout": property.timeout.0.as_secs(),
            "memory_mib": property.memory_mib,
            "mode": mode.as_str(),
            "tree": tree,
        }))
    }

    /// Runs the command once. The inner error is a reason why it said nothing.
    fn start(
        &mut self,
        property: &Property,
        seed: i64,
        mode: Mode,
        side: Side,
    ) -> Result<Result<Run, String>, Stopped> {
        let repo = shown(self.tree(side)?, REPO);
        let limits = self.limits(property.timeout.0, property.memory_mib);
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut driver = Order {
            command: property.command.words().to_vec(),
            environment: vec![
                variable("ORACLE_ROOT", ORACLES),
                variable("PROPERTY_ID", property.id.as_str()),
                variable("PROPERTY_SEED", &seed.to_string()),
                variable("PROPERTY_TRIALS", &property.trials.to_string()),
                variable("PROPERTY_MODE", mode.as_str()),
                variable("TRIAL_LOG", "/dev/fd/3"),
            ],
            directory: PathBuf::from(ORACLES),
            mounts: vec![shown(self.oracles(), ORACLES)],
            input: Vec::new(),
            log: true,
            limits: limits.clone(),
        };
        let Some(subject) = &property.subject else {
            driver.environment.push(variable("REPO_ROOT", REPO));
            driver.mounts.push(repo);
            return match self.sandbox.run(&driver) {
                Ok(run) => Ok(Ok(run)),
                Err(error) => not_started(&error).map(Err),
            };
        };
        driver.environment.push(variable("FROM_SUBJECT_FD", &FROM_SUBJECT.to_string()));
        driver.environment.push(variable("TO_SUBJECT_FD", &TO_SUBJECT.to_string()));
        let subject = Order {
            command: subject.words().to_vec(),
            environment: vec![variable("REPO_ROOT", REPO), variable("ORACLE_ROOT", ORACLES)],
            directory: PathBuf::from(ORACLES),
            mounts: vec![repo, shown(self.oracles_for_subjects(), ORACLES)],
            input: Vec::new(),
            log: false,
            limits,
        };
        match self.sandbox.run_pair(&driver, &subject) {
            Ok((driver, subject)) => Ok(Ok(told_by_either(driver, subject))),
            Err(error) => not_started(&error).map(Err),
        }
    }

    fn row(&self, property: &Property, found: &PropertyFacts, log: &[u8], keep: &[Keep]) -> PropertyRow {
        let (trial_log, failed) = match &found.merged {
            Outcome::Complete(log) => (Some(log), None),
            Outcome::Failed(failed) => (failed.log.as_ref(), Some(failed)),
            Outcome::Incomplete(_) => (None, None),
        };
        let signature = failed.map(|failed| {
            let digest = MessageDigest::of(&failed.message, Normaliser::default(), keep, None);
            Signature::of(&node_id(&property.id), Some(found.seed), &failed.exc_type, &digest).to_string()
        });
        PropertyRow {
            id: property.id.to_string(),
            runner: self.question.runner.clone(),
            isolation: if property.subject.is_some() { "two-sandboxes" } else { "in-process" }.to_owned(),
            seed: Some(found.seed),
            trials: trial_log.map(|log| log.trials),
            hits: trial_log.map(|log| log.hits),
            counterexample: failed.and_then(|failed| failed.counterexample().cloned()),
            exc_type: failed.map(|failed| failed.exc_type.clone()),
            message: failed.map(|failed| failed.message.clone()),
            signature,
            sample: found.sample.as_ref().map(|sample| match sample {
                Sample::Same => "same".to_owned(),
                Sample::Stale(_) => "stale".to_owned(),
                Sample::Incomplete(_) => "incomplete".to_owned(),
            }),
            known_bad: found.known_bad.as_ref().map(|answer| match answer {
                KnownBad::Rejected(_) => "rejected".to_owned(),
                KnownBad::Accepted(_) => "accepted".to_owned(),
                KnownBad::Incomplete(_) => "incomplete".to_owned(),
            }),
            log: (!log.is_empty()).then(|| Sha256::of(log).to_string()),
        }
    }
}

/// The driver's end, unless it failed without a word because its subject died: then the subject's own last words say more.
fn told_by_either(driver: Run, subject: Run) -> Run {
    let driver_failed = driver.ended != Ended::Exited(0) && driver.log.is_empty();
    let subject_failed = subject.ended != Ended::Exited(0);
    if driver_failed && subject_failed { Run { log: driver.log, ..subject } } else { driver }
}

fn same(one: &Outcome, other: &Outcome, keep: &[Keep]) -> bool {
    match (one, other) {
        (Outcome::Failed(one), Outcome::Failed(other)) => one.is_same(other, keep),
        (one, other) => property::Outcome::severity(one) == property::Outcome::severity(other),
    }
}
