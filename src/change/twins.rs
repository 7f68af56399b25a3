//! What a tree holds at a path, and at names that are the same to a file system that folds case.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::GitError;
use super::fold::fold_bytes;
use super::git::Git;
use super::objects::{Entry, Objects};
use super::{BytePath, Mode};
use crate::words::ObjectId;

/// An entry in the tree of the base tip that has the name of a path of the change, or a name that is the same once both are
/// brought to NFC and folded in case ([`crate::change::fold`]). On a file system that folds names the two are one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Twin {
    /// The path that was looked up.
    pub path: BytePath,
    /// The base's name; equal to `path` byte for byte, or only when folded.
    pub base: BytePath,
    /// What the base has there; [`Mode::TREE`] for a folder.
    pub mode: Mode,
    /// For a folder all files below it, as whole paths in the order of the bytes: a folder with evidence anywhere below is not to be
    /// replaced or pointed into. Empty for anything else.
    pub below: Vec<BytePath>,
}

impl Git {
    /// The twins of each path in the tree of `root` (a commit or a tree), in the order of the paths and then of the bytes. Only
    /// the folders on the way and those below a twin are read, each once, through one process.
    pub fn twins<'a>(
        &self,
        root: &ObjectId,
        paths: impl IntoIterator<Item = &'a BytePath>,
    ) -> Result<Vec<Twin>, GitError> {
        let mut objects = self.objects()?;
        let root = Rc::new(Folder::new(objects.root(root)?));
        let mut folders = Folders { objects, read: BTreeMap::new() };
        let mut found = Vec::new();
        for path in paths {
            let mut twins = twins_of(&mut folders, &root, path)?;
            twins.sort();
            found.append(&mut twins);
        }
        Ok(found)
    }
}

/// A folder by folded name.
struct Folder(BTreeMap<Vec<u8>, Vec<Entry>>);

impl Folder {
    fn new(entries: Vec<Entry>) -> Self {
        let mut by_fold: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for entry in entries {
            by_fold.entry(fold_bytes(&entry.name)).or_default().push(entry);
        }
        Self(by_fold)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.values().flatten()
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

    /// All files below a folder.
    fn below(&mut self, path: &[u8], id: &ObjectId) -> Result<Vec<BytePath>, GitError> {
        let mut files = Vec::new();
        let mut todo = vec![(path.to_vec(), id.clone())];
        while let Some((path, id)) = todo.pop() {
            for entry in self.get(&id)?.entries() {
                let full = [&path[..], b"/", &entry.name].concat();
                if entry.mode == Mode::TREE {
                    todo.push((full, entry.id.clone()));
                } else {
                    files.push(BytePath::new(full));
                }
            }
        }
        files.sort();
        Ok(files)
    }
}

/// Goes down all folders at once whose names fold to the same as the path's.
fn twins_of(folders: &mut Folders, root: &Rc<Folder>, path: &BytePath) -> Result<Vec<Twin>, GitError> {
    let mut found = Vec::new();
    let mut level = vec![(Vec::new(), Rc::clone(root))];
    let mut components = path.components().peekable();
    while let Some(name) = components.next() {
        let key = fold_bytes(name);
        let last = components.peek().is_none();
        let mut next = Vec::new();
        for (prefix, folder) in &level {
            for entry in folder.0.get(&key).into_iter().flatten() {
                let mut full: Vec<u8> = [prefix, &entry.name[..]].concat();
                if last {
                    let tree = entry.mode == Mode::TREE;
                    let below = if tree { folders.below(&full, &entry.id)? } else { Vec::new() };
                    found.push(Twin { path: path.clone(), base: BytePath::new(full), mode: entry.mode, below });
                } else if entry.mode == Mode::TREE {
                    full.push(b'/');
                    next.push((full, folders.get(&entry.id)?));
                }
            }
        }
        level = next;
    }
    Ok(found)
}
