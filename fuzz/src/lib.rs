//! What is fuzzed: each function takes any bytes, gives them to one of the program's parsers, and panics when something
//! does not hold that must. The parsers are the program's own files.

#![allow(dead_code, reason = "a file of the program may hold more than is fuzzed")]

mod agent;
// The program's error, which the parsers answer with.
#[path = "../../src/error.rs"]
mod error;
mod files;
mod model;
mod sandbox;
#[cfg(feature = "saved")]
mod saved;

pub use agent::extract;
pub(crate) use error::{Error, Result};
pub use files::tree;
pub use model::gguf::gguf;
pub use model::onnx::onnx;
pub use model::openai::sse;
pub use sandbox::wire;
#[cfg(feature = "saved")]
pub use saved::saved;
