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
pub(crate) const CONVERTER_VERSION: u32 = 2;

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

#[cfg(test)]
mod tests {
    use super::fixture::{Fixture, text};
    use super::metadata::{Metadata, Value};
    use super::*;

    const WIDTH: u64 = 64;
    const VOCABULARY: usize = 6;

    /// A llama of one layer with every tensor in F32, changed by `change` before it is written.
    fn tiny(change: impl FnOnce(&mut Tiny)) -> Result<Description> {
        let mut tiny = Tiny::default();
        change(&mut tiny);
        let file = tiny.fixture().write();
        let folder = tempfile::tempdir().unwrap();
        build(file.path(), folder.path(), "tiny", tiny.weights, &Progress::default(), &Cancel::new())?;
        let opened = built::open(folder.path())?;
        Ok(opened.description)
    }

    struct Tiny {
        architecture: &'static str,
        pre: &'static str,
        template: bool,
        heads: u32,
        without: &'static str,
        extra: Option<&'static str>,
        scaling: bool,
        weights: Weights,
        context: u32,
        width: u32,
        rope_base: Option<f32>,
    }

    impl Default for Tiny {
        fn default() -> Self {
            Self {
                architecture: "llama",
                pre: "smollm",
                template: true,
                heads: 4,
                without: "",
                extra: None,
                scaling: false,
                weights: Weights::EightBits,
                context: 32,
                width: WIDTH as u32,
                rope_base: None,
            }
        }
    }

    impl Tiny {
        fn fixture(&self) -> Fixture {
            let mut fixture = Fixture::new();
            let number = |n: u32| n.to_le_bytes();
            fixture.key("general.architecture", 8, &text(self.architecture));
            for (key, value) in [
                ("llama.block_count", 1),
                ("llama.context_length", self.context),
                ("llama.embedding_length", self.width),
                ("llama.feed_forward_length", 96),
                ("llama.attention.head_count", self.heads),
                ("llama.attention.head_count_kv", 2),
                ("tokenizer.ggml.bos_token_id", 0),
                ("tokenizer.ggml.eos_token_id", 1),
            ] {
                fixture.key(key, 4, &number(value));
            }
            fixture.key("llama.attention.layer_norm_rms_epsilon", 6, &1e-5_f32.to_le_bytes());
            if let Some(base) = self.rope_base {
                fixture.key("llama.rope.freq_base", 6, &base.to_le_bytes());
            }
            if self.scaling {
                fixture.key("llama.rope.scaling.type", 8, &text("yarn"));
            }
            if self.template {
                fixture.key("tokenizer.chat_template", 8, &text("{{ messages }}"));
            }
            fixture.key("tokenizer.ggml.model", 8, &text("gpt2"));
            fixture.key("tokenizer.ggml.pre", 8, &text(self.pre));
            let list = |kind: u32, items: Vec<Vec<u8>>| {
                [&number(kind)[..], &(items.len() as u64).to_le_bytes(), &items.concat()].concat()
            };
            let tokens = ["<s>", "</s>", "a", "b", "ab", "c"];
            assert_eq!(tokens.len(), VOCABULARY);
            fixture.key("tokenizer.ggml.tokens", 9, &list(8, tokens.map(text).to_vec()));
            let kinds = [3, 3, 1, 1, 1, 1].map(|kind: i32| kind.to_le_bytes().to_vec());
            fixture.key("tokenizer.ggml.token_type", 9, &list(5, kinds.to_vec()));
            fixture.key("tokenizer.ggml.merges", 9, &list(8, vec![text("a b")]));
            let matrix = |row: u64, rows: u64| vec![row, rows];
            for (name, dims) in [
                ("token_embd.weight", matrix(WIDTH, VOCABULARY as u64)),
                ("output_norm.weight", vec![WIDTH]),
                ("blk.0.attn_norm.weight", vec![WIDTH]),
                ("blk.0.attn_q.weight", matrix(WIDTH, WIDTH)),
                ("blk.0.attn_k.weight", matrix(WIDTH, 32)),
                ("blk.0.attn_v.weight", matrix(WIDTH, 32)),
                ("blk.0.attn_output.weight", matrix(WIDTH, WIDTH)),
                ("blk.0.ffn_norm.weight", vec![WIDTH]),
                ("blk.0.ffn_gate.weight", matrix(WIDTH, 96)),
                ("blk.0.ffn_up.weight", matrix(WIDTH, 96)),
                ("blk.0.ffn_down.weight", matrix(96, WIDTH)),
            ] {
                if name != self.without {
                    let bytes = vec![0; dims.iter().product::<u64>() as usize * 4];
                    fixture.tensor(name, &dims, 0, &bytes);
                }
            }
            if let Some(name) = self.extra {
                fixture.tensor(name, &[WIDTH], 0, &[0; WIDTH as usize * 4]);
            }
            fixture
        }
    }

    fn refusal(change: impl FnOnce(&mut Tiny)) -> String {
        let error = tiny(change).unwrap_err();
        assert!(error.is_model(), "{error:?}");
        error.to_string()
    }

    #[test]
    fn a_model_is_built_and_recognised() {
        assert_eq!(tiny(|_| ()).unwrap().name, "tiny");
        assert_eq!(tiny(|tiny| tiny.weights = Weights::F32).unwrap().name, "tiny");
    }

    #[test]
    fn what_would_come_out_wrong_is_refused() {
        assert!(refusal(|tiny| tiny.architecture = "mamba").contains("only `llama` is supported"));
        assert!(refusal(|tiny| tiny.pre = "deepseek-coder").contains("only `smollm` is supported"));
        assert!(refusal(|tiny| tiny.template = false).contains("no chat template"));
        assert!(refusal(|tiny| tiny.heads = 3).contains("do not go together"));
        assert!(refusal(|tiny| tiny.heads = 0).contains("attention.head_count` is 0"));
        assert!(refusal(|tiny| tiny.scaling = true).contains("scaled"));
        for base in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(refusal(|tiny| tiny.rope_base = Some(base)).contains("rope.freq_base"), "{base}");
        }
        assert!(
            refusal(|tiny| tiny.without = "blk.0.ffn_up.weight").contains("lacks the tensor `blk.0.ffn_up.weight`")
        );
        assert!(refusal(|tiny| tiny.extra = Some("blk.0.attn_q.bias")).contains("attn_q.bias"));
    }

    /// The sizes alone would make tables of a terabyte.
    #[test]
    fn what_is_computed_is_bounded_before_it_is() {
        let wide = refusal(|tiny| (tiny.width, tiny.heads, tiny.context) = (1 << 20, 1, 1 << 20));
        assert!(wide.contains("heads are 1048576 wide"), "{wide}");
        assert!(refusal(|tiny| tiny.context = (1 << 20) + 1).contains("context_length` is 1048577"));
        let mut metadata = Metadata::default();
        for (key, value) in [
            ("block_count", 1),
            ("context_length", 1 << 20),
            ("embedding_length", 1024),
            ("feed_forward_length", 32),
            ("attention.head_count", 1),
        ] {
            metadata.insert(format!("llama.{key}"), Value::Unsigned(value)).unwrap();
        }
        metadata.insert("llama.attention.layer_norm_rms_epsilon".into(), Value::Float(1e-5)).unwrap();
        assert_eq!(llama::Shape::read(&metadata, 1).unwrap().context, 1 << 14);
    }
}
