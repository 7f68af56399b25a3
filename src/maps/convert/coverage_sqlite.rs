//! The data file of coverage.py (<https://coverage.readthedocs.io/en/latest/dbschema.html>): contexts with sets of lines, or with arcs
//! between lines where branches were measured.

use std::path::Path;

use futures::TryStreamExt as _;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Row as _, SqliteConnection};

use super::coarse::Coarse;
use super::contexts::Contexts;
use super::run::{Draft, wrong};
use crate::maps::MapError;

pub(super) fn convert(
    draft: &mut Draft<'_>,
    contexts: &mut Contexts,
    path: &Path,
    origin: &str,
) -> Result<(), MapError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| MapError::Read { origin: origin.to_owned(), source })?;
    let read = runtime.block_on(async {
        // A copy of CI's file: nobody else writes it, and no journal may be made beside it.
        let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
        let mut database = options.connect().await?;
        let found = read(&mut database).await;
        sqlx::Connection::close(database).await?;
        found
    });
    let read = read.map_err(|error| wrong(origin)(format!("it cannot be read as a database: {error}")))?;
    match read {
        Found::Testmon => Coarse::Testmon.refused(origin),
        Found::Other => Err(wrong(origin)("it is a database of SQLite and none of coverage.py".to_owned())),
        Found::Data { version, names, cells } => {
            if cells.iter().all(|(_, context, _)| context.is_empty()) {
                return Coarse::CoverageSqliteWithoutContexts.refused(origin);
            }
            draft.tool(format!("coverage.py {version}").trim_end());
            // A test that ran no measured line is known all the same.
            for name in names {
                contexts.add(&name, origin);
            }
            for (path, context, lines) in cells {
                let most = draft.asked.limits.line;
                if let Some(line) = lines.iter().find(|line| **line > most) {
                    return Err(wrong(origin)(format!("line {line} of \"{path}\" is beyond {most}")));
                }
                let context = contexts.add(&context, origin);
                contexts.ran(context, &path, lines);
            }
            Ok(())
        }
    }
}

enum Found {
    Data {
        version: String,
        /// Every context.
        names: Vec<String>,
        /// Path, context, lines.
        cells: Vec<(String, String, Vec<u32>)>,
    },
    Testmon,
    Other,
}

async fn read(database: &mut SqliteConnection) -> Result<Found, sqlx::Error> {
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table'").fetch_all(&mut *database).await?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    if has("test_execution") || has("file_fp") {
        return Ok(Found::Testmon);
    }
    if !["context", "file", "line_bits", "arc", "meta"].into_iter().all(has) {
        return Ok(Found::Other);
    }
    let version: Option<String> =
        sqlx::query_scalar("SELECT value FROM meta WHERE key = 'version'").fetch_optional(&mut *database).await?;
    let names = sqlx::query_scalar("SELECT context FROM context").fetch_all(&mut *database).await?;
    let mut cells = Vec::new();
    {
        let mut rows = sqlx::query(
            "SELECT f.path, c.context, b.numbits FROM line_bits b JOIN file f ON f.id = b.file_id \
             JOIN context c ON c.id = b.context_id",
        )
        .fetch(&mut *database);
        while let Some(row) = rows.try_next().await? {
            let bits: Vec<u8> = row.try_get(2)?;
            cells.push((row.try_get(0)?, row.try_get(1)?, numbits(&bits)));
        }
    }
    let mut rows = sqlx::query(
        "SELECT f.path, c.context, a.fromno, a.tono FROM arc a JOIN file f ON f.id = a.file_id \
         JOIN context c ON c.id = a.context_id ORDER BY a.file_id, a.context_id",
    )
    .fetch(&mut *database);
    let mut open: Option<(String, String, Vec<u32>)> = None;
    while let Some(row) = rows.try_next().await? {
        let (path, context): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        if open.as_ref().is_none_or(|(known, within, _)| *known != path || *within != context) {
            cells.extend(open.take());
            open = Some((path, context, Vec::new()));
        }
        // Negative numbers are the ways into and out of a block of code.
        let ends = [row.try_get::<i64, _>(2)?, row.try_get::<i64, _>(3)?];
        let lines = ends.into_iter().filter_map(|end| u32::try_from(end).ok()).filter(|line| *line > 0);
        if let Some((.., known)) = &mut open {
            known.extend(lines);
        }
    }
    cells.extend(open);
    Ok(Found::Data { version: version.unwrap_or_default(), names, cells })
}

/// Line `8 n + b` is in the set where bit `b` of byte `n` is. Line 0 is what newer interpreters report for an empty module.
fn numbits(bytes: &[u8]) -> Vec<u32> {
    let mut lines = Vec::new();
    for (start, byte) in (0_u32..).step_by(8).zip(bytes) {
        lines.extend((0..8).filter(|bit| byte & (1 << bit) != 0).map(|bit| start + bit).filter(|line| *line > 0));
    }
    lines
}
