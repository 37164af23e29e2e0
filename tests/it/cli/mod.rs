//! The command line, as a shell and a script see it.

/// Cells and their outcomes, for programs and for people.
mod exec;
/// Ctrl-C.
#[cfg(unix)]
mod interrupt;
/// What a cell may use, and how it ends when that is not enough.
mod limits;
/// Instructions, with a scripted model.
mod run;
/// Sessions that go on later, and what a cell that raised leaves behind.
mod saved;
/// `setup`, and machines on which something is missing.
mod setup;
/// Flags that cannot be.
mod usage;
