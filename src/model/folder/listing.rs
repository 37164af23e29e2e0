//! The names in a folder that a model could be chosen by.

use std::fs;
use std::path::Path;

use crate::model::choice::{Listed, is_beside, is_gguf, is_onnx, matters};

/// Folders below the model's that are looked into: `cpu_and_mobile/cpu-int4-…/model.onnx` is two down.
const DEPTH: usize = 2;
/// Entries looked at, of all folders together.
const MOST: usize = 4096;

/// ONNX graphs and what belongs to them; their names are relative to `top`, with `/` between folders.
pub(super) fn all(top: &Path) -> Vec<Listed> {
    let mut listed = Vec::new();
    walk(top, "", DEPTH, &mut MOST.clone(), &mut listed);
    listed
}

/// The same of one folder below `top` alone (at the top when it is empty), with what describes models at the top.
pub(super) fn of_folder(top: &Path, folder: &str) -> Vec<Listed> {
    let mut listed = Vec::new();
    walk(top, "", 0, &mut MOST.clone(), &mut listed);
    if !folder.is_empty() {
        listed.retain(|file| is_beside(&file.name));
        walk(&top.join(folder), &format!("{folder}/"), 0, &mut MOST.clone(), &mut listed);
    }
    listed
}

/// Whether there is a graph among them.
pub(super) fn has_graphs(folder: &Path) -> bool {
    folder.is_dir() && all(folder).iter().any(|file| is_onnx(&file.name))
}

fn walk(folder: &Path, prefix: &str, depth: usize, left: &mut usize, listed: &mut Vec<Listed>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = format!("{prefix}{name}");
        // Snapshots in the hub's cache consist of links. Where they lead is looked at when a file is opened.
        let Ok(facts) = fs::metadata(entry.path()) else { continue };
        if facts.is_dir() && depth > 0 {
            walk(&entry.path(), &format!("{name}/"), depth - 1, left, listed);
        } else if facts.is_file() && matters(&name) && !is_gguf(&name) {
            listed.push(Listed { name, bytes: Some(facts.len()) });
        }
    }
}
