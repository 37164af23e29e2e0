//! The architectures that can be built, by what they do differently, and the sizes of one model.

use super::metadata::{Metadata, required};
use super::rope::Rope;
use crate::model::quant::BLOCK;
use crate::model::row_order::RowOrder;
use crate::{Error, Result};

/// What sets an architecture apart from the plain decoder: attention and a gated MLP, each after an RMS norm.
#[derive(Debug)]
pub(super) struct Architecture {
    pub name: &'static str,
    /// The file keeps the two halves of each rotary pair side by side, as llama.cpp's own rotation wants them.
    pub interleaved: bool,
    /// Each head's query and key are normed before they are rotated.
    pub head_norms: bool,
    /// What attention and MLP add is normed before it is added.
    pub post_norms: bool,
    /// Embeddings are multiplied by the square root of the width.
    pub scaled_embedding: bool,
    /// The MLP's gate is a GELU (by tanh), not a SiLU.
    pub gelu: bool,
    /// Of so many layers all but the last see only a window of the positions before.
    pub window_period: Option<usize>,
    /// The windowed layers have a rotation of their own, with this base and unscaled.
    pub window_rope_base: Option<f64>,
    /// Logits, and with `window_period` attention scores too, may be capped by a tanh.
    pub soft_caps: bool,
    /// Of so many layers the last does not rotate.
    pub unrotated_period: Option<usize>,
}

const LLAMA: Architecture = Architecture {
    name: "llama",
    interleaved: true,
    head_norms: false,
    post_norms: false,
    scaled_embedding: false,
    gelu: false,
    window_period: None,
    window_rope_base: None,
    soft_caps: false,
    unrotated_period: None,
};
const QWEN2: Architecture = Architecture { name: "qwen2", interleaved: false, ..LLAMA };
const QWEN3: Architecture = Architecture { name: "qwen3", head_norms: true, ..QWEN2 };
const SMOLLM3: Architecture = Architecture { name: "smollm3", unrotated_period: Some(4), ..LLAMA };
const GEMMA: Architecture = Architecture { name: "gemma", scaled_embedding: true, gelu: true, ..QWEN2 };
const GEMMA2: Architecture =
    Architecture { name: "gemma2", post_norms: true, window_period: Some(2), soft_caps: true, ..GEMMA };
const GEMMA3: Architecture = Architecture {
    name: "gemma3",
    head_norms: true,
    window_period: Some(6),
    window_rope_base: Some(10_000.0),
    ..GEMMA2
};

const ARCHITECTURES: [&Architecture; 7] = [&LLAMA, &QWEN2, &QWEN3, &SMOLLM3, &GEMMA, &GEMMA2, &GEMMA3];

impl Architecture {
    pub fn of(metadata: &Metadata) -> Result<&'static Self> {
        let name = required("general.architecture", metadata.text("general.architecture"))?;
        ARCHITECTURES.into_iter().find(|architecture| architecture.name == name).ok_or_else(|| {
            let names: Vec<&str> = ARCHITECTURES.iter().map(|architecture| architecture.name).collect();
            let names = names.join(", ");
            Error::model(format!("its architecture is `{name}`; supported are {names}"))
                .advise(format!("name a model of one of these architectures ({names}), or leave --model away"))
        })
    }
}

/// The sizes of a model, checked for what the operators can do.
#[derive(Debug)]
pub(super) struct Shape {
    pub architecture: &'static Architecture,
    pub layers: usize,
    pub context: usize,
    pub width: usize,
    pub hidden: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub vocabulary: usize,
    pub epsilon: f32,
    pub rope: Rope,
    /// Positions that a windowed layer sees, its own included.
    pub window: Option<usize>,
    /// Of so many layers all but the last are windowed.
    window_period: Option<usize>,
    /// The base of the windowed layers' own rotation.
    pub window_rope_base: Option<f64>,
    pub attention_cap: Option<f32>,
    pub logits_cap: Option<f32>,
}

/// Ceilings far above any model that runs on a CPU; they keep products of two sizes from overflowing, and what is
/// computed and kept for each layer small.
pub(super) const MAX_LAYERS: usize = 256;
const MAX_SIZE: usize = 1 << 20;
const MAX_HEAD_DIM: usize = 1024;
/// Positions × head size that the rotary tables are made for, 128 MiB of floats: 131,072 positions for heads of 128. A
/// model that claims more is used with a shorter context.
const MAX_ROTARY: usize = 1 << 24;
/// `GroupQueryAttention` rotates vectors of so many pairs at a time.
const ROTARY_VECTOR: usize = 16;

/// Keys that change what a model computes in ways this graph does not know, and the value that changes nothing.
const FOREIGN: [(&str, f64); 13] = [
    ("expert_count", 0.0),
    ("attention.clamp_kqv", 0.0),
    ("attention.max_alibi_bias", 0.0),
    ("attention.scale", 0.0),
    ("attention.causal", 1.0),
    ("logit_scale", 1.0),
    ("embedding_scale", 1.0),
    ("residual_scale", 1.0),
    ("use_parallel_residual", 0.0),
    ("rope.scaling.attn_factor", 1.0),
    ("rope.scaling.yarn_ext_factor", 1.0),
    ("rope.scaling.yarn_attn_factor", 1.0),
    ("rope.scaling.yarn_log_multiplier", 0.0),
];

/// An architecture's own keys in the metadata.
pub(super) struct Keys<'a> {
    metadata: &'a Metadata,
    prefix: &'a str,
}

impl Keys<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.prefix)
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        self.metadata.text(&self.key(name))
    }

    /// A number that is finite and above 0.
    pub fn positive(&self, name: &str) -> Result<Option<f64>> {
        let key = self.key(name);
        match self.metadata.float(&key)? {
            Some(value) if !value.is_finite() || value <= 0.0 => {
                Err(Error::model(format!("its metadata `{key}` is {value}")))
            }
            value => Ok(value),
        }
    }

    /// A size from 1 to `most`.
    fn size(&self, name: &str, most: usize) -> Result<Option<usize>> {
        let key = self.key(name);
        let Some(value) = self.metadata.unsigned(&key)? else { return Ok(None) };
        match usize::try_from(value).ok().filter(|value| (1..=most).contains(value)) {
            Some(size) => Ok(Some(size)),
            None => Err(Error::model(format!("its metadata `{key}` is {value}; possible are 1 to {most}"))),
        }
    }

    fn required_size(&self, name: &str, most: usize) -> Result<usize> {
        required(&self.key(name), self.size(name, most))
    }

    fn refuse_foreign(&self) -> Result<()> {
        for (name, neutral) in FOREIGN {
            let key = self.key(name);
            match self.metadata.float(&key)? {
                Some(value) if value != neutral => {
                    return Err(Error::model(format!(
                        "its metadata `{key}` is {value}: this variant is not supported"
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Shape {
    /// `factors` are the file's own divisors of the rotary frequencies, if it has any.
    pub fn read(metadata: &Metadata, vocabulary: usize, factors: Option<Vec<f32>>) -> Result<Self> {
        let architecture = Architecture::of(metadata)?;
        let keys = Keys { metadata, prefix: architecture.name };
        keys.refuse_foreign()?;
        let width = keys.required_size("embedding_length", MAX_SIZE)?;
        let heads = keys.required_size("attention.head_count", MAX_SIZE)?;
        let head_dim = head_dim(&keys, width, heads)?;
        if factors.as_ref().is_some_and(|factors| factors.len() != head_dim / 2) {
            return Err(Error::model(format!("it has rotary divisors for heads of another size than {head_dim}")));
        }
        let cap = |name: &str| -> Result<Option<f32>> { Ok(keys.positive(name)?.map(|cap| cap as f32)) };
        let (attention_cap, logits_cap) = (cap("attn_logit_softcapping")?, cap("final_logit_softcapping")?);
        if !architecture.soft_caps && (attention_cap.is_some() || logits_cap.is_some()) {
            return Err(Error::model(format!("it caps its logits, which `{}` does not do", architecture.name)));
        }
        let mut context = keys.required_size("context_length", MAX_SIZE)?.min(MAX_ROTARY / head_dim.max(1));
        let mut window = match metadata.float(&keys.key("attention.sliding_window"))? {
            Some(0.0) => None,
            _ => keys.size("attention.sliding_window", MAX_SIZE)?,
        };
        if architecture.window_period.is_none() {
            // Up to there a window is no different from none.
            context = window.take().map_or(context, |window| context.min(window));
        } else if window.is_none() {
            return Err(Error::model(format!("its metadata lacks `{}`", keys.key("attention.sliding_window"))));
        }
        let epsilon = "attention.layer_norm_rms_epsilon";
        let shape = Self {
            layers: keys.required_size("block_count", MAX_LAYERS)?,
            hidden: keys.required_size("feed_forward_length", MAX_SIZE)?,
            kv_heads: keys.size("attention.head_count_kv", MAX_SIZE)?.unwrap_or(heads),
            epsilon: required(&keys.key(epsilon), keys.positive(epsilon))? as f32,
            rope: Rope::read(&keys, factors)?,
            window_period: match architecture.window_period {
                None => None,
                period => keys.size("attention.sliding_window_pattern", MAX_LAYERS)?.or(period),
            },
            window_rope_base: match architecture.window_rope_base {
                None => None,
                base => keys.positive("rope.freq_base_swa")?.or(base),
            },
            architecture,
            context,
            width,
            heads,
            head_dim,
            vocabulary,
            window,
            attention_cap,
            logits_cap,
        };
        shape.check(keys.size("rope.dimension_count", MAX_SIZE)?.unwrap_or(head_dim))?;
        Ok(shape)
    }

    fn check(&self, rotated: usize) -> Result<()> {
        let Self { width, heads, kv_heads, head_dim, hidden, .. } = *self;
        let whole = heads.is_multiple_of(kv_heads) && head_dim.is_multiple_of(ROTARY_VECTOR);
        let blocks = [width, hidden, heads * head_dim].iter().all(|size| size.is_multiple_of(BLOCK));
        if !whole || !blocks || rotated != head_dim {
            return Err(Error::model(format!(
                "its sizes do not go together: width {width}, {heads} heads of {head_dim} of which {kv_heads} for keys, MLP width {hidden}, {rotated} rotated dimensions"
            )));
        }
        Ok(())
    }

    /// How query and key rows are to be read.
    pub fn rotary_rows(&self) -> RowOrder {
        match self.architecture.interleaved {
            true => RowOrder::RotaryHalves { head_dim: self.head_dim },
            false => RowOrder::Stored,
        }
    }

    /// Whether the layer sees only a window.
    pub fn is_windowed(&self, layer: usize) -> bool {
        self.window_period.is_some_and(|period| layer % period + 1 != period)
    }

    pub fn is_rotated(&self, layer: usize) -> bool {
        self.architecture.unrotated_period.is_none_or(|period| layer % period + 1 != period)
    }

    /// What attention scores are multiplied by.
    pub fn attention_scale(&self) -> f32 {
        // The largest models of the Gemma family, which nothing else tells apart, scale by their width.
        let by_width = matches!((self.architecture.name, self.layers), ("gemma2", 46) | ("gemma3", 62));
        let size = if by_width { self.width / self.heads } else { self.head_dim };
        (size as f32).sqrt().recip()
    }
}

/// The size of a head, of which keys and values must have the same.
fn head_dim(keys: &Keys<'_>, width: usize, heads: usize) -> Result<usize> {
    let key = keys.size("attention.key_length", MAX_SIZE)?;
    let value = keys.size("attention.value_length", MAX_SIZE)?;
    let head_dim = match (key, value) {
        (None, None) if width.is_multiple_of(heads) => width / heads,
        (None, None) => {
            return Err(Error::model(format!("its sizes do not go together: width {width}, {heads} heads")));
        }
        (Some(key), Some(value)) if key != value => {
            return Err(Error::model(format!("its keys are {key} wide and its values {value}: not supported")));
        }
        (key, value) => key.or(value).unwrap_or_default(),
    };
    if head_dim > MAX_HEAD_DIM {
        return Err(Error::model(format!(
            "its heads are {head_dim} wide (width {width}, {heads} heads); at most {MAX_HEAD_DIM} are possible"
        )));
    }
    Ok(head_dim)
}
