//! The graph and its cache of keys and values: token ids in, logits of the next token out.
//!
//! The cache is one buffer of `n_ctx` positions for each layer's keys and values, bound both as past and as present, so
//! that a step writes one position and copies nothing. Everything else that keeps its shape between steps is bound once.

use std::path::Path;

use ort::memory::Allocator;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{IoBinding, Session};
use ort::value::{DynValue, Outlet, Tensor, TensorElementType};

use super::runtime::Runtime;
use crate::model::built::signature;
use crate::model::local::Network;
use crate::{Error, Result};

/// How long a thread that waits for the next piece of work spins before it sleeps. The gaps inside a token are a few
/// microseconds long, and this bridges them: on two idle cores it decodes as fast as ONNX Runtime's default of several
/// milliseconds (150 tokens/s; 112 without any spinning). On busy cores long spinning takes the time from the very
/// threads that are waited for: there the default gives 30 tokens/s and this 36 to 50.
const SPIN_MICROSECONDS: &str = "20";

/// A loaded graph with its cache.
pub struct Decoder {
    session: Session,
    binding: IoBinding,
    allocator: Allocator,
    /// Bound as past and as present; kept because the binding refers to them.
    cache: Vec<Tensor<f32>>,
    /// Bound once and written to: how far the cache is filled with the tokens of this step, less one and in all.
    last_position: Tensor<i32>,
    total: Tensor<i32>,
    rows: Tensor<i64>,
    /// Bound for steps of one token.
    one_id: Tensor<i64>,
    one_is_bound: bool,
    /// Bound for steps that need the last row only.
    one_row: Tensor<f32>,
    one_row_is_bound: bool,
    /// The logits of a step that needed several.
    several: Option<DynValue>,
    sizes: Sizes,
    n_ctx: usize,
    /// Positions of the cache that are filled.
    len: usize,
}

impl Decoder {
    pub fn open(runtime: &Runtime, graph: &Path, n_ctx: usize, n_threads: usize) -> Result<Self> {
        if n_ctx == 0 {
            return Err(Error::usage("a context of 0 tokens holds no prompt").advise("give --n-ctx 2048 or the like"));
        }
        let session = load(runtime, graph, n_threads)
            .map_err(|error| broken(&error).context(format!("cannot load `{}`", graph.display())))?;
        let sizes = Sizes::read(&session)?;
        Self::bind(session, sizes, n_ctx).map_err(|error| broken(&error))
    }

    fn bind(session: Session, sizes: Sizes, n_ctx: usize) -> ort::Result<Self> {
        let allocator = Allocator::default();
        let mut binding = session.create_binding()?;
        let mut cache = Vec::with_capacity(2 * sizes.layers);
        for layer in 0..sizes.layers {
            for part in signature::CACHE_PARTS {
                let mut buffer = Tensor::<f32>::new(&allocator, [1, sizes.kv_heads, n_ctx as i64, sizes.head_dim])?;
                binding.bind_input(signature::past(layer, part), &buffer)?;
                binding.bind_output(signature::present(layer, part), &mut buffer)?;
                cache.push(buffer);
            }
        }
        let last_position = Tensor::<i32>::new(&allocator, [1_i64])?;
        let total = Tensor::<i32>::new(&allocator, [0_i64; 0])?;
        let rows = Tensor::<i64>::new(&allocator, [0_i64; 0])?;
        binding.bind_input(signature::LAST_POSITION, &last_position)?;
        binding.bind_input(signature::TOTAL_LENGTH, &total)?;
        binding.bind_input(signature::LOGITS_TO_KEEP, &rows)?;
        Ok(Self {
            one_id: Tensor::<i64>::new(&allocator, [1_i64, 1])?,
            one_row: Tensor::<f32>::new(&allocator, [1, 1, sizes.vocabulary])?,
            session,
            binding,
            allocator,
            cache,
            last_position,
            total,
            rows,
            one_is_bound: false,
            one_row_is_bound: false,
            several: None,
            sizes,
            n_ctx,
            len: 0,
        })
    }

    fn run(&mut self, ids: &[u32], rows: usize) -> ort::Result<()> {
        if let [id] = ids {
            self.one_id.extract_tensor_mut().1[0] = i64::from(*id);
            if !self.one_is_bound {
                self.binding.bind_input(signature::INPUT_IDS, &self.one_id)?;
                self.one_is_bound = true;
            }
        } else {
            let mut several = Tensor::<i64>::new(&self.allocator, [1, ids.len() as i64])?;
            for (place, id) in several.extract_tensor_mut().1.iter_mut().zip(ids) {
                *place = i64::from(*id);
            }
            self.binding.bind_input(signature::INPUT_IDS, &several)?;
            self.one_is_bound = false;
        }
        let total = (self.len + ids.len()) as i32;
        self.last_position.extract_tensor_mut().1[0] = total - 1;
        self.total.extract_tensor_mut().1[0] = total;
        self.rows.extract_tensor_mut().1[0] = rows as i64;
        if rows > 1 {
            self.binding.bind_output_to_device(signature::LOGITS, self.allocator.memory_info())?;
            self.one_row_is_bound = false;
            self.several = self.session.run_binding(&self.binding)?.remove(signature::LOGITS);
            return Ok(());
        }
        if !self.one_row_is_bound {
            self.binding.bind_output(signature::LOGITS, &mut self.one_row)?;
            self.one_row_is_bound = true;
        }
        self.several = None;
        self.session.run_binding(&self.binding)?;
        Ok(())
    }

    /// The floats of one head of one buffer that belong to the first `len` positions.
    fn filled(&self, len: usize) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let (n_ctx, head_dim) = (self.n_ctx, self.sizes.head_dim as usize);
        (0..self.sizes.kv_heads as usize).map(move |head| {
            let start = head * n_ctx * head_dim;
            start..start + len * head_dim
        })
    }
}

impl Network for Decoder {
    fn n_ctx(&self) -> usize {
        self.n_ctx
    }

    fn vocabulary(&self) -> usize {
        self.sizes.vocabulary as usize
    }

    fn len(&self) -> usize {
        self.len
    }

    fn append(&mut self, ids: &[u32], rows: usize) -> Result<()> {
        debug_assert!(!ids.is_empty() && (1..=ids.len()).contains(&rows) && self.len + ids.len() <= self.n_ctx);
        self.run(ids, rows).map_err(|error| broken(&error).context("the model failed"))?;
        self.len += ids.len();
        Ok(())
    }

    fn logits(&self, row: usize) -> &[f32] {
        let Some(several) = &self.several else { return self.one_row.extract_tensor().1 };
        let vocabulary = self.vocabulary();
        let all = several.try_extract_tensor::<f32>().map(|(_, all)| all).unwrap_or_default();
        all.get(row * vocabulary..(row + 1) * vocabulary).unwrap_or_default()
    }

    fn truncate(&mut self, len: usize) -> usize {
        self.len = self.len.min(len);
        self.len
    }

    fn save(&self, len: usize) -> Option<Vec<u8>> {
        let mut bytes =
            Vec::with_capacity(self.cache.len() * self.filled(len).map(|part| part.len() * 4).sum::<usize>());
        for buffer in &self.cache {
            let floats = buffer.extract_tensor().1;
            for part in self.filled(len) {
                bytes.extend(floats[part].iter().flat_map(|float| float.to_le_bytes()));
            }
        }
        Some(bytes)
    }

    fn load(&mut self, len: usize, bytes: &[u8]) -> bool {
        self.len = 0;
        let head = len * self.sizes.head_dim as usize * 4;
        if len > self.n_ctx || bytes.len() != self.cache.len() * self.sizes.kv_heads as usize * head {
            return false;
        }
        let parts: Vec<_> = self.filled(len).collect();
        let mut heads = bytes.chunks_exact(head.max(1));
        for buffer in &mut self.cache {
            let floats = buffer.extract_tensor_mut().1;
            for (part, head) in parts.iter().zip(&mut heads) {
                for (float, bytes) in floats[part.clone()].iter_mut().zip(head.as_chunks().0) {
                    *float = f32::from_le_bytes(*bytes);
                }
            }
        }
        self.len = len;
        true
    }
}

fn load(runtime: &Runtime, graph: &Path, n_threads: usize) -> ort::Result<Session> {
    Session::builder(&runtime.environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(n_threads)?
        .with_config_entry("session.intra_op.spin_duration_us", SPIN_MICROSECONDS)?
        .with_inter_threads(1)?
        .commit_from_file(graph)
}

/// What the graph's own signature says of the model.
#[derive(Debug)]
struct Sizes {
    layers: usize,
    kv_heads: i64,
    head_dim: i64,
    vocabulary: i64,
}

impl Sizes {
    fn read(session: &Session) -> Result<Self> {
        let shape = |ports: &[Outlet], name: &str| -> Option<Vec<i64>> {
            let port = ports.iter().find(|port| port.name() == name)?;
            (port.dtype().tensor_type() == Some(TensorElementType::Float32))
                .then(|| port.dtype().tensor_shape().map(|shape| shape.to_vec()))?
        };
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let layers = inputs.iter().filter(|port| port.name().starts_with("past_key_values.")).count() / 2;
        let cache = shape(inputs, &signature::past(0, signature::CACHE_PARTS[0]));
        let logits = shape(outputs, signature::LOGITS);
        match (cache.as_deref(), logits.as_deref()) {
            (Some(&[_, kv_heads, _, head_dim]), Some(&[_, _, vocabulary]))
                if kv_heads > 0 && head_dim > 0 && vocabulary > 0 =>
            {
                Ok(Self { layers, kv_heads, head_dim, vocabulary })
            }
            _ => Err(Error::model("the graph's inputs and outputs are not those of a decoder of ours")),
        }
    }
}

fn broken(error: &ort::Error) -> Error {
    // Its messages run over several lines when a kernel adds its own.
    let text = error.to_string();
    Error::model(text.lines().next().unwrap_or_default())
}
