//! Model files, and what model servers say.

pub(crate) mod built;
mod conversation;
pub(crate) mod gguf;
pub(crate) mod onnx;
pub(crate) mod openai;
#[path = "../../src/model/quant.rs"]
pub(crate) mod quant;
#[path = "../../src/model/sampling.rs"]
#[allow(dead_code, reason = "the program checks what it is given; what is fuzzed only reads it")]
mod sampling;
#[path = "../../src/model/turn_ends.rs"]
pub(crate) mod turn_ends;

pub(crate) use conversation::{Guide, Message, Prompt, Role};
pub(crate) use sampling::Sampling;
