//! Model files.

pub(crate) mod built;
pub(crate) mod gguf;
