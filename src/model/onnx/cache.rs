//! What a graph keeps of the tokens it was given, as the values that its states have between steps.
//!
//! Keys and values that the graph may write in place lie in one buffer, bound as past and as present, so that a step writes
//! its own positions and copies nothing. It grows with what it holds: most conversations are much shorter than the
//! context. Where the graph may not, the present of one step is moved into the past of the next. Recurrent states are moved
//! as well; what was moved away is kept for a while, since a recurrence cannot be computed backwards.

use std::sync::Arc;

use ort::memory::Allocator;
use ort::session::{IoBinding, SessionOutputs};
use ort::value::DynValue;

use super::layout::{Plan, State};
use super::tensor::{self, Runs};
use super::{broken, unexpected};
use crate::{Error, Result};

/// Buffers have room for a multiple of so many tokens; in tests for few, so that every test sees them grow.
const GROWTH: usize = if cfg!(test) { 3 } else { 256 };

pub(super) struct Cache {
    slots: Vec<Slot>,
    /// Tokens held.
    len: usize,
    /// Tokens that it may hold.
    n_ctx: usize,
    /// Recurrent states as they were after fewer tokens, shortest first.
    kept: Vec<Kept>,
    most_kept: usize,
    /// Whether the last step was of several tokens: where it ended, a prompt or a part of one may end.
    is_landmark: bool,
}

/// One state and its present value.
struct Slot {
    state: State,
    /// Shared with [`Kept`]: nobody writes to a value that is moved.
    value: Arc<DynValue>,
    /// Tokens that the value has room for.
    room: usize,
}

/// The recurrent states after `len` tokens.
struct Kept {
    len: usize,
    values: Vec<Arc<DynValue>>,
    is_landmark: bool,
}

impl Slot {
    fn is_recurrent(&self) -> bool {
        self.state.is_recurrent()
    }

    fn runs(&self, room: usize) -> Runs {
        let (runs, width) = self.state.runs();
        let room = if self.is_recurrent() { 1 } else { room };
        Runs { element: self.state.element, runs, room, width }
    }

    fn zeros(&mut self, allocator: &Allocator) -> ort::Result<()> {
        self.value = Arc::new(tensor::zeros(allocator, self.state.element, &self.state.shape(0))?);
        self.room = 0;
        Ok(())
    }
}

impl Cache {
    /// An empty cache for up to `n_ctx` tokens.
    pub fn new(plan: &Plan, n_ctx: usize, allocator: &Allocator) -> ort::Result<Self> {
        let mut slots = Vec::with_capacity(plan.states.len());
        for state in &plan.states {
            let value = tensor::zeros(allocator, state.element, &state.shape(0))?;
            slots.push(Slot { state: state.clone(), value: Arc::new(value), room: 0 });
        }
        let most_kept = plan.most_kept() as usize;
        Ok(Self { slots, len: 0, n_ctx, kept: Vec::new(), most_kept, is_landmark: false })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Makes the buffers large enough for `len` tokens. They stay bound.
    fn reserve(&mut self, len: usize, allocator: &Allocator, binding: &mut IoBinding) -> ort::Result<()> {
        // A reply comes after what is held now.
        let room = (len + GROWTH).next_multiple_of(GROWTH).min(self.n_ctx);
        let held = self.len;
        for slot in self.slots.iter_mut().filter(|slot| slot.state.shared && slot.room < len) {
            let mut value = tensor::zeros(allocator, slot.state.element, &slot.state.shape(room))?;
            slot.runs(slot.room).copy(&slot.value, &mut value, slot.runs(room), held)?;
            binding.bind_input(slot.state.past.as_str(), &value)?;
            binding.bind_output(slot.state.present.as_str(), &mut value)?;
            (slot.value, slot.room) = (Arc::new(value), room);
        }
        Ok(())
    }

    /// Binds what a step of `step` tokens takes. What is moved: the values as inputs, and outputs to be made anew. Only then
    /// does the binding let go of those of the step before, so this comes before anything else is made.
    pub fn bind(&mut self, step: usize, allocator: &Allocator, binding: &mut IoBinding) -> ort::Result<()> {
        self.reserve(self.len + step, allocator, binding)?;
        for slot in self.slots.iter_mut().filter(|slot| !slot.state.shared) {
            binding.bind_input(slot.state.past.as_str(), &slot.value)?;
            binding.bind_output_to_device(slot.state.present.as_str(), allocator.memory_info())?;
            if !slot.is_recurrent() && slot.room > self.len {
                let mut cut = tensor::zeros(allocator, slot.state.element, &slot.state.shape(self.len))?;
                slot.runs(slot.room).copy(&slot.value, &mut cut, slot.runs(self.len), self.len)?;
                (slot.value, slot.room) = (Arc::new(cut), self.len);
                binding.bind_input(slot.state.past.as_str(), &slot.value)?;
            }
        }
        Ok(())
    }

    /// Takes what came back of a step of `step` tokens.
    ///
    /// # Errors
    /// A state came back in another shape; nothing is taken then.
    pub fn take(&mut self, outputs: &mut SessionOutputs<'_>, step: usize) -> Result<()> {
        let mut fresh = Vec::new();
        for slot in self.slots.iter().filter(|slot| !slot.state.shared) {
            let name = &slot.state.present;
            let value = outputs.remove(name).ok_or_else(|| unexpected(name, "nothing", "a value"))?;
            let wanted = (slot.state.element, slot.state.shape(self.len + step));
            match tensor::facts(&value) {
                Some((element, shape)) if element == wanted.0 && *shape == *wanted.1 => fresh.push(value),
                other => return Err(unexpected(name, format!("{other:?}"), format!("{wanted:?}"))),
            }
        }
        self.keep();
        let moved = self.slots.iter_mut().filter(|slot| !slot.state.shared);
        for (slot, value) in moved.zip(fresh) {
            (slot.value, slot.room) = (Arc::new(value), self.len + step);
        }
        self.len += step;
        self.is_landmark = step > 1;
        Ok(())
    }

    /// Keeps the recurrent states as they are now, before a step replaces them. Of what was kept between single tokens
    /// only the last is of use.
    fn keep(&mut self) {
        if self.most_kept == 0 || self.len == 0 {
            return;
        }
        self.kept.retain(|kept| kept.is_landmark);
        if self.kept.len() >= self.most_kept {
            // The one nearest to its neighbour is missed least.
            let gap =
                |place: usize| self.kept[place].len - place.checked_sub(1).map_or(0, |before| self.kept[before].len);
            if let Some(place) = (0..self.kept.len()).min_by_key(|&place| gap(place)) {
                self.kept.remove(place);
            }
        }
        let values = self.recurrent().map(|slot| slot.value.clone()).collect();
        self.kept.push(Kept { len: self.len, values, is_landmark: self.is_landmark });
    }

    fn recurrent(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.is_recurrent())
    }

    /// Forgets the tokens after the first `len`, or after fewer if the recurrent states have no such past; gives what
    /// it holds then.
    pub fn truncate(&mut self, len: usize, allocator: &Allocator) -> usize {
        if len >= self.len {
            return self.len;
        }
        if self.most_kept == 0 {
            self.len = len;
            return len;
        }
        self.kept.retain(|kept| kept.len <= len);
        match self.kept.pop() {
            Some(kept) => {
                self.len = kept.len;
                self.is_landmark = kept.is_landmark;
                let recurrent = self.slots.iter_mut().filter(|slot| slot.is_recurrent());
                recurrent.zip(kept.values).for_each(|(slot, value)| slot.value = value);
            }
            None => self.clear(allocator),
        }
        self.len
    }

    fn clear(&mut self, allocator: &Allocator) {
        self.len = 0;
        self.kept.clear();
        self.is_landmark = false;
        for slot in self.slots.iter_mut().filter(|slot| !slot.state.shared) {
            // Without memory for zeros the next step fails, and says so: the shape is then not that of an empty state.
            if let Err(error) = slot.zeros(allocator) {
                log::warn!("no memory for an empty state: {error}");
            }
        }
    }

    /// What it holds of the first `len` tokens, as bytes.
    pub fn save(&self, len: usize) -> Option<Vec<u8>> {
        let values: Vec<&DynValue> = match self.kept.iter().find(|kept| kept.len == len) {
            _ if len > self.len => return None,
            Some(kept) if len < self.len => kept.values.iter().map(|value| &**value).collect(),
            None if len < self.len && self.most_kept > 0 => return None,
            _ => self.recurrent().map(|slot| &*slot.value).collect(),
        };
        let mut values = values.into_iter();
        let mut bytes = Vec::new();
        for slot in &self.slots {
            let (value, filled) = match slot.is_recurrent() {
                true => (values.next()?, 1),
                false => (&*slot.value, len),
            };
            slot.runs(slot.room).write(value, filled, &mut bytes).ok()?;
        }
        Some(bytes)
    }

    /// Whether it can go back to any number of tokens.
    pub fn goes_back(&self) -> bool {
        self.most_kept == 0
    }

    /// Holds `len` tokens as [`save`](Self::save) wrote them down; false, and holding nothing, if `bytes` are not those.
    pub fn load(&mut self, len: usize, mut bytes: &[u8], allocator: &Allocator, binding: &mut IoBinding) -> bool {
        self.clear(allocator);
        if let Err(error) = self.bind(len, allocator, binding) {
            log::warn!("letting go of what the model held: {error}");
            return false;
        }
        let size = self.slots.iter().try_fold(0_u64, |sum, slot| sum.checked_add(slot.state.bytes(len)?));
        if size != Some(bytes.len() as u64) {
            return false;
        }
        let loaded = self.slots.iter_mut().try_for_each(|slot| slot.load(len, &mut bytes, allocator));
        match loaded {
            Ok(()) => {
                self.len = len;
                true
            }
            Err(error) => {
                log::warn!("loading what the model holds: {error}");
                self.clear(allocator);
                false
            }
        }
    }
}

impl Slot {
    fn load(&mut self, len: usize, bytes: &mut &[u8], allocator: &Allocator) -> Result<()> {
        let filled = if self.is_recurrent() { 1 } else { len };
        if !self.state.shared {
            let zeros = tensor::zeros(allocator, self.state.element, &self.state.shape(len));
            (self.value, self.room) = (Arc::new(zeros.map_err(|error| broken(&error))?), len);
        }
        let runs = self.runs(self.room);
        // A buffer is never shared with what is kept, and a fresh value is nobody else's yet.
        let value = Arc::get_mut(&mut self.value).ok_or_else(|| Error::internal("a state is in use"))?;
        let read = runs.read(value, filled, bytes).map_err(|error| broken(&error))?;
        read.ok_or_else(|| Error::internal("too few bytes"))
    }
}
