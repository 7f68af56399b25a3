//! The folder of a new App: key and secrets for their owner alone, and the configuration that names them.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use super::args::Addresses;
use crate::desk::Failure;
use crate::forge::NewApp;

/// A folder that was made for one App and holds nothing yet.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
}

/// What was written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The configuration file.
    pub(super) config: PathBuf,
    /// The App's name in addresses.
    pub(super) slug: String,
    /// From where it is installed.
    pub(super) install: String,
}

impl Place {
    /// Makes the folder, so that nothing can go wrong with it once GitHub has told the key.
    pub(super) fn make(folder: &Path) -> Result<Self, Failure> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder).and_then(|()| folder.canonicalize());
        let full = made.map_err(|source| Failure::write(folder.display(), source))?;
        let mut inside = full.read_dir().map_err(|source| Failure::read(full.display(), source))?;
        if inside.next().is_some() {
            let why = "is not empty, and nothing in it is overwritten: name a new folder with --directory";
            return Err(Failure::Usage(format!("{} {why}", full.display())));
        }
        let place = Self { folder: full };
        let trial = place.folder.join("trial");
        place.write("trial", b"", 0o600)?;
        std::fs::remove_file(&trial).map_err(|source| Failure::write(trial.display(), source))?;
        Ok(place)
    }

    /// Writes everything down. The key comes first: GitHub tells it once.
    pub(super) fn keep(&self, app: &NewApp, addresses: &Addresses) -> Result<Written, Failure> {
        self.write_secret("app.pem", &app.private_key)?;
        if let Some(secret) = &app.webhook_secret {
            self.write_secret("webhook-secret", secret)?;
        }
        if let Some(secret) = &app.client_secret {
            self.write_secret("client-secret", secret)?;
        }
        let text = self.configuration(app, addresses);
        let config = self.write("evidence-gate.toml", text.as_bytes(), 0o644)?;
        let install = format!("{}/installations/new", app.page.trim_end_matches('/'));
        Ok(Written { config, slug: app.slug.clone(), install })
    }

    fn configuration(&self, app: &NewApp, addresses: &Addresses) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let file = |name: &str| quoted(&self.folder.join(name).display().to_string());
        let secrets = if app.webhook_secret.is_some() { file("webhook-secret") } else { String::new() };
        format!(
            "# Written by `evidence-gate setup`. No secret stands here: files are named that hold one.\n\
             data_dir = {data}\n\n\
             [receive]\nlisten = \"127.0.0.1:8080\"       # put a TLS proxy in front of it\n\n\
             [github]\napp_id = {id}\napi_url = {api}\ngit_url = {git}\nprivate_key_file = {key}\n\
             webhook_secret_files = [{secrets}]\n",
            data = file("data"),
            id = app.id,
            api = quoted(addresses.api.as_str()),
            git = quoted(addresses.git.as_str()),
            key = file("app.pem"),
        )
    }

    fn write_secret(&self, name: &str, secret: &SecretString) -> Result<PathBuf, Failure> {
        self.write(name, secret.expose_secret().as_bytes(), 0o600)
    }

    fn write(&self, name: &str, bytes: &[u8], mode: u32) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        let written = file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
        written.map_err(|source| Failure::write(path.display(), source))?;
        Ok(path)
    }
}
