//! The folder a model of ours lives in, and the check that a folder is one before ONNX Runtime sees it.
//!
//! An ONNX file can name other files to be mapped into the process. Ours names exactly one, beside it; a `model.onnx`
//! that holds anything we would not have written ourselves is refused whole, so that nothing can hide in a corner of
//! the format that this check does not know.

use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;
use serde::{Deserialize, Serialize};

use super::gguf::proto;
use crate::{Error, Result};

pub(crate) const MODEL_FILE: &str = "model.onnx";
pub(crate) const DATA_FILE: &str = "model.onnx.data";
/// The GGUF file, where the graph's matrices are in it.
pub(crate) const STORED_FILE: &str = "model.gguf";
pub(crate) const TOKENIZER_FILE: &str = "tokenizer.json";
const DESCRIPTION_FILE: &str = "model.json";

/// Files are read whole only up to these sizes (ours take 0.3, 4 and 0.01 MB). A graph's messages take many times their
/// bytes once decoded; 256 layers, the most we build, take 3 MB.
pub(super) const MAX_MODEL: u64 = 4 << 20;
pub(super) const MAX_TOKENIZER: u64 = 128 << 20;
const MAX_DESCRIPTION: u64 = 1 << 20;

/// The names of the graph's inputs and outputs.
pub(crate) mod signature {
    pub(crate) const INPUT_IDS: &str = "input_ids";
    /// The position of the step's last token, for each of the batch: what `GroupQueryAttention` calls `seqlens_k`.
    pub(crate) const LAST_POSITION: &str = "seqlens_k";
    /// Tokens held with those of the step.
    pub(crate) const TOTAL_LENGTH: &str = "total_sequence_length";
    pub(crate) const LOGITS_TO_KEEP: &str = "num_logits_to_keep";
    pub(crate) const LOGITS: &str = "logits";
    pub(crate) const CACHE_PARTS: [&str; 2] = ["key", "value"];

    pub(crate) fn past(layer: usize, part: &str) -> String {
        format!("past_key_values.{layer}.{part}")
    }

    pub(crate) fn present(layer: usize, part: &str) -> String {
        format!("present.{layer}.{part}")
    }
}

/// The operators of ours that compute with matrices in the GGUF file, and their attributes.
pub(crate) mod stored {
    pub(crate) const DOMAIN: &str = env!("CARGO_PKG_NAME");
    /// Activations, and perhaps a bias, to products with some matrices side by side.
    pub(crate) const PRODUCT: &str = "StoredProduct";
    /// Numbers of rows to the rows of a matrix as floats.
    pub(crate) const ROWS: &str = "StoredRows";
    /// Weights in a row, of all matrices.
    pub(crate) const ROW_LEN: &str = "row_len";
    /// Of each matrix: ggml's number of its type, its rows, where it begins in the file, and the size of the heads whose
    /// rows are kept in pairs (0 where they are as they should be).
    pub(crate) const KINDS: &str = "kinds";
    pub(crate) const HEIGHTS: &str = "heights";
    pub(crate) const STARTS: &str = "starts";
    pub(crate) const HEADS: &str = "heads";
}

/// What a conversation with the model needs to know, as `model.json` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    pub name: String,
    /// How many weights it has; `None` where nobody counted them.
    #[serde(default)]
    pub parameters: Option<u64>,
    /// The most positions the model was made for.
    pub context_length: usize,
    pub chat_template: String,
    pub bos_token: String,
    pub eos_token: String,
    /// A token that every prompt must begin with.
    pub first_token: Option<u32>,
    /// The tokens that end the model's turn.
    pub end_of_turn: Vec<u32>,
}

/// A folder that was found to be a model of ours.
#[derive(Debug)]
pub(crate) struct BuiltModel {
    pub graph: PathBuf,
    pub tokenizer: Vec<u8>,
    pub description: Description,
}

/// Writes the description into the model's folder.
pub(crate) fn describe(folder: &Path, description: &Description) -> Result<()> {
    let text = serde_json::to_vec_pretty(description).map_err(Error::internal)?;
    fs::write(folder.join(DESCRIPTION_FILE), text).map_err(|error| Error::internal(error).context(DESCRIPTION_FILE))
}

/// Whether `folder` looks like one of ours; [`open`] then says what is wrong with it.
pub(crate) fn is_built(folder: &Path) -> bool {
    folder.join(DESCRIPTION_FILE).is_file()
}

pub(crate) fn open(folder: &Path) -> Result<BuiltModel> {
    check(folder).map_err(|error| {
        error
            .context(format!("the model folder `{}` cannot be used", folder.display()))
            .advise("build it again from its .gguf file: --model FILE.gguf")
    })
}

/// All that a folder of ours consists of.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = [MODEL_FILE, DATA_FILE, TOKENIZER_FILE, DESCRIPTION_FILE].map(|name| folder.join(name)).to_vec();
    files.extend(Some(folder.join(STORED_FILE)).filter(|file| file.symlink_metadata().is_ok()));
    files
}

fn check(folder: &Path) -> Result<BuiltModel> {
    let description = read(folder, DESCRIPTION_FILE, MAX_DESCRIPTION)?;
    let description: Description =
        serde_json::from_slice(&description).map_err(|error| Error::model(error).context(DESCRIPTION_FILE))?;
    let data = regular(folder, DATA_FILE, u64::MAX)?;
    if folder.join(STORED_FILE).symlink_metadata().is_ok() {
        regular(folder, STORED_FILE, u64::MAX)?;
    }
    check_graph(&read(folder, MODEL_FILE, MAX_MODEL)?, data)?;
    let tokenizer = read(folder, TOKENIZER_FILE, MAX_TOKENIZER)?;
    Ok(BuiltModel { graph: folder.join(MODEL_FILE), tokenizer, description })
}

/// The size of a file that is itself, not a link to another.
fn regular(folder: &Path, name: &str, most: u64) -> Result<u64> {
    let facts = fs::symlink_metadata(folder.join(name)).map_err(|error| Error::model(error).context(name))?;
    if !facts.is_file() {
        return Err(Error::model(format!("{name} is not a regular file")));
    }
    if facts.len() > most {
        return Err(Error::model(format!("{name} has {} bytes, more than {most}", facts.len())));
    }
    Ok(facts.len())
}

fn read(folder: &Path, name: &str, most: u64) -> Result<Vec<u8>> {
    regular(folder, name, most)?;
    fs::read(folder.join(name)).map_err(|error| Error::model(error).context(name))
}

fn check_graph(bytes: &[u8], data_len: u64) -> Result<()> {
    let foreign = || Error::model(format!("{MODEL_FILE} was not written by this program"));
    let model = proto::Model::decode(bytes).map_err(|_| foreign())?;
    if model.encode_to_vec() != bytes {
        return Err(foreign());
    }
    let initializers = model.graph.as_ref().map(|graph| graph.initializer.as_slice()).unwrap_or_default();
    let external = |tensor: &&proto::Tensor| tensor.data_location.is_some() || !tensor.external_data.is_empty();
    for tensor in initializers.iter().filter(external) {
        let name = tensor.name.as_deref().unwrap_or_default();
        let entry = |key: &str| {
            let found = tensor.external_data.iter().find(|entry| entry.key.as_deref() == Some(key));
            found.and_then(|entry| entry.value.as_deref())
        };
        if tensor.external_data.len() != 3 || entry("location") != Some(DATA_FILE) {
            return Err(Error::model(format!(
                "{MODEL_FILE} takes the weights `{name}` from a file other than its own"
            )));
        }
        let number = |key: &str| entry(key).and_then(|value| value.parse::<u64>().ok());
        let end = number("offset").zip(number("length")).and_then(|(offset, length)| offset.checked_add(length));
        if end.is_none_or(|end| end > data_len) {
            return Err(Error::model(format!("{DATA_FILE} is too short for the weights `{name}`")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::{Entry, Graph, Model, Tensor};

    fn model(location: &str, offset: &str) -> Model {
        let entry = |key: &str, value: &str| Entry { key: Some(key.into()), value: Some(value.into()) };
        let tensor = Tensor {
            name: Some("w".into()),
            data_location: Some(proto::EXTERNAL),
            external_data: vec![entry("location", location), entry("offset", offset), entry("length", "10")],
            ..Tensor::default()
        };
        Model { graph: Some(Graph { initializer: vec![tensor], ..Graph::default() }), ..Model::default() }
    }

    fn refusal(model: &[u8]) -> String {
        check_graph(model, 64).unwrap_err().to_string()
    }

    #[test]
    fn weights_outside_the_folder_are_refused() {
        assert!(check_graph(&model(DATA_FILE, "0").encode_to_vec(), 64).is_ok());
        for location in ["/etc/passwd", "../model.onnx.data", "sub/model.onnx.data", "", "*/_ORT_MEM_ADDR_/*"] {
            assert!(refusal(&model(location, "0").encode_to_vec()).contains("other than its own"), "{location}");
        }
        for offset in ["55", "-1", "18446744073709551615", "x"] {
            assert!(refusal(&model(DATA_FILE, offset).encode_to_vec()).contains("too short"), "{offset}");
        }
    }

    #[test]
    fn a_second_location_cannot_hide_behind_the_first() {
        let mut model = model(DATA_FILE, "0");
        let tensor = &mut model.graph.as_mut().unwrap().initializer[0];
        tensor.external_data.push(Entry { key: Some("location".into()), value: Some("/etc/passwd".into()) });
        assert!(refusal(&model.encode_to_vec()).contains("other than its own"));
    }

    #[test]
    fn anything_we_do_not_write_is_foreign() {
        let mut bytes = model(DATA_FILE, "0").encode_to_vec();
        // `functions` (25) with an empty message, where more initializers could hide.
        bytes.extend([0xca, 0x01, 0x00]);
        assert!(refusal(&bytes).contains("not written by this program"));
        assert!(refusal(b"not an onnx file").contains("not written by this program"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join(DATA_FILE)).unwrap();
        let error = regular(folder.path(), DATA_FILE, u64::MAX).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
