//! What a graph keeps between steps: one input and the output that becomes it.

use super::{Dim, Element, Names, Port, element, show, unusable};
use crate::Result;
use crate::model::onnx::file::Pair;

/// One state. Its dimensions are those for one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub past: String,
    pub present: String,
    pub element: Element,
    /// Its shape; 0 along [`sequence`](Self::sequence).
    pub dims: Vec<usize>,
    /// The axis along which there is an entry for every token. Without one it is a recurrent state: the same size
    /// however many tokens went into it.
    pub sequence: Option<usize>,
    /// Whether one buffer may be both its input and its output.
    pub shared: bool,
}

/// Bounds of one dimension and of their number.
const MAX_DIM: u64 = 1 << 24;
const MAX_RANK: usize = 8;

impl State {
    pub(super) fn read(past: &Port, outputs: &[Port], names: &Names, shared: &[Pair]) -> Result<Self> {
        let candidates = names.presents(&past.name);
        if candidates.is_empty() {
            return Err(unusable(&format!("it has the input `{}`, which this program does not know", past.name)));
        }
        let Some(present) = candidates.iter().find_map(|name| outputs.iter().find(|port| port.name == *name)) else {
            return Err(unusable(&format!(
                "its state `{}` does not come back: there is no output `{}`",
                past.name, candidates[0]
            )));
        };
        let element = element(past)?;
        if element == Element::Bool {
            return Err(unusable(&format!("its state `{}` is {element:?}", past.name)));
        }
        if present.element != Some(element) || present.dims.len() != past.dims.len() {
            return Err(unusable(&format!(
                "its state `{}` comes back as `{}` with another type or rank",
                past.name, present.name
            )));
        }
        let (dims, sequence) = read_dims(past)?;
        if let Some((axis, _)) = dims.iter().enumerate().find(|(axis, size)| {
            Some(*axis) != sequence && matches!(present.dims[*axis], Dim::Fixed(other) if other != **size as u64)
        }) {
            return Err(unusable(&format!(
                "its state `{}` comes back with another size: axis {axis} of {} and {}",
                past.name,
                show(&past.dims),
                show(&present.dims)
            )));
        }
        let pair = |pair: &Pair| pair.past == past.name && pair.present == present.name;
        // The operator that writes in place wants keys and values as [batch, heads, tokens, size].
        let shared = sequence == Some(2) && dims.len() == 4 && shared.iter().any(pair);
        Ok(Self { past: past.name.clone(), present: present.name.clone(), element, dims, sequence, shared })
    }

    pub fn is_recurrent(&self) -> bool {
        self.sequence.is_none()
    }

    /// Its shape when it holds `len` tokens.
    pub fn shape(&self, len: usize) -> Vec<i64> {
        let mut shape: Vec<i64> = self.dims.iter().map(|&size| size as i64).collect();
        if let Some(axis) = self.sequence {
            shape[axis] = len as i64;
        }
        shape
    }

    /// Elements before and after the axis of tokens: how many runs of tokens it consists of, and how long each token's
    /// part of one is.
    pub fn runs(&self) -> (usize, usize) {
        match self.sequence {
            Some(axis) => (self.dims[..axis].iter().product(), self.dims[axis + 1..].iter().product()),
            None => (1, self.dims.iter().product()),
        }
    }

    /// Bytes when it holds `len` tokens; `None` when no number holds them.
    pub fn bytes(&self, len: usize) -> Option<u64> {
        let sizes = self.shape(len);
        sizes.iter().try_fold(self.element.width() as u64, |bytes, &size| bytes.checked_mul(u64::try_from(size).ok()?))
    }
}

/// Its sizes, and which axis is that of the tokens. A dimension that is only named is either the batch, which is 1, or
/// the tokens; anything else has no size that could be known.
fn read_dims(port: &Port) -> Result<(Vec<usize>, Option<usize>)> {
    let wrong = |why: &str| unusable(&format!("its state `{}` has the shape {}: {why}", port.name, show(&port.dims)));
    if port.dims.is_empty() || port.dims.len() > MAX_RANK {
        return Err(wrong("no decoder has states of that rank"));
    }
    let (mut dims, mut sequence) = (Vec::new(), None);
    for (axis, dim) in port.dims.iter().enumerate() {
        let name = match dim {
            Dim::Fixed(size) if (1..=MAX_DIM).contains(size) => {
                dims.push(*size as usize);
                continue;
            }
            Dim::Fixed(size) => return Err(wrong(&format!("{size} is not a size that can be"))),
            Dim::Named(name) => name.to_ascii_lowercase(),
        };
        let is_batch = name.contains("batch") || (axis == 0 && !is_tokens(&name));
        if is_batch && !name.contains('*') {
            dims.push(1);
        } else if (is_tokens(&name) || name.is_empty()) && sequence.is_none() {
            sequence = Some(axis);
            dims.push(0);
        } else {
            return Err(wrong(&format!("how large `{name}` is cannot be known")));
        }
    }
    let is_cache = port.name.ends_with("key") || port.name.ends_with("value");
    if is_cache && sequence.is_none() {
        return Err(wrong("a cache of a fixed number of tokens is not supported"));
    }
    Ok((dims, sequence))
}

fn is_tokens(name: &str) -> bool {
    ["past", "seq", "len", "token", "unk__"].iter().any(|part| name.contains(part))
}
