//! Coverage maps in a story: a job of the base branch's CI, and what the operator sees of it.

use std::process::Output;

use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use super::{Gate, PATIENCE, World};
use crate::fake_forge::WIDGETS;
use crate::issuer::{AUDIENCE, Issuer, REQUEST_TOKEN};

impl World {
    /// Starts the gate with a receiver that takes maps from the jobs of this issuer.
    pub async fn taking_maps_of(self, issuer: &Issuer) -> Gate {
        let mut gate = self.without_receiver().start().await;
        let more = format!(
            "\n[maps]\naudience = \"{AUDIENCE}\"\n\n[[maps.issuers]]\nforge = \"github\"\nissuer = \"{}\"\nowners = [5]\n",
            issuer.origin
        );
        let text = std::fs::read_to_string(gate.config()).unwrap() + &more;
        std::fs::write(gate.config(), text).unwrap();
        gate.start_receiver().await;
        gate
    }
}

impl Gate {
    /// A job on `main` whose commit is this one runs `coverage push`. What it says goes to the story.
    pub async fn job_pushes(&self, issuer: &Issuer, commit: &str, map: &Value) -> Output {
        self.job_pushes_to(self.address("/").as_ref(), issuer, commit, map).await
    }

    /// The same, to another address than the receiver's.
    pub async fn job_pushes_to(&self, url: &str, issuer: &Issuer, commit: &str, map: &Value) -> Output {
        let file = self.folder.path().join("map.json");
        std::fs::write(&file, map.to_string()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a job's token is good now, and the program reads the clock")]
        let now = jiff::Timestamp::now();
        issuer.says_of_the_job(issuer.github(WIDGETS, commit, now));
        let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
        command.args(["coverage", "push", "--url", url, "--audience", AUDIENCE]).arg(&file).env_clear().envs([
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_REPOSITORY_ID", &WIDGETS.to_string()),
            ("GITHUB_SHA", commit),
            ("ACTIONS_ID_TOKEN_REQUEST_URL", &format!("{}/token?api-version=2.0", issuer.origin)),
            ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", REQUEST_TOKEN),
        ]);
        timeout(PATIENCE, command.kill_on_drop(true).output()).await.expect("the push ends in time").unwrap()
    }

    /// What `coverage list` says of each map: everything behind its age.
    pub async fn maps(&self) -> Vec<Value> {
        let out = self.run(&["coverage", "list", "--format", "json"]).await;
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }

    /// The annotations of the newest check run on a pull request's head: path, line, last line and text.
    pub fn annotations(&self, number: u64) -> Vec<String> {
        let runs = self.runs(number);
        let run = runs.first().expect("there is a check run");
        let one = |annotation: &serde_json::Map<String, Value>| {
            let (path, from, to) = (&annotation["path"], &annotation["start_line"], &annotation["end_line"]);
            format!("{}:{from}-{to} {}", path.as_str().unwrap(), annotation["title"].as_str().unwrap_or_default())
        };
        run.annotations.iter().map(one).collect()
    }
}
