//! The integration tests: one binary, so that everything is linked once.

/// Scripted replies → answers, through the library's public API.
mod transcripts;
