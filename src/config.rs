//! The one place that reads the configuration file and the environment.
//!
//! One TOML file, then `EVIDENCE_GATE_*` variables over it (`__` stands between a section and its key:
//! `EVIDENCE_GATE_RECEIVE__LISTEN`). Every error is one sentence that names the key and where it came from.
//!
//! Deliberately absent: a secret in the file. The file names files that hold secrets; a variable may hold the secret itself.
//! [`Settings::webhook_secrets`] never reads the App's key and [`Settings::app_key`] never reads a webhook secret, so that each
//! role holds its own alone (R16).

mod maps;
mod web;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use url::Url;

pub use maps::{MapIssuer, MapToken, Maps, Runners, is_private};
pub use web::{WEB_SECRETS, Web, WebSecrets};

/// The prefix of every variable that is read.
pub const ENV_PREFIX: &str = "EVIDENCE_GATE_";

/// The variable that names the configuration file; it is no key of it.
const CONFIG_FILE: &str = "EVIDENCE_GATE_CONFIG";

/// Variables that hold the receiver's secrets: no other role may see them.
pub const RECEIVER_SECRETS: &[&str] = &["EVIDENCE_GATE_GITHUB__WEBHOOK_SECRETS"];

/// Variables that hold the worker's secrets: no other role may see them.
pub const WORKER_SECRETS: &[&str] = &["EVIDENCE_GATE_GITHUB__PRIVATE_KEY"];

/// Variables without which programs misbehave; all that a role inherits besides its own.
pub const INHERITED: &[&str] =
    &["PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "NO_PROXY"];

/// Everything that an operator can set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where the database and the mirrors are kept. Made if it does not exist.
    #[serde(default = "default_data_dir")]
    pub data_dir: PathBuf,
    /// The public role.
    #[serde(default)]
    pub receive: Receive,
    /// The judging role.
    #[serde(default)]
    pub work: Work,
    /// Pages for people; none without it.
    pub web: Option<Web>,
    /// GitHub. Without it no role has anything to do.
    pub github: Option<GitHub>,
    /// Where a pull request's code runs.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// Coverage maps that the base branch's own CI uploads.
    #[serde(default)]
    pub maps: Maps,
    /// What is logged, and how.
    #[serde(default)]
    pub log: Log,
}

/// `[receive]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Receive {
    /// Address and port of the webhook receiver.
    pub listen: SocketAddr,
    /// The most bytes that the database may grow to; past it deliveries are answered 503. Unset: until the disk is full.
    pub max_database_bytes: Option<u64>,
    /// The file with the public keys that verify our records; where none is named, the one that a worker with this `data_dir` writes.
    pub public_keys: Option<PathBuf>,
}

impl Default for Receive {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 8080)), max_database_bytes: None, public_keys: None }
    }
}

/// `[work]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Work {
    /// The name of this worker in records; `--runner-id` wins.
    pub runner_id: String,
    /// How many pull requests are judged at once.
    pub concurrency: usize,
    /// How long a job stays with a worker that gives no sign of life.
    #[serde(deserialize_with = "span")]
    pub lease: Duration,
    /// How long one evaluation may take before it is given up as unscored.
    #[serde(deserialize_with = "span")]
    pub deadline: Duration,
    /// How long the forge may take to show the same head as its webhook and its git (R59).
    #[serde(deserialize_with = "span")]
    pub head_agreement: Duration,
    /// The longest that a worker waits before it looks for work again.
    #[serde(deserialize_with = "span")]
    pub poll: Duration,
    /// How often every open pull request is looked at for a missing verdict (R22).
    #[serde(deserialize_with = "span")]
    pub sweep: Duration,
    /// The folder of the keys that records are signed with; below `data_dir` where none is named.
    pub keys: Option<PathBuf>,
    /// The operator's own policies: `FOLDER/github/REPOSITORY-ID.toml` wins over the repository's file.
    pub policies: Option<PathBuf>,
    /// What a repository without a policy gets.
    pub unconfigured: Unconfigured,
    /// Where the rules' descriptions stand, for the links in a report.
    pub rules_url: String,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            runner_id: "worker".to_owned(),
            concurrency: 2,
            lease: Duration::from_mins(1),
            deadline: Duration::from_mins(15),
            head_agreement: Duration::from_mins(1),
            poll: Duration::from_secs(1),
            sweep: Duration::from_mins(30),
            keys: None,
            policies: None,
            unconfigured: Unconfigured::Unscored,
            rules_url: "https://github.com/evidence-gate/evidence-gate/blob/main/docs/rules.md".to_owned(),
        }
    }
}

/// What a repository without a policy gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unconfigured {
    /// A check run that says `no-policy`.
    Unscored,
    /// Nothing.
    Silent,
}

/// `[github]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitHub {
    /// The App's number.
    pub app_id: u64,
    /// The REST API; for GitHub Enterprise Server `https://HOST/api/v3`.
    #[serde(default = "default_api_url")]
    pub api_url: Url,
    /// What clone addresses begin with.
    #[serde(default = "default_git_url")]
    pub git_url: Url,
    /// The App's private key in PEM. The worker reads it.
    pub private_key_file: Option<PathBuf>,
    /// Files with one webhook secret each; all of them are accepted. The receiver reads them.
    #[serde(default)]
    pub webhook_secret_files: Vec<PathBuf>,
    /// The one name of our check run.
    #[serde(default = "default_check_name")]
    pub check_name: String,
    /// The least time between two writes for one installation (R89).
    #[serde(default = "default_write_interval", deserialize_with = "span")]
    pub write_interval: Duration,
}

/// `[sandbox]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// What makes the sandbox. Nothing takes its place by itself.
    pub backend: Backend,
    /// The program of the backend, looked up in `/usr/bin` and `/bin` where it is a bare name.
    pub program: PathBuf,
    /// Files and folders of this host that programs see, read-only and under the same path, besides the system's own.
    pub toolchains: Vec<PathBuf>,
    /// The root file system that programs see; this host's own system folders where there is none.
    pub root: Option<PathBuf>,
    /// The number of the user (and group) under which a worker that was started as root runs programs.
    pub uid: u32,
    /// Memory of a run, all processes together, bytes.
    pub memory: u64,
    /// Processes and threads of a run.
    pub processes: u32,
    /// The largest file, the size of `/tmp`, and what a run may add to a folder, bytes.
    pub file_size: u64,
    /// Open files of one process.
    pub open_files: u32,
    /// What is kept of each output, bytes; more ends the run.
    pub output: u64,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            backend: Backend::Bubblewrap,
            program: PathBuf::from("bwrap"),
            toolchains: Vec::new(),
            root: None,
            uid: 60_600,
            memory: 2 << 30,
            processes: 256,
            file_size: 1 << 30,
            open_files: 1024,
            output: 16 << 20,
        }
    }
}

/// What makes a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Backend {
    /// Namespaces, by the program `bwrap`.
    Bubblewrap,
}

impl TryFrom<String> for Backend {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            "bubblewrap" => Ok(Self::Bubblewrap),
            _ => Err(format!("`sandbox.backend` is {name:?}, and \"bubblewrap\" is the only one that there is")),
        }
    }
}

/// `[log]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// Which events: `info`, or a list such as `warn,evidence_gate=debug`.
    pub filter: String,
    /// For people or for machines.
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Text }
    }
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

fn default_data_dir() -> PathBuf {
    PathBuf::from("/var/lib/evidence-gate")
}

fn default_api_url() -> Url {
    Url::parse("https://api.github.com/").expect("a constant address is an address")
}

fn default_git_url() -> Url {
    Url::parse("https://github.com/").expect("a constant address is an address")
}

fn default_check_name() -> String {
    "evidence-gate".to_owned()
}

fn default_write_interval() -> Duration {
    Duration::from_secs(1)
}

/// A duration such as `45s`, `5m` or `1h`.
fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bad = || D::Error::custom(format!("{text:?} is no duration such as \"45s\", \"5m\" or \"1h\""));
    let span: jiff::SignedDuration = text.parse().map_err(|_| bad())?;
    Duration::try_from(span).map_err(|_| bad())
}

/// What is wrong with the configuration. One sentence; exit code 65 for what was read, 74 for what could not be.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not there or not readable.
    #[error("cannot read {what} {path}: {source}")]
    Unreadable {
        /// What the file is for.
        what: &'static str,
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML, has an unknown key or a value of the wrong kind.
    #[error("{path}: {why}")]
    File {
        /// Where.
        path: String,
        /// Place and reason.
        why: String,
    },
    /// A variable has an unknown name or a value of the wrong kind.
    #[error("a variable {ENV_PREFIX}* is wrong: {0}")]
    Environment(String),
    /// A value that a role needs is not set.
    #[error("`{key}` is not set: {hint}")]
    Missing {
        /// The key.
        key: &'static str,
        /// How to set it.
        hint: &'static str,
    },
    /// A secret stands in the file.
    #[error("{path}: `{key}` may not stand in the file: {hint}")]
    SecretInFile {
        /// Where.
        path: String,
        /// The key.
        key: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
}

impl ConfigError {
    /// What the command exits with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unreadable { .. } => 74,
            Self::File { .. } | Self::Environment(_) | Self::Missing { .. } | Self::SecretInFile { .. } => 65,
        }
    }
}

const SECRETS_HINT: &str = "name files in `github.webhook_secret_files`, or set EVIDENCE_GATE_GITHUB__WEBHOOK_SECRETS \
                            (several are separated by a comma)";
const KEY_HINT: &str = "name the file in `github.private_key_file`, or set EVIDENCE_GATE_GITHUB__PRIVATE_KEY";

/// The environment of this process, as far as it is ours and is UTF-8.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

impl Settings {
    /// Reads the file, if one is named, and lays the variables over it.
    pub fn load(file: Option<&Path>, environment: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let mut builder = config::Config::builder();
        if let Some(path) = file {
            builder = builder.add_source(config::File::from_str(&checked_file(path)?, config::FileFormat::Toml));
        }
        let ours = environment
            .iter()
            .filter(|(name, _)| !is_secret(name) && name.as_str() != CONFIG_FILE)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let variables = config::Environment::with_prefix(ENV_PREFIX.trim_end_matches('_'))
            .prefix_separator("_")
            .separator("__")
            .try_parsing(true)
            .list_separator(",")
            .with_list_parse_key("github.webhook_secret_files")
            .with_list_parse_key("web.operators")
            .source(Some(ours));
        builder
            .add_source(variables)
            .build()
            .and_then(config::Config::try_deserialize)
            .map_err(|error| ConfigError::Environment(error.to_string()))
    }

    /// The folder of the keys that records are signed with.
    pub fn keys(&self) -> PathBuf {
        self.work.keys.clone().unwrap_or_else(|| self.data_dir.join("keys"))
    }

    /// The section `[github]`.
    pub fn github(&self) -> Result<&GitHub, ConfigError> {
        self.github.as_ref().ok_or(ConfigError::Missing {
            key: "github.app_id",
            hint: "add a section [github] with the number of your GitHub App",
        })
    }

    /// Every active webhook secret: the files' and the variable's. White space around a secret is not part of it.
    pub fn webhook_secrets(&self, environment: &BTreeMap<String, String>) -> Result<Vec<SecretString>, ConfigError> {
        let mut secrets = Vec::new();
        for path in &self.github()?.webhook_secret_files {
            secrets.push(SecretString::from(read("webhook secret", path)?.trim().to_owned()));
        }
        for name in RECEIVER_SECRETS {
            let several = environment.get(*name).map_or("", String::as_str);
            secrets.extend(several.split(',').map(str::trim).filter(|s| !s.is_empty()).map(SecretString::from));
        }
        if secrets.is_empty() {
            return Err(ConfigError::Missing { key: "github.webhook_secret_files", hint: SECRETS_HINT });
        }
        Ok(secrets)
    }

    /// The tokens of `maps.tokens`, in their order. White space around a token is not part of it.
    pub fn upload_tokens(&self) -> Result<Vec<SecretString>, ConfigError> {
        let files = self.maps.tokens.iter().map(|token| read("upload token", &token.file));
        files.map(|text| Ok(SecretString::from(text?.trim().to_owned()))).collect()
    }

    /// The App's private key in PEM.
    pub fn app_key(&self, environment: &BTreeMap<String, String>) -> Result<SecretString, ConfigError> {
        if let Some(path) = &self.github()?.private_key_file {
            return Ok(SecretString::from(read("App key", path)?));
        }
        WORKER_SECRETS
            .iter()
            .find_map(|name| environment.get(*name))
            .map(|key| SecretString::from(key.clone()))
            .ok_or(ConfigError::Missing { key: "github.private_key_file", hint: KEY_HINT })
    }
}

fn is_secret(variable: &str) -> bool {
    [RECEIVER_SECRETS, WORKER_SECRETS, WEB_SECRETS].iter().any(|of| of.contains(&variable))
}

/// The file's text, once it is known to be right by itself: only so can an error name its line.
fn checked_file(path: &Path) -> Result<String, ConfigError> {
    let text = read("configuration", path)?;
    let shown = path.display().to_string();
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| ConfigError::File { path: shown.clone(), why: error.to_string() })?;
    let github = table.get("github").and_then(toml::Value::as_table);
    for (key, name, hint) in
        [("webhook_secrets", "github.webhook_secrets", SECRETS_HINT), ("private_key", "github.private_key", KEY_HINT)]
    {
        if github.is_some_and(|section| section.contains_key(key)) {
            return Err(ConfigError::SecretInFile { path: shown, key: name, hint });
        }
    }
    if github.is_none_or(|section| section.contains_key("app_id")) {
        toml::from_str::<Settings>(&text).map_err(|error| ConfigError::File { path: shown, why: error.to_string() })?;
    }
    Ok(text)
}

fn read(what: &'static str, path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        what,
        path: path.display().to_string(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("it can be written");
        file
    }

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_variable_wins_over_the_file() {
        let file = file("data_dir = \"/a\"\n[receive]\nlisten = \"127.0.0.1:1\"\n[github]\napp_id = 7\n");
        let environment = variables(&[
            ("EVIDENCE_GATE_RECEIVE__LISTEN", "127.0.0.1:2"),
            ("EVIDENCE_GATE_GITHUB__CHECK_NAME", "gate"),
        ]);
        let settings = Settings::load(Some(file.path()), &environment).expect("a good configuration");
        assert_eq!(settings.receive.listen.port(), 2);
        assert_eq!(settings.data_dir, Path::new("/a"));
        assert_eq!(settings.github.expect("a section").check_name, "gate");
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let file = file("[receive]\nlissten = \"127.0.0.1:1\"\n");
        let error = Settings::load(Some(file.path()), &BTreeMap::new()).expect_err("a typo").to_string();
        assert!(error.contains("line 2") && error.contains("lissten"), "{error}");
    }

    #[test]
    fn an_unknown_variable_is_named() {
        let error =
            Settings::load(None, &variables(&[("EVIDENCE_GATE_WORK__LEESE", "60s")])).expect_err("a typo").to_string();
        assert!(error.contains("leese"), "{error}");
    }

    #[test]
    fn a_duration_without_a_unit_is_refused() {
        let file = file("[work]\nlease = \"60\"\n");
        let error = Settings::load(Some(file.path()), &BTreeMap::new()).expect_err("no unit").to_string();
        assert!(error.contains("is no duration such as"), "{error}");
    }

    #[test]
    fn a_secret_in_the_file_is_refused_and_not_repeated() {
        let file = file("[github]\napp_id = 7\nwebhook_secrets = [\"hunter2-hunter2-hunter2-hunter2-hunter2\"]\n");
        let error = Settings::load(Some(file.path()), &BTreeMap::new()).expect_err("a secret").to_string();
        assert!(error.contains("github.webhook_secrets") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn each_role_reads_its_own_secret_only() {
        let settings =
            Settings::load(None, &variables(&[("EVIDENCE_GATE_GITHUB__APP_ID", "7")])).expect("enough to start");
        let environment = variables(&[("EVIDENCE_GATE_GITHUB__WEBHOOK_SECRETS", "one, two")]);
        let secrets = settings.webhook_secrets(&environment).expect("two secrets");
        assert_eq!(secrets.iter().map(ExposeSecret::expose_secret).collect::<Vec<_>>(), ["one", "two"]);
        let error = settings.app_key(&environment).expect_err("no key").to_string();
        assert!(error.contains("github.private_key_file"), "{error}");
    }

    #[test]
    fn a_missing_secret_file_is_named() {
        let file = file("[github]\napp_id = 7\nwebhook_secret_files = [\"/nowhere/secret\"]\n");
        let settings = Settings::load(Some(file.path()), &BTreeMap::new()).expect("a good configuration");
        let error = settings.webhook_secrets(&BTreeMap::new()).expect_err("no file").to_string();
        assert!(error.starts_with("cannot read webhook secret /nowhere/secret"), "{error}");
    }
}
