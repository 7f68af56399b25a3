//! The two formats of DESIGN 4.5, read as a stream: `{schema: 2, tests: {id: {file: "1-3,7"}}, …}` and the plain `{id: {file: [lines]}}`.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::map::{TestNo, short};
use super::unpack::{classify, unpacked};
use super::{About, Limits, Map, MapError, lines};
use crate::words::ObjectId;

/// The keys of schema 2. A document whose first key is one of them is read as such.
const KEYS: [&str; 9] = ["schema", "base_sha", "tool", "root", "collected", "tests", "import", "executable", "partial"];

/// Reads a map of either format; gzip, zstd or plain. `origin` names it in errors.
pub fn read_map(origin: &str, packed: impl Read, limits: Limits) -> Result<Map, MapError> {
    let (mut map, digest) = unpacked(origin, packed, &limits, |plain| parse(origin, plain, limits))?;
    map.digest = Some(digest);
    Ok(map)
}

/// Reads a map from a file, with the default limits.
pub fn read_map_file(path: &Path) -> Result<Map, MapError> {
    let origin = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|source| MapError::Read { origin: origin.clone(), source })?;
    read_map(&origin, file, Limits::default())
}

/// Reads an unpacked map.
pub(super) fn parse(origin: &str, plain: &mut dyn BufRead, limits: Limits) -> Result<Map, MapError> {
    let mut map = Map::new(About::default(), limits);
    document(origin, plain, &limits, Top(&mut map))?;
    map.settle(origin)?;
    Ok(map)
}

/// Lines of files that belong to no test, `{file: lines}`, as they stand beside a plain map.
pub fn read_import_lines(origin: &str, packed: impl Read, map: &mut Map) -> Result<(), MapError> {
    let limits = *map.limits();
    let read = |plain: &mut dyn BufRead| document(origin, plain, &limits, PerFile { map, into: Into::Import });
    unpacked(origin, packed, &limits, read)?;
    map.settle(origin)
}

/// One JSON document, whole.
pub(super) fn document<'de, S: DeserializeSeed<'de, Value = ()>>(
    origin: &str,
    plain: &mut dyn BufRead,
    limits: &Limits,
    seed: S,
) -> Result<(), MapError> {
    let mut json = serde_json::Deserializer::from_reader(plain);
    let read = seed.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| {
        if error.is_io() {
            return classify(origin, limits, io::Error::from(error));
        }
        let next = if error.is_eof() {
            "the file is cut off: make it anew and upload it again"
        } else if error.is_syntax() {
            "a coverage map is JSON; `evidence-gate coverage convert` makes one from a tool's own output"
        } else {
            "the format is described in docs/coverage.md"
        };
        MapError::broken(origin, error.to_string(), next)
    })
}

/// The whole document.
struct Top<'m>(&'m mut Map);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a coverage map, which is a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut top: A) -> Result<(), A::Error> {
        let mut key = String::new();
        if top.next_key_seed(Name(&mut key))?.is_none() {
            return Ok(());
        }
        if KEYS.contains(&key.as_str()) { second(self.0, key, top) } else { plain(self.0, key, top) }
    }
}

/// The rest of a plain map, from the value of its first key on.
fn plain<'de, A: MapAccess<'de>>(map: &mut Map, mut key: String, mut top: A) -> Result<(), A::Error> {
    loop {
        let test = map.begin(&key).map_err(A::Error::custom)?;
        top.next_value_seed(PerFile { map, into: Into::Test(test) })?;
        if top.next_key_seed(Name(&mut key))?.is_none() {
            return Ok(());
        }
    }
}

/// The rest of a map of schema 2.
fn second<'de, A: MapAccess<'de>>(map: &mut Map, mut key: String, mut top: A) -> Result<(), A::Error> {
    let mut seen = [false; KEYS.len()];
    loop {
        let Some(at) = KEYS.iter().position(|known| *known == key) else {
            let known = KEYS.join(", ");
            return Err(A::Error::custom(format!("the key \"{}\" is not known: keys are {known}", short(&key))));
        };
        if std::mem::replace(&mut seen[at], true) {
            return Err(A::Error::custom(format!("the key \"{key}\" stands twice")));
        }
        match KEYS[at] {
            "schema" => {
                let schema: u64 = top.next_value()?;
                if schema != 2 {
                    return Err(A::Error::custom(format!("schema {schema} is not known: 2 is")));
                }
            }
            "base_sha" => {
                map.about.base_sha = top.next_value::<Option<String>>()?.filter(|sha| !sha.is_empty());
                if let Some(sha) = &map.about.base_sha
                    && sha.parse::<ObjectId>().is_err()
                {
                    let why =
                        format!("base_sha is \"{}\", and a commit's full id in hexadecimal is wanted", short(sha));
                    return Err(A::Error::custom(why));
                }
            }
            "tool" => map.about.tool = top.next_value()?,
            "root" => map.about.root = top.next_value()?,
            "partial" => map.about.partial = top.next_value()?,
            "collected" => top.next_value_seed(Collected(map))?,
            "tests" => top.next_value_seed(Tests(map))?,
            "import" => top.next_value_seed(PerFile { map, into: Into::Import })?,
            _ => top.next_value_seed(PerFile { map, into: Into::Executable })?,
        }
        if top.next_key_seed(Name(&mut key))?.is_none() {
            break;
        }
    }
    if seen[0] { Ok(()) } else { Err(A::Error::custom("`schema` is missing: `\"schema\": 2` is wanted")) }
}

/// A name, read into a buffer that is used again.
pub(super) struct Name<'b>(pub(super) &'b mut String);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        self.0.clear();
        self.0.push_str(name);
        Ok(())
    }
}

struct Tests<'m>(&'m mut Map);

impl<'de> DeserializeSeed<'de> for Tests<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Tests<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of node ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut tests: A) -> Result<(), A::Error> {
        let mut key = String::new();
        match tests.next_key_seed(Name(&mut key))? {
            Some(()) => plain(self.0, key, tests),
            None => Ok(()),
        }
    }
}

struct Collected<'m>(&'m mut Map);

impl<'de> DeserializeSeed<'de> for Collected<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Collected<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of node ids")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut ids: A) -> Result<(), A::Error> {
        let mut id = String::new();
        while ids.next_element_seed(Name(&mut id))?.is_some() {
            self.0.test(super::nodeid::split_phase(&id).0).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// What the lines of a file are.
#[derive(Clone, Copy)]
enum Into {
    Test(TestNo),
    Import,
    Executable,
}

/// `{file: lines}`.
struct PerFile<'m> {
    map: &'m mut Map,
    into: Into,
}

impl<'de> DeserializeSeed<'de> for PerFile<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PerFile<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of files with their lines")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        let (mut path, mut lines) = (String::new(), Vec::new());
        let most = self.map.limits().line;
        while files.next_key_seed(Name(&mut path))?.is_some() {
            let at = self.map.file(&path).map_err(A::Error::custom)?;
            lines.clear();
            files.next_value_seed(Lines { into: &mut lines, most, path: &path })?;
            match self.into {
                Into::Test(test) => self.map.listed(test, at, &mut lines).map_err(A::Error::custom)?,
                Into::Import => self.map.files[at].import.extend(&lines),
                Into::Executable => self.map.files[at].executable.get_or_insert_default().extend(&lines),
            }
        }
        Ok(())
    }
}

/// `[1, 2, 3, 7]` or `"1-3,7"`.
struct Lines<'b> {
    into: &'b mut Vec<u32>,
    most: u32,
    /// The file that they are of, for errors.
    path: &'b str,
}

impl Lines<'_> {
    fn wrong<E: serde::de::Error>(&self, why: &str) -> E {
        E::custom(format!("file \"{}\": {why}", short(self.path)))
    }
}

impl<'de> DeserializeSeed<'de> for Lines<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Lines<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the lines of file \"{}\", as a list of numbers or as text like \"1-3,7\"", short(self.path))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        lines::parse_ranges(text, self.most, self.into).map_err(|why| self.wrong(&why))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(line) = list.next_element::<u64>()? {
            self.into.push(lines::checked(line, self.most).map_err(|why| self.wrong(&why))?);
            if self.into.len() > self.most as usize {
                return Err(self.wrong("it has more lines than a file can have"));
            }
        }
        Ok(())
    }
}
