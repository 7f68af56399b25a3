//! `evidence-gate corpus`: attacks and honest changes that look alike, judged by the pipeline that judges pull requests.

mod case;
mod table;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use self::case::Case;
use self::table::{Answer, table};
use super::{Failure, out};
use crate::change::{Git, Scratch};
use crate::pipeline::{self, OperatorsPolicy, Origin, Question};
use crate::score::Record;

/// What to do with a corpus.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum CorpusCommand {
    /// Judge every case, and print by kind what was caught, missed, and wrongly objected to.
    ///
    /// Exits with 0 when every case has the verdict and the rules that it names, or is a known gap; with 1 otherwise.
    Run {
        /// The folder with the cases; its README says what a case is.
        #[arg(value_name = "DIR", default_value = "corpus")]
        folder: PathBuf,
    },
}

/// Judges every case.
pub fn corpus(command: &CorpusCommand, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let CorpusCommand::Run { folder } = command;
    let mut folders = Vec::new();
    find(folder, &mut folders)?;
    if folders.is_empty() {
        return Err(Failure::Usage(format!(
            "{} holds no case: none of its folders has an expected.json",
            folder.display()
        )));
    }
    folders.sort();
    let mut answers = Vec::new();
    for folder in folders {
        let case = Case::read(&folder)?;
        let record = judge(&case, clock)?;
        answers.push(Answer::new(case, &record));
    }
    out::print(&table(&answers))?;
    Ok(u8::from(!answers.iter().all(Answer::is_expected)))
}

/// The folders that hold an `expected.json`, however deep.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if folder.join(case::EXPECTED).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let failed = |source| Failure::read(folder.display(), source);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // What the proofs are run with lies beside the cases.
        if path.is_dir() && !path.is_symlink() && path.file_name().is_some_and(|name| name != "runners") {
            find(&path, found)?;
        }
    }
    Ok(())
}

/// As `score` would: the same question, and the same pipeline.
fn judge(case: &Case, clock: fn() -> Timestamp) -> Result<Record, Failure> {
    let scratch = Scratch::of(&case.base(), &case.patch())
        .map_err(|error| Failure::BadInput(format!("{}: {error}", case.folder.display())))?;
    let git = Git::open(&scratch.path())?;
    let question = Question {
        origin: Origin::Local { name: case.expected.id.clone() },
        base_ref: "main".to_owned(),
        base: scratch.base.clone(),
        head: scratch.head.clone(),
        policy: Some(OperatorsPolicy { origin: "the case's policy".to_owned(), text: case.policy()? }),
        lock: None,
        ledger: case.ledger(&scratch.base)?,
        map: case.map(&scratch.beside("map.json"))?,
        maps: None,
        known_digests: None,
        reviews: None,
        lane: pipeline::LaneAsked::ByLabel,
        running: super::score::running(None, None, None)?,
        runner: "corpus".to_owned(),
        today: None,
        clock,
    };
    pipeline::score(&git, &question).map_err(|error| Failure::from(error.0))
}
