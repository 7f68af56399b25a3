//! LCOV whose `TN` lines name tests (<https://github.com/linux-test-project/lcov/blob/master/man/geninfo.1>).

use std::io::BufRead;

use super::coarse::Coarse;
use super::run::{Draft, wrong};
use crate::maps::unpack::classify;
use crate::maps::{MapError, map::short};

pub(super) fn convert(draft: &mut Draft<'_>, plain: &mut dyn BufRead, origin: &str) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    let (mut test, mut file) = (String::new(), None::<String>);
    let (mut ran, mut executable): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut any_name_line = false;
    let mut text = Vec::new();
    let mut number = 0_u64;
    loop {
        text.clear();
        let read = plain.read_until(b'\n', &mut text).map_err(|source| classify(origin, &limits, source))?;
        if read == 0 {
            break;
        }
        number += 1;
        let fault = |why: String| wrong(origin)(format!("line {number}: {why}"));
        let line = str::from_utf8(&text).map_err(|_| fault("it is no UTF-8".to_owned()))?.trim_end();
        if let Some(name) = line.strip_prefix("TN:") {
            any_name_line = true;
            name.trim().clone_into(&mut test);
        } else if let Some(path) = line.strip_prefix("SF:") {
            file = Some(path.to_owned());
        } else if let Some(data) = line.strip_prefix("DA:") {
            let (line, count) = hit(data).ok_or_else(|| fault(format!("\"{}\" counts no line", short(line))))?;
            let line = draft.line(line).map_err(fault)?;
            executable.push(line);
            if count > 0 {
                ran.push(line);
            }
        } else if line == "end_of_record" {
            if test.is_empty() {
                let coarse = if any_name_line { Coarse::Lcov } else { Coarse::LcovOfCoveragePy };
                return coarse.refused(origin);
            }
            let path = file.take().ok_or_else(|| fault("a record ends without a file".to_owned()))?;
            draft.executable(&path, &executable).map_err(fault)?;
            draft.ran(&test, &path, &mut ran).map_err(fault)?;
            ran.clear();
            executable.clear();
        }
    }
    if file.is_some() {
        return Err(wrong(origin)("it ends within a record".to_owned()));
    }
    draft.tool("lcov");
    Ok(())
}

/// `DA:<line>,<count>[,<checksum>]`; tools write counts beyond 64 bits and in exponents, which are more than none.
fn hit(data: &str) -> Option<(u64, u64)> {
    let mut parts = data.split(',');
    let line = parts.next()?.trim().parse().ok()?;
    let count = parts.next()?.trim();
    let count = count.parse::<u64>().ok().or_else(|| {
        let many = count.parse::<f64>().ok()?;
        many.is_finite().then_some(u64::from(many > 0.0))
    })?;
    Some((line, count))
}
