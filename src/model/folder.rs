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
use super::built::{self, BuiltModel, Description, MAX_TOKENIZER, TOKENIZER_FILE};
use super::choice::{Choice, Layout, choose, is_onnx, split};
use super::onnx::{Graphs, Names, inspect};
use crate::{Error, Result};

const GENAI_FILE: &str = "genai_config.json";

/// Where a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The folder that all its files lie in.
    pub top: PathBuf,
    /// Which of several models there it is: a graph, or the folder of its graphs. Relative to the top.
    pub part: Option<PathBuf>,
    /// Whether it is a sealed folder of the cache, in which nothing is that this program did not write.
    pub sealed: bool,
}

impl Place {
    /// The whole folder `top`.
    pub fn whole(top: PathBuf) -> Self {
        Self { top, part: None, sealed: false }
    }

    /// A folder of the cache.
    pub fn sealed(top: PathBuf) -> Self {
        Self { top, part: None, sealed: true }
    }

    /// The folder `path`, or the one that the graph `path` belongs to. A graph in a folder `onnx` belongs to the folder
    /// around, where exporters put the tokenizer.
    pub fn of(path: &Path) -> Self {
        let (Some(folder), Some(file)) = (path.parent().filter(|_| is_graph(path)), path.file_name()) else {
            return Self::whole(path.into());
        };
        let here = |folder: &Path| if folder == Path::new("") { PathBuf::from(".") } else { folder.into() };
        match folder.parent().filter(|_| folder.ends_with("onnx") && !folder.join(TOKENIZER_FILE).exists()) {
            Some(around) => Self { part: Some(Path::new("onnx").join(file)), ..Self::whole(here(around)) },
            None => Self { part: Some(file.into()), ..Self::whole(here(folder)) },
        }
    }

    fn path(&self) -> PathBuf {
        self.part.iter().fold(self.top.clone(), |top, part| top.join(part))
    }
}

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
    is_onnx(&path.to_string_lossy()) && path.is_file()
}

/// Refuses a folder of ours that someone else could change between our check of it and ONNX Runtime's own reading. Of
/// foreign ones [`open`] looks at each file it uses.
pub(crate) fn refuse_others(path: &Path) -> Result<()> {
    if !built::is_built(path) {
        return Ok(());
    }
    let checked =
        ground::trusted(path).and_then(|()| built::files(path).iter().try_for_each(|file| ground::trusted(file)));
    checked.map_err(|error| error.context(format!("the model folder `{}` cannot be used", path.display())))
}

/// Opens the model at `place`.
///
/// # Errors
/// There is no model, or something of it is missing, damaged, or not where it may be.
pub(crate) fn open(place: &Place) -> Result<OpenFolder> {
    if place.part.is_none() && built::is_built(&place.top) {
        let BuiltModel { graph, tokenizer, description } = built::open(&place.top)?;
        if !place.sealed {
            // Anybody can write a folder that looks like ours.
            growth::check(&tokenizer)
                .map_err(|error| error.context(format!("the model folder `{}`", place.top.display())))?;
        }
        let facts = inspect(&graph)?;
        let graphs = Graphs { decoder: graph, facts, embeddings: None, names: Names::default(), ours: true };
        return Ok(OpenFolder { graphs, tokenizer, description });
    }
    let opened = Ground::new(&place.top).and_then(|ground| open_foreign(&ground, place.part.as_deref()));
    opened.map_err(|error| error.context(format!("the model `{}` cannot be used", place.path().display())))
}

fn open_foreign(ground: &Ground, part: Option<&Path>) -> Result<OpenFolder> {
    let part = part.map(|part| part.to_string_lossy().replace('\\', "/"));
    let named = part.as_deref().filter(|part| is_onnx(part));
    let listing = match &part {
        None => listing::all(ground.folder()),
        Some(part) => listing::of_folder(ground.folder(), named.map_or(part, |graph| split(graph).0)),
    };
    let onnx = match choose(&listing, named)? {
        Choice::Onnx(onnx) => onnx,
        Choice::Gguf(file) => return Err(Error::usage(format!("`{file}` is no ONNX model"))),
    };
    let folder = PathBuf::from(&onnx.folder);
    // What describes the model is beside the graphs, or at the top.
    let genai = Genai::read(ground, &folder)?;
    let (decoder, embeddings) = match (onnx.layout, onnx.graphs.as_slice(), &genai) {
        (Layout::Genai, _, Some(genai)) if named.is_none() => genai.graphs(&folder)?,
        (Layout::Split, [embeddings, decoder], _) => (decoder.into(), Some(embeddings.into())),
        (_, [graph, ..], _) => (named.unwrap_or(graph).into(), None),
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
