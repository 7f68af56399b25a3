//! `evidence-gate verify`: whether a signed record holds, without asking whoever made it.

mod fetch;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Failure, out};
use crate::proof::{self, Expected, Keyset, Trusted, Verified};
use crate::score::visible;

/// The largest envelope that is read, in bytes.
const LARGEST: u64 = 512 << 20;

/// The largest set of keys that is read, in bytes.
const LARGEST_KEYS: u64 = 1 << 20;

/// What `verify` is asked.
#[derive(Clone, Debug, clap::Args)]
pub struct VerifyArgs {
    /// The signed record: what `audit envelope` prints and the pages offer.
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// Which keys are trusted.
    #[command(flatten)]
    pub keys: KeyArgs,
    /// Refuse a record of another repository: `OWNER/NAME`, or the forge's number of it.
    #[arg(long, value_name = "REPOSITORY")]
    pub repository: Option<String>,
    /// Refuse a record of another head commit.
    #[arg(long, value_name = "SHA")]
    pub head: Option<String>,
    /// A few lines for people, or the record itself once it has proved good.
    #[arg(long, default_value = "text")]
    pub format: VerifyFormat,
}

/// Where trusted keys come from.
#[derive(Clone, Debug, clap::Args)]
#[group(multiple = false)]
pub struct KeyArgs {
    /// A public key in PEM that you trust. Of its life nothing is known, so the moment of signing is not judged.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The keys of a scoring host: a file, or the address `https://HOST/.well-known/evidence-gate/keys`.
    #[arg(long, value_name = "URL|FILE")]
    pub keys_from: Option<String>,
}

/// How a good record is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    /// Lines for people.
    Text,
    /// The record as JSON.
    Json,
}

/// Checks the record. 0 when it holds, 1 when it is refused.
pub fn verify(args: &VerifyArgs) -> Result<u8, Failure> {
    let trusted = args.keys.trusted()?;
    let bytes = read(&args.record, LARGEST)?;
    let expected = Expected { repository: args.repository.clone(), head: args.head.clone() };
    // The newline that ends a text file is no part of the envelope.
    let envelope = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    match proof::verify(envelope, &trusted, &expected) {
        Ok(verified) => {
            out::print(&match args.format {
                VerifyFormat::Text => in_words(&verified),
                VerifyFormat::Json => in_json(&verified),
            })?;
            Ok(0)
        }
        Err(refused) => {
            out::tell(&format!("refused: {refused}"));
            Ok(1)
        }
    }
}

fn in_words(verified: &Verified) -> String {
    let pull = verified.pull.map_or_else(String::new, |pull| format!("#{pull}"));
    let life = match verified.life {
        Some(life) => life.to.map_or_else(
            || format!("which counts since {}", life.from),
            |to| format!("which counts from {} to {to}", life.from),
        ),
        None => "of whose life nothing is known".to_owned(),
    };
    let previous = verified.previous.as_deref().unwrap_or("none");
    let lines = [
        format!("the record holds: {}", verified.title),
        format!("verdict     {}", verified.verdict),
        format!("about       {}{pull}, commit {}", verified.repository.name, verified.head),
        format!("signed      {} by {}, {life}", verified.signed, verified.key),
        format!("place       record {} of its repository, sha256 {}", verified.number, verified.digest),
        format!("before it   {previous}"),
    ];
    lines.map(|line| visible(&line) + "\n").concat()
}

fn in_json(verified: &Verified) -> String {
    let text = serde_json::to_string_pretty(&verified.record).expect("a JSON value can always be printed");
    let safe: Vec<String> = text.lines().map(visible).collect();
    safe.join("\n") + "\n"
}

impl KeyArgs {
    /// Reads them.
    pub(super) fn trusted(&self) -> Result<Vec<Trusted>, Failure> {
        if let Some(path) = &self.key {
            let bytes = read(path, LARGEST_KEYS)?;
            let key = Trusted::bare(&String::from_utf8_lossy(&bytes));
            return key.map(|key| vec![key]).map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())));
        }
        let Some(from) = &self.keys_from else {
            return Err(Failure::Usage("name the keys that you trust: --key or --keys-from".to_owned()));
        };
        let bytes = if from.contains("://") { fetch::keys(from)? } else { read(Path::new(from), LARGEST_KEYS)? };
        let keyset = Keyset::parse(&bytes).map_err(|error| Failure::BadInput(format!("{from}: {error}")))?;
        Ok(keyset.trusted())
    }
}

fn read(path: &Path, largest: u64) -> Result<Vec<u8>, Failure> {
    let size = std::fs::metadata(path).map_err(|source| Failure::read(path.display(), source))?.len();
    if size > largest {
        return Err(Failure::BadInput(format!("{} has {size} bytes, and at most {largest} are read", path.display())));
    }
    std::fs::read(path).map_err(|source| Failure::read(path.display(), source))
}
