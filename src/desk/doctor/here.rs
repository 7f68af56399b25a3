//! This machine: secrets and their files, git, sandbox, disk and database.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use jiff::Timestamp;

use super::line::{About, Line};
use crate::change;
use crate::config::Settings;
use crate::delivery::WebhookSecrets;
use crate::queue::{Depth, Queue as _, SqliteOptions, SqliteQueue};
use crate::sandbox;
use crate::words::with_causes;

/// With less space than this the database may stop taking deliveries within a day.
const LITTLE_SPACE: u64 = 2 << 30;
/// With less than this it may stop now.
const NO_SPACE: u64 = 256 << 20;
/// A job that waits longer is not being worked on as it should.
const SLOW_SECONDS: u64 = 10 * 60;
/// A job that waits longer is not being worked on.
const STUCK_SECONDS: u64 = 60 * 60;

/// Everything that can be seen without asking anybody.
pub(super) async fn look(settings: &Settings, environment: &BTreeMap<String, String>, now: Timestamp) -> Vec<Line> {
    let about = About("this machine".to_owned());
    let mut lines = secrets(&about, settings, environment);
    lines.push(git(&about));
    lines.extend(of_sandbox(&about, settings));
    lines.push(space(&about, &settings.data_dir));
    lines.extend(database(&about, &settings.data_dir, now).await);
    lines
}

fn secrets(about: &About, settings: &Settings, environment: &BTreeMap<String, String>) -> Vec<Line> {
    const SETUP: &str = "`evidence-gate setup` registers an App and writes all of it; or follow the README by hand";
    let github = match settings.github() {
        Ok(github) => github,
        Err(error) => return vec![about.fault("configuration", error.to_string(), SETUP)],
    };
    let mut lines = vec![about.ok("configuration", format!("App {} at {}", github.app_id, github.api_url))];
    let key = settings.app_key(environment);
    lines.push(match key {
        Ok(_) => about.ok("key", "it can be read"),
        Err(error) => {
            about.fault("key", error.to_string(), "the worker reads it: name the file, and let its user read it")
        }
    });
    let secrets = settings.webhook_secrets(environment).map_err(|error| error.to_string());
    let count = secrets.as_ref().map_or(0, Vec::len);
    lines.push(match secrets.and_then(|secrets| WebhookSecrets::new(secrets).map_err(|error| error.to_string())) {
        Ok(_) if count == 1 => about.ok("secret", "one, long enough"),
        Ok(_) => {
            about.ok("secret", format!("{count}, long enough; take the old one out once no delivery is signed with it"))
        }
        Err(error) => {
            about.fault("secret", error, "make a random text of 32 characters or more, here and in the App's settings")
        }
    });
    let files = github.private_key_file.iter().chain(&github.webhook_secret_files);
    lines.extend(files.filter_map(|file| open_to_others(about, file)));
    lines
}

/// A file of secrets that others may read. One that is not there was told of before.
fn open_to_others(about: &About, file: &Path) -> Option<Line> {
    let mode = file.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o007 != 0).then(|| {
        let said = format!("{} has mode {mode:o}: every user of this machine can use it", file.display());
        about.warning("file mode", said, format!("chmod 600 {}", file.display()))
    })
}

fn git(about: &About) -> Line {
    match change::require_git() {
        Ok(()) => about.ok("git", "2.45 or newer"),
        Err(error) => about.fault("git", with_causes(&error), "install git 2.45 or newer, found by the worker's PATH"),
    }
}

fn of_sandbox(about: &About, settings: &Settings) -> Vec<Line> {
    let tried = sandbox::check(&settings.sandbox);
    let count = tried.len();
    let broken: Vec<Line> = tried
        .into_iter()
        .filter(|line| !line.holds)
        .map(|line| about.fault("sandbox", format!("{}: {}", line.check, line.said), line.next))
        .collect();
    if broken.is_empty() {
        vec![about.ok("sandbox", format!("{count} promises were tried, and all hold"))]
    } else {
        broken
    }
}

fn space(about: &About, data_dir: &Path) -> Line {
    let there = data_dir.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let free = match rustix::fs::statvfs(there) {
        Ok(found) => found.f_bavail.saturating_mul(found.f_frsize),
        Err(error) => {
            return about.fault(
                "disk",
                format!("cannot look at {}: {error}", there.display()),
                "set `data_dir` to a folder of this user",
            );
        }
    };
    judge_space(about, &there.display().to_string(), free)
}

fn judge_space(about: &About, place: &str, free: u64) -> Line {
    let said = format!("{} MiB are free at {place}", free >> 20);
    let next =
        "make room, or move `data_dir`; past the end deliveries are answered with 503 and stay in the forge's log";
    match free {
        ..NO_SPACE => about.fault("disk", said, next),
        NO_SPACE..LITTLE_SPACE => about.warning("disk", said, next),
        LITTLE_SPACE.. => about.ok("disk", said),
    }
}

/// The database is looked at where there is one, and never made.
async fn database(about: &About, data_dir: &Path, now: Timestamp) -> Vec<Line> {
    if !SqliteQueue::is_in(data_dir) {
        let said = format!("none yet in {}", data_dir.display());
        return vec![about.warning("database", said, "`evidence-gate serve` makes it when it starts")];
    }
    let queue = match SqliteQueue::open(data_dir, SqliteOptions::default()).await {
        Ok(queue) => queue,
        Err(error) => {
            return vec![about.fault(
                "database",
                with_causes(&error),
                "let the user of this command read and write `data_dir`",
            )];
        }
    };
    let depth = queue.depth(now).await;
    queue.close().await;
    match depth {
        Ok(depth) => judge_depth(about, depth),
        Err(error) => vec![about.fault("database", with_causes(&error), "look at the disk and at the file's owner")],
    }
}

fn judge_depth(about: &About, Depth { queued, running, dead, oldest_seconds }: Depth) -> Vec<Line> {
    let said = format!("{queued} queued, {running} running, the oldest waits {oldest_seconds} s");
    let idle = "see that `evidence-gate work` runs, and what it logs";
    let mut lines = vec![match oldest_seconds {
        ..SLOW_SECONDS => about.ok("queue", said),
        SLOW_SECONDS..STUCK_SECONDS => about.warning("queue", said, idle),
        STUCK_SECONDS.. => about.fault("queue", said, idle),
    }];
    if dead > 0 {
        let said = format!("{dead} failed for good");
        lines.push(about.warning(
            "dead letters",
            said,
            "`evidence-gate queue list` has the errors, `queue retry` tries again",
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::line::State;
    use super::*;

    fn about() -> About {
        About("this machine".to_owned())
    }

    #[test]
    fn a_disk_is_a_warning_before_it_is_a_fault() {
        let state = |free| judge_space(&about(), "/data", free).state;
        assert_eq!([state(8 << 30), state(1 << 30), state(1 << 20)], [State::Ok, State::Warning, State::Fault]);
    }

    #[test]
    fn an_old_job_and_a_dead_one_are_told_of() {
        let states = |oldest_seconds, dead| {
            let lines = judge_depth(&about(), Depth { queued: 1, running: 0, dead, oldest_seconds });
            lines.iter().map(|line| (line.check, line.state)).collect::<Vec<_>>()
        };
        assert_eq!(states(5, 0), [("queue", State::Ok)]);
        assert_eq!(states(700, 2), [("queue", State::Warning), ("dead letters", State::Warning)]);
        assert_eq!(states(7200, 0), [("queue", State::Fault)]);
    }
}
