//! From a graph's inputs and outputs to a plan: what each input is fed with, which outputs come back as inputs, where
//! the logits are. Pure: it sees names, element types and dimensions, and knows neither ONNX Runtime nor the weights.
//!
//! Exports differ in names and in what they ask for, but all of them are made of the same few roles. An input that has
//! no known role makes the graph unusable: feeding it with a guess would compute something else than the model.

mod names;
mod state;

pub(crate) use self::names::Names;
pub use self::state::State;

use std::fmt;

use super::file::Pair;
use crate::{Error, Result};

/// The element types that a graph may have at its borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    F32,
    F16,
    Bf16,
    I64,
    I32,
    Bool,
}

impl Element {
    /// Bytes of one.
    pub fn width(self) -> usize {
        match self {
            Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Bool => 1,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }
}

/// One dimension of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    Fixed(u64),
    /// Known only when it runs; the name may be empty.
    Named(String),
}

/// An input or output of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    /// `None` for what no decoder has at its borders.
    pub element: Option<Element>,
    pub dims: Vec<Dim>,
}

/// What an input is fed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The step's token ids.
    Ids,
    /// The step's rows of the embedding, made by a graph of its own.
    Embeddings,
    /// A one for every token held and of the step.
    Mask,
    /// The positions of the step's tokens.
    Positions,
    /// The position of the step's last token.
    LastPosition,
    /// Tokens held with those of the step.
    Total,
    /// Of how many of the last tokens logits are wanted.
    Keep,
    /// Whether there are tokens held.
    UseCache,
}

impl Role {
    /// Whether its shape is the same for every step.
    pub fn is_single(self) -> bool {
        !matches!(self, Self::Ids | Self::Embeddings | Self::Mask | Self::Positions)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub name: String,
    pub role: Role,
    pub element: Element,
    /// Its shape without the part that grows: `Positions` of three axes have the number of copies first.
    pub dims: Vec<Dim>,
}

impl Input {
    /// Its shape in a step of `step` tokens after `held`.
    pub fn shape(&self, held: usize, step: usize) -> Vec<i64> {
        let last = match self.role {
            Role::Mask => held + step,
            role if role.is_single() => 1,
            _ => step,
        } as i64;
        let mut shape: Vec<i64> = self.dims.iter().enumerate().map(|(axis, dim)| self.outer(axis, dim)).collect();
        let sequence = if self.role == Role::Embeddings { 1 } else { shape.len().wrapping_sub(1) };
        if let Some(place) = shape.get_mut(sequence) {
            *place = last;
        }
        shape
    }

    /// A dimension that is not the sequence's: as the graph has it, and 1 for the batch. Positions of several axes
    /// (time, height, width: the same for text) have three, unless the graph says otherwise.
    fn outer(&self, axis: usize, dim: &Dim) -> i64 {
        match dim {
            Dim::Fixed(size) => i64::try_from(*size).unwrap_or(i64::MAX),
            Dim::Named(_) if self.role == Role::Positions && self.dims.len() == 3 && axis == 0 => 3,
            Dim::Named(_) => 1,
        }
    }
}

/// The output that says which token comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logits {
    pub name: String,
    pub element: Element,
    /// Axes: `[batch, tokens, vocabulary]` or `[batch, vocabulary]`.
    pub rank: usize,
    /// Whether the graph makes them for a step's last token only, whatever is asked.
    pub last_only: bool,
    /// Tokens it can say, where the graph tells before it has run.
    pub vocabulary: Option<usize>,
}

/// How to run a decoder's graph.
#[derive(Clone, PartialEq, Eq)]
pub struct Plan {
    pub inputs: Vec<Input>,
    pub states: Vec<State>,
    pub logits: Logits,
}

/// Bounds on what a foreign graph may ask for; far above any model that runs on a CPU.
const MAX_STATES: usize = 4096;
const MAX_VOCABULARY: u64 = 1 << 22;

/// How many earlier values of recurrent states are kept, and how many bytes of them; the last one always.
const MAX_KEPT: u64 = 8;
const MAX_KEPT_BYTES: u64 = 256 << 20;

impl Plan {
    /// Reads the plan off a graph's ports. `shared` are the states that the graph's nodes allow to be written in place.
    ///
    /// # Errors
    /// An input without a role, a state that does not come back, a shape that cannot be.
    pub fn read(inputs: &[Port], outputs: &[Port], names: &Names, shared: &[Pair]) -> Result<Self> {
        let logits = read_logits(outputs, names)?;
        let mut plan = Self { inputs: Vec::new(), states: Vec::new(), logits };
        for port in inputs {
            match names.role(&port.name) {
                Some(role) => plan.inputs.push(read_input(port, role)?),
                None => plan.states.push(State::read(port, outputs, names, shared)?),
            }
        }
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<()> {
        let feeds = |role: Role| self.inputs.iter().filter(|input| input.role == role).count();
        if feeds(Role::Ids) + feeds(Role::Embeddings) != 1 {
            return Err(unusable("it has no input `input_ids` or `inputs_embeds`, or several"));
        }
        if self.states.is_empty() {
            return Err(unusable("it keeps nothing between tokens (it has no `past…` inputs)").advise(
                "name an export with a cache of keys and values (with optimum: the task text-generation-with-past)",
            ));
        }
        if self.states.len() > MAX_STATES {
            return Err(unusable(&format!("it has {} states, more than {MAX_STATES}", self.states.len())));
        }
        Ok(())
    }

    /// How many earlier values are kept of each recurrent state; 0 where there are none.
    pub fn most_kept(&self) -> u64 {
        let recurrent = self.states.iter().filter(|state| state.is_recurrent());
        let bytes = recurrent.fold(0_u64, |sum, state| sum.saturating_add(state.bytes(0).unwrap_or(u64::MAX)));
        MAX_KEPT_BYTES.checked_div(bytes).map_or(0, |most| most.clamp(1, MAX_KEPT))
    }

    /// Bytes that the states take at most while a step fills a context of `n_ctx` tokens; `None` when no number holds
    /// them. What is not written in place exists twice then, as input and as output.
    fn bytes(&self, n_ctx: usize) -> Option<u64> {
        let copies = |state: &State| match (state.shared, state.is_recurrent()) {
            (true, _) => 1,
            (false, false) => 2,
            (false, true) => 2 + self.most_kept(),
        };
        let bytes = |state: &State| state.bytes(n_ctx)?.checked_mul(copies(state));
        self.states.iter().try_fold(0_u64, |sum, state| sum.checked_add(bytes(state)?))
    }

    /// Refuses a context whose states would take more than `most` bytes.
    pub fn check_size(&self, n_ctx: usize, most: u64) -> Result<()> {
        match self.bytes(n_ctx) {
            Some(bytes) if bytes <= most => Ok(()),
            bytes => {
                let bytes = bytes.map_or_else(|| "more than 2^64".into(), |bytes| bytes.to_string());
                Err(unusable(&format!(
                    "what it keeps of {n_ctx} tokens takes {bytes} bytes, more than the {most} allowed"
                ))
                .advise("give a smaller context with --n-ctx"))
            }
        }
    }

    /// The element type of the embeddings that another graph makes, if it takes those instead of ids.
    pub fn embeddings(&self) -> Option<Element> {
        self.inputs.iter().find(|input| input.role == Role::Embeddings).map(|input| input.element)
    }

    /// Whether it makes as many rows of logits as it is told to.
    pub fn keeps(&self) -> bool {
        self.inputs.iter().any(|input| input.role == Role::Keep)
    }
}

/// A line an input and output.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for input in &self.inputs {
            writeln!(f, "{} ({:?}) = {:?}", input.name, input.element, input.role)?;
        }
        for state in &self.states {
            let kind = match (state.sequence, state.shared) {
                (Some(axis), true) => format!("tokens along axis {axis}, one buffer"),
                (Some(axis), false) => format!("tokens along axis {axis}, grows"),
                (None, _) => "recurrent".into(),
            };
            writeln!(f, "{} -> {} ({:?} {:?}): {kind}", state.present, state.past, state.element, state.dims)?;
        }
        let rows = if self.logits.last_only { "the last token" } else { "each token" };
        write!(f, "{} ({:?}), {:?} for {rows}", self.logits.name, self.logits.element, self.logits.vocabulary)
    }
}

fn read_input(port: &Port, role: Role) -> Result<Input> {
    let (rank, element) = (port.dims.len(), element(port)?);
    let ranks = match role {
        Role::Ids | Role::Mask => 2..=2,
        Role::Embeddings => 3..=3,
        Role::Positions => 1..=3,
        _ => 0..=2,
    };
    let fits = match role {
        Role::Embeddings => element.is_float(),
        Role::UseCache => element == Element::Bool,
        Role::Mask => true,
        _ => matches!(element, Element::I64 | Element::I32),
    };
    if !ranks.contains(&rank) || !fits {
        return Err(unusable(&format!("its input `{}` is {element:?} with {rank} dimensions", port.name)));
    }
    let input = Input { name: port.name.clone(), role, element, dims: port.dims.clone() };
    // Positions and batches are few; what follows them is the sequence, whose size is ours to choose.
    let shape = input.shape(1, 1);
    let few = match role {
        Role::Embeddings => shape[0] == 1 && (1..=MAX_WIDTH).contains(&shape[2]),
        Role::Positions if rank == 3 => (1..=MAX_AXES).contains(&shape[0]) && shape[1] == 1,
        _ => shape.iter().all(|&size| size == 1 || size == 2),
    };
    let fixed_sequence = !role.is_single()
        && match role {
            Role::Embeddings => matches!(port.dims[1], Dim::Fixed(_)),
            _ => matches!(port.dims[rank - 1], Dim::Fixed(_)),
        };
    let scalar = !role.is_single() || port.dims.iter().all(|dim| !matches!(dim, Dim::Fixed(size) if *size != 1));
    if !few || fixed_sequence || !scalar {
        return Err(unusable(&format!(
            "its input `{}` has the fixed shape {}: a model that takes steps of any length is needed",
            port.name,
            show(&port.dims)
        )));
    }
    Ok(input)
}

const MAX_WIDTH: i64 = 1 << 20;
const MAX_AXES: i64 = 8;

fn read_logits(outputs: &[Port], names: &Names) -> Result<Logits> {
    let port = outputs
        .iter()
        .find(|port| port.name == names.logits)
        .ok_or_else(|| unusable(&format!("it has no output `{}`", names.logits)))?;
    let (rank, element) = (port.dims.len(), element(port)?);
    let vocabulary = match port.dims.last() {
        Some(Dim::Fixed(size)) if (1..=MAX_VOCABULARY).contains(size) => Some(*size as usize),
        Some(Dim::Named(_)) => None,
        _ => return Err(unusable(&format!("its output `{}` has the shape {}", port.name, show(&port.dims)))),
    };
    if !(2..=3).contains(&rank) || !element.is_float() {
        return Err(unusable(&format!("its output `{}` is {element:?} with {rank} dimensions", port.name)));
    }
    let last_only = rank == 2 || port.dims[1] == Dim::Fixed(1);
    if !last_only && matches!(port.dims[1], Dim::Fixed(_)) {
        return Err(unusable(&format!("its output `{}` has the fixed shape {}", port.name, show(&port.dims))));
    }
    Ok(Logits { name: port.name.clone(), element, rank, last_only, vocabulary })
}

fn element(port: &Port) -> Result<Element> {
    port.element.ok_or_else(|| unusable(&format!("`{}` has an element type that no decoder has there", port.name)))
}

fn show(dims: &[Dim]) -> String {
    let dims: Vec<String> = dims
        .iter()
        .map(|dim| match dim {
            Dim::Fixed(size) => size.to_string(),
            Dim::Named(name) if name.is_empty() => "?".into(),
            Dim::Named(name) => name.chars().take(40).collect(),
        })
        .collect();
    format!("[{}]", dims.join(", "))
}

fn unusable(why: &str) -> Error {
    Error::model(why).context("the graph is not one of a decoder that this program can run")
}

#[cfg(test)]
mod tests;
