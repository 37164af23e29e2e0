//! ONNX Runtime: the only room that knows `ort`. A graph in a file becomes a [`Network`](super::local::Network).

mod cache;
mod decoder;
mod embed;
mod file;
mod layout;
mod logits;
mod runtime;
mod stored;
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

/// The first line of a message: those of ONNX Runtime run over several when a kernel adds its own. The folders in which
/// the library's own sources once lay are left out.
fn broken(error: &ort::Error) -> Error {
    let text = error.to_string();
    Error::model(without_sources(text.lines().next().unwrap_or_default()))
}

fn without_sources(line: &str) -> String {
    let word = |word: &str| match (word.find('/'), word.rfind('/')) {
        (Some(first), Some(last)) if word[last..].contains(".cc:") => [&word[..first], &word[last + 1..]].concat(),
        _ => word.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn unexpected(output: &str, found: impl Display, wanted: impl Display) -> Error {
    Error::model(format!("its output `{output}` is {found}, not {wanted}"))
}

#[cfg(test)]
mod message_tests {
    #[test]
    fn messages_tell_of_the_models_place_alone() {
        let line = "Load model from /tmp/x/m.onnx failed:/onnxruntime_src/onnxruntime/core/graph/model.cc:177 f(const int&) no graph";
        let told = "Load model from /tmp/x/m.onnx failed:model.cc:177 f(const int&) no graph";
        assert_eq!(super::without_sources(line), told);
    }
}
