//! Which of a folder's graphs are the model.
//!
//! To be replaced by the choice that is made among the files of a repository.

use std::fs;
use std::path::{Path, PathBuf};

use super::GENAI_FILE;
use super::ground::Ground;
use crate::{Error, Result};

/// The graphs that were chosen, relative to the model's folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Where they lie.
    pub folder: PathBuf,
    pub decoder: PathBuf,
    pub embeddings: Option<PathBuf>,
}

const SINGLE: &str = "model";
const EMBEDDINGS: &str = "embed_tokens";
const DECODER: &str = "decoder_model_merged";
const FOLDERS: [&str; 2] = ["onnx", ""];

/// What stands between a graph's name and `.onnx`, best first: 8-bit weights lose nothing that can be seen, half
/// precision is widened at every step.
const PRECISIONS: [&str; 10] = ["_q8", "_q4", "", "_fp32", "_int8", "_quantized", "_uint8", "_bnb4", "_q4f16", "_fp16"];

/// Whether there is a graph in `folder`, by its name.
pub(super) fn has_graphs(folder: &Path) -> bool {
    FOLDERS.iter().any(|place| {
        let entries = fs::read_dir(folder.join(place)).into_iter().flatten().flatten().take(1000);
        entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|extension| extension == "onnx"))
    })
}

pub(super) fn choose(ground: &Ground, named: Option<&Path>) -> Result<Choice> {
    if let Some(named) = named {
        return Ok(of_graph(ground, named));
    }
    if ground.has(Path::new(GENAI_FILE)) {
        return Ok(Choice { folder: PathBuf::new(), decoder: "model.onnx".into(), embeddings: None });
    }
    for folder in FOLDERS {
        for suffix in PRECISIONS {
            for stem in [DECODER, SINGLE] {
                let graph = Path::new(folder).join(format!("{stem}{suffix}.onnx"));
                if ground.has(&graph) {
                    return Ok(of_graph(ground, &graph));
                }
            }
        }
    }
    Err(Error::usage(format!("there is no model in `{}`", ground.folder().display()))
        .advise("name a folder with onnx/model.onnx or model.onnx, or the .onnx file itself"))
}

/// The model that the graph `named` belongs to: a decoder's embeddings are in the same precision if there are such.
fn of_graph(ground: &Ground, named: &Path) -> Choice {
    let folder = named.parent().unwrap_or(Path::new(""));
    let file = named.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let own = file.strip_prefix(DECODER).and_then(|rest| rest.strip_suffix(".onnx"));
    let suffixes = own.iter().copied().chain(PRECISIONS).filter(|_| own.is_some());
    let mut graphs = suffixes.map(|suffix| folder.join(format!("{EMBEDDINGS}{suffix}.onnx")));
    let embeddings = graphs.find(|graph| ground.has(graph));
    Choice { folder: folder.into(), decoder: named.into(), embeddings }
}
