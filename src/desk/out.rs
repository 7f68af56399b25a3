//! Standard output.

use std::io::Write as _;

use super::Failure;

/// Prints text that is already safe to print.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Prints bytes as they are: names of files, as other programs print them.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(bytes) {
        // Whoever reads has seen enough, as with `| head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|source| Failure::write("standard output", source)),
    }
}

/// Tells a person something beside the output; the text is made safe here.
pub(super) fn tell(text: &str) {
    // Where standard error is closed there is nobody to tell.
    let _told = writeln!(std::io::stderr().lock(), "evidence-gate: {}", crate::score::visible(text));
}
