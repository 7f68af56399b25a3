//! The secrets that a forge signs with.

use secrecy::{ExposeSecret, SecretString};

/// The shortest secret that is taken, in bytes (R2).
const SHORTEST: usize = 32;

/// Fewer different bytes than this in a secret means that somebody filled it up instead of drawing it.
const FEWEST_DIFFERENT_BYTES: usize = 8;

/// Secrets that tools and guides ship with. Compared without case and without anything but letters and digits.
const KNOWN_DEFAULTS: [&str; 18] = [
    "admin",
    "default",
    "dev",
    "development",
    "example",
    "github",
    "githubwebhooksecret",
    "itsasecrettoeverybody",
    "mysecret",
    "password",
    "secret",
    "supersecret",
    "test",
    "testing",
    "token",
    "webhook",
    "webhooksecret",
    "yoursecret",
];

/// What stands in a sample file for somebody to fill in. A secret that still holds one of these was not drawn.
const PLACEHOLDERS: [&str; 5] = ["changeme", "replaceme", "placeholder", "yoursecrethere", "yourwebhooksecret"];

/// One to many secrets, all active at once, so that a secret can be changed without losing a delivery (R2): add the new one
/// here, change it at the forge, take the old one away. None of them was left at a default or is shorter than 32 bytes.
#[derive(Clone)]
pub struct WebhookSecrets(Vec<SecretString>);

/// Why a list of webhook secrets is refused. Positions count from 1; no error holds a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakSecret {
    /// An unsigned delivery can be written by anybody.
    #[error("no webhook secret is set; draw one with `openssl rand -hex 32` and set the same at the forge")]
    None,
    /// Too short to withstand guessing.
    #[error(
        "webhook secret {position} has {length} bytes and needs at least {SHORTEST}; draw one with `openssl rand -hex 32`"
    )]
    Short {
        /// Which one.
        position: usize,
        /// Its length in bytes.
        length: usize,
    },
    /// A value out of a guide or a sample file, or one character over and over.
    #[error("webhook secret {position} is a known default; draw one with `openssl rand -hex 32`")]
    Default {
        /// Which one.
        position: usize,
    },
    /// Most often the line end of the file that it was read from.
    #[error("webhook secret {position} begins or ends with white space; remove it here and at the forge")]
    Padded {
        /// Which one.
        position: usize,
    },
    /// A rotation that changed nothing.
    #[error("webhook secrets {first} and {second} are the same; remove one of them")]
    Repeated {
        /// The earlier one.
        first: usize,
        /// The later one.
        second: usize,
    },
}

impl WebhookSecrets {
    /// Takes the secrets in the order in which their positions are to be reported.
    ///
    /// # Errors
    /// An empty list, and any secret that is padded, a known default, shorter than 32 bytes, or there twice.
    pub fn new(secrets: Vec<SecretString>) -> Result<Self, WeakSecret> {
        if secrets.is_empty() {
            return Err(WeakSecret::None);
        }
        for (index, secret) in secrets.iter().enumerate() {
            let (position, secret) = (index + 1, secret.expose_secret());
            if secret.trim() != secret {
                return Err(WeakSecret::Padded { position });
            }
            if is_known_default(secret) {
                return Err(WeakSecret::Default { position });
            }
            if secret.len() < SHORTEST {
                return Err(WeakSecret::Short { position, length: secret.len() });
            }
            if is_filled_up(secret) {
                return Err(WeakSecret::Default { position });
            }
            if let Some(earlier) = secrets[..index].iter().position(|other| other.expose_secret() == secret) {
                return Err(WeakSecret::Repeated { first: earlier + 1, second: position });
            }
        }
        Ok(Self(secrets))
    }

    /// The bytes of every secret, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|secret| secret.expose_secret().as_bytes())
    }
}

impl std::fmt::Debug for WebhookSecrets {
    /// How many, and never which.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WebhookSecrets({} × ***)", self.0.len())
    }
}

fn is_known_default(secret: &str) -> bool {
    let plain: String = secret.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let repeats = |unit: &str| plain.len().is_multiple_of(unit.len()) && plain == unit.repeat(plain.len() / unit.len());
    let is_default = !plain.is_empty() && KNOWN_DEFAULTS.iter().any(|known| repeats(known));
    is_default || PLACEHOLDERS.iter().any(|placeholder| plain.contains(placeholder))
}

fn is_filled_up(secret: &str) -> bool {
    let mut bytes = secret.as_bytes().to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    bytes.len() < FEWEST_DIFFERENT_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secrets: &[&str], expected: &WeakSecret) {
        let secrets = secrets.iter().map(|secret| SecretString::from(*secret)).collect();
        assert_eq!(&WebhookSecrets::new(secrets).expect_err("must be refused"), expected);
    }

    const DRAWN: &str = "5f1d0c2ab79e4e6d8c31a0b2f4d6e8097b5a";

    #[test]
    fn no_secret_is_refused() {
        check(&[], &WeakSecret::None);
    }

    #[test]
    fn a_secret_of_31_bytes_is_refused_and_one_of_32_is_taken() {
        check(&[DRAWN, &DRAWN[..31]], &WeakSecret::Short { position: 2, length: 31 });
        WebhookSecrets::new(vec![SecretString::from(&DRAWN[..32])]).expect("32 bytes are enough");
    }

    #[test]
    fn known_defaults_are_refused_however_long_they_were_made() {
        for default in [
            "development",
            "Secret",
            "It's a Secret to Everybody",
            "secret-secret-secret-secret-secret-secret",
            "CHANGE_ME_CHANGE_ME_CHANGE_ME_CHANGE_ME_",
            "your-webhook-secret-goes-here-1234567890",
            "0123012301230123012301230123012301230123",
        ] {
            check(&[DRAWN, default], &WeakSecret::Default { position: 2 });
        }
    }

    #[test]
    fn a_line_end_from_a_file_is_refused_by_name() {
        check(&[&format!("{DRAWN}\n")], &WeakSecret::Padded { position: 1 });
    }

    #[test]
    fn the_same_secret_twice_is_refused() {
        check(&[DRAWN, DRAWN], &WeakSecret::Repeated { first: 1, second: 2 });
    }

    #[test]
    fn secrets_print_as_stars() {
        let secrets = WebhookSecrets::new(vec![SecretString::from(DRAWN)]).expect("a good secret");
        assert_eq!(format!("{secrets:?}"), "WebhookSecrets(1 × ***)");
    }
}
