//! A code interpreter that runs on your own machine: a model writes Python, CPython-in-WebAssembly runs it inside this process.

mod agent;
mod answer;
mod cancel;
mod capacity;
mod config;
mod error;
#[doc(hidden)]
pub mod frontend;
mod interpreter;
mod limits;
mod metering;
pub mod model;
mod progress;
mod provision;
mod request;
pub mod sandbox;

pub use agent::Event;
pub use answer::{Answer, AnswerUsage, AttemptStep, StopReason};
pub use cancel::Cancel;
pub use capacity::Capacity;
pub use config::{Config, Overrides};
pub use error::{Error, Result};
pub use interpreter::{Builder, CodeInterpreter};
pub use limits::Limits;
pub use metering::Metering;
pub use progress::{Progress, Step, Unit};
pub use provision::PackageRequest;
pub use request::Request;
pub use sandbox::{
    Checkpoint, FileEntry, Mount, OnError, Outcome, Package, Packages, Python, Session, SessionOptions, Status,
};
