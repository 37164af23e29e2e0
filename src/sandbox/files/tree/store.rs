//! All nodes of a tree, by number, and what they use. This is the only code that adds, sizes or drops a node, so that
//! what is counted and what is there cannot drift apart.
//!
//! The count of entries is the number of nodes. The count of bytes is the sum of the files' sizes: [`Store::change`]
//! settles it for a file that grows or shrinks, [`Store::remove`] for one that goes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::content::Content;
use super::{Errno, Ino, Kind, Quota, Times, Used};

/// The names in a folder. A name is shared with the node that it names.
pub type Names = BTreeMap<Arc<str>, Ino>;

/// The roots, which are not counted as entries.
pub const ROOTS: [Ino; 2] = [Ino(1), Ino(2)];

/// Cloning shares everything; the first change after it copies the table of nodes (a few nanoseconds each), and of the
/// nodes themselves only the one that changes.
#[derive(Clone)]
pub struct Store {
    nodes: Arc<BTreeMap<Ino, Arc<Node>>>,
    /// Numbers are never used twice, so a stale one never means another node.
    next: u32,
    bytes: u64,
    quota: Quota,
}

#[derive(Clone)]
pub struct Node {
    pub times: Times,
    /// The folder it is in and its name there; none for a root and for what was unlinked.
    pub place: Option<(Ino, Arc<str>)>,
    body: Body,
}

#[derive(Clone)]
enum Body {
    File(Content),
    Folder(Names),
}

impl Node {
    pub fn new(kind: Kind, place: Option<(Ino, Arc<str>)>, now: u64) -> Self {
        let body = match kind {
            Kind::File => Body::File(Content::default()),
            Kind::Folder => Body::Folder(Names::new()),
        };
        Self { times: Times { accessed: now, modified: now, changed: now }, place, body }
    }

    pub fn file(content: Content, place: Option<(Ino, Arc<str>)>) -> Self {
        Self { times: Times::default(), place, body: Body::File(content) }
    }

    pub fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) => Kind::File,
            Body::Folder(_) => Kind::Folder,
        }
    }

    pub fn content(&self) -> Option<&Content> {
        match &self.body {
            Body::File(content) => Some(content),
            Body::Folder(_) => None,
        }
    }

    pub fn names(&self) -> Option<&Names> {
        match &self.body {
            Body::File(_) => None,
            Body::Folder(names) => Some(names),
        }
    }

    pub fn names_mut(&mut self) -> Option<&mut Names> {
        match &mut self.body {
            Body::File(_) => None,
            Body::Folder(names) => Some(names),
        }
    }

    /// Its content was changed: a file's bytes or a folder's names.
    pub fn touch(&mut self, now: u64) {
        self.times.modified = now;
        self.times.changed = now;
    }
}

impl Store {
    /// The two roots and nothing else.
    pub fn new(quota: Quota, now: u64) -> Self {
        let roots = ROOTS.map(|root| (root, Arc::new(Node::new(Kind::Folder, None, now))));
        Self { nodes: Arc::new(BTreeMap::from(roots)), next: 3, bytes: 0, quota }
    }

    /// A table of nodes that holds the roots, with its uses counted.
    ///
    /// # Errors
    /// The quota does not hold them.
    pub fn restore(quota: Quota, next: u32, nodes: BTreeMap<Ino, Node>) -> Result<Self, &'static str> {
        let sizes = nodes.values().filter_map(Node::content).map(Content::bytes);
        let bytes = sizes.fold(0, u64::saturating_add);
        let nodes = nodes.into_iter().map(|(ino, node)| (ino, Arc::new(node))).collect();
        let store = Self { nodes: Arc::new(nodes), next, bytes, quota };
        match store.used() {
            used if used.entries > quota.entries => Err("there are more entries than the quota allows"),
            used if used.bytes > quota.bytes => Err("there are more bytes than the quota allows"),
            _ => Ok(store),
        }
    }

    pub fn get(&self, ino: Ino) -> Option<&Node> {
        self.nodes.get(&ino).map(|node| &**node)
    }

    /// Its own copy of a node. A file's size cannot be changed through it.
    pub fn get_mut(&mut self, ino: Ino) -> Option<&mut Node> {
        Arc::make_mut(&mut self.nodes).get_mut(&ino).map(Arc::make_mut)
    }

    /// Whether both surely have the same nodes: they share the table.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.nodes, &other.nodes)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Ino, &Node)> {
        self.nodes.iter().map(|(ino, node)| (*ino, &**node))
    }

    pub fn used(&self) -> Used {
        Used { bytes: self.bytes, entries: (self.nodes.len() as u64).saturating_sub(ROOTS.len() as u64) }
    }

    pub fn quota(&self) -> Quota {
        self.quota
    }

    pub fn set_quota(&mut self, quota: Quota) {
        self.quota = quota;
    }

    pub fn next(&self) -> u32 {
        self.next
    }

    /// One more entry: an empty file or folder.
    ///
    /// # Errors
    /// `Nospc` when the quota holds no more of them, or all numbers have been used.
    pub fn add(&mut self, kind: Kind, place: (Ino, Arc<str>), now: u64) -> Result<Ino, Errno> {
        if self.used().entries >= self.quota.entries {
            return Err(Errno::Nospc);
        }
        let next = self.next.checked_add(1).ok_or(Errno::Nospc)?;
        let ino = Ino(std::mem::replace(&mut self.next, next));
        Arc::make_mut(&mut self.nodes).insert(ino, Arc::new(Node::new(kind, Some(place), now)));
        Ok(ino)
    }

    /// One entry less, and its bytes. Nothing has it for its place any more, and it is no root.
    pub fn remove(&mut self, ino: Ino) {
        if let Some(node) = Arc::make_mut(&mut self.nodes).remove(&ino) {
            self.bytes -= node.content().map_or(0, Content::bytes);
        }
    }

    /// A file's bytes.
    ///
    /// # Errors
    /// `Badf`, `Isdir`.
    pub fn content(&self, file: Ino) -> Result<&Content, Errno> {
        self.get(file).ok_or(Errno::Badf)?.content().ok_or(Errno::Isdir)
    }

    /// Writes as much of `bytes` as the quota allows, at least one byte unless there are none.
    ///
    /// # Errors
    /// `Badf`, `Isdir`, `Fbig` when `at` is beyond what the quota could ever hold, else `Nospc` when nothing fits.
    pub fn write(&mut self, file: Ino, at: u64, bytes: &[u8], now: u64) -> Result<usize, Errno> {
        let largest = self.largest(file)?;
        let fits = usize::try_from(largest.saturating_sub(at)).unwrap_or(usize::MAX).min(bytes.len());
        if bytes.is_empty() {
            return Ok(0);
        }
        if fits == 0 {
            return Err(if at > self.quota.bytes { Errno::Fbig } else { Errno::Nospc });
        }
        self.change(file, now, |content| content.write(at, &bytes[..fits]));
        Ok(fits)
    }

    /// Cuts a file, or lets it grow by zeros.
    ///
    /// # Errors
    /// `Badf`, `Isdir`, `Fbig` when the quota could never hold it, else `Nospc` when it cannot now.
    pub fn resize(&mut self, file: Ino, bytes: u64, now: u64) -> Result<(), Errno> {
        if bytes > self.largest(file)? {
            return Err(if bytes > self.quota.bytes { Errno::Fbig } else { Errno::Nospc });
        }
        self.change(file, now, |content| content.resize(bytes));
        Ok(())
    }

    /// The size up to which a file may grow now; its own size when the quota is used up.
    fn largest(&self, file: Ino) -> Result<u64, Errno> {
        let left = self.quota.bytes.saturating_sub(self.bytes);
        Ok(self.content(file)?.bytes().saturating_add(left))
    }

    /// Changes a file's content and counts what that adds or frees.
    fn change(&mut self, file: Ino, now: u64, change: impl FnOnce(&mut Content)) {
        let Some(Node { body: Body::File(content), times, .. }) =
            Arc::make_mut(&mut self.nodes).get_mut(&file).map(Arc::make_mut)
        else {
            return;
        };
        let before = content.bytes();
        change(content);
        self.bytes = self.bytes - before + content.bytes();
        times.modified = now;
        times.changed = now;
    }
}
