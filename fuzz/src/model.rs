//! Model files.

pub(crate) mod built;
pub(crate) mod gguf;
#[path = "../../src/model/turn_ends.rs"]
pub(crate) mod turn_ends;
