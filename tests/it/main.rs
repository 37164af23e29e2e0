//! The integration tests, one binary.

/// The in-process model against llama.cpp and against its own full-precision build.
mod model;
/// Where the tests get what must be fetched.
mod support;
