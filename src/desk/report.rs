//! `evidence-gate report`: a record that is there already, shown in another format.

use std::path::PathBuf;

use super::Failure;
use super::score::{self, Format};
use crate::evidence::surface::Picture;
use crate::score::Record;

/// The largest record that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Which record, and how it is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArgs {
    /// The record, as `score --format json` writes it.
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// What is printed. A page shows no sides of files, since a record holds no contents.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write there instead of to standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Shows it. Nothing is judged again, and what the record says is not believed more than it was: whoever wants to know where it comes
/// from verifies its signature.
pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let origin = args.record.display().to_string();
    let size = std::fs::metadata(&args.record).map_err(|source| Failure::read(&origin, source))?.len();
    if size > LARGEST {
        return Err(Failure::BadInput(format!("{origin} has {size} bytes, and at most {LARGEST} are read")));
    }
    let bytes = std::fs::read(&args.record).map_err(|source| Failure::read(&origin, source))?;
    let record: Record = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::BadInput(format!("{origin} is no record: {error}; `evidence-gate score --format json` writes one"))
    })?;
    score::show(&record, &Picture::default(), args.format, args.output.as_deref())
}
