//! A decoder as an ONNX graph: grouped-query attention with rotary positions, RMS norms, a gated MLP, and what its
//! architecture does differently.
//!
//! The signature is the usual one of decoders (`input_ids`, `past_key_values.N.key|value` in, `logits`,
//! `present.N.key|value` out) but for two inputs. Instead of a mask come the two lengths that `GroupQueryAttention` makes
//! of it, which keep their shape from step to step. And logits are made for the last `num_logits_to_keep` positions only
//! (0: all), as in newer exports, since a vocabulary-wide product for every position of a prompt is wasted work.

use std::collections::HashSet;

use super::architecture::Shape;
use super::graph::{Attr, Edge, GraphBuilder, Matrix};
use super::proto::{Extent, FLOAT, INT32, INT64};
use super::reader::Gguf;
use super::rope::Rope;
use super::weights::Part;
use crate::model::built::signature;
use crate::model::row_order::RowOrder;
use crate::{Error, Result};

/// The rotary divisors that some files hold as a tensor.
pub(super) const ROPE_FACTORS: &str = "rope_freqs.weight";

/// Adds the whole decoder to `graph`.
pub(super) fn build(graph: &mut GraphBuilder, gguf: &Gguf, shape: &Shape) -> Result<()> {
    let mut decoder = Decoder { graph, gguf, shape, used: HashSet::from([ROPE_FACTORS.into()]) };
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

/// A matrix with what is added to its products.
struct Linear {
    matrix: Matrix,
    bias: Option<Edge>,
}

/// A tensor's name without `.weight`, the order of its rows, and how many there are.
type LinearPart<'a> = (&'a str, RowOrder, usize);

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
        self.rotations();
        let mut residual = self.graph.gather(&embedding, signature::INPUT_IDS);
        if self.shape.architecture.scaled_embedding {
            let scale = self.graph.floats("embedding.scale", &[], &[(self.shape.width as f32).sqrt()]);
            residual = self.graph.node("Mul", &[&residual, &scale], &[]);
        }
        let first_norm = self.norm_weight("blk.0.attn_norm.weight", self.shape.width)?;
        let mut x = self.norm(&residual, &first_norm);
        for layer in 0..self.shape.layers {
            let mut attended = self.attention(layer, &x)?;
            if layer + 1 == self.shape.layers {
                // After the last attention no position depends on another: the rest is done for the kept ones only.
                (attended, residual) = self.keep_last(&attended, &residual);
            }
            let attended_width = self.shape.heads * self.shape.head_dim;
            let output = self.linear(
                &format!("layer.{layer}.attn_output"),
                attended_width,
                &[(&format!("blk.{layer}.attn_output"), RowOrder::Stored, self.shape.width)],
            )?;
            let added = self.apply(&attended, &output);
            let added = self.post_norm(&added, &format!("blk.{layer}.post_attention_norm.weight"))?;
            x = self.add_and_norm(&mut residual, &added, &format!("blk.{layer}.ffn_norm.weight"))?;
            let added = self.mlp(layer, &x)?;
            let added = self.post_norm(&added, &format!("blk.{layer}.post_ffw_norm.weight"))?;
            let norm = match layer + 1 == self.shape.layers {
                true => "output_norm.weight".into(),
                false => format!("blk.{}.attn_norm.weight", layer + 1),
            };
            x = self.add_and_norm(&mut residual, &added, &norm)?;
        }
        let logits = self.graph.multiply(&x, head.as_ref().unwrap_or(&embedding), None);
        if let Some(cap) = self.shape.logits_cap {
            let cap = self.graph.floats("logits.cap", &[], &[cap]);
            let small = self.graph.node("Div", &[&logits, &cap], &[]);
            let capped = self.graph.node("Tanh", &[&small], &[]);
            self.graph.node("Mul", &[&capped, &cap], &[]);
        }
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

    /// The tables of the rotations.
    fn rotations(&mut self) {
        self.rotation("", &self.shape.rope);
        if let Some(base) = self.shape.window_rope_base {
            self.rotation("window.", &Rope::unscaled(base));
        }
    }

    /// The tables of one rotation.
    fn rotation(&mut self, prefix: &str, rope: &Rope) {
        let (context, head_dim) = (self.shape.context, self.shape.head_dim);
        let (sines, cosines) = rope.tables(context, head_dim);
        self.graph.floats(&format!("{prefix}cosines"), &[context, head_dim / 2], &cosines);
        self.graph.floats(&format!("{prefix}sines"), &[context, head_dim / 2], &sines);
    }

    fn attention(&mut self, layer: usize, x: &str) -> Result<Edge> {
        let Shape { width, heads, kv_heads, head_dim, .. } = *self.shape;
        let rotary = self.shape.rotary_rows();
        let tensor = |kind: &str| format!("blk.{layer}.attn_{kind}");
        let qkv = self.linear(
            &format!("layer.{layer}.qkv"),
            width,
            &[
                (&tensor("q"), rotary, heads * head_dim),
                (&tensor("k"), rotary, kv_heads * head_dim),
                (&tensor("v"), RowOrder::Stored, kv_heads * head_dim),
            ],
        )?;
        let qkv = self.apply(x, &qkv);
        let [query, key, value] = match self.shape.architecture.head_norms {
            true => self.normed_heads(layer, &qkv)?,
            false => [qkv, String::new(), String::new()],
        };
        let [past_key, past_value] = signature::CACHE_PARTS.map(|part| signature::past(layer, part));
        let present = signature::CACHE_PARTS.map(|part| signature::present(layer, part));
        let attended = format!("attended_{layer}");
        let (rotated, windowed) = (self.shape.is_rotated(layer), self.shape.is_windowed(layer));
        let (cosines, sines) = match (rotated, windowed && self.shape.window_rope_base.is_some()) {
            (false, _) => ("", ""),
            (true, false) => ("cosines", "sines"),
            (true, true) => ("window.cosines", "window.sines"),
        };
        let (last, total) = (signature::LAST_POSITION, signature::TOTAL_LENGTH);
        let inputs = [&query, &key, &value, &past_key, &past_value, last, total, cosines, sines];
        let mut attributes = vec![
            ("num_heads", Attr::Int(heads as i64)),
            ("kv_num_heads", Attr::Int(kv_heads as i64)),
            ("do_rotary", Attr::Int(rotated.into())),
            ("rotary_interleaved", Attr::Int(0)),
            ("scale", Attr::Float(self.shape.attention_scale())),
        ];
        if let Some(window) = self.shape.window.filter(|_| windowed) {
            attributes.push(("local_window_size", Attr::Int(window as i64)));
        }
        if let Some(cap) = self.shape.attention_cap {
            attributes.push(("softcap", Attr::Float(cap)));
        }
        let inputs = &inputs[..if rotated { 9 } else { 7 }];
        self.graph.node_to("GroupQueryAttention", inputs, &[&attended, &present[0], &present[1]], &attributes);
        Ok(attended)
    }

    /// Query, key and value apart, the first two with each head normed.
    fn normed_heads(&mut self, layer: usize, qkv: &str) -> Result<[Edge; 3]> {
        let Shape { heads, kv_heads, head_dim, .. } = *self.shape;
        let widths = [heads, kv_heads, kv_heads].map(|heads| (heads * head_dim) as i64);
        let widths = self.graph.ints("head_widths", &[3], &widths);
        let [query, key, value] = ["query", "key", "value"].map(|part| format!("{part}_{layer}"));
        self.graph.node_to("Split", &[qkv, &widths], &[&query, &key, &value], &[("axis", Attr::Int(-1))]);
        let apart = self.graph.ints("heads_apart", &[4], &[0, 0, -1, head_dim as i64]);
        let together = self.graph.ints("heads_together", &[3], &[0, 0, -1]);
        let mut norm = |x: &str, kind: &str| -> Result<Edge> {
            let weight = self.norm_weight(&format!("blk.{layer}.attn_{kind}_norm.weight"), head_dim)?;
            let split = self.graph.node("Reshape", &[x, &apart], &[]);
            let normed = self.norm(&split, &weight);
            Ok(self.graph.node("Reshape", &[&normed, &together], &[]))
        };
        Ok([norm(&query, "q")?, norm(&key, "k")?, value])
    }

    fn mlp(&mut self, layer: usize, x: &str) -> Result<Edge> {
        let (width, hidden) = (self.shape.width, self.shape.hidden);
        let tensor = |kind: &str| format!("blk.{layer}.ffn_{kind}");
        let gate_up = self.linear(
            &format!("layer.{layer}.gate_up"),
            width,
            &[(&tensor("gate"), RowOrder::Stored, hidden), (&tensor("up"), RowOrder::Stored, hidden)],
        )?;
        let both = self.apply(x, &gate_up);
        let (gate, up) = (format!("gate_{layer}"), format!("up_{layer}"));
        self.graph.node_to("Split", &[&both], &[&gate, &up], &[("axis", Attr::Int(-1)), ("num_outputs", Attr::Int(2))]);
        let gate = match self.shape.architecture.gelu {
            true => self.graph.node("FastGelu", &[&gate], &[]),
            // x × sigmoid(x), under the name that ONNX Runtime fuses it to.
            false => self.graph.node("QuickGelu", &[&gate], &[("alpha", Attr::Float(1.0))]),
        };
        let gated = self.graph.node("Mul", &[&gate, &up], &[]);
        let down =
            self.linear(&format!("layer.{layer}.ffn_down"), hidden, &[(&tensor("down"), RowOrder::Stored, width)])?;
        Ok(self.apply(&gated, &down))
    }

    fn norm(&mut self, x: &str, weight: &str) -> Edge {
        self.graph.node(
            "SimplifiedLayerNormalization",
            &[x, weight],
            &[("axis", Attr::Int(-1)), ("epsilon", Attr::Float(self.shape.epsilon)), ("stash_type", Attr::Int(1))],
        )
    }

    /// What is to be added, normed if the architecture does that.
    fn post_norm(&mut self, added: &str, weight: &str) -> Result<Edge> {
        if !self.shape.architecture.post_norms {
            return Ok(added.into());
        }
        let weight = self.norm_weight(weight, self.shape.width)?;
        Ok(self.norm(added, &weight))
    }

    /// Adds to the residual stream and norms the sum.
    fn add_and_norm(&mut self, residual: &mut Edge, added: &str, weight: &str) -> Result<Edge> {
        let weight = self.norm_weight(weight, self.shape.width)?;
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

    /// The parts' matrices one below the other, with their biases if the file has any.
    fn linear(&mut self, name: &str, row_len: usize, parts: &[LinearPart<'_>]) -> Result<Linear> {
        let mut weights = Vec::with_capacity(parts.len());
        for &(tensor, order, rows) in parts {
            weights.push(self.part(&format!("{tensor}.weight"), order, &[row_len, rows])?);
        }
        let matrix = self.graph.matrix(name, weights);
        if parts.iter().all(|(tensor, ..)| self.gguf.tensor(&format!("{tensor}.bias")).is_none()) {
            return Ok(Linear { matrix, bias: None });
        }
        let mut biases = Vec::with_capacity(parts.len());
        for &(tensor, order, rows) in parts {
            let mut part = self.float_part(&format!("{tensor}.bias"), order, &[rows])?;
            // One number for each row of the matrix, in the order of those.
            part.tensor.dims = vec![1, rows];
            biases.push(part);
        }
        let bias = self.graph.vector(&format!("{name}.bias"), biases);
        Ok(Linear { matrix, bias: Some(bias) })
    }

    fn apply(&mut self, x: &str, linear: &Linear) -> Edge {
        self.graph.multiply(x, &linear.matrix, linear.bias.as_deref())
    }

    fn norm_weight(&mut self, name: &str, width: usize) -> Result<Edge> {
        let part = self.float_part(name, RowOrder::Stored, &[width])?;
        Ok(self.graph.vector(name, vec![part]))
    }

    /// A part that is not in blocks.
    fn float_part(&mut self, name: &str, order: RowOrder, dims: &[usize]) -> Result<Part> {
        let part = self.part(name, order, dims)?;
        match part.tensor.kind.granularity() {
            1 => Ok(part),
            _ => Err(Error::model(format!("tensor `{name}` is quantised, which norms and biases never are"))),
        }
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
                "it holds the tensor `{name}`, which plain `{}` models do not have: this variant is not supported",
                self.shape.architecture.name
            ))),
        }
    }
}
