//! The graph and its cache of keys and values: token ids in, logits of the next token out.
//!
//! The cache is one buffer of `n_ctx` positions for each layer's keys and values, bound both as past and as present, so
//! that a step writes one position and copies nothing. Everything else that keeps its shape between steps is bound once.

use std::path::Path;

use ort::memory::Allocator;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{IoBinding, Session};
use ort::value::{Outlet, Tensor, TensorElementType};

use super::runtime::Runtime;
use crate::model::built::signature;
use crate::{Cancel, Error, Result};

/// Prompt tokens evaluated at once: enough for full speed, few enough that a cancel is felt within a fifth of a second.
const CHUNK: usize = 256;

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
    _cache: Vec<Tensor<f32>>,
    /// Bound for steps of one token.
    one_id: Tensor<i64>,
    one_is_bound: bool,
    logits: Tensor<f32>,
    n_ctx: usize,
    /// The ids whose keys and values the cache holds.
    resident: Vec<u32>,
    /// How many of them, from the first on, were evaluated several at a time.
    prefilled: usize,
}

impl Decoder {
    pub fn open(runtime: &Runtime, graph: &Path, n_ctx: usize, n_threads: usize) -> Result<Self> {
        if n_ctx == 0 {
            return Err(Error::usage("a context of 0 tokens holds no prompt").advise("give --n-ctx 2048 or the like"));
        }
        let session = load(runtime, graph, n_threads)
            .map_err(|error| broken(&error).context(format!("cannot load `{}`", graph.display())))?;
        let sizes = Sizes::read(&session)?;
        let allocator = Allocator::default();
        let bound = bind(&session, &allocator, &sizes, n_ctx).map_err(|error| broken(&error))?;
        let (binding, cache, logits, one_id) = bound;
        Ok(Self {
            session,
            binding,
            allocator,
            _cache: cache,
            one_id,
            one_is_bound: false,
            logits,
            n_ctx,
            resident: Vec::with_capacity(n_ctx),
            prefilled: 0,
        })
    }

    pub fn n_ctx(&self) -> usize {
        self.n_ctx
    }

    /// Makes the cache hold exactly `ids` (at least one, at most `n_ctx`), evaluating only what it does not hold yet.
    /// False if cancelled on the way; then the logits are not those of `ids`.
    ///
    /// What is remembered changes the time this takes, never the logits. Matrices meet several tokens and single ones
    /// in different kernels, whose results differ in the last bits; so tokens that were decoded one by one are evaluated
    /// anew, and the end of a prompt never comes alone.
    pub fn prefill(&mut self, ids: &[u32], cancel: &Cancel) -> Result<bool> {
        let same = self.resident.iter().zip(ids).take_while(|(held, id)| held == id).count();
        self.resident.truncate(same.min(self.prefilled).min(ids.len().saturating_sub(2)));
        self.prefilled = self.resident.len();
        while self.prefilled < ids.len() {
            if cancel.is_cancelled() {
                return Ok(false);
            }
            let left = &ids[self.prefilled..];
            let chunk = if left.len() == CHUNK + 1 { CHUNK - 1 } else { left.len().min(CHUNK) };
            self.evaluate(&left[..chunk])?;
            self.prefilled = self.resident.len();
        }
        Ok(true)
    }

    /// Appends one token.
    pub fn advance(&mut self, id: u32) -> Result<()> {
        self.evaluate(&[id])
    }

    /// The logits of the token after the last one.
    pub fn logits(&self) -> &[f32] {
        self.logits.extract_tensor().1
    }

    /// Forgets everything, so that the next prompt is evaluated whole.
    pub fn clear(&mut self) {
        self.resident.clear();
        self.prefilled = 0;
    }

    fn evaluate(&mut self, ids: &[u32]) -> Result<()> {
        if self.resident.len() + ids.len() > self.n_ctx {
            return Err(Error::internal(format!("more than the {} tokens of the context", self.n_ctx)));
        }
        self.run(ids).map_err(|error| broken(&error).context("the model failed"))?;
        self.resident.extend_from_slice(ids);
        Ok(())
    }

    fn run(&mut self, ids: &[u32]) -> ort::Result<()> {
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
        let total = self.resident.len() + ids.len();
        let mut mask = Tensor::<i64>::new(&self.allocator, [1, total as i64])?;
        mask.extract_tensor_mut().1.fill(1);
        self.binding.bind_input(signature::ATTENTION_MASK, &mask)?;
        self.session.run_binding(&self.binding)?;
        Ok(())
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

type Bound = (IoBinding, Vec<Tensor<f32>>, Tensor<f32>, Tensor<i64>);

fn bind(session: &Session, allocator: &Allocator, sizes: &Sizes, n_ctx: usize) -> ort::Result<Bound> {
    let mut binding = session.create_binding()?;
    let mut cache = Vec::with_capacity(2 * sizes.layers);
    for layer in 0..sizes.layers {
        for part in signature::CACHE_PARTS {
            let mut buffer = Tensor::<f32>::new(allocator, [1, sizes.kv_heads, n_ctx as i64, sizes.head_dim])?;
            binding.bind_input(signature::past(layer, part), &buffer)?;
            binding.bind_output(signature::present(layer, part), &mut buffer)?;
            cache.push(buffer);
        }
    }
    let mut keep = Tensor::<i64>::new(allocator, [0_i64; 0])?;
    keep.extract_tensor_mut().1[0] = 1;
    binding.bind_input(signature::LOGITS_TO_KEEP, &keep)?;
    let mut logits = Tensor::<f32>::new(allocator, [1, 1, sizes.vocabulary])?;
    binding.bind_output(signature::LOGITS, &mut logits)?;
    Ok((binding, cache, logits, Tensor::<i64>::new(allocator, [1_i64, 1])?))
}

fn broken(error: &ort::Error) -> Error {
    // Its messages run over several lines when a kernel adds its own.
    let text = error.to_string();
    Error::model(text.lines().next().unwrap_or_default())
}
