//! `genai_config.json`: how onnxruntime-genai is told what is what.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::ground::{Ground, plain};
use super::{GENAI_FILE, chat::Ids};
use crate::model::onnx::{Names, Role};
use crate::{Error, Result};

const MAX_CONFIG: u64 = 1 << 20;

#[derive(Deserialize)]
struct Config {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    #[serde(default)]
    context_length: Option<u64>,
    #[serde(default)]
    eos_token_id: Ids,
    decoder: Graph,
    #[serde(default)]
    embedding: Option<Graph>,
}

#[derive(Deserialize)]
struct Graph {
    #[serde(default)]
    filename: Option<String>,
    #[serde(default)]
    inputs: Map<String, Value>,
    #[serde(default)]
    outputs: Map<String, Value>,
    #[serde(default)]
    pipeline: Option<Value>,
}

pub(super) struct Genai {
    model: Model,
}

/// Its names for the inputs, and what they are here.
const ROLES: [(&str, Role); 6] = [
    ("input_ids", Role::Ids),
    ("inputs_embeds", Role::Embeddings),
    ("attention_mask", Role::Mask),
    ("position_ids", Role::Positions),
    ("seqlens_k", Role::LastPosition),
    ("total_sequence_length", Role::Total),
];

/// Its names for the patterns of states, input and output.
const PAIRS: [(&str, &str); 3] = [
    ("past_key_names", "present_key_names"),
    ("past_value_names", "present_value_names"),
    ("past_names", "present_names"),
];

impl Genai {
    /// The configuration in `folder`; `None` when there is none.
    pub fn read(ground: &Ground, folder: &Path) -> Result<Option<Self>> {
        let config: Option<Config> = ground.json(folder, GENAI_FILE, MAX_CONFIG)?;
        Ok(config.map(|config| Self { model: config.model }))
    }

    /// The decoder's graph, and that of the embeddings if it has one of its own.
    pub fn graphs(&self, folder: &Path) -> Result<(PathBuf, Option<PathBuf>)> {
        if self.model.decoder.pipeline.is_some() {
            return Err(Error::model(format!("its `{GENAI_FILE}` has a pipeline of graphs, which is not supported"))
                .advise("name a version of the model for CPUs"));
        }
        let path = |name: &str| {
            plain(name).map(|name| folder.join(name)).map_err(|error| error.context(format!("`{GENAI_FILE}`")))
        };
        let decoder = path(self.model.decoder.filename.as_deref().unwrap_or("model.onnx"))?;
        let embeddings = self.model.embedding.as_ref().and_then(|graph| graph.filename.as_deref());
        Ok((decoder, embeddings.map(path).transpose()?))
    }

    /// The names it gives to inputs and outputs, beside the usual ones.
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        let text = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let (inputs, outputs) = (&self.model.decoder.inputs, &self.model.decoder.outputs);
        for (key, role) in ROLES {
            if let Some(name) = text(inputs, key) {
                names.set_role(&name, role);
            }
        }
        for (past, present) in PAIRS {
            if let (Some(past), Some(present)) = (text(inputs, past), text(outputs, present)) {
                names.add_pair(&past, &present);
            }
        }
        if let Some(logits) = text(outputs, "logits") {
            names.logits = logits;
        }
        names
    }

    pub fn context_length(&self) -> Option<u64> {
        self.model.context_length
    }

    pub fn end_of_turn(&self) -> &Ids {
        &self.model.eos_token_id
    }
}
