//! The signature of a failure, and what it is made of.

use std::path::{Path, PathBuf};

use super::report::{Seen, Shown};
use crate::desk::{Failure, out, place};
use crate::evidence::ledger::{MessageDigest, Normaliser, Signature, too_general};
use crate::policy::Keep;

/// Which failure.
#[derive(Clone, Debug, clap::Args)]
pub struct SignatureArgs {
    /// The test, or `property:ID`.
    #[arg(long, value_name = "ID")]
    pub nodeid: String,
    /// The exception's type.
    #[arg(long, value_name = "TYPE", required_unless_present_any = ["junit", "record"], conflicts_with_all = ["junit", "record"])]
    pub exc_type: Option<String>,
    /// The message.
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["junit", "record"], conflicts_with_all = ["junit", "record"])]
    pub message: Option<String>,
    /// How the message is made into a signature.
    #[command(flatten)]
    pub how: HowArgs,
    /// Where the failure was seen.
    #[command(flatten)]
    pub seen: SeenArgs,
    /// The policy whose `freeze.keep` counts; without it the working copy's.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// How a message is made into a signature.
#[derive(Clone, Debug, clap::Args)]
pub struct HowArgs {
    /// The seed of the run, where it had one.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<i64>,
    /// An error code that tells this failure from others with the same message.
    #[arg(long, value_name = "CODE")]
    pub error_code: Option<String>,
    /// 1 replaces numbers; 2 also addresses, UUIDs, ANSI escapes and temporary paths.
    #[arg(long, value_name = "1|2", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=2))]
    pub normaliser: i64,
    /// A regular expression for what normalising leaves alone; may be given several times. Left out: the policy's `freeze.keep`.
    #[arg(long, value_name = "REGEX")]
    pub keep: Vec<String>,
}

/// Where a failure was seen.
#[derive(Clone, Debug, clap::Args)]
#[group(multiple = false)]
pub struct SeenArgs {
    /// A JUnit report: of pytest, surefire, nextest, jest-junit, gotestsum, PHPUnit or RSpec.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// A record of this program, for a property that failed in it.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// A failure with its signature.
pub(super) struct Signed {
    pub(super) seed: Option<i64>,
    pub(super) exc_type: String,
    pub(super) normalised: String,
    pub(super) digest: MessageDigest,
    pub(super) signature: Signature,
    pub(super) normaliser: Normaliser,
    pub(super) keep: Vec<Keep>,
}

impl HowArgs {
    /// Signs what was seen. A signature that would match too much is refused with the reason.
    pub(super) fn sign(&self, nodeid: &str, shown: Shown, default_keep: &[Keep]) -> Result<Signed, Failure> {
        let given: Result<Vec<Keep>, String> = self.keep.iter().map(Keep::new).collect();
        let given = given.map_err(|why| Failure::Usage(format!("--keep: {why}")))?;
        let keep = if given.is_empty() { default_keep.to_vec() } else { given };
        let normaliser = Normaliser::from_number(self.normaliser).expect("clap takes 1 and 2 only");
        let normalised = normaliser.normalise(&shown.message, &keep);
        if let Some(why) = too_general(&normalised, self.error_code.as_deref()) {
            let help = "give an --error-code, or a --keep for what tells it from others";
            return Err(Failure::BadInput(format!("this failure of {nodeid} cannot be frozen: {why}; {help}")));
        }
        let seed = match (self.seed, shown.seed) {
            (Some(given), Some(seen)) if given != seen => {
                return Err(Failure::Usage(format!("the failure was seen with seed {seen}, and --seed says {given}")));
            }
            (given, seen) => given.or(seen),
        };
        let digest = MessageDigest::of_normalised(&normalised, self.error_code.as_deref());
        let signature = Signature::of(nodeid, seed, &shown.exc_type, &digest);
        Ok(Signed { seed, exc_type: shown.exc_type, normalised, digest, signature, normaliser, keep })
    }
}

pub(super) fn signature(args: &SignatureArgs) -> Result<(), Failure> {
    let shown = match (&args.exc_type, &args.message) {
        (Some(exc_type), Some(message)) => {
            Shown { exc_type: exc_type.clone(), message: message.clone(), seed: None, digest: None }
        }
        _ => Seen::of(&args.seen)?.failure(&args.nodeid)?,
    };
    let policy = match place::working_copy(Path::new(".")) {
        Ok(top) => place::policy(args.policy.as_deref(), &top)?,
        // Outside of a repository only a policy that is named counts.
        Err(_) => place::policy(args.policy.as_deref(), Path::new("/nonexistent"))?,
    };
    let signed = args.how.sign(&args.nodeid, shown, &policy.freeze.keep)?;
    let json = serde_json::json!({
        "nodeid": args.nodeid,
        "seed": signed.seed,
        "exc_type": signed.exc_type,
        "normalised": signed.normalised,
        "message_digest": signed.digest.as_str(),
        "signature": signed.signature.as_str(),
    });
    out::print(&format!("{json:#}\n"))
}
