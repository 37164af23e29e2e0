//! ONNX Runtime: the only room that knows `ort`. A graph in a file becomes a [`Network`](super::local::Network).

mod cache;
mod decoder;
mod embed;
mod file;
mod layout;
mod logits;
mod runtime;
mod tensor;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
pub(super) mod tests;

use std::fmt::Display;

pub use self::decoder::Decoder;
pub(crate) use self::decoder::Graphs;
pub(crate) use self::file::{Facts, inspect};
pub(crate) use self::layout::{Names, Role};
pub use self::runtime::Runtime;

use crate::Error;

/// The first line of a message: those of ONNX Runtime run over several when a kernel adds its own.
fn broken(error: &ort::Error) -> Error {
    let text = error.to_string();
    Error::model(text.lines().next().unwrap_or_default())
}

fn unexpected(output: &str, found: impl Display, wanted: impl Display) -> Error {
    Error::model(format!("its output `{output}` is {found}, not {wanted}"))
}
