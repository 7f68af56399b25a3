//! Coverage profiles of Go, one per test (<https://pkg.go.dev/golang.org/x/tools/cover#ParseProfiles>): `file:line.col,line.col statements count`.

use std::io::BufRead;

use super::per_test::IMPORT;
use super::run::{Draft, wrong};
use crate::maps::unpack::classify;
use crate::maps::{MapError, map::short};

pub(super) fn convert(
    draft: &mut Draft<'_>,
    plain: &mut dyn BufRead,
    origin: &str,
    test: &str,
) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    draft.tool("go test -coverprofile");
    if test != IMPORT {
        draft.map.test(test).map_err(wrong(origin))?;
    }
    let mut open = Block::default();
    let mut text = Vec::new();
    let mut number = 0_u64;
    while {
        text.clear();
        plain.read_until(b'\n', &mut text).map_err(|source| classify(origin, &limits, source))? > 0
    } {
        number += 1;
        let fault = |why: String| wrong(origin)(format!("line {number}: {why}"));
        let line = str::from_utf8(&text).map_err(|_| fault("it is no UTF-8".to_owned()))?.trim_end();
        if line.is_empty() || line.starts_with("mode: ") {
            continue;
        }
        let (path, first, last, count) =
            block(line).ok_or_else(|| fault(format!("\"{}\" is no block of a profile", short(line))))?;
        let (first, last) = (draft.line(first).map_err(fault)?, draft.line(last).map_err(fault)?);
        if open.path != path {
            open.close(draft, test).map_err(fault)?;
            path.clone_into(&mut open.path);
        }
        open.executable.extend(first..=last);
        if count > 0 {
            open.ran.extend(first..=last);
        }
    }
    open.close(draft, test).map_err(wrong(origin))
}

/// The blocks of one file.
#[derive(Default)]
struct Block {
    path: String,
    executable: Vec<u32>,
    ran: Vec<u32>,
}

impl Block {
    fn close(&mut self, draft: &mut Draft<'_>, test: &str) -> Result<(), String> {
        if self.path.is_empty() {
            return Ok(());
        }
        draft.executable(&self.path, &self.executable)?;
        draft.ran_in_file_of(test, &self.path, &mut self.ran)?;
        self.executable.clear();
        self.ran.clear();
        Ok(())
    }
}

fn block(line: &str) -> Option<(&str, u64, u64, u64)> {
    let (path, rest) = line.rsplit_once(':')?;
    let (range, counts) = rest.split_once(' ')?;
    let (start, end) = range.split_once(',')?;
    let line = |place: &str| place.split_once('.')?.0.parse().ok();
    let (_, count) = counts.split_once(' ')?;
    Some((path, line(start)?, line(end)?, count.parse().ok()?)).filter(|(_, first, last, _)| first <= last)
}
