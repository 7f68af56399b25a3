//! The bytes of a map, from the connection into a file, within bounds.

use std::io::{self, Write as _};
use std::time::Duration;

use axum::body::Body;
use futures::StreamExt as _;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

/// What came.
pub(super) struct Received {
    pub(super) packed: NamedTempFile,
    /// sha256 in hexadecimal.
    pub(super) digest: String,
    pub(super) bytes: u64,
}

/// Why nothing came that can be kept. The file is gone.
#[derive(Debug)]
pub(super) enum NotReceived {
    TooLarge,
    /// It ended before its time.
    Broken(axum::Error),
    /// Nothing came for too long.
    Silence,
    /// There was nothing in it.
    Empty,
    /// It could not be written.
    Disk(io::Error),
}

/// Reads a body of up to `most` bytes into a file. Not one byte more is kept, and nothing at all where it breaks off.
pub(super) async fn receive(
    headers: &HeaderMap,
    body: Body,
    mut packed: NamedTempFile,
    most: u64,
    silence: Duration,
) -> Result<Received, NotReceived> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > most) {
        return Err(NotReceived::TooLarge);
    }
    let mut hasher = Sha256::new();
    let mut bytes = 0_u64;
    let mut chunks = body.into_data_stream();
    loop {
        let next = tokio::time::timeout(silence, chunks.next()).await.map_err(|_| NotReceived::Silence)?;
        let Some(chunk) = next else { break };
        let chunk = chunk.map_err(NotReceived::Broken)?;
        bytes += chunk.len() as u64;
        if bytes > most {
            return Err(NotReceived::TooLarge);
        }
        hasher.update(&chunk);
        // A chunk is what one read of the socket brought: it fits the page cache, and the file is synced only once, at the end.
        packed.write_all(&chunk).map_err(NotReceived::Disk)?;
    }
    if bytes == 0 {
        return Err(NotReceived::Empty);
    }
    Ok(Received { packed, digest: hex::encode(hasher.finalize()), bytes })
}

/// Reads on for a while after an answer is known, so that the sender, who still writes, hears it and no broken connection.
pub(super) async fn pour_away(body: Body, most: u64, time: Duration) {
    let read = async {
        let mut left = most;
        let mut chunks = body.into_data_stream();
        while let Some(Ok(chunk)) = chunks.next().await {
            let Some(less) = left.checked_sub(chunk.len() as u64) else { return };
            left = less;
        }
    };
    // Whoever is not done by then gets the answer all the same, if the connection lets it.
    let _over = tokio::time::timeout(time, read).await;
}
