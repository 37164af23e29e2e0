//! Everything that drives the built program or the public library, in one binary, so that it is linked once.

/// The arrows between the rooms.
mod architecture;
/// Hostile programs, and what must come of each.
mod cases;
/// The command line, verb by verb.
mod cli;
/// Event loops, pools and waits, where nothing else runs.
mod concurrency;
/// What programs expect of a machine with a person before it.
mod desktop;
/// Sessions with a seed.
mod deterministic;
/// What a cell shows: figures, tables, pictures, and their files.
mod displays;
/// Files, time and random bytes, as a program finds them.
mod files;
/// Tiny models against llama.cpp.
mod gguf;
/// The daemon, over raw connections.
mod http;
/// Models from the hub, from a server of the tests' own.
mod hub;
/// Sessions and their ends, through the library's public API.
mod library;
/// Model files that lie, through the built program.
mod lying;
/// The in-process model against llama.cpp and against its own full-precision build.
mod model;
/// A model server of the tests' own.
mod model_server;
/// Folders of the host that a user gives to a session.
mod mounts;
/// A model on a server, through the built program and the library.
mod openai;
/// Packages that the user names.
mod packages;
/// Ordinary programs beside CPython.
mod programs;
/// Cells of the sandbox, for all of them.
mod python;
/// What a session finds in the image.
mod sandbox;
/// Programs as people and models write them.
mod snippets;
/// When the measurement of solved tasks counts an answer as right.
mod solve;
/// State as a value: undo, checkpoints, forks, saved sessions.
mod state;
/// Where the tests get what must be fetched.
mod support;
/// Starts the built program and waits for it, never for ever.
mod tool;
/// Scripted replies → answers, through the library's public API.
mod transcripts;
