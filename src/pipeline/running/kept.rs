//! Outcomes by the digest of all their inputs: a later, better one never replaces a worse one.
//!
//! What is kept is what the sandbox brought back, and not what it was taken to mean. The folder is ours alone, as the mirrors are.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::change::Sha256;
use crate::pipeline::whole;
use crate::sandbox::{Ended, Outcome};

/// How much of standard error is kept, from its end.
const STDERR: usize = 64 << 10;

/// The most that a kept outcome unpacks to.
const LARGEST: usize = 256 << 20;

/// What one run left behind, with the report of live tests in place of a log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Left {
    pub(super) run: Outcome,
    /// Why there is no report; `None` when the log is one, and for properties.
    pub(super) no_report: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    v: u32,
    ended: String,
    code: i32,
    stderr: String,
    log: String,
    no_report: Option<String>,
}

/// The folder of kept outcomes.
pub(super) struct Kept {
    folder: Option<PathBuf>,
}

impl Kept {
    pub(super) fn at(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// What is known of these inputs. One that cannot be read is as good as none, and is logged.
    pub(super) fn get(&self, key: &Sha256) -> Option<Left> {
        let path = self.path(key)?;
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                if error.kind() != std::io::ErrorKind::NotFound {
                    warn!(error = %error, "cannot read a kept outcome: {error}");
                }
                return None;
            }
        };
        let left = unpacked(&bytes);
        if left.is_none() {
            warn!("a kept outcome is damaged and not believed: {}", path.display());
        }
        left
    }

    /// Keeps an outcome, whole or not at all.
    pub(super) fn put(&self, key: &Sha256, left: &Left) {
        let Some(path) = self.path(key) else { return };
        if let Err(error) = write(&path, left) {
            warn!(error = %error, "cannot keep an outcome in {}: {error}", path.display());
        }
    }

    /// The worse of what a run left now and of what an earlier one left, each as `read` takes it, and whether they differ. Of two that
    /// are equally bad and differ the earlier one stands.
    pub(super) fn settle<T>(
        &self,
        key: &Sha256,
        now: &Left,
        read: impl Fn(&Left) -> T,
        severity: impl Fn(&T) -> u8,
        same: impl Fn(&T, &T) -> bool,
    ) -> (T, Option<T>) {
        let outcome = read(now);
        let Some(earlier) = self.get(key).map(|left| read(&left)) else {
            self.put(key, now);
            return (outcome, None);
        };
        if same(&outcome, &earlier) {
            return (outcome, None);
        }
        if severity(&outcome) > severity(&earlier) {
            self.put(key, now);
            (outcome, Some(earlier))
        } else {
            (earlier, Some(outcome))
        }
    }

    fn path(&self, key: &Sha256) -> Option<PathBuf> {
        let key = key.to_string();
        Some(self.folder.as_ref()?.join(&key[..2]).join(&key[2..]))
    }
}

fn write(path: &Path, left: &Left) -> std::io::Result<()> {
    let (ended, code) = match left.run.ended {
        Ended::Exited(code) => ("exited", code),
        Ended::Signalled(signal) => ("signalled", signal),
        Ended::TimedOut => ("timed out", 0),
        Ended::OutOfMemory => ("out of memory", 0),
        Ended::OutputLimit => ("output limit", 0),
    };
    let stderr = &left.run.stderr[left.run.stderr.len().saturating_sub(STDERR)..];
    let stored = Stored {
        v: 1,
        ended: ended.to_owned(),
        code,
        stderr: STANDARD.encode(stderr),
        log: STANDARD.encode(&left.run.log),
        no_report: left.no_report.clone(),
    };
    let packed = zstd::bulk::compress(&serde_json::to_vec(&stored)?, 3)?;
    whole::write(path, &[&packed])
}

fn unpacked(bytes: &[u8]) -> Option<Left> {
    let stored: Stored = serde_json::from_slice(&zstd::bulk::decompress(bytes, LARGEST).ok()?).ok()?;
    let ended = match stored.ended.as_str() {
        "exited" => Ended::Exited(stored.code),
        "signalled" => Ended::Signalled(stored.code),
        "timed out" => Ended::TimedOut,
        "out of memory" => Ended::OutOfMemory,
        "output limit" => Ended::OutputLimit,
        _ => return None,
    };
    let run = Outcome {
        ended,
        stdout: Vec::new(),
        stderr: STANDARD.decode(stored.stderr).ok()?,
        log: STANDARD.decode(stored.log).ok()?,
        took: Duration::ZERO,
    };
    (stored.v == 1).then_some(Left { run, no_report: stored.no_report })
}
