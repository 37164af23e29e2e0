//! From a GGUF file to a model folder of ours: an ONNX graph with its weights beside it, a tokenizer, a description.
//!
//! Nothing of the model is computed here. Where this processor has [kernels](super::kernel) for them, matrices stay in the
//! GGUF file, which lies in the folder too, and the graph says where. Otherwise they are re-expressed: blocks that ONNX
//! Runtime can multiply with stay as they are, others become 8-bit ones (see [`quant`](super::quant)).

mod architecture;
#[cfg(test)]
mod fixture;
mod graph;
mod llama;
mod metadata;
pub(super) mod proto;
mod reader;
mod rope;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tiny;
mod tokenizer_json;
mod weights;

use std::fs;
use std::path::Path;

use prost::Message;

use self::architecture::Shape;
use self::graph::GraphBuilder;
use self::reader::Gguf;
use super::built::{self, DATA_FILE, Description, MODEL_FILE, STORED_FILE, TOKENIZER_FILE};
use super::kernel::Kernel;
use super::template::ChatTemplate;
use super::tokenizer::ChatTokenizer;
use crate::error::OrInternal;
use crate::{Cancel, Error, Progress, Result};

/// Part of the name of everything built here: raise it when the same GGUF would be built differently.
pub(crate) const CONVERTER_VERSION: u32 = 4;

/// Half the largest head that can be built.
const MAX_ROPE_FACTORS: usize = 512;

/// In what precision the matrices are kept and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// As the file has them, where this program has kernels for a matrix; in blocks elsewhere.
    Stored,
    /// Blocks of 32: of 4 bits where a matrix is Q4_0, of 8 elsewhere.
    Blocks,
    /// Blocks of 8 bits everywhere, to measure those of 4 by.
    EightBits,
    /// Full precision, to measure the others by.
    F32,
}

impl Weights {
    /// The fastest on this processor.
    pub fn fastest() -> Self {
        if Kernel::detect().is_some() { Self::Stored } else { Self::Blocks }
    }

    /// The build options' part of a cache key.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Blocks => "blocks",
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
    let (model, data, description) = plan(&mut gguf, name, weights).map_err(|error| error.context(doing()))?;
    let tokenizer = tokenizer(&gguf, &description).map_err(|error| error.context(doing()))?;
    fs::write(into.join(MODEL_FILE), model.encode_to_vec()).or_internal(doing())?;
    fs::write(into.join(TOKENIZER_FILE), tokenizer).or_internal(doing())?;
    built::describe(into, &description).map_err(|error| error.context(doing()))?;
    if weights == Weights::Stored {
        // The same bytes under a second name, or a copy where the disk has no such thing.
        let to = into.join(STORED_FILE);
        fs::hard_link(source, &to).or_else(|_| fs::copy(source, &to).map(drop)).or_internal(doing())?;
    }
    let file = fs::File::create(into.join(DATA_FILE)).or_internal(doing())?;
    progress.during(&format!("building the model {name}"), Some(data.len()), || {
        data.write(&mut gguf, file, progress, cancel)
    })
}

/// Refuses a file whose header alone shows that [`build`] would refuse it, before the file is copied.
pub(super) fn check(source: &Path) -> Result<()> {
    let mut gguf = Gguf::open(source)?;
    let checked = plan(&mut gguf, "", Weights::Blocks).and_then(|(_, _, description)| tokenizer(&gguf, &description));
    checked.map(drop).map_err(|error| error.context(format!("cannot build a model from `{}`", source.display())))
}

/// Everything but the weights' bytes.
fn plan(gguf: &mut Gguf, name: &str, weights: Weights) -> Result<(proto::Model, weights::DataFile, Description)> {
    let factors = rope_factors(gguf)?;
    let metadata = &gguf.metadata;
    let vocabulary = tokenizer_json::vocabulary(metadata)?.len();
    let shape = Shape::read(metadata, vocabulary, factors)?;
    let mut graph = GraphBuilder::new(weights);
    llama::build(&mut graph, gguf, &shape)?;
    let (model, data) = graph.finish(&CONVERTER_VERSION.to_string());
    let description = tokenizer_json::describe(metadata, name, shape.context)?;
    Ok((model, data, description))
}

/// The `tokenizer.json`, which the library was seen to take together with the template: before the weights are built.
fn tokenizer(gguf: &Gguf, description: &Description) -> Result<Vec<u8>> {
    let tokenizer = tokenizer_json::write(&gguf.metadata)?;
    let Description { chat_template, bos_token, eos_token, first_token, .. } = description;
    let template = ChatTemplate::new(chat_template, bos_token, eos_token)?;
    ChatTokenizer::new(&tokenizer, template, *first_token)?;
    Ok(tokenizer)
}

/// The divisors of the rotary frequencies, if the file holds them.
fn rope_factors(gguf: &mut Gguf) -> Result<Option<Vec<f32>>> {
    let Some(tensor) = gguf.tensor(llama::ROPE_FACTORS).cloned() else { return Ok(None) };
    let wrong = || Error::model(format!("tensor `{}` is not a list of divisors", tensor.name));
    if tensor.rows() != 1 || tensor.kind.granularity() != 1 || tensor.row_len() > MAX_ROPE_FACTORS {
        return Err(wrong());
    }
    let (mut raw, mut factors) = (Vec::new(), vec![0.0; tensor.row_len()]);
    gguf.read_rows(&tensor, 0, 1, &mut raw)?;
    tensor.kind.decode(&raw, &mut factors);
    match factors.iter().all(|factor| factor.is_finite() && *factor > 0.0) {
        true => Ok(Some(factors)),
        false => Err(wrong()),
    }
}
