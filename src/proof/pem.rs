//! Keys as text, <https://www.rfc-editor.org/rfc/rfc7468>.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Characters of a line.
const LINE: usize = 64;

/// The DER bytes between their two lines.
pub(super) fn encode(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(LINE) {
        pem.push_str(std::str::from_utf8(line).expect("base64 is ASCII"));
        pem.push('\n');
    }
    pem + &format!("-----END {label}-----\n")
}

/// The DER bytes of a text that is one PEM block of this label and nothing else. `None`: it is not.
pub(super) fn decode(label: &str, pem: &str) -> Option<Vec<u8>> {
    let inner = pem.trim().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let inner = inner.strip_suffix(&format!("-----END {label}-----"))?;
    let text: String = inner.split_ascii_whitespace().collect();
    STANDARD.decode(text).ok()
}
