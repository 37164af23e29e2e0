//! An `.onnx` file, looked through before ONNX Runtime sees it: which other files it names, what its ports are, and
//! which of its states may be written in place.
//!
//! An ONNX file can name files to be mapped into the process, and has many places to do so: tensors of the graph, of
//! the bodies of loops and branches, of functions, attributes and sparse values. Every message of the format that can
//! hold a tensor is walked, by its field numbers, without decoding the rest and without reading the weights inside. What
//! is not as the format says, or is not in the format as it was when this was written, makes the file unusable: a field
//! that this walk did not know could hide a name that ONNX Runtime would follow.

// Their paths are explicit so that this file can be included from elsewhere, to be fuzzed.
#[path = "file/wire.rs"]
mod wire;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use self::wire::{Payload, Wire};
use crate::{Error, Result};

/// What protobuf itself can hold.
const MAX_FILE: u64 = (1 << 31) - 1;
/// Bytes beside the weights, all of which ONNX Runtime decodes into many times their size (ours has 0.3 MB, the largest
/// exports of billions of parameters some 20).
const MAX_STRUCTURE: u64 = 128 << 20;
/// Bytes of what is kept of it, with what each text, number and name takes beside its own bytes: an empty text has two
/// bytes in the file. A graph of 20 MB, all of it names of 20 bytes, keeps some 100 MB.
const MAX_KEPT: u64 = 256 << 20;
const KEPT_OVERHEAD: u64 = 64;
/// Names that nodes read are kept in a table until the end.
const NAME_OVERHEAD: u64 = 192;
/// Messages inside messages: a node, its attribute, a graph and so on.
const MAX_DEPTH: usize = 64;
/// Names and types are short.
const MAX_NAME: u64 = 4096;

/// The elements of `TensorProto.DataType` that can be at a graph's border.
const ELEMENTS: std::ops::RangeInclusive<u64> = 1..=16;
/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: u64 = 1;
const EXTERNAL_KEYS: [&str; 4] = ["location", "offset", "length", "checksum"];

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The other files that hold weights, by the names that this one gives them (relative to its own folder, if it is
    /// honest), and how many bytes each must have at least.
    pub external: BTreeMap<String, u64>,
    /// States whose only reader is an operator that may write its output over them.
    pub shared: Vec<Pair>,
}

/// The input and the output of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub past: String,
    pub present: String,
}

/// Looks through the ONNX file at `path`.
///
/// # Errors
/// It is not an ONNX file, or one with parts that this does not know.
pub(crate) fn inspect(path: &Path) -> Result<Facts> {
    let doing = || format!("the graph `{}`", path.display());
    let file = File::open(path).map_err(|error| Error::model(error).context(doing()))?;
    let facts = file.metadata().map_err(|error| Error::model(error).context(doing()))?;
    if !facts.is_file() || facts.len() > MAX_FILE {
        let why = format!("not a file of at most {MAX_FILE} bytes (it has {})", facts.len());
        return Err(Error::model(why).context(doing()));
    }
    facts_of(file, facts.len()).map_err(|error| error.context(doing()))
}

/// Looks through a file of `len` bytes.
pub(crate) fn facts_of(file: impl Read + Seek, len: u64) -> Result<Facts> {
    let mut walk =
        Walk { wire: Wire::new(file, len, MAX_STRUCTURE), found: Facts::default(), names: HashMap::new(), kept: 0 };
    walk.message(Message::Model, len, 0)?;
    Ok(walk.finish())
}

/// The messages that hold tensors, or lead to one that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Model,
    Graph,
    Function,
    Node,
    Attribute,
    Tensor,
    Sparse,
    Port,
    PortType,
    TensorType,
    Entry,
}

/// What a field holds, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// A message that may come many times, or at most once.
    Many(Message),
    Once(Message),
    /// A text or number that is kept.
    Kept,
    /// Something that leads to no tensor.
    Other,
    /// The bytes of weights: not read, and not counted as structure.
    Weights,
}

/// `onnx.proto`, by field numbers, as of IR version 11 and 12.
fn field(message: Message, number: u64) -> Option<Field> {
    use Field::{Kept, Many, Once, Other, Weights};
    Some(match (message, number) {
        (Message::Model, 7) => Once(Message::Graph),
        (Message::Model, 25) => Many(Message::Function),
        (Message::Model, 1..=6 | 8 | 14 | 26) => Other,
        (Message::Graph, 1) => Many(Message::Node),
        (Message::Graph, 5) => Many(Message::Tensor),
        (Message::Graph, 15) => Many(Message::Sparse),
        (Message::Graph, 11 | 12) => Many(Message::Port),
        (Message::Graph, 2 | 10 | 13 | 14 | 16) => Other,
        (Message::Function, 7) => Many(Message::Node),
        (Message::Function, 11) => Many(Message::Attribute),
        (Message::Function, 1 | 4 | 5 | 6 | 8 | 9 | 10 | 12 | 13 | 14) => Other,
        (Message::Node, 1 | 2 | 4 | 7) => Kept,
        (Message::Node, 5) => Many(Message::Attribute),
        (Message::Node, 3 | 6 | 8 | 9 | 10) => Other,
        (Message::Attribute, 5) => Once(Message::Tensor),
        (Message::Attribute, 6) => Once(Message::Graph),
        (Message::Attribute, 22) => Once(Message::Sparse),
        (Message::Attribute, 10) => Many(Message::Tensor),
        (Message::Attribute, 11) => Many(Message::Graph),
        (Message::Attribute, 23) => Many(Message::Sparse),
        (Message::Attribute, 1..=4 | 7..=9 | 13..=15 | 20 | 21) => Other,
        (Message::Sparse, 1 | 2) => Once(Message::Tensor),
        (Message::Sparse, 3) => Other,
        (Message::Tensor, 4 | 5 | 7 | 9 | 10 | 11) => Weights,
        (Message::Tensor, 13) => Many(Message::Entry),
        (Message::Tensor, 14) => Kept,
        (Message::Tensor, 1 | 2 | 3 | 6 | 8 | 12 | 16) => Other,
        (Message::Port, 2) => Once(Message::PortType),
        (Message::Port, 1) => Kept,
        (Message::Port, 3 | 4) => Other,
        (Message::PortType, 1) => Once(Message::TensorType),
        (Message::PortType, 4..=9) => Other,
        (Message::TensorType, 1) => Kept,
        (Message::TensorType, 2) => Other,
        (Message::Entry, 1 | 2) => Kept,
        _ => return None,
    })
}

struct Walk<R> {
    wire: Wire<R>,
    found: Facts,
    /// How each name that nodes of any graph read is used.
    names: HashMap<String, Uses>,
    /// Bytes kept of all messages so far, also of those that are done.
    kept: u64,
}

/// The readers of a value.
#[derive(Default)]
struct Uses {
    /// By an operator that may write in place, and what it then calls the result.
    in_place: Vec<String>,
    others: bool,
}

/// What is kept of the fields of one message.
#[derive(Default)]
struct Kept {
    texts: Vec<(u64, String)>,
    numbers: Vec<(u64, u64)>,
    entries: Vec<(String, String)>,
    seen: Vec<u64>,
}

impl Kept {
    fn text(&self, number: u64) -> &str {
        self.all(number).next().unwrap_or_default()
    }

    fn all(&self, number: u64) -> impl Iterator<Item = &str> {
        self.texts.iter().filter(move |(n, _)| *n == number).map(|(_, text)| text.as_str())
    }

    fn number(&self, number: u64) -> Option<u64> {
        self.numbers.iter().find(|(n, _)| *n == number).map(|(_, value)| *value)
    }
}

impl<R: Read + Seek> Walk<R> {
    /// Walks the message that ends at `end`, and gives what it kept to the one around it.
    fn message(&mut self, message: Message, end: u64, depth: usize) -> Result<Kept> {
        if depth > MAX_DEPTH {
            return Err(Error::model(format!("its messages are more than {MAX_DEPTH} deep")));
        }
        let mut kept = Kept::default();
        while self.wire.at() < end {
            let (number, payload) = self.wire.field(end)?;
            let Some(what) = field(message, number) else {
                return Err(Error::model(format!(
                    "its {message:?} has a field {number}, which is unknown or not supported"
                )));
            };
            match (what, payload) {
                (Field::Many(inner) | Field::Once(inner), Payload::Bytes(len)) => {
                    if matches!(what, Field::Once(_)) && kept.seen.contains(&number) {
                        return Err(Error::model(format!("its {message:?} has the field {number} twice")));
                    }
                    if matches!(what, Field::Once(_)) {
                        kept.seen.push(number);
                    }
                    let inside = self.message(inner, self.wire.at() + len, depth + 1)?;
                    let outermost = message == Message::Graph && depth == 1;
                    match inner {
                        Message::Entry => {
                            self.charge(KEPT_OVERHEAD)?;
                            kept.entries.push((inside.text(1).into(), inside.text(2).into()));
                        }
                        Message::PortType | Message::TensorType => kept.numbers.extend(inside.numbers),
                        Message::Tensor => self.tensor(&inside)?,
                        Message::Node => self.node(&inside, outermost)?,
                        Message::Port if outermost => check_port(&inside)?,
                        _ => {}
                    }
                }
                (Field::Many(_) | Field::Once(_), _) => {
                    return Err(Error::model(format!("its {message:?} has a field {number} of the wrong kind")));
                }
                (Field::Kept, Payload::Bytes(len)) => {
                    let text = self.wire.text(len, MAX_NAME)?;
                    self.charge(len + KEPT_OVERHEAD)?;
                    kept.texts.push((number, text));
                }
                (Field::Kept, Payload::Number(value)) => {
                    self.charge(KEPT_OVERHEAD)?;
                    kept.numbers.push((number, value));
                }
                (Field::Weights, Payload::Bytes(len)) => self.wire.skip_weights(len)?,
                (_, Payload::Bytes(len)) => self.wire.skip(len)?,
                (_, Payload::Number(_)) => {}
            }
        }
        Ok(kept)
    }

    fn charge(&mut self, bytes: u64) -> Result<()> {
        self.kept += bytes;
        if self.kept > MAX_KEPT {
            return Err(Error::model("it has more names and numbers than any model needs"));
        }
        Ok(())
    }

    fn tensor(&mut self, kept: &Kept) -> Result<()> {
        if kept.entries.is_empty() && kept.number(14) != Some(EXTERNAL) {
            return Ok(());
        }
        let mut said: [Option<&str>; 4] = [None; 4];
        for (key, value) in &kept.entries {
            let Some(place) = EXTERNAL_KEYS.iter().position(|known| known == key) else {
                return Err(Error::model(format!("its weights are described by `{key}`, which is not known")));
            };
            if said[place].replace(value).is_some() {
                return Err(Error::model(format!("its weights name their {key} twice")));
            }
        }
        let [location, offset, length, _] = said;
        let number = |text: Option<&str>| text.unwrap_or("0").parse::<u64>().ok();
        let end = number(offset).zip(number(length)).and_then(|(offset, length)| offset.checked_add(length));
        let (Some(location), Some(end)) = (location.filter(|location| !location.is_empty()), end) else {
            return Err(Error::model("it does not say where its weights are"));
        };
        let most = self.found.external.entry(location.into()).or_default();
        *most = end.max(*most);
        Ok(())
    }

    /// Notes who reads what. In the outermost graph an attention that takes past keys and values may write them; what a
    /// body of a branch or loop reads stays as it is.
    fn node(&mut self, kept: &Kept, outermost: bool) -> Result<()> {
        let attention = outermost && kept.text(4) == "GroupQueryAttention" && kept.text(7) == "com.microsoft";
        let outputs: Vec<&str> = kept.all(2).collect();
        for (place, input) in kept.all(1).enumerate().filter(|(_, input)| !input.is_empty()) {
            let reads = matches!(place, 3 | 4) && attention;
            if reads || !self.names.contains_key(input) {
                self.charge(input.len() as u64 + NAME_OVERHEAD)?;
            }
            let uses = self.names.entry(input.to_owned()).or_default();
            match reads {
                true => uses.in_place.push(outputs.get(place - 2).copied().unwrap_or_default().into()),
                false => uses.others = true,
            }
        }
        Ok(())
    }

    fn finish(self) -> Facts {
        // A buffer has room for tokens to come, so nobody but the attention may look at it, as input or as output.
        let shared = self.names.iter().filter_map(|(past, uses)| match uses.in_place.as_slice() {
            [present] if !uses.others && !present.is_empty() && !self.names.contains_key(present) => {
                Some(Pair { past: past.clone(), present: present.clone() })
            }
            _ => None,
        });
        Facts { shared: shared.collect(), ..self.found }
    }
}

/// Inputs and outputs are tensors of plain elements: of other things ONNX Runtime's binding makes no use.
fn check_port(kept: &Kept) -> Result<()> {
    match kept.number(1) {
        Some(element) if ELEMENTS.contains(&element) => Ok(()),
        _ => Err(Error::model(format!("`{}` is not a tensor of plain numbers", kept.text(1)))),
    }
}

#[cfg(test)]
#[path = "file/tests.rs"]
mod tests;
