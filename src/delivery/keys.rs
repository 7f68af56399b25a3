//! The public keys of the scoring host, for whoever verifies its records.

use std::path::Path;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::Deserialize;
use tracing::error;

/// The address that they have, <https://www.rfc-editor.org/rfc/rfc8615>.
pub(super) const PATH: &str = "/.well-known/evidence-gate/keys";

/// The largest file that is served, in bytes: some thousand keys.
const LARGEST: u64 = 1 << 20;

/// How long others may go on with the keys that they have read.
const CACHED: &str = "public, max-age=300";

/// What a file of public keys must at least be. Anything else, a private key above all, is not served.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicKeys {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(rename = "keys")]
    _keys: Vec<serde_json::Value>,
}

/// The file, read anew each time: it is small, and a rotation is then seen at once.
pub(super) async fn keys(file: &Path) -> Response {
    match read(file).await {
        Ok(Some(bytes)) => ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, CACHED)], bytes).into_response(),
        Ok(None) => (StatusCode::NOT_FOUND, "no record was signed here yet\n").into_response(),
        Err(why) => {
            error!(path = %file.display(), "cannot serve the public keys (`receive.public_keys`): {why}");
            (StatusCode::SERVICE_UNAVAILABLE, "the public keys cannot be read\n").into_response()
        }
    }
}

async fn read(file: &Path) -> Result<Option<Vec<u8>>, String> {
    let size = match tokio::fs::metadata(file).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(about) => about.len(),
    };
    if size > LARGEST {
        return Err(format!("it has {size} bytes, and at most {LARGEST} are served"));
    }
    let bytes = tokio::fs::read(file).await.map_err(|error| error.to_string())?;
    serde_json::from_slice::<PublicKeys>(&bytes).map_err(|_| "it is no set of public keys".to_owned())?;
    Ok(Some(bytes))
}
