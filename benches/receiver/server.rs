//! The servers that are measured.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Ours,
    Probot,
    Memory,
    Durable,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Ours, Self::Probot, Self::Memory, Self::Durable];

    /// The word for it on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Probot => "probot",
            Self::Memory => "memory",
            Self::Durable => "durable",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "evidence-gate receive, durable",
            Self::Probot => "Probot, nothing durable",
            Self::Memory => "@octokit/webhooks, nothing durable",
            Self::Durable => "@octokit/webhooks + better-sqlite3, durable",
        }
    }
}

/// A running server with a folder of its own. Dropped, it is killed.
pub(crate) struct Server {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Server {
    pub(crate) fn start(kind: Kind, secret: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = match kind {
            Kind::Ours => ours(folder.path(), secret),
            Kind::Probot => node("probot.mjs", folder.path(), secret),
            Kind::Memory => node("memory.mjs", folder.path(), secret),
            Kind::Durable => node("durable.mjs", folder.path(), secret),
        };
        let command = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let mut server = Self { child: command.spawn().unwrap(), port: 0, folder };
        server.port = server.wait_for_port(kind);
        server
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn data_dir(&self) -> &Path {
        self.folder.path()
    }

    /// Seconds that its threads have run, <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>.
    pub(crate) fn processor_seconds(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u32 = fields[11..13].iter().map(|ticks| ticks.parse::<u32>().unwrap()).sum();
        f64::from(ticks) / 100.0
    }

    /// The end of its log.
    pub(crate) fn said(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().rev().take(5).collect::<Vec<_>>().join("\n")
    }

    /// `kill -9`
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn wait_for_port(&mut self, kind: Kind) -> u16 {
        let start = Instant::now();
        loop {
            let text = match kind {
                Kind::Ours => fs::read_to_string(self.folder.path().join("receive.addr")),
                Kind::Probot | Kind::Memory | Kind::Durable => fs::read_to_string(self.folder.path().join("log")),
            };
            let port = text.unwrap_or_default().trim().rsplit([':', ' ']).next().and_then(|port| port.parse().ok());
            if let Some(port) = port {
                return port;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && start.elapsed() < Duration::from_secs(30), "{kind:?}: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed before.
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn ours(folder: &Path, secret: &str) -> Command {
    let config = folder.join("config.toml");
    let text =
        format!("data_dir = \"{}\"\n[receive]\nlisten = \"127.0.0.1:0\"\n[github]\napp_id = 1\n", folder.display());
    fs::write(&config, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
    command.arg("receive").arg("--config").arg(config).env("EVIDENCE_GATE_GITHUB__WEBHOOK_SECRETS", secret);
    command
}

fn node(script: &str, folder: &Path, secret: &str) -> Command {
    let peers: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/receiver/peers");
    let mut command = Command::new("node");
    command.arg(peers.join(script)).env("SECRET", secret).env("DATABASE", folder.join("peer.sqlite"));
    command.env("NODE_ENV", "production");
    command
}
