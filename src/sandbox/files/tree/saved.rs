//! A tree as plain values, for a form that is saved; and back, without trusting them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::content::Content;
use super::store::{Node, ROOTS, Store};
use super::{Body, Entry, Ino, Kind, MAX_PATH, Quota, Tree, Way, check_name};

impl Tree {
    /// Everything, by number. It copies all bytes: as many as [`used`](Self::used) says.
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |(ino, node): (Ino, &Node)| Entry {
            ino,
            place: node.place.as_ref().map(|(parent, name)| (*parent, name.to_string())),
            times: node.times,
            body: node.content().map_or(Body::Folder, |content| Body::File(bytes_of(content))),
        };
        self.store.iter().map(entry).collect()
    }

    /// The number that the next node gets.
    pub fn next_ino(&self) -> u32 {
        self.store.next()
    }

    /// A tree of the given entries, in any order. Nobody holds anything in it: what was unlinked stays until it was
    /// held and released, or until [`drop_unheld`](Self::drop_unheld).
    ///
    /// # Errors
    /// The entries are not one tree under the two roots, or are over the quota; the text says why.
    pub fn from_entries(quota: Quota, next: u32, entries: Vec<Entry>) -> Result<Self, &'static str> {
        let mut nodes = BTreeMap::new();
        for entry in entries {
            let Entry { ino, place, times, body } = entry;
            if ino.0 == 0 || ino.0 >= next {
                return Err("a number is out of its range");
            }
            let place = place.map(|(parent, name)| (parent, Arc::from(name)));
            let mut node = match body {
                Body::Folder => Node::new(Kind::Folder, place, 0),
                Body::File(bytes) => Node::file(Content::from(bytes.as_slice()), place),
            };
            node.times = times;
            if nodes.insert(ino, node).is_some() {
                return Err("two entries have one number");
            }
        }
        if !ROOTS.iter().all(|root| nodes.get(root).is_some_and(|node| node.names().is_some() && node.place.is_none()))
        {
            return Err("a root is missing");
        }
        let placed = name_all(&mut nodes)?;
        if count_from_roots(&nodes, quota.depth)? != placed {
            return Err("an entry is not under a root");
        }
        Ok(Self { store: Store::restore(quota, next, nodes)?, held: BTreeMap::new() })
    }
}

/// Enters each name in its folder, and counts them.
fn name_all(nodes: &mut BTreeMap<Ino, Node>) -> Result<usize, &'static str> {
    let places: Vec<_> = nodes.iter().filter_map(|(ino, node)| Some((*ino, node.place.clone()?))).collect();
    let placed = places.len();
    for (ino, (parent, name)) in places {
        check_name(&name).map_err(|_| "a name is not one")?;
        let names = nodes.get_mut(&parent).and_then(Node::names_mut).ok_or("an entry is not in a folder")?;
        if names.insert(name, ino).is_some() {
            return Err("two entries have one name");
        }
    }
    Ok(placed)
}

/// Counts what the roots lead to. Cycles and what is in an unlinked folder are not among it.
fn count_from_roots(nodes: &BTreeMap<Ino, Node>, deepest: u64) -> Result<usize, &'static str> {
    let mut count = 0;
    let mut folders: VecDeque<(Ino, Way)> = ROOTS.iter().map(|root| (*root, Way::default())).collect();
    while let Some((folder, way)) = folders.pop_front() {
        let Some(names) = nodes.get(&folder).and_then(Node::names) else { continue };
        if !names.is_empty() && way.names >= deepest {
            return Err("an entry is deeper than the quota allows");
        }
        count += names.len();
        if names.keys().any(|name| way.and(name).bytes > MAX_PATH) {
            return Err("a path is too long");
        }
        folders.extend(names.iter().map(|(name, ino)| (*ino, way.and(name))));
    }
    Ok(count)
}

fn bytes_of(content: &Content) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(content.bytes()).unwrap_or(usize::MAX)];
    content.read(0, &mut bytes);
    bytes
}
