//! The front ends: each parses, calls one function, and renders.

mod cells;
pub mod cli;
mod http;
pub mod json;
mod limits;
mod progress;
#[cfg(test)]
pub(crate) mod samples;
mod visible;
