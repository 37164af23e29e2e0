//! The front ends: each parses, calls one function, and renders.

pub mod cli;
