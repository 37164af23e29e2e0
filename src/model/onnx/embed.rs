//! The first half of a model in two graphs: token ids in, their rows of the embedding out.

use std::path::Path;

use ort::memory::Allocator;
use ort::session::Session;
use ort::value::DynValue;

use super::decoder::{load, ports};
use super::layout::{Element, Input, Names, Role};
use super::runtime::Runtime;
use super::{broken, tensor, unexpected};
use crate::{Error, Result};

pub(super) struct Embeddings {
    session: Session,
    ids: Input,
    rows: String,
    element: Element,
}

impl Embeddings {
    /// Loads the graph in the file `graph`, which is to make rows of `element`.
    pub fn open(runtime: &Runtime, graph: &Path, element: Element, n_threads: usize) -> Result<Self> {
        let doing = || format!("cannot load `{}`", graph.display());
        let session = load(runtime, graph, n_threads, None).map_err(|error| broken(&error).context(doing()))?;
        let (inputs, outputs) = (ports(session.inputs()), ports(session.outputs()));
        let ([ids], [rows]) = (inputs.as_slice(), outputs.as_slice()) else {
            return Err(Error::model("a graph of embeddings has one input and one output").context(doing()));
        };
        let dims = ids.dims.clone();
        match (ids.element, rows.element, Names::default().role(&ids.name)) {
            (Some(kind @ (Element::I64 | Element::I32)), Some(made), Some(Role::Ids))
                if dims.len() == 2 && made == element =>
            {
                let ids = Input { name: ids.name.clone(), role: Role::Ids, element: kind, dims };
                Ok(Self { session, ids, rows: rows.name.clone(), element })
            }
            (_, made, _) => {
                Err(Error::model(format!("it makes {made:?} of `{}`, not {element:?} of token ids", ids.name))
                    .context(doing()))
            }
        }
    }

    /// The rows of `ids`.
    pub fn rows(&mut self, ids: &[u32], allocator: &Allocator) -> Result<DynValue> {
        let shape = self.ids.shape(0, ids.len());
        let run = |session: &mut Session| -> ort::Result<Option<DynValue>> {
            let mut value = tensor::zeros(allocator, self.ids.element, &shape)?;
            tensor::fill(&mut value, self.ids.element, ids.iter().map(|&id| i64::from(id)))?;
            Ok(session.run(vec![(self.ids.name.as_str(), value)])?.remove(&self.rows))
        };
        let rows = run(&mut self.session).map_err(|error| broken(&error))?;
        let rows = rows.ok_or_else(|| unexpected(&self.rows, "nothing", "a value"))?;
        match tensor::facts(&rows) {
            Some((element, &[1, tokens, _])) if element == self.element && tokens == ids.len() as i64 => Ok(rows),
            other => Err(unexpected(&self.rows, format!("{other:?}"), format!("the rows of {} tokens", ids.len()))),
        }
    }
}
