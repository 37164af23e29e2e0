//! The llama architecture as an ONNX graph: grouped-query attention with rotary positions, RMS norms, a gated MLP.
//!
//! The signature is the usual one of decoders (`input_ids`, `past_key_values.N.key|value` in, `logits`,
//! `present.N.key|value` out) but for two inputs. Instead of a mask come the two lengths that `GroupQueryAttention` makes
//! of it, which keep their shape from step to step. And logits are made for the last `num_logits_to_keep` positions only
//! (0: all), as in newer exports, since a vocabulary-wide product for every position of a prompt is wasted work.

use std::collections::HashSet;

use super::graph::{Attr, Edge, GraphBuilder, Matrix};
use super::metadata::{Metadata, required};
use super::proto::{Extent, FLOAT, INT32, INT64};
use super::quant::BLOCK;
use super::reader::Gguf;
use super::weights::{Part, RowOrder};
use crate::model::built::signature;
use crate::{Error, Result};

/// The sizes of a model, checked for what the operators can do.
#[derive(Debug)]
pub(super) struct Shape {
    pub layers: usize,
    pub context: usize,
    pub width: usize,
    pub hidden: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub vocabulary: usize,
    epsilon: f32,
    rope_base: f64,
}

/// Ceilings far above any model that runs on a CPU; they keep products of two sizes from overflowing, and what is
/// computed and kept for each layer small.
const MAX_LAYERS: usize = 256;
const MAX_SIZE: usize = 1 << 20;
const MAX_HEAD_DIM: usize = 1024;
/// Positions × head size that the rotary tables are made for, 128 MiB of floats: 131,072 positions for heads of 128. A
/// model that claims more is used with a shorter context.
const MAX_ROTARY: usize = 1 << 24;

impl Shape {
    pub fn read(metadata: &Metadata, vocabulary: usize) -> Result<Self> {
        refuse_scaled_rope(metadata)?;
        let size = |key: &str, most: usize| -> Result<usize> {
            let key = format!("llama.{key}");
            let value = required(&key, metadata.unsigned(&key))?;
            usize::try_from(value)
                .ok()
                .filter(|value| (1..=most).contains(value))
                .ok_or_else(|| Error::model(format!("its metadata `{key}` is {value}; possible are 1 to {most}")))
        };
        let (width, heads) = (size("embedding_length", MAX_SIZE)?, size("attention.head_count", MAX_SIZE)?);
        let kv_heads = match metadata.has("llama.attention.head_count_kv") {
            true => size("attention.head_count_kv", MAX_SIZE)?,
            false => heads,
        };
        let head_dim = width / heads;
        if head_dim > MAX_HEAD_DIM {
            return Err(Error::model(format!(
                "its heads are {head_dim} wide (width {width}, {heads} heads); at most {MAX_HEAD_DIM} are possible"
            )));
        }
        let shape = Self {
            layers: size("block_count", MAX_LAYERS)?,
            context: size("context_length", MAX_SIZE)?.min(MAX_ROTARY / head_dim.max(1)),
            hidden: size("feed_forward_length", MAX_SIZE)?,
            head_dim,
            epsilon: required(EPSILON, metadata.float(EPSILON))? as f32,
            rope_base: rope_base(metadata)?,
            width,
            heads,
            kv_heads,
            vocabulary,
        };
        let rotated = metadata.unsigned("llama.rope.dimension_count")?.unwrap_or(shape.head_dim as u64);
        let whole = width.is_multiple_of(heads) && heads.is_multiple_of(kv_heads) && shape.head_dim.is_multiple_of(2);
        let blocks = width.is_multiple_of(BLOCK) && shape.hidden.is_multiple_of(BLOCK);
        if !whole || !blocks || rotated != shape.head_dim as u64 {
            return Err(Error::model(format!(
                "its sizes do not go together: width {width}, {heads} heads of which {kv_heads} for keys, MLP width {}, {rotated} rotated dimensions",
                shape.hidden
            )));
        }
        Ok(shape)
    }
}

const EPSILON: &str = "llama.attention.layer_norm_rms_epsilon";
const ROPE_BASE: &str = "llama.rope.freq_base";

fn rope_base(metadata: &Metadata) -> Result<f64> {
    match metadata.float(ROPE_BASE)?.unwrap_or(10_000.0) {
        base if base.is_finite() && base > 0.0 => Ok(base),
        base => Err(Error::model(format!("its metadata `{ROPE_BASE}` is {base}"))),
    }
}

fn refuse_scaled_rope(metadata: &Metadata) -> Result<()> {
    match metadata.text("llama.rope.scaling.type")? {
        None | Some("none") => Ok(()),
        Some(kind) => Err(Error::model(format!("its positions are scaled (`{kind}`), which is not supported yet"))),
    }
}

/// Adds the whole decoder to `graph`.
pub(super) fn build(graph: &mut GraphBuilder, gguf: &Gguf, shape: &Shape) -> Result<()> {
    let mut decoder = Decoder { graph, gguf, shape, used: HashSet::new() };
    decoder.ports();
    decoder.body()?;
    decoder.refuse_leftovers()
}

struct Decoder<'a> {
    graph: &'a mut GraphBuilder,
    gguf: &'a Gguf,
    shape: &'a Shape,
    used: HashSet<String>,
}

impl Decoder<'_> {
    fn ports(&mut self) {
        let named = |name: &str| Extent::Named(name.into());
        let fixed = |size: usize| Extent::Fixed(size as i64);
        let (batch, sequence, total) = (named("batch"), named("sequence"), named("total_sequence"));
        self.graph.input(signature::INPUT_IDS, INT64, &[batch.clone(), sequence]);
        self.graph.input(signature::LAST_POSITION, INT32, std::slice::from_ref(&batch));
        self.graph.input(signature::TOTAL_LENGTH, INT32, &[]);
        self.graph.input(signature::LOGITS_TO_KEEP, INT64, &[]);
        self.graph.output(signature::LOGITS, FLOAT, &[batch.clone(), named("kept"), fixed(self.shape.vocabulary)]);
        for layer in 0..self.shape.layers {
            for part in signature::CACHE_PARTS {
                let dims =
                    |len: &Extent| [batch.clone(), fixed(self.shape.kv_heads), len.clone(), fixed(self.shape.head_dim)];
                self.graph.input(&signature::past(layer, part), FLOAT, &dims(&named("past_sequence")));
                self.graph.output(&signature::present(layer, part), FLOAT, &dims(&total));
            }
        }
    }

    fn body(&mut self) -> Result<()> {
        let (embedding, head) = self.vocabulary_matrices()?;
        self.positions();
        let mut residual = self.graph.gather(&embedding, signature::INPUT_IDS);
        let first_norm = self.norm_weight("blk.0.attn_norm.weight")?;
        let mut x = self.graph.node(
            "SimplifiedLayerNormalization",
            &[&residual, &first_norm],
            &[("axis", Attr::Int(-1)), ("epsilon", Attr::Float(self.shape.epsilon)), ("stash_type", Attr::Int(1))],
        );
        for layer in 0..self.shape.layers {
            let mut attended = self.attention(layer, &x)?;
            if layer + 1 == self.shape.layers {
                // After the last attention no position depends on another: the rest is done for the kept ones only.
                (attended, residual) = self.keep_last(&attended, &residual);
            }
            let output = self.linear(layer, "attn_output", self.shape.width, self.shape.width)?;
            let added = self.graph.multiply(&attended, &output);
            x = self.add_and_norm(&mut residual, &added, &format!("blk.{layer}.ffn_norm.weight"))?;
            let added = self.mlp(layer, &x)?;
            let norm = match layer + 1 == self.shape.layers {
                true => "output_norm.weight".into(),
                false => format!("blk.{}.attn_norm.weight", layer + 1),
            };
            x = self.add_and_norm(&mut residual, &added, &norm)?;
        }
        self.graph.multiply(&x, head.as_ref().unwrap_or(&embedding));
        self.graph.rename_last_output(signature::LOGITS);
        Ok(())
    }

    /// The embedding, and the head when it is not the same matrix.
    fn vocabulary_matrices(&mut self) -> Result<(Matrix, Option<Matrix>)> {
        let (vocabulary, width) = (self.shape.vocabulary, self.shape.width);
        let part = self.part("token_embd.weight", RowOrder::Stored, &[width, vocabulary])?;
        let embedding = self.graph.matrix("embedding", vec![part]);
        if self.gguf.tensor("output.weight").is_none() {
            return Ok((embedding, None));
        }
        let part = self.part("output.weight", RowOrder::Stored, &[width, vocabulary])?;
        Ok((embedding, Some(self.graph.matrix("head", vec![part]))))
    }

    /// The tables of the rotation.
    fn positions(&mut self) {
        let (context, half, base) = (self.shape.context, self.shape.head_dim / 2, self.shape.rope_base);
        let divisors: Vec<f64> = (0..half).map(|i| base.powf((2 * i) as f64 / (2 * half) as f64)).collect();
        let angles = (0..context).flat_map(|position| divisors.iter().map(move |divisor| position as f64 / divisor));
        let (sines, cosines): (Vec<f32>, Vec<f32>) =
            angles.map(|angle| (angle.sin() as f32, angle.cos() as f32)).unzip();
        self.graph.floats("cosines", &[context, half], &cosines);
        self.graph.floats("sines", &[context, half], &sines);
    }

    fn attention(&mut self, layer: usize, x: &str) -> Result<Edge> {
        let Shape { width, heads, kv_heads, head_dim, .. } = *self.shape;
        let rotary = RowOrder::RotaryHalves { head_dim };
        let tensor = |kind: &str| format!("blk.{layer}.attn_{kind}.weight");
        let parts = vec![
            self.part(&tensor("q"), rotary, &[width, width])?,
            self.part(&tensor("k"), rotary, &[width, kv_heads * head_dim])?,
            self.part(&tensor("v"), RowOrder::Stored, &[width, kv_heads * head_dim])?,
        ];
        let matrix = self.graph.matrix(&format!("layer.{layer}.qkv"), parts);
        let qkv = self.graph.multiply(x, &matrix);
        let [past_key, past_value] = signature::CACHE_PARTS.map(|part| signature::past(layer, part));
        let [key, value] = signature::CACHE_PARTS.map(|part| signature::present(layer, part));
        let attended = format!("attended_{layer}");
        self.graph.node_to(
            "GroupQueryAttention",
            &[
                &qkv,
                "",
                "",
                &past_key,
                &past_value,
                signature::LAST_POSITION,
                signature::TOTAL_LENGTH,
                "cosines",
                "sines",
            ],
            &[&attended, &key, &value],
            &[
                ("num_heads", Attr::Int(heads as i64)),
                ("kv_num_heads", Attr::Int(kv_heads as i64)),
                ("do_rotary", Attr::Int(1)),
                ("rotary_interleaved", Attr::Int(0)),
                ("scale", Attr::Float((head_dim as f32).sqrt().recip())),
            ],
        );
        Ok(attended)
    }

    fn mlp(&mut self, layer: usize, x: &str) -> Result<Edge> {
        let (width, hidden) = (self.shape.width, self.shape.hidden);
        let parts = vec![
            self.part(&format!("blk.{layer}.ffn_gate.weight"), RowOrder::Stored, &[width, hidden])?,
            self.part(&format!("blk.{layer}.ffn_up.weight"), RowOrder::Stored, &[width, hidden])?,
        ];
        let matrix = self.graph.matrix(&format!("layer.{layer}.gate_up"), parts);
        let both = self.graph.multiply(x, &matrix);
        let (gate, up) = (format!("gate_{layer}"), format!("up_{layer}"));
        self.graph.node_to("Split", &[&both], &[&gate, &up], &[("axis", Attr::Int(-1)), ("num_outputs", Attr::Int(2))]);
        // x × sigmoid(x), under the name that ONNX Runtime fuses it to.
        let silu = self.graph.node("QuickGelu", &[&gate], &[("alpha", Attr::Float(1.0))]);
        let gated = self.graph.node("Mul", &[&silu, &up], &[]);
        let down = self.linear(layer, "ffn_down", hidden, width)?;
        Ok(self.graph.multiply(&gated, &down))
    }

    /// Adds to the residual stream and norms the sum.
    fn add_and_norm(&mut self, residual: &mut Edge, added: &str, weight: &str) -> Result<Edge> {
        let weight = self.norm_weight(weight)?;
        let (normed, sum) = (format!("{weight}.normed"), format!("{weight}.sum"));
        self.graph.node_to(
            "SkipSimplifiedLayerNormalization",
            &[residual, added, &weight],
            &[&normed, "", "", &sum],
            &[("epsilon", Attr::Float(self.shape.epsilon))],
        );
        *residual = sum;
        Ok(normed)
    }

    /// The last `num_logits_to_keep` positions of two values.
    fn keep_last(&mut self, a: &str, b: &str) -> (Edge, Edge) {
        let end = self.graph.ints("end", &[1], &[i64::MAX]);
        let as_list = self.graph.ints("as_list", &[1], &[1]);
        let axis = self.graph.ints("one_axis", &[1], &[1]);
        let from_end = self.graph.node("Neg", &[signature::LOGITS_TO_KEEP], &[]);
        let start = self.graph.node("Reshape", &[&from_end, &as_list], &[]);
        let mut keep = |x: &str| self.graph.node("Slice", &[x, &start, &end, &axis], &[]);
        (keep(a), keep(b))
    }

    fn linear(&mut self, layer: usize, kind: &str, row_len: usize, rows: usize) -> Result<Matrix> {
        let part = self.part(&format!("blk.{layer}.{kind}.weight"), RowOrder::Stored, &[row_len, rows])?;
        Ok(self.graph.matrix(&format!("layer.{layer}.{kind}"), vec![part]))
    }

    fn norm_weight(&mut self, name: &str) -> Result<Edge> {
        let width = self.shape.width;
        let part = self.part(name, RowOrder::Stored, &[width])?;
        Ok(self.graph.tensor(part, &[width]))
    }

    fn part(&mut self, name: &str, order: RowOrder, dims: &[usize]) -> Result<Part> {
        let tensor =
            self.gguf.tensor(name).ok_or_else(|| Error::model(format!("it lacks the tensor `{name}`")))?.clone();
        if tensor.dims != dims {
            return Err(Error::model(format!("tensor `{name}` has the shape {:?}, not {dims:?}", tensor.dims)));
        }
        self.used.insert(name.into());
        Ok(Part { tensor, order })
    }

    /// A tensor that nothing read means a variant of the architecture that this graph would get wrong.
    fn refuse_leftovers(&self) -> Result<()> {
        match self.gguf.tensor_names().find(|name| !self.used.contains(*name)) {
            None => Ok(()),
            Some(name) => Err(Error::model(format!(
                "it holds the tensor `{name}`, which plain llama models do not have: this variant is not supported"
            ))),
        }
    }
}
