//! ONNX Runtime: the only room that knows `ort`. A graph in a file becomes a [`Network`](super::local::Network).

mod decoder;
mod runtime;

pub use self::decoder::Decoder;
pub use self::runtime::Runtime;
