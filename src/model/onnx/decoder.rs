//! A decoder's graph, run step by step: token ids in, logits of the next token out.
//!
//! What keeps its shape from step to step is bound once and written to. With a graph that writes its keys and values in
//! place, a step of one token binds nothing anew and allocates nothing, unless their buffers have to grow.

use std::path::{Path, PathBuf};

use ort::memory::Allocator;
use ort::operator::OperatorDomain;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{IoBinding, Session};
use ort::value::{DynValue, Outlet, ValueType};

use super::cache::Cache;
use super::embed::Embeddings;
use super::file::{self, Facts};
use super::layout::{Dim, Element, Input, Names, Plan, Port, Role};
use super::logits::Logits;
use super::runtime::Runtime;
use super::{broken, stored, tensor, unexpected};
use crate::capacity::machine_memory;
use crate::model::built::STORED_FILE;
use crate::model::local::Network;
use crate::{Error, Result};

/// How long a thread that waits for the next piece of work spins before it sleeps. The gaps inside a token are a few
/// microseconds long, and this bridges them: on two idle cores it decodes as fast as ONNX Runtime's default of several
/// milliseconds (150 tokens/s; 112 without any spinning). On busy cores long spinning takes the time from the very
/// threads that are waited for: there the default gives 30 tokens/s and this 36 to 50.
const SPIN_MICROSECONDS: &str = "20";

/// Bytes that a decoder may keep of a full context where the machine's memory is not known; else half of that.
const MOST_KEPT: u64 = 8 << 30;

/// The files of a decoder, looked through and found to be harmless.
#[derive(Clone, Debug)]
pub(crate) struct Graphs {
    pub decoder: PathBuf,
    /// What was found in it.
    pub facts: Facts,
    /// The graph that makes embeddings for it, if it takes those instead of ids.
    pub embeddings: Option<PathBuf>,
    pub names: Names,
    /// Whether this program wrote them itself, so that they need not be tried out.
    pub ours: bool,
}

/// A loaded graph with what it keeps.
pub struct Decoder {
    session: Session,
    binding: IoBinding,
    allocator: Allocator,
    plan: Plan,
    embeddings: Option<Embeddings>,
    feeds: Vec<Feed>,
    cache: Cache,
    logits: Logits,
    n_ctx: usize,
}

/// An input with the tensor that is bound when its shape does not depend on the step, or the step is of one token.
struct Feed {
    input: Input,
    value: Option<DynValue>,
    is_bound: bool,
}

impl Decoder {
    /// Loads a decoder that this program has built.
    pub fn open(runtime: &Runtime, graph: &Path, n_ctx: usize, n_threads: usize) -> Result<Self> {
        let (facts, names) = (file::inspect(graph)?, Names::default());
        let graphs = Graphs { decoder: graph.into(), facts, embeddings: None, names, ours: true };
        Self::open_graphs(runtime, &graphs, n_ctx, n_threads)
    }

    /// Loads any decoder.
    ///
    /// # Errors
    /// It is no decoder that can be run, or a first step shows that it is not what it says.
    pub(crate) fn open_graphs(runtime: &Runtime, graphs: &Graphs, n_ctx: usize, n_threads: usize) -> Result<Self> {
        if n_ctx == 0 {
            return Err(Error::usage("a context of 0 tokens holds no prompt").advise("give --n-ctx 2048 or the like"));
        }
        let doing = || format!("cannot load `{}`", graphs.decoder.display());
        let stored = graphs.decoder.with_file_name(STORED_FILE);
        let operators = match graphs.ours && stored.is_file() {
            true => Some(stored::operators(&stored).map_err(|error| error.context(doing()))?),
            false => None,
        };
        let session =
            load(runtime, &graphs.decoder, n_threads, operators).map_err(|error| broken(&error).context(doing()))?;
        let (inputs, outputs) = (ports(session.inputs()), ports(session.outputs()));
        let plan = Plan::read(&inputs, &outputs, &graphs.names, &graphs.facts.shared)
            .map_err(|error| error.context(doing()))?;
        let memory = machine_memory("MemTotal").map_or(MOST_KEPT, |total| total / 2);
        plan.check_size(n_ctx, memory).map_err(|error| error.context(doing()))?;
        log::debug!("{plan:?}");
        let embeddings = match (&graphs.embeddings, plan.embeddings()) {
            (None, None) => None,
            (Some(graph), Some(element)) => Some(Embeddings::open(runtime, graph, element, n_threads)?),
            (Some(_), None) => return Err(Error::model("it takes token ids and needs no embeddings").context(doing())),
            (None, Some(_)) => {
                return Err(Error::model("it takes embeddings, and there is no graph that makes them").context(doing()));
            }
        };
        let mut decoder =
            Self::bind(session, plan, embeddings, n_ctx).map_err(|error| broken(&error).context(doing()))?;
        if !graphs.ours {
            decoder.try_out().map_err(|error| error.context(doing()))?;
        }
        Ok(decoder)
    }

    fn bind(session: Session, plan: Plan, embeddings: Option<Embeddings>, n_ctx: usize) -> ort::Result<Self> {
        let allocator = Allocator::default();
        let binding = session.create_binding()?;
        let cache = Cache::new(&plan, n_ctx, &allocator)?;
        let mut feeds = Vec::new();
        for input in &plan.inputs {
            let value = match input.role {
                Role::Mask | Role::Embeddings => None,
                _ => Some(tensor::zeros(&allocator, input.element, &input.shape(0, 1))?),
            };
            feeds.push(Feed { input: input.clone(), value, is_bound: false });
        }
        let logits = Logits::new(plan.logits.vocabulary.unwrap_or(0));
        Ok(Self { session, binding, allocator, plan, embeddings, feeds, cache, logits, n_ctx })
    }

    /// Rows are cut to the first `tokens` logits: what comes after them is padding that no token has a text for.
    pub(crate) fn limit_vocabulary(&mut self, tokens: usize) {
        self.logits.limit(tokens);
    }

    /// Two steps that show whether the graph does what its ports promise.
    fn try_out(&mut self) -> Result<()> {
        let step = |decoder: &mut Self, ids: &[u32]| -> Result<()> {
            decoder.append(ids, 1)?;
            match decoder.logits(0).iter().any(|logit| logit.is_finite()) {
                true => Ok(()),
                false => Err(Error::model("it computes nothing but invalid numbers")),
            }
        };
        let steps = || -> Result<()> {
            let first = self.n_ctx.min(2);
            step(self, &[0; 2][..first])?;
            if first < self.n_ctx {
                step(self, &[0])?;
            }
            Ok(())
        };
        // `ort` takes for granted that every output is a value, and panics where a graph leaves one out.
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(steps));
        tried.unwrap_or_else(|_| Err(Error::model("it leaves out an output")))?;
        self.truncate(0);
        Ok(())
    }

    fn run(&mut self, ids: &[u32], rows: usize) -> Result<()> {
        self.feed(ids, rows)?;
        let failed = |error: ort::Error| broken(&error);
        self.cache.bind(ids.len(), &self.allocator, &mut self.binding).map_err(failed)?;
        let made = if self.plan.keeps() { rows } else { ids.len() };
        let one = self.logits.width() > 0 && (made == 1 || self.plan.logits.last_only);
        self.logits.bind(&self.plan.logits, one, &self.allocator, &mut self.binding).map_err(failed)?;
        let mut outputs = self.session.run_binding(&self.binding).map_err(failed)?;
        let name = self.plan.logits.name.as_str();
        if !one {
            let value = outputs.remove(name).ok_or_else(|| unexpected(name, "nothing", "logits"))?;
            let last_only = self.logits.read(&value, self.plan.logits.element, made, rows)?;
            self.plan.logits.last_only |= last_only;
        }
        self.cache.take(&mut outputs, ids.len())?;
        drop(outputs);
        if one { self.logits.widen_one(self.plan.logits.element).map_err(failed) } else { Ok(()) }
    }

    /// The rows of a graph that makes one a run.
    fn run_each(&mut self, ids: &[u32], rows: usize) -> Result<()> {
        let (first, rest) = ids.split_at(ids.len() - rows + 1);
        let mut all = Vec::with_capacity(rows * self.logits.width());
        for step in std::iter::once(first).chain(rest.chunks(1)) {
            self.run(step, 1)?;
            all.extend_from_slice(self.logits.whole_row(0));
        }
        self.logits.set_rows(all);
        Ok(())
    }

    /// Writes what the inputs are for this step, binding only what has another shape than before.
    fn feed(&mut self, ids: &[u32], rows: usize) -> Result<()> {
        let (held, step) = (self.cache.len(), ids.len());
        for feed in &mut self.feeds {
            let input = &feed.input;
            if input.role == Role::Embeddings {
                let rows = match &mut self.embeddings {
                    Some(embeddings) => embeddings.rows(ids, &self.allocator)?,
                    None => return Err(Error::internal("no graph of embeddings")),
                };
                self.binding.bind_input(input.name.as_str(), &rows).map_err(|error| broken(&error))?;
                continue;
            }
            let of = |number: usize| number as i64;
            let single = match input.role {
                Role::LastPosition => of(held + step - 1),
                Role::Total => of(held + step),
                Role::Keep => of(rows),
                _ => of(usize::from(held > 0)),
            };
            let write = |value: &mut DynValue| match input.role {
                Role::Ids => tensor::fill(value, input.element, ids.iter().map(|&id| i64::from(id))),
                Role::Positions => tensor::fill(value, input.element, (0..step).cycle().map(|at| of(held + at))),
                Role::Mask => tensor::fill(value, input.element, std::iter::repeat(1)),
                _ => tensor::fill(value, input.element, std::iter::once(single)),
            };
            let mut bind = || -> ort::Result<()> {
                match &mut feed.value {
                    Some(value) if step == 1 || input.role.is_single() => {
                        write(value)?;
                        if !feed.is_bound {
                            self.binding.bind_input(input.name.as_str(), value)?;
                            feed.is_bound = true;
                        }
                    }
                    _ => {
                        let mut value = tensor::zeros(&self.allocator, input.element, &input.shape(held, step))?;
                        write(&mut value)?;
                        self.binding.bind_input(input.name.as_str(), &value)?;
                        feed.is_bound = false;
                    }
                }
                Ok(())
            };
            bind().map_err(|error| broken(&error))?;
        }
        Ok(())
    }
}

impl Network for Decoder {
    fn n_ctx(&self) -> usize {
        self.n_ctx
    }

    fn vocabulary(&self) -> usize {
        self.logits.tokens()
    }

    fn len(&self) -> usize {
        self.cache.len()
    }

    fn append(&mut self, ids: &[u32], rows: usize) -> Result<()> {
        let before = self.len();
        debug_assert!(!ids.is_empty() && (1..=ids.len()).contains(&rows) && before + ids.len() <= self.n_ctx);
        let appended = if rows == 1 || self.makes_rows() { self.run(ids, rows) } else { self.run_each(ids, rows) };
        appended.map_err(|error| {
            self.truncate(before);
            error.context("the model failed")
        })
    }

    fn makes_rows(&self) -> bool {
        !self.plan.logits.last_only
    }

    fn goes_back(&self) -> bool {
        self.cache.goes_back()
    }

    fn logits(&self, row: usize) -> &[f32] {
        self.logits.row(row)
    }

    fn truncate(&mut self, len: usize) -> usize {
        self.cache.truncate(len, &self.allocator)
    }

    fn save(&self, len: usize) -> Option<Vec<u8>> {
        self.cache.save(len)
    }

    fn load(&mut self, len: usize, bytes: &[u8]) -> bool {
        if len > self.n_ctx {
            self.truncate(0);
            return false;
        }
        self.cache.load(len, bytes, &self.allocator, &mut self.binding)
    }
}

pub(super) fn load(
    runtime: &Runtime,
    graph: &Path,
    n_threads: usize,
    operators: Option<OperatorDomain>,
) -> ort::Result<Session> {
    // More threads than cores only take the cores from each other.
    let n_threads = n_threads.min(std::thread::available_parallelism().map_or(1, usize::from));
    let mut builder = Session::builder(&runtime.environment)?;
    if let Some(operators) = operators {
        builder = builder.with_operators(operators)?;
    }
    builder
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(n_threads)?
        .with_config_entry("session.intra_op.spin_duration_us", SPIN_MICROSECONDS)?
        .with_inter_threads(1)?
        .commit_from_file(graph)
}

pub(super) fn ports(outlets: &[Outlet]) -> Vec<Port> {
    let port = |outlet: &Outlet| {
        let kind = outlet.dtype();
        let dim = |(size, name): (&i64, &String)| match u64::try_from(*size) {
            Ok(size) => Dim::Fixed(size),
            Err(_) => Dim::Named(name.clone()),
        };
        let dims = match kind {
            ValueType::Tensor { shape, dimension_symbols, .. } => {
                shape.iter().zip(dimension_symbols.iter()).map(dim).collect()
            }
            _ => Vec::new(),
        };
        Port { name: outlet.name().into(), element: kind.tensor_type().and_then(Element::of), dims }
    };
    outlets.iter().map(port).collect()
}
