//! The folder of a demonstration: the example repository, the App's key and secret, and the configuration of both roles.

use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};
use secrecy::{ExposeSecret as _, SecretString};

use super::forge::{Edit, Forge, Registered};
use crate::desk::Failure;
use crate::policy::Policy;

static EXAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/tests/example");

/// The policy, without what needs more than Python.
const POLICY: &str = include_str!("policy.toml");

/// What the policy above does not ask for.
const LEFT_OUT: [&str; 3] = ["web/", "format.", "__pycache__"];

/// Where everything is. A temporary folder is removed with this value.
pub(super) struct House {
    folder: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl House {
    /// A new folder: this one, which must not be there or be empty, or a temporary one.
    pub(super) fn make(keep: Option<&Path>) -> Result<Self, Failure> {
        let house = if let Some(folder) = keep { Self::named(folder)? } else { Self::temporary()? };
        // A sandbox that root starts belongs to another user, who has to pass; what is secret has its own mode.
        std::fs::set_permissions(&house.folder, std::fs::Permissions::from_mode(0o711))
            .map_err(|source| Failure::write(house.folder.display(), source))?;
        Ok(house)
    }

    fn named(folder: &Path) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|source| Failure::write(folder.display(), source))?;
        let mut inside = folder.read_dir().map_err(|source| Failure::read(folder.display(), source))?;
        if inside.next().is_some() {
            let why = "is not empty: name a new folder with --keep";
            return Err(Failure::Usage(format!("{} {why}", folder.display())));
        }
        let folder = folder.canonicalize().map_err(|source| Failure::read(folder.display(), source))?;
        Ok(Self { folder, _temporary: None })
    }

    fn temporary() -> Result<Self, Failure> {
        let temporary = tempfile::Builder::new().prefix("evidence-gate-demo-").tempdir();
        let temporary = temporary.map_err(|source| Failure::write("a temporary folder", source))?;
        Ok(Self { folder: temporary.path().to_owned(), _temporary: Some(temporary) })
    }

    /// The forge's repositories.
    pub(super) fn repositories(&self) -> PathBuf {
        self.folder.join("forge")
    }

    /// The configuration file.
    pub(super) fn config(&self) -> PathBuf {
        self.folder.join("evidence-gate.toml")
    }

    /// The log of receiver and worker.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("serve.log")
    }

    /// The address of the receiver, once it listens.
    pub(super) fn receiver_file(&self) -> PathBuf {
        self.folder.join("data").join("receive.addr")
    }

    /// Writes key, secret and configuration. `page` is where the rules are explained.
    pub(super) fn configure(&self, forge: &Forge, registered: &Registered, page: &str) -> Result<(), Failure> {
        let (key, secret) = (self.folder.join("app.pem"), self.folder.join("webhook-secret"));
        write_secret(&key, &registered.key)?;
        write_secret(&secret, &registered.secret)?;
        let quoted = |path: &Path| toml::Value::from(path.display().to_string()).to_string();
        let text = format!(
            "# Written by `evidence-gate demo`.\ndata_dir = {data}\n\n[receive]\nlisten = \"127.0.0.1:0\"\n\n\
             [work]\nrules_url = \"{page}/rules\"\npoll = \"200ms\"\n\n\
             [github]\napp_id = {app}\napi_url = \"{origin}\"\ngit_url = \"{origin}\"\nprivate_key_file = {key}\n\
             webhook_secret_files = [{secret}]\nwrite_interval = \"10ms\"\n",
            data = quoted(&self.folder.join("data")),
            app = super::forge::APP,
            origin = forge.origin(),
            key = quoted(&key),
            secret = quoted(&secret),
        );
        let config = self.config();
        std::fs::write(&config, text).map_err(|source| Failure::write(config.display(), source))
    }
}

fn write_secret(path: &Path, secret: &SecretString) -> Result<(), Failure> {
    use std::io::Write as _;
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(secret.expose_secret().as_bytes()))
        .map_err(|source| Failure::write(path.display(), source))
}

/// The first commit of the example repository.
pub(super) fn example() -> Vec<Edit> {
    let mut files = Vec::new();
    collect(&EXAMPLE, &mut files);
    files.retain(|Edit::Write { path, .. }| path != Policy::FILE && !LEFT_OUT.iter().any(|out| path.contains(out)));
    files.push(Edit::Write { path: Policy::FILE.to_owned(), bytes: POLICY.into() });
    files
}

fn collect(folder: &Dir<'_>, files: &mut Vec<Edit>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(inner) => collect(inner, files),
            DirEntry::File(file) => {
                let path = file.path().display().to_string();
                files.push(Edit::Write { path, bytes: file.contents().to_owned() });
            }
        }
    }
}
