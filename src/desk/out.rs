//! Standard output.

use std::io::Write as _;

use super::Failure;

/// Prints text that is already safe to print.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever reads has seen enough, as with `| head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|source| Failure::write("standard output", source)),
    }
}
