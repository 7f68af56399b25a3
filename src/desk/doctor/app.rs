//! The App as the forge knows it: registration, webhook, deliveries, installations, and the two clocks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use url::{Host, Url};

use super::line::{About, Line};
use crate::desk::manifest::Manifest;
use crate::forge::{Installed, LogEntry, Registration, Webhook};

/// GitHub refuses a JWT from a clock that is further ahead; the client corrects it, and logs and leases are wrong all the same.
const MOST_SKEW: u64 = 60;
/// A difference of some seconds is the network's.
const SOME_SKEW: u64 = 10;
/// So many of the newest deliveries are looked at.
const DELIVERIES: usize = 20;

/// Permissions without which there is no verdict.
const NEEDED: [&str; 4] = ["checks", "contents", "metadata", "pull_requests"];
/// Events without which a verdict is not made, or outlives what it stands on.
const NEEDED_EVENTS: [&str; 2] = ["pull_request", "push"];

/// What the App asks for, held against what this version needs.
pub(super) fn registration(about: &About, found: &Registration, now: Timestamp) -> Vec<Line> {
    let manifest = Manifest::of_this_version();
    let next = "the App's settings, \"Permissions & events\"";
    let mut lines = vec![about.ok("App", format!("{} at {}", found.slug, found.page)), clock(about, found.date, now)];
    lines.extend(permissions(about, &manifest, &found.permissions, next));
    lines.extend(events(about, &manifest, &found.events, next));
    lines
}

fn clock(about: &About, forge: Option<Timestamp>, now: Timestamp) -> Line {
    let Some(forge) = forge else {
        return about.warning(
            "clock",
            "the forge's answer has no date",
            "see whether a proxy takes the header `Date` away",
        );
    };
    let skew = now.duration_since(forge).as_secs();
    let side = if skew < 0 { "behind" } else { "ahead of" };
    let said = format!("this machine is {} s {side} the forge", skew.unsigned_abs());
    let next = "set the clock by NTP: leases, freezes and tokens go by it";
    let skew = skew.unsigned_abs();
    if skew <= SOME_SKEW {
        about.ok("clock", said)
    } else if skew <= MOST_SKEW {
        about.warning("clock", said, next)
    } else {
        about.fault("clock", said, next)
    }
}

fn suffices(granted: Option<&String>, level: &str) -> bool {
    granted.is_some_and(|granted| granted == level || granted == "write" || granted == "admin")
}

/// What is missing, and what is more than it takes.
fn permissions(about: &About, manifest: &Manifest, granted: &BTreeMap<String, String>, next: &str) -> Vec<Line> {
    let wanted = manifest.permissions();
    let mut lines = Vec::new();
    for (name, level) in &wanted {
        if suffices(granted.get(name), level) {
            continue;
        }
        let has = granted.get(name).map_or("none", String::as_str);
        let said = format!("`{name}` is {has}, and {level} is needed");
        let next = format!("grant `{name}: {level}` in {next}");
        let partly = name == "pull_requests" && has == "read";
        let needed = NEEDED.contains(&name.as_str()) && !partly;
        lines.push(if needed {
            about.fault("permission", said, next)
        } else {
            about.warning("permission", said, next)
        });
    }
    for (name, level) in granted {
        let more = wanted.get(name).is_none_or(|wanted| wanted == "read" && level != "read");
        if more {
            let said = format!("`{name}: {level}` is more than it needs");
            lines.push(about.warning(
                "permission",
                said,
                "take it away: what the key cannot do, nobody can do with it",
            ));
        }
    }
    if lines.is_empty() {
        lines.push(about.ok("permissions", "as the manifest asks"));
    }
    lines
}

fn events(about: &About, manifest: &Manifest, subscribed: &BTreeSet<String>, next: &str) -> Vec<Line> {
    let wanted = manifest.events();
    let missing: Vec<&String> = wanted.difference(subscribed).collect();
    if missing.is_empty() {
        return vec![about.ok("events", "as the manifest asks")];
    }
    let line = |name: &&String| {
        let said = format!("`{name}` is not subscribed to");
        let next = format!("subscribe to it in {next}");
        if NEEDED_EVENTS.contains(&name.as_str()) {
            about.fault("event", said, next)
        } else {
            about.warning("event", said, next)
        }
    };
    missing.iter().map(line).collect()
}

/// Where deliveries go, and whether anybody could forge one.
pub(super) fn webhook(about: &About, found: &Webhook) -> Vec<Line> {
    const SETTINGS: &str = "the App's settings, \"Webhook\"";
    let mut lines = Vec::new();
    let Some(text) = &found.url else {
        return vec![about.fault(
            "webhook",
            "the App has no webhook",
            format!("set https://YOUR-HOST/webhooks/github in {SETTINGS}"),
        )];
    };
    let url = Url::parse(text).ok();
    let loopback = url.as_ref().and_then(Url::host).is_some_and(|host| match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    });
    lines.push(match &url {
        Some(url) if url.scheme() != "https" && !loopback => about.fault(
            "webhook",
            format!("{text} is not https"),
            "put a TLS proxy in front of the receiver: bodies name private code",
        ),
        Some(url) if !url.path().ends_with("/webhooks/github") => {
            let next = "the receiver answers at /webhooks/github; correct it unless a proxy rewrites the path";
            about.warning("webhook", format!("deliveries go to {text}"), next)
        }
        Some(_) => about.ok("webhook", format!("deliveries go to {text}")),
        None => about.fault("webhook", format!("{text} is no address"), format!("correct it in {SETTINGS}")),
    });
    if !found.has_secret {
        let next = format!("set the secret of `github.webhook_secret_files` in {SETTINGS}");
        lines.push(about.fault("secret", "deliveries are not signed, and the receiver refuses them", next));
    }
    if !found.is_json {
        lines.push(about.fault(
            "content type",
            "deliveries come as a form",
            format!("choose application/json in {SETTINGS}"),
        ));
    }
    if !found.checks_certificate {
        lines.push(about.warning(
            "certificate",
            "the receiver's certificate is not checked",
            format!("enable SSL verification in {SETTINGS}"),
        ));
    }
    lines
}

/// Whether the newest deliveries arrived; newest first.
pub(super) fn deliveries(about: &About, log: &[LogEntry]) -> Line {
    let newest = &log[..log.len().min(DELIVERIES)];
    let failed: Vec<u16> =
        newest.iter().map(|entry| entry.status).filter(|status| !(200..300).contains(status)).collect();
    let next =
        "see that the receiver can be reached from the forge, and its log; the worker asks for failed deliveries again";
    match (newest.first(), failed.first()) {
        (None, _) => about.warning("deliveries", "none in the forge's log yet", "open a pull request, and look again"),
        (Some(_), None) => about.ok("deliveries", format!("the newest {} arrived", newest.len())),
        (Some(last), Some(status)) => {
            let status = if *status == 0 { "no answer".to_owned() } else { format!("status {status}") };
            let said =
                format!("{} of the newest {} failed, the last of them with {status}", failed.len(), newest.len());
            if (200..300).contains(&last.status) {
                about.warning("deliveries", said, next)
            } else {
                about.fault("deliveries", said, next)
            }
        }
    }
}

/// One installation: whether it may be used, and whether its owner has granted what the App asks for.
pub(super) fn installation(found: &Installed) -> Vec<Line> {
    let about = About(format!("installation on {}", found.account));
    if found.suspended {
        let next =
            "its owner lifts that on the installation's settings page; until then no check run is published there";
        return vec![about.fault("installation", "suspended", next)];
    }
    let manifest = Manifest::of_this_version();
    let next = "the App's settings; then the owner of the installation accepts it";
    let mut lines = permissions(&about, &manifest, &found.permissions, next);
    lines.extend(events(&about, &manifest, &found.events, next));
    lines
}
