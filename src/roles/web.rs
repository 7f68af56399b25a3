//! `evidence-gate web`: pages for people. It reads the store and writes nothing; it knows no key of a forge and no webhook secret.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{RoleError, now};
use crate::config::{Settings, WebSecrets};
use crate::delivery;
use crate::forge::{Door, GitHubDoor};
use crate::queue::SqlitePages;
use crate::web::{Entrance, Site, router};

/// The file below the data directory that holds the address that was bound: with port 0 nobody else knows it.
const ADDRESS_FILE: &str = "web.addr";

/// How often it is looked whether the database is there.
const LOOK: Duration = Duration::from_millis(250);

/// Shows pages until `stop`.
pub(super) async fn web(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    stop: CancellationToken,
) -> Result<(), RoleError> {
    let section = settings.web()?;
    let origin = section.origin()?;
    let entrance = entrance(settings, environment)?;
    let Some(pages) = wait_for_store(&settings.data_dir, &stop).await? else { return Ok(()) };
    let listen = section.listen;
    let bind = |source| RoleError::Bind { listen, key: "web.listen", source };
    let listener = TcpListener::bind(listen).await.map_err(bind)?;
    let bound = listener.local_addr().map_err(bind)?;
    super::receive::note_address(&settings.data_dir, ADDRESS_FILE, &bound.to_string())?;
    info!(net.address = %bound, "showing pages on http://{bound}/, which people reach as {origin}");
    let site = Site { pages: Arc::new(pages.clone()), origin, entrance, clock: now };
    let stopped = delivery::serve(listener, router(site), stop.cancelled_owned()).await;
    info!("stopped showing pages: {stopped:?}");
    pages.close().await;
    Ok(())
}

/// How people sign in, where it is configured.
fn entrance(settings: &Settings, environment: &BTreeMap<String, String>) -> Result<Option<Entrance>, RoleError> {
    let section = settings.web()?;
    let Some(WebSecrets { sign_in, client, operator }) = settings.web_secrets(environment)? else { return Ok(None) };
    let door = match client {
        Some((id, secret)) => {
            let github = settings.github()?;
            let door = GitHubDoor::new(&github.git_url, &github.api_url, id, secret)?;
            Some(Arc::new(door) as Arc<dyn Door>)
        }
        None => None,
    };
    Ok(Some(Entrance {
        secret: sign_in,
        lifetime: section.session_lifetime,
        door,
        operators: section.operators.clone(),
        token: operator,
    }))
}

/// The database is made, and brought to its shape, by the receiver or the worker: this role waits for them. `None`: told to stop first.
async fn wait_for_store(data_dir: &Path, stop: &CancellationToken) -> Result<Option<SqlitePages>, RoleError> {
    let mut told = false;
    loop {
        if let Some(pages) = SqlitePages::open(data_dir).await? {
            return Ok(Some(pages));
        }
        if !told {
            info!("waiting for the receiver or the worker to make the database in {}", data_dir.display());
            told = true;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => return Ok(None),
        }
    }
}
