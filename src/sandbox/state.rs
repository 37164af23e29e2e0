//! What a session is, as a value: kept before each cell, handed out as a [`Checkpoint`], written into a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::image::Image;
use super::memory::Pages;
use crate::{Error, Result};

/// Wasm counts memory in these.
pub(super) const WASM_PAGE: u64 = 64 << 10;

/// An interpreter between two cells, apart from its image.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Machine {
    /// Of linear memory.
    pub(super) bytes: u64,
    /// The bits of every global that can change, in the order of the image's exports.
    pub(super) globals: Vec<u64>,
    pub(super) pages: Pages,
}

/// A session between two cells. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct State {
    /// `None`: a fresh interpreter, which no cell has entered.
    pub(super) machine: Option<Arc<Machine>>,
    pub(super) cells: u32,
    /// Texts that every fresh interpreter is given as global variables.
    pub(super) bindings: Arc<BTreeMap<String, String>>,
}

impl State {
    /// The buffers of its pages, for the next copy, unless somebody else holds them.
    pub(super) fn into_pages(self) -> Pages {
        let machine = self.machine.and_then(Arc::into_inner);
        machine.map(|machine| machine.pages).unwrap_or_default()
    }
}

/// A session's state, kept apart from it: variables, files, counters. Cheap to clone; the clones share it.
#[derive(Clone)]
pub struct Checkpoint {
    image: Arc<Image>,
    state: State,
}

impl Checkpoint {
    pub(super) fn new(image: Arc<Image>, state: State) -> Self {
        Self { image, state }
    }

    /// The state, for a session of `image`.
    pub(super) fn state(&self, image: &Arc<Image>) -> Result<State> {
        if !Arc::ptr_eq(&self.image, image) {
            return Err(Error::usage("the checkpoint is of another Python image"));
        }
        Ok(self.state.clone())
    }
}
