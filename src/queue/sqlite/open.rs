//! Opening the file.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};

use super::checkpoint::Checkpoint;
use super::group;
use super::many::LARGEST;
use super::store::SqliteQueue;
use super::watch::Watch;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

const FILE: &str = "evidence-gate.sqlite";
const LOCK: &str = "evidence-gate.sqlite.migrate";

/// Bytes of a page, SQLite's own default.
const PAGE: u32 = 4096;

/// Frames in the write-ahead log before a commit carries them over into the file. More than SQLite's default, because a page
/// that is written in many commits is then carried over once; few enough that the pause stays short.
const CHECKPOINT_PAGES: u32 = 4000;

/// Prepared statements that a connection keeps: those over many rows in every length, and the few others.
const STATEMENTS: usize = 5 * LARGEST + 80;

/// How one process uses the file.
#[derive(Clone, Copy, Debug)]
pub struct SqliteOptions {
    /// The file grows to this many bytes and no further: deliveries are then refused, and the disk stays free for others. The write-ahead
    /// log is not counted. `None`: the disk is the limit.
    pub max_bytes: Option<u64>,
    /// How long a write waits for another process that is writing.
    pub busy: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { max_bytes: None, busy: Duration::from_secs(5) }
    }
}

/// Why the queue cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder or a file in it cannot be made or written.
    #[error("cannot write {}; the data directory must belong to the user that runs this program", path.display())]
    Folder {
        /// What was to be made.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// Another program's file, a damaged one, or one that does not answer.
    #[error("cannot open the database {}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The database's words.
        #[source]
        source: sqlx::Error,
    },
    /// Written by a version that knows more than this one.
    #[error(
        "the database {} has shape {found}, and this version knows shapes up to {known}; run the newer version, or restore the backup \
         made before it ran", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The newest migration that ran on it.
        found: i64,
        /// The newest migration in this program.
        known: i64,
    },
    /// A migration failed, or the file's past is not this program's.
    #[error("cannot bring the database {} to the shape that this version needs", path.display())]
    Migrate {
        /// The file.
        path: PathBuf,
        /// What happened.
        #[source]
        source: MigrateError,
    },
}

/// Every step to the shape of the database that this program reads and writes.
pub(super) fn shapes() -> BTreeSet<i64> {
    MIGRATIONS.iter().map(|migration| migration.version).collect()
}

/// The database of a folder.
pub(super) fn file_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

pub(super) async fn open(folder: &Path, options: SqliteOptions) -> Result<SqliteQueue, OpenError> {
    let path = file_in(folder);
    make_file(folder, &path)?;
    let connect = connect_options(&path, options);
    migrate(&path, &folder.join(LOCK), &connect).await?;

    let failed = |source| OpenError::Database { path: path.clone(), source };
    let pool = SqlitePoolOptions::new()
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(options.busy.saturating_mul(2).max(Duration::from_secs(5)));
    let writer = pool.clone().max_connections(1).connect_with(connect.clone()).await.map_err(failed)?;
    let reading = connect.clone().pragma("query_only", "ON");
    let readers = pool.max_connections(2).connect_with(reading.clone()).await.map_err(failed)?;
    let connection = SqliteConnection::connect_with(&reading).await.map_err(failed)?;
    let watch = Arc::new(Watch::new(connection));
    let checkpoint = Checkpoint::spawn(SqliteConnection::connect_with(&connect).await.map_err(failed)?);
    let intake = group::spawn(writer.clone(), Arc::clone(&watch), checkpoint);
    Ok(SqliteQueue { path, writer, readers, intake, watch })
}

/// The file holds what private repositories' webhooks say, so it is made for its owner alone; SQLite gives its two companions the
/// same rights.
fn make_file(folder: &Path, path: &Path) -> Result<(), OpenError> {
    let failed = |path: &Path, source| OpenError::Folder { path: path.to_owned(), source };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|source| failed(folder, source))?;
    owners_file(path).map_err(|source| failed(path, source)).map(drop)
}

fn owners_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn connect_options(path: &Path, options: SqliteOptions) -> SqliteConnectOptions {
    let connect = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .page_size(PAGE)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(options.busy)
        .statement_cache_capacity(STATEMENTS)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string())
        .pragma("cache_size", "-16384")
        .pragma("temp_store", "MEMORY")
        .disable_statement_logging();
    match options.max_bytes {
        Some(bytes) => connect.pragma("max_page_count", (bytes / u64::from(PAGE)).max(1).to_string()),
        None => connect,
    }
}

/// Runs what is missing. One process at a time: SQLite's own lock is not held between two migrations.
async fn migrate(path: &Path, lock: &Path, connect: &SqliteConnectOptions) -> Result<(), OpenError> {
    let guard =
        exclusive(lock.to_owned()).await.map_err(|source| OpenError::Folder { path: lock.to_owned(), source })?;
    let failed = |source| OpenError::Database { path: path.to_owned(), source };
    let mut connection = SqliteConnection::connect_with(connect).await.map_err(failed)?;
    // `run` takes a connection in a way that keeps this future from being sent to another thread.
    MIGRATIONS.run_direct(None, &mut connection, false).await.map_err(|source| match source {
        MigrateError::VersionMissing(found) => {
            OpenError::Newer { path: path.to_owned(), found, known: shapes().last().copied().unwrap_or_default() }
        }
        source => OpenError::Migrate { path: path.to_owned(), source },
    })?;
    connection.close().await.map_err(failed)?;
    drop(guard);
    Ok(())
}

/// The lock on this file; it ends when the file is closed.
async fn exclusive(path: PathBuf) -> io::Result<File> {
    let locking = tokio::task::spawn_blocking(move || {
        let file = owners_file(&path)?;
        file.lock()?;
        Ok(file)
    });
    locking.await.map_err(io::Error::other)?
}
