//! What the base holds at a path, and at names that are the same to a file system that folds case.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::GitError;
use super::fold::folded;
use super::git::Git;
use super::objects::{Entry, Objects};
use super::{BytePath, Mode};
use crate::words::ObjectId;

/// What a tree holds at a path and beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// What stands at exactly this path; [`Mode::TREE`] for a folder, which a file, symlink or submodule there would shadow.
    pub here: Option<Mode>,
    /// The nearest parent that is no folder in the tree (file, symlink, submodule); nothing of the tree is below it.
    pub blocked_by: Option<BytePath>,
    /// Entries whose path differs in bytes and is equal after NFC and case folding, folders included, in the order of bytes.
    pub twins: Vec<(BytePath, Mode)>,
}

impl Git {
    /// For each path, in order, what the commit or tree holds there. Only the folders on the way are read, each once, through
    /// one process.
    pub fn neighbours<'a>(
        &self,
        root: &ObjectId,
        paths: impl IntoIterator<Item = &'a BytePath>,
    ) -> Result<Vec<Neighbours>, GitError> {
        let mut objects = self.objects()?;
        let root = Rc::new(Folder::new(objects.root(root)?));
        let mut folders = Folders { objects, read: BTreeMap::new() };
        paths.into_iter().map(|path| neighbours_of(&mut folders, &root, path)).collect()
    }
}

/// A folder by folded name.
struct Folder(BTreeMap<Vec<u8>, Vec<Entry>>);

impl Folder {
    fn new(entries: Vec<Entry>) -> Self {
        let mut by_key: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for entry in entries {
            by_key.entry(folded(&entry.name)).or_default().push(entry);
        }
        Self(by_key)
    }
}

struct Folders {
    objects: Objects,
    read: BTreeMap<ObjectId, Rc<Folder>>,
}

impl Folders {
    fn get(&mut self, id: &ObjectId) -> Result<Rc<Folder>, GitError> {
        if let Some(folder) = self.read.get(id) {
            return Ok(Rc::clone(folder));
        }
        let folder = Rc::new(Folder::new(self.objects.tree(id)?));
        self.read.insert(id.clone(), Rc::clone(&folder));
        Ok(folder)
    }
}

/// A folder on the way down.
struct Step {
    /// Its path with a slash behind it; empty for the root.
    prefix: Vec<u8>,
    /// Whether all its bytes are the path's.
    exact: bool,
    folder: Rc<Folder>,
}

/// Goes down all folders at once whose names fold to the same as the path's.
fn neighbours_of(folders: &mut Folders, root: &Rc<Folder>, path: &BytePath) -> Result<Neighbours, GitError> {
    let mut found = Neighbours::default();
    let mut level = vec![Step { prefix: Vec::new(), exact: true, folder: Rc::clone(root) }];
    let mut components = path.components().peekable();
    while let Some(name) = components.next() {
        let key = folded(name);
        let last = components.peek().is_none();
        let mut below = Vec::new();
        for step in &level {
            for entry in step.folder.0.get(&key).into_iter().flatten() {
                let mut full = step.prefix.clone();
                full.extend_from_slice(&entry.name);
                let exact = step.exact && entry.name == name;
                match (last, exact) {
                    (true, true) => found.here = Some(entry.mode),
                    (true, false) => found.twins.push((BytePath::new(full), entry.mode)),
                    (false, _) if entry.mode == Mode::TREE => {
                        full.push(b'/');
                        below.push(Step { prefix: full, exact, folder: folders.get(&entry.id)? });
                    }
                    (false, true) => found.blocked_by = Some(BytePath::new(full)),
                    (false, false) => {}
                }
            }
        }
        level = below;
        if level.is_empty() {
            break;
        }
    }
    found.twins.sort();
    Ok(found)
}
