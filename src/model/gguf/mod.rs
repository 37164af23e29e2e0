//! From a GGUF file to a model folder of ours: an ONNX graph with its weights beside it, a tokenizer, a description.
//!
//! Nothing of the model is computed here, only re-expressed: 8-bit blocks stay as they are, 4-bit ones are widened to
//! 8 bits (see [`quant`]), and the graph is the one whose operators ONNX Runtime runs fastest on CPUs.

#[cfg(test)]
mod fixture;
mod graph;
mod llama;
mod metadata;
pub(super) mod proto;
mod quant;
mod reader;
mod tokenizer_json;
mod weights;

use std::fs;
use std::path::Path;

use prost::Message;

use self::graph::GraphBuilder;
use self::metadata::required;
use self::reader::Gguf;
use super::built::{self, DATA_FILE, Description, MODEL_FILE, TOKENIZER_FILE};
use crate::error::OrInternal;
use crate::{Cancel, Progress, Result};

/// Part of the name of everything built here: raise it when the same GGUF would be built differently.
pub(crate) const CONVERTER_VERSION: u32 = 1;

/// In what precision the matrices are kept and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// 8-bit blocks of 32: half the file of F16, and what decodes fastest.
    EightBits,
    /// Full precision, to measure the other one by.
    F32,
}

impl Weights {
    /// The build options' part of a cache key.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::EightBits => "int8",
            Self::F32 => "f32",
        }
    }
}

/// Builds the model in the GGUF file `source` into the existing folder `into`.
pub fn build(
    source: &Path,
    into: &Path,
    name: &str,
    weights: Weights,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<()> {
    let mut gguf = Gguf::open(source)?;
    let doing = || format!("cannot build a model from `{}`", source.display());
    let (model, data, description) = plan(&gguf, name, weights).map_err(|error| error.context(doing()))?;
    fs::write(into.join(MODEL_FILE), model.encode_to_vec()).or_internal(doing())?;
    let tokenizer = tokenizer_json::write(&gguf.metadata).map_err(|error| error.context(doing()))?;
    fs::write(into.join(TOKENIZER_FILE), tokenizer).or_internal(doing())?;
    built::describe(into, &description).map_err(|error| error.context(doing()))?;
    let file = fs::File::create(into.join(DATA_FILE)).or_internal(doing())?;
    progress.during(&format!("building the model {name}"), Some(data.len()), || {
        data.write(&mut gguf, file, progress, cancel)
    })
}

/// Everything but the weights' bytes.
fn plan(gguf: &Gguf, name: &str, weights: Weights) -> Result<(proto::Model, weights::DataFile, Description)> {
    let metadata = &gguf.metadata;
    let architecture = required("general.architecture", metadata.text("general.architecture"))?;
    if architecture != "llama" {
        return Err(crate::Error::model(format!(
            "its architecture is `{architecture}`; only `llama` is supported so far"
        ))
        .advise("name a model of the llama architecture, or leave --model away"));
    }
    let vocabulary = tokenizer_json::vocabulary(metadata)?.len();
    let shape = llama::Shape::read(metadata, vocabulary)?;
    let mut graph = GraphBuilder::new(weights);
    llama::build(&mut graph, gguf, &shape)?;
    let (model, data) = graph.finish(&CONVERTER_VERSION.to_string());
    let description = tokenizer_json::describe(metadata, name, shape.context)?;
    Ok((model, data, description))
}
