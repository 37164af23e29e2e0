//! Random calls against a model that is as simple as can be: paths, whole contents, and every total counted anew.
//! `TREE_ROUNDS` raises the number of sequences. A failure prints its seed and the calls that led to it.

use std::collections::BTreeMap;

use super::content::CHUNK;
use super::*;

/// A node of the model; its number is its place in [`Model::nodes`] plus one.
#[derive(Clone)]
struct Object {
    kind: Kind,
    bytes: Vec<u8>,
    holders: u64,
    times: Times,
}

#[derive(Clone)]
struct Model {
    quota: Quota,
    /// By path: `work`, `tmp`, `work/a/b`.
    paths: BTreeMap<String, Ino>,
    nodes: Vec<Object>,
}

impl Model {
    fn new(quota: Quota) -> Self {
        let paths = BTreeMap::from([("work".into(), Tree::WORK), ("tmp".into(), Tree::TMP)]);
        let times = Times::default();
        let root = Object { kind: Kind::Folder, bytes: vec![], holders: 0, times };
        Self { quota, paths, nodes: vec![root.clone(), root] }
    }

    fn path(&self, ino: Ino) -> Option<&String> {
        self.paths.iter().find(|(_, at)| **at == ino).map(|(path, _)| path)
    }

    /// Something with a name or a holder.
    fn get(&self, ino: Ino) -> Option<&Object> {
        let node = self.nodes.get(ino.0.checked_sub(1)? as usize)?;
        (node.holders > 0 || self.path(ino).is_some()).then_some(node)
    }

    fn change(&mut self, ino: Ino) -> &mut Object {
        &mut self.nodes[ino.0 as usize - 1]
    }

    fn touch(&mut self, ino: Ino, now: u64) {
        let times = &mut self.change(ino).times;
        (times.modified, times.changed) = (now, now);
    }

    fn alive(&self) -> impl Iterator<Item = (Ino, &Object)> {
        (1..=self.nodes.len() as u32).filter_map(|ino| Some((Ino(ino), self.get(Ino(ino))?)))
    }

    fn used(&self) -> Used {
        let bytes = self.alive().map(|(_, node)| node.bytes.len() as u64).sum();
        Used { bytes, entries: self.alive().count() as u64 - 2 }
    }

    fn deepest(&self) -> u64 {
        self.paths.keys().map(|path| path.matches('/').count() as u64).max().unwrap_or(0)
    }

    fn folder(&self, ino: Ino) -> Result<(), Errno> {
        match self.get(ino).ok_or(Errno::Noent)?.kind {
            Kind::Folder => Ok(()),
            Kind::File => Err(Errno::Notdir),
        }
    }

    fn size(&self, ino: Ino) -> Result<u64, Errno> {
        match self.get(ino).ok_or(Errno::Badf)? {
            Object { kind: Kind::Folder, .. } => Err(Errno::Isdir),
            file => Ok(file.bytes.len() as u64),
        }
    }

    fn lookup(&self, folder: Ino, name: &str) -> Result<Ino, Errno> {
        self.folder(folder)?;
        let path = format!("{}/{name}", self.path(folder).ok_or(Errno::Noent)?);
        self.paths.get(&path).filter(|_| !name.contains('/')).copied().ok_or(Errno::Noent)
    }

    fn list(&self, folder: Ino) -> Vec<(String, Ino, Kind)> {
        let Some(prefix) = self.path(folder).map(|path| format!("{path}/")) else { return vec![] };
        let below = self.paths.iter().filter_map(|(path, ino)| Some((path.strip_prefix(&prefix)?, *ino)));
        let within = below.filter(|(name, _)| !name.contains('/'));
        within.map(|(name, ino)| (name.to_owned(), ino, self.nodes[ino.0 as usize - 1].kind)).collect()
    }

    fn check(name: &str) -> Result<(), Errno> {
        if ["", ".", ".."].contains(&name) || name.chars().any(|c| c == '/' || c == '\0') {
            return Err(Errno::Inval);
        }
        if name.len() > 255 { Err(Errno::Nametoolong) } else { Ok(()) }
    }

    fn create(&mut self, folder: Ino, name: &str, kind: Kind, now: u64) -> Result<Ino, Errno> {
        Self::check(name)?;
        self.folder(folder)?;
        let path = format!("{}/{name}", self.path(folder).ok_or(Errno::Noent)?);
        if self.paths.contains_key(&path) {
            return Err(Errno::Exist);
        }
        if path.matches('/').count() as u64 > self.quota.depth {
            return Err(Errno::Dquot);
        }
        if Self::below_root(&path) > 4096 {
            return Err(Errno::Nametoolong);
        }
        if self.used().entries >= self.quota.entries {
            return Err(Errno::Nospc);
        }
        let times = Times { accessed: now, modified: now, changed: now };
        self.nodes.push(Object { kind, bytes: vec![], holders: 0, times });
        let ino = Ino(self.nodes.len() as u32);
        self.paths.insert(path, ino);
        self.touch(folder, now);
        Ok(ino)
    }

    /// Bytes of a path without the root's name.
    fn below_root(path: &str) -> usize {
        path.split_once('/').map_or(0, |(_, below)| below.len())
    }

    fn remove(&mut self, kind: Kind, folder: Ino, name: &str, now: u64) -> Result<(), Errno> {
        let ino = self.lookup(folder, name)?;
        match (self.change(ino).kind, kind) {
            (Kind::Folder, Kind::File) => return Err(Errno::Isdir),
            (Kind::File, Kind::Folder) => return Err(Errno::Notdir),
            (Kind::Folder, Kind::Folder) if !self.list(ino).is_empty() => return Err(Errno::Notempty),
            _ => {}
        }
        self.paths.retain(|_, at| *at != ino);
        self.change(ino).times.changed = now;
        self.touch(folder, now);
        Ok(())
    }

    fn rename(&mut self, from: (Ino, &str), to: (Ino, &str), now: u64) -> Result<(), Errno> {
        let ino = self.lookup(from.0, from.1)?;
        Self::check(to.1)?;
        self.folder(to.0)?;
        let old = self.path(ino).ok_or(Errno::Noent)?.clone();
        let new = format!("{}/{}", self.path(to.0).ok_or(Errno::Noent)?, to.1);
        if old == new {
            return Ok(());
        }
        if new.starts_with(&format!("{old}/")) {
            return Err(Errno::Inval);
        }
        let kind = self.change(ino).kind;
        if let Some(there) = self.paths.get(&new).copied() {
            match (kind, self.change(there).kind) {
                (Kind::File, Kind::Folder) => return Err(Errno::Isdir),
                (Kind::Folder, Kind::File) => return Err(Errno::Notdir),
                (Kind::Folder, Kind::Folder) if !self.list(there).is_empty() => return Err(Errno::Notempty),
                _ => {}
            }
        }
        let moved: Vec<(String, Ino)> = self
            .paths
            .iter()
            .filter(|(path, _)| **path == old || path.starts_with(&format!("{old}/")))
            .map(|(path, ino)| (format!("{new}{}", &path[old.len()..]), *ino))
            .collect();
        let depth = |path: &str| path.matches('/').count() as u64;
        let deepest = moved.iter().map(|(path, _)| depth(path)).max().unwrap_or(0);
        if depth(&new) > depth(&old) && deepest > self.quota.depth {
            return Err(Errno::Dquot);
        }
        if moved.iter().any(|(path, _)| Self::below_root(path) > 4096) {
            return Err(Errno::Nametoolong);
        }
        if let Some(there) = self.paths.get(&new).copied() {
            self.change(there).times.changed = now;
        }
        self.paths.retain(|path, at| *path != new && moved.iter().all(|(_, ino)| ino != at));
        self.paths.extend(moved);
        self.touch(from.0, now);
        self.touch(to.0, now);
        self.change(ino).times.changed = now;
        Ok(())
    }

    fn write(&mut self, file: Ino, at: u64, bytes: &[u8], now: u64) -> Result<usize, Errno> {
        let size = self.size(file)?;
        if bytes.is_empty() {
            return Ok(0);
        }
        // One byte after the other, as long as the file that this makes is within the quota or no longer than before.
        let others = self.used().bytes - size;
        let fits = |n: u64| match at.checked_add(n) {
            Some(end) => end <= size || others.saturating_add(end) <= self.quota.bytes,
            None => false,
        };
        let written = (1..=bytes.len() as u64).take_while(|n| fits(*n)).count();
        if written == 0 {
            return Err(if at > self.quota.bytes { Errno::Fbig } else { Errno::Nospc });
        }
        let (start, end) = (at as usize, at as usize + written);
        let content = &mut self.change(file).bytes;
        content.resize(content.len().max(end), 0);
        content[start..end].copy_from_slice(&bytes[..written]);
        self.touch(file, now);
        Ok(written)
    }

    fn resize(&mut self, file: Ino, bytes: u64, now: u64) -> Result<(), Errno> {
        let size = self.size(file)?;
        if bytes > size && bytes > self.quota.bytes {
            return Err(Errno::Fbig);
        }
        if bytes > size && self.used().bytes - size + bytes > self.quota.bytes {
            return Err(Errno::Nospc);
        }
        self.change(file).bytes.resize(bytes as usize, 0);
        self.touch(file, now);
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Call {
    Lookup(Ino, String),
    Create(Ino, String, Kind),
    Unlink(Ino, String),
    RemoveFolder(Ino, String),
    Rename((Ino, String), (Ino, String)),
    Hold(Ino),
    Release(Ino),
    Read(Ino, u64, usize),
    /// So many bytes of this value.
    Write(Ino, u64, usize, u8),
    Resize(Ino, u64),
    SetTimes(Ino, Option<u64>, Option<u64>),
    SetQuota(Quota),
    /// Out to plain values and back.
    Save,
    Clone,
    /// Goes on with the clone of this number, and lays the present tree in its place.
    Swap(usize),
}

/// Every answer as one type, to compare them.
#[derive(Debug, PartialEq)]
enum Answer {
    Nothing,
    Node(Ino),
    Bytes(Vec<u8>),
    Count(usize),
    Saved(bool),
}

fn ask_tree(tree: &mut Tree, call: &Call, now: u64) -> Result<Answer, Errno> {
    let nothing = |()| Answer::Nothing;
    match call {
        Call::Lookup(folder, name) => tree.lookup(*folder, name).map(Answer::Node),
        Call::Create(folder, name, kind) => tree.create(*folder, name, *kind, now).map(Answer::Node),
        Call::Unlink(folder, name) => tree.unlink(*folder, name, now).map(nothing),
        Call::RemoveFolder(folder, name) => tree.remove_folder(*folder, name, now).map(nothing),
        Call::Rename(from, to) => tree.rename((from.0, &from.1), (to.0, &to.1), now).map(nothing),
        Call::Hold(ino) => {
            tree.hold(*ino);
            Ok(Answer::Nothing)
        }
        Call::Release(ino) => {
            tree.release(*ino);
            Ok(Answer::Nothing)
        }
        Call::Read(file, at, length) => {
            let mut into = vec![7; *length];
            let read = tree.read(*file, *at, &mut into)?;
            assert!(into[read..].iter().all(|&byte| byte == 7), "bytes beyond what was read are left alone");
            into.truncate(read);
            Ok(Answer::Bytes(into))
        }
        Call::Write(file, at, length, byte) => tree.write(*file, *at, &vec![*byte; *length], now).map(Answer::Count),
        Call::Resize(file, bytes) => tree.resize(*file, *bytes, now).map(nothing),
        Call::SetTimes(ino, accessed, modified) => tree.set_times(*ino, *accessed, *modified, now).map(nothing),
        Call::SetQuota(quota) => {
            tree.set_quota(*quota);
            Ok(Answer::Nothing)
        }
        Call::Save => match Tree::from_entries(tree.quota(), tree.next_ino(), tree.entries()) {
            Ok(mut back) => {
                for (ino, count) in &tree.held {
                    (0..*count).for_each(|_| back.hold(*ino));
                }
                back.drop_unheld();
                *tree = back;
                Ok(Answer::Saved(true))
            }
            Err(_) => Ok(Answer::Saved(false)),
        },
        Call::Clone | Call::Swap(_) => Ok(Answer::Nothing),
    }
}

fn ask_model(model: &mut Model, call: &Call, now: u64) -> Result<Answer, Errno> {
    let nothing = |()| Answer::Nothing;
    match call {
        Call::Lookup(folder, name) => model.lookup(*folder, name).map(Answer::Node),
        Call::Create(folder, name, kind) => model.create(*folder, name, *kind, now).map(Answer::Node),
        Call::Unlink(folder, name) => model.remove(Kind::File, *folder, name, now).map(nothing),
        Call::RemoveFolder(folder, name) => model.remove(Kind::Folder, *folder, name, now).map(nothing),
        Call::Rename(from, to) => model.rename((from.0, &from.1), (to.0, &to.1), now).map(nothing),
        Call::Hold(ino) => {
            if model.get(*ino).is_some() {
                model.change(*ino).holders += 1;
            }
            Ok(Answer::Nothing)
        }
        Call::Release(ino) => {
            if model.get(*ino).is_some_and(|node| node.holders > 0) {
                model.change(*ino).holders -= 1;
            }
            Ok(Answer::Nothing)
        }
        Call::Read(file, at, length) => {
            let size = model.size(*file)?;
            let (start, end) = (size.min(*at), size.min(at.saturating_add(*length as u64)));
            Ok(Answer::Bytes(model.change(*file).bytes[start as usize..end as usize].to_vec()))
        }
        Call::Write(file, at, length, byte) => model.write(*file, *at, &vec![*byte; *length], now).map(Answer::Count),
        Call::Resize(file, bytes) => model.resize(*file, *bytes, now).map(nothing),
        Call::SetTimes(ino, accessed, modified) => {
            model.get(*ino).ok_or(Errno::Badf)?;
            let times = &mut model.change(*ino).times;
            times.accessed = accessed.unwrap_or(times.accessed);
            times.modified = modified.unwrap_or(times.modified);
            times.changed = now;
            Ok(Answer::Nothing)
        }
        Call::SetQuota(quota) => {
            model.quota = *quota;
            Ok(Answer::Nothing)
        }
        Call::Save => {
            let (used, quota) = (model.used(), model.quota);
            let within = used.bytes <= quota.bytes && used.entries <= quota.entries && model.deepest() <= quota.depth;
            Ok(Answer::Saved(within))
        }
        Call::Clone | Call::Swap(_) => Ok(Answer::Nothing),
    }
}

/// Everything that can be seen of a tree is what the model says, and takes no more memory than it may.
fn compare(tree: &Tree, model: &Model) {
    assert_eq!((tree.used(), tree.quota()), (model.used(), model.quota));
    assert_eq!(tree.next_ino() as usize, model.nodes.len() + 1);
    for ino in (0..=model.nodes.len() as u32 + 1).map(Ino) {
        let place = model.path(ino);
        let parent = place.and_then(|path| model.paths.get(path.rsplit_once('/')?.0)).copied();
        assert_eq!(tree.parent(ino), parent, "the parent of {ino:?}");
        let stat = model.get(ino).map(|node| Stat {
            ino,
            kind: node.kind,
            bytes: node.bytes.len() as u64,
            links: u32::from(place.is_some()),
            times: node.times,
        });
        assert_eq!(tree.stat(ino), stat, "{ino:?}");
        assert_eq!(tree.list(ino), model.folder(ino).map(|()| model.list(ino)), "what is in {ino:?}");
        if let Ok(content) = tree.store.content(ino) {
            let bytes = &model.nodes[ino.0 as usize - 1].bytes;
            let mut read = vec![7; bytes.len() + 1];
            assert_eq!(tree.read(ino, 0, &mut read), Ok(bytes.len()));
            assert!(read[..bytes.len()] == bytes[..], "the bytes of {ino:?}");
            let (size, host) = (bytes.len(), content.host_bytes() as usize);
            assert!(host <= size + size / 4 + 16 * size.div_ceil(CHUNK), "{ino:?} has {size} bytes and takes {host}");
            let ends = content.stored().map(|(at, piece)| at + piece.len() as u64);
            assert!(ends.max().unwrap_or(0) <= size as u64, "{ino:?} stores more than its size");
        }
    }
    assert!(tree.held.iter().all(|(ino, count)| model.get(*ino).is_some_and(|node| node.holders == *count)));
    assert_eq!(tree.held.len(), model.alive().filter(|(_, node)| node.holders > 0).count());
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }

    /// Quotas so small that each is reached; one in eight lets files have several chunks.
    fn quota(&mut self) -> Quota {
        let bytes = match self.below(8) {
            0 => self.below(4 * CHUNK as u64),
            1 => self.below(3),
            _ => self.below(300),
        };
        Quota { bytes, entries: self.below(24), depth: self.below(7) }
    }

    fn name(&mut self) -> String {
        match self.below(40) {
            0 => self.pick(&["", ".", "..", "a/b", "/", "\0"]).to_owned(),
            1 => "n".repeat(255 + self.below(2) as usize),
            _ => self.pick(&["a", "b", "c", "aa"]).to_owned(),
        }
    }

    /// Any number there ever was, or will be.
    fn node(&mut self, model: &Model) -> Ino {
        Ino(self.below(model.nodes.len() as u64 + 2) as u32)
    }

    /// A folder's number more often than not.
    fn folder(&mut self, model: &Model) -> Ino {
        let folders = model.paths.values().filter(|ino| model.folder(**ino).is_ok());
        let folders: Vec<Ino> = folders.copied().collect();
        if self.below(10) == 0 { self.node(model) } else { self.pick(&folders) }
    }

    /// Where something is more often than not.
    fn place(&mut self, model: &Model) -> (Ino, String) {
        let folder = self.folder(model);
        let names: Vec<String> = model.list(folder).into_iter().map(|(name, ..)| name).collect();
        if names.is_empty() || self.below(4) == 0 { (folder, self.name()) } else { (folder, self.pick(&names)) }
    }

    /// A file's number more often than not.
    fn file(&mut self, model: &Model) -> Ino {
        let files: Vec<Ino> = model.alive().filter(|(_, node)| node.kind == Kind::File).map(|(ino, _)| ino).collect();
        if files.is_empty() || self.below(10) == 0 { self.node(model) } else { self.pick(&files) }
    }

    /// Near to where something could go wrong.
    fn offset(&mut self, model: &Model, file: Ino) -> u64 {
        let size = model.size(file).unwrap_or(0);
        let near = [0, size, size / 2, model.quota.bytes, CHUNK as u64, 2 * CHUNK as u64, u64::MAX, u64::MAX / 2];
        match self.below(3) {
            0 => self.pick(&near).saturating_add(self.below(3)).saturating_sub(self.below(3)),
            1 => size,
            _ => self.below(model.quota.bytes + 2),
        }
    }

    fn length(&mut self, model: &Model) -> usize {
        let most = if self.below(4) == 0 { model.quota.bytes + 2 } else { 20 };
        self.below(most + 1) as usize
    }

    fn call(&mut self, model: &Model, clones: usize) -> Call {
        let (folder, file, node) = (self.folder(model), self.file(model), self.node(model));
        let (there, name) = self.place(model);
        match self.below(100) {
            0..3 => Call::Lookup(there, name),
            3..18 => Call::Create(folder, self.name(), Kind::File),
            18..34 => Call::Create(folder, self.name(), Kind::Folder),
            34..38 => Call::Unlink(there, name),
            38..42 => Call::RemoveFolder(there, name),
            42..50 => Call::Rename((there, name), (folder, self.name())),
            50..56 => Call::Rename((there, name), self.place(model)),
            56..61 => Call::Hold(self.pick(&[folder, file])),
            61..67 => Call::Release(self.pick(&[folder, file, node])),
            67..70 => Call::Read(file, self.offset(model, file), self.length(model)),
            70..84 => Call::Write(file, self.offset(model, file), self.length(model), self.below(4) as u8),
            84..90 => Call::Resize(file, self.offset(model, file)),
            90..92 => Call::SetTimes(node, self.pick(&[None, Some(u64::MAX)]), self.pick(&[None, Some(5)])),
            92..94 => Call::SetQuota(self.quota()),
            94..96 => Call::Save,
            96..98 if clones < 3 => Call::Clone,
            _ if clones > 0 => Call::Swap(self.below(clones as u64) as usize),
            _ => Call::Clone,
        }
    }
}

/// Prints what led to a failure.
struct Log {
    seed: u64,
    quota: Quota,
    calls: Vec<Call>,
}

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let calls: Vec<_> = self.calls.iter().map(|call| format!("{call:?}")).collect();
            println!("seed {}, {:?}:\n{}", self.seed, self.quota, calls.join("\n"));
        }
    }
}

const STEPS: u64 = 300;

/// Which answers there were, so that the test can tell that it reaches them.
fn run(seed: u64, seen: &mut BTreeMap<String, u32>) {
    let mut random = Random(seed);
    // One sequence in eight begins with a path as long as can be.
    let long = seed.is_multiple_of(8);
    let quota = if long { Quota { bytes: 300, entries: 40, depth: 20 } } else { random.quota() };
    let mut log = Log { seed, quota, calls: Vec::new() };
    let (mut tree, mut model) = (Tree::new(quota, 0), Model::new(quota));
    let mut clones: Vec<(Tree, Model)> = Vec::new();
    for now in 1..=STEPS {
        let call = match now {
            1..=16 if long => {
                Call::Create(Ino(if now == 1 { 1 } else { now as u32 + 1 }), "n".repeat(255), Kind::Folder)
            }
            _ => random.call(&model, clones.len()),
        };
        log.calls.push(call.clone());
        match call {
            Call::Clone => clones.push((tree.clone(), model.clone())),
            Call::Swap(at) => {
                std::mem::swap(&mut tree, &mut clones[at].0);
                std::mem::swap(&mut model, &mut clones[at].1);
            }
            _ => {}
        }
        let (answer, expected) = (ask_tree(&mut tree, &call, now), ask_model(&mut model, &call, now));
        assert_eq!(answer, expected);
        compare(&tree, &model);
        let kind = format!("{call:?}").split(['(', ' ']).next().unwrap_or_default().to_owned();
        let what = answer.map_or_else(|errno| format!("{errno:?}"), |_| "Ok".into());
        *seen.entry(format!("{kind} {what}")).or_default() += 1;
    }
    clones.iter().for_each(|(tree, model)| compare(tree, model));
}

#[test]
fn random_calls_do_what_the_model_does() {
    let rounds = std::env::var("TREE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    let mut seen = BTreeMap::new();
    (0..rounds).for_each(|seed| run(seed, &mut seen));
    println!("{seen:?}");
    let wanted = "Create Ok, Create Exist, Create Noent, Create Notdir, Create Inval, Create Nametoolong, Create Nospc, \
        Create Dquot, Unlink Ok, Unlink Isdir, Unlink Noent, Unlink Notdir, RemoveFolder Ok, RemoveFolder Notempty, \
        RemoveFolder Notdir, Rename Ok, Rename Inval, Rename Isdir, Rename Notdir, Rename Notempty, Rename Dquot, \
        Rename Nametoolong, Rename Noent, Read Ok, Read Badf, Read Isdir, Write Ok, Write Nospc, Write Fbig, Write Isdir, Resize Ok, \
        Resize Nospc, Resize Fbig, SetTimes Ok, SetTimes Badf, Lookup Ok, Lookup Noent, Save Ok, Swap Ok";
    for wanted in wanted.split(", ") {
        assert!(seen.contains_key(wanted), "no call was answered so: {wanted}");
    }
}
