//! A folder with a model in it, ours or one that others exported, as files that may be read: which graphs, which
//! tokenizer, and what a conversation needs to know.
//!
//! Nothing in a foreign folder is trusted. Files are bounded before they are read, and every file that is opened, also
//! by ONNX Runtime on its own, lies in the folder (see [`ground`]).

mod chat;
mod genai;
mod ground;
mod growth;
mod listing;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use self::chat::Chat;
use self::genai::Genai;
use self::ground::Ground;
use super::built::{self, BuiltModel, Description};
use super::choice::{Choice, Layout, choose};
use super::onnx::{Graphs, Names, inspect};
use crate::{Error, Result};

const TOKENIZER_FILE: &str = "tokenizer.json";
const GENAI_FILE: &str = "genai_config.json";

/// Bytes of a tokenizer that are read.
const MAX_TOKENIZER: u64 = 128 << 20;

/// A model that was found and looked through.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    pub graphs: Graphs,
    pub tokenizer: Vec<u8>,
    pub description: Description,
}

/// Whether `path`, a folder or a graph in one, looks like a model that [`open`] can say more about.
pub(crate) fn is_model(path: &Path) -> bool {
    built::is_built(path) || is_graph(path) || listing::has_graphs(path)
}

fn is_graph(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")) && path.is_file()
}

/// Refuses a folder of ours that someone else could change. Of foreign ones [`open`] looks at each file it uses.
pub(crate) fn refuse_others(path: &Path) -> Result<()> {
    if built::is_built(path) { built::refuse_others(path) } else { Ok(()) }
}

/// Opens the model in the folder `path`, or the one whose graph is the file `path`.
///
/// # Errors
/// There is no model, or something of it is missing, damaged, or not where it may be.
pub(crate) fn open(path: &Path) -> Result<OpenFolder> {
    if built::is_built(path) {
        let BuiltModel { graph, tokenizer, description } = built::open(path)?;
        // Anybody can write a folder that looks like ours.
        growth::check(&tokenizer).map_err(|error| error.context(format!("the model folder `{}`", path.display())))?;
        let facts = inspect(&graph)?;
        let graphs = Graphs { decoder: graph, facts, embeddings: None, names: Names::default(), ours: true };
        return Ok(OpenFolder { graphs, tokenizer, description });
    }
    let (folder, named) = place(path);
    let opened = Ground::new(&folder).and_then(|ground| open_foreign(&ground, named.as_deref()));
    opened.map_err(|error| error.context(format!("the model `{}` cannot be used", path.display())))
}

/// The model's folder, and the graph that was named, relative to it. A graph in a folder `onnx` belongs to the folder
/// around, where exporters put the tokenizer.
fn place(path: &Path) -> (PathBuf, Option<PathBuf>) {
    if !is_graph(path) {
        return (path.into(), None);
    }
    let parent =
        path.parent().map_or(Path::new("."), |parent| if parent == Path::new("") { Path::new(".") } else { parent });
    let file = PathBuf::from(path.file_name().unwrap_or_default());
    let around = if parent.ends_with("onnx") && !parent.join(TOKENIZER_FILE).exists() { parent.parent() } else { None };
    match around {
        Some(around) if around == Path::new("") => (".".into(), Some(Path::new("onnx").join(file))),
        Some(around) => (around.into(), Some(Path::new("onnx").join(file))),
        None => (parent.into(), Some(file)),
    }
}

fn open_foreign(ground: &Ground, named: Option<&Path>) -> Result<OpenFolder> {
    let wanted = named.map(|named| named.to_string_lossy().replace('\\', "/"));
    let onnx = match choose(&listing::listing(ground.folder()), wanted.as_deref())? {
        Choice::Onnx(onnx) => onnx,
        Choice::Gguf(file) => return Err(Error::usage(format!("`{file}` is no ONNX model"))),
    };
    let folder = PathBuf::from(&onnx.folder);
    // What describes the model is beside the graphs, or at the top.
    let genai = Genai::read(ground, &folder)?;
    let (decoder, embeddings) = match (onnx.layout, onnx.graphs.as_slice(), &genai) {
        (Layout::Genai, _, Some(genai)) if named.is_none() => genai.graphs(&folder)?,
        (Layout::Split, [embeddings, decoder], _) => (decoder.into(), Some(embeddings.into())),
        (_, [graph, ..], _) => (named.map_or_else(|| graph.into(), Path::to_path_buf), None),
        (_, [], _) => return Err(Error::usage("there is no graph in it")),
    };
    let embeddings = embeddings.map(|graph| checked(ground, &graph).map(|(path, _)| path)).transpose()?;
    let (decoder, facts) = checked(ground, &decoder)?;
    let names = genai.as_ref().map(Genai::names).unwrap_or_default();
    let tokenizer = ground.beside(&folder, TOKENIZER_FILE, MAX_TOKENIZER)?.ok_or_else(|| no_tokenizer(ground))?;
    growth::check(&tokenizer)?;
    let chat = Chat::read(ground, &folder, &tokenizer)?;
    let description = chat.describe(ground.name(), genai.as_ref())?;
    let graphs = Graphs { decoder, facts, embeddings, names, ours: false };
    Ok(OpenFolder { graphs, tokenizer, description })
}

/// The path of a graph, and what is in it, once every file that it names is known to lie in the folder.
fn checked(ground: &Ground, graph: &Path) -> Result<(PathBuf, super::onnx::Facts)> {
    let path = ground.file(graph)?.path;
    let facts = inspect(&path)?;
    let folder = graph.parent().unwrap_or(Path::new(""));
    for (location, end) in &facts.external {
        let check = || -> Result<()> {
            let there = ground.file(&folder.join(ground::plain(location)?))?.len;
            if there < *end {
                return Err(Error::model(format!("it has {there} bytes, and weights up to {end}")));
            }
            Ok(())
        };
        check().map_err(|error| {
            let location: String = location.chars().take(200).collect();
            error.context(format!("the weights `{location}` of the graph `{}`", graph.display()))
        })?;
    }
    Ok((path, facts))
}

fn no_tokenizer(ground: &Ground) -> Error {
    let error = Error::model(format!("there is no `{TOKENIZER_FILE}`"));
    match ground.has(Path::new("tokenizer.model")) {
        true => error.advise("its `tokenizer.model` alone is not enough: convert it with transformers (`AutoTokenizer.from_pretrained(…).save_pretrained(…)`)"),
        false => error.advise(format!("put the model's `{TOKENIZER_FILE}` into the folder")),
    }
}
