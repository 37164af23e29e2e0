//! Operators that compute with matrices in a GGUF file, which is mapped into memory and not copied.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;
use ort::operator::{ComputeContext, Kernel as OrtKernel, KernelContext, Operator, OperatorDomain};
use ort::operator::{OperatorInput, OperatorOutput, ShapeInferenceContext};
use ort::value::{Shape, SymbolicDimensions, TensorElementType, ValueType};

use crate::model::built::stored::{DOMAIN, HEADS, HEIGHTS, KINDS, PRODUCT, ROW_LEN, ROWS, STARTS};
use crate::model::kernel::{self, Activations, Kernel, Matrix, Workspace};
use crate::model::quant::TensorType;
use crate::model::row_order::RowOrder;
use crate::{Error, Result};

/// What the operators of one session share.
struct Shared {
    file: Mmap,
    kernel: Kernel,
    workspace: Workspace,
    /// Nodes run one after the other, so one of them at a time needs it.
    activations: Mutex<Activations>,
}

/// The operators for a graph whose matrices are in `file`.
pub(super) fn operators(file: &Path) -> Result<OperatorDomain> {
    let doing = || format!("mapping the weights `{}`", file.display());
    let kernel = Kernel::detect().ok_or_else(|| {
        Error::model("this processor lacks the instructions that the model was built for")
            .advise("build it again on this machine, from its .gguf file: --model FILE.gguf")
    })?;
    let file = map(file).map_err(|error| Error::model(error).context(doing()))?;
    let (workspace, activations) = (Workspace::default(), Mutex::default());
    let shared = Arc::new(Shared { file, kernel, workspace, activations });
    let domain = OperatorDomain::new(DOMAIN)
        .and_then(|domain| domain.add(Product(shared.clone())))
        .and_then(|domain| domain.add(Rows(shared)));
    domain.map_err(|error| super::broken(&error))
}

#[expect(unsafe_code, reason = "a file is mapped")]
fn map(file: &Path) -> std::io::Result<Mmap> {
    let file = File::open(file)?;
    // SAFETY: the file lies in a folder that this user alone can write, as was checked, and this program changes no file
    // once it is there. Who changes it all the same changes weights: any bytes are some.
    unsafe { Mmap::map(&file) }
}

/// One matrix in the file.
struct Place {
    kind: TensorType,
    rows: usize,
    start: usize,
    len: usize,
    order: RowOrder,
}

/// The matrices that a node computes with; all of them are inside the file.
struct Places {
    shared: Arc<Shared>,
    row_len: usize,
    all: Vec<Place>,
}

impl Places {
    fn read(shared: &Arc<Shared>, node: &KernelContext<'_>) -> ort::Result<Self> {
        let wrong = |name: &str| ort::Error::new(format!("a node's `{name}` does not fit the weights' file"));
        let list = |name: &str| node.get::<Vec<i64>>(name).ok_or_else(|| wrong(name));
        let row_len = node.get::<i64>(ROW_LEN).ok_or_else(|| wrong(ROW_LEN))?;
        Self::new(shared, row_len, &[list(KINDS)?, list(HEIGHTS)?, list(STARTS)?, list(HEADS)?]).map_err(wrong)
    }

    /// Of a node's attributes, which may be anybody's; else the name of the one that is wrong.
    fn new(shared: &Arc<Shared>, row_len: i64, lists: &[Vec<i64>; 4]) -> Result<Self, &'static str> {
        let row_len = usize::try_from(row_len).ok().filter(|len| *len > 0).ok_or(ROW_LEN)?;
        let [kinds, heights, starts, heads] = lists;
        if lists.iter().any(|list| list.len() != kinds.len()) {
            return Err(KINDS);
        }
        let mut all = Vec::new();
        for (((&kind, &rows), &start), &head) in kinds.iter().zip(heights).zip(starts).zip(heads) {
            let number = |number: i64, name: &'static str| usize::try_from(number).map_err(|_| name);
            let (rows, start, head_dim) = (number(rows, HEIGHTS)?, number(start, STARTS)?, number(head, HEADS)?);
            let kind = u32::try_from(kind).ok().and_then(|code| TensorType::from_code(code, "").ok());
            let kind = kind.filter(|&kind| kernel::takes(kind, row_len) && rows > 0).ok_or(KINDS)?;
            let len = rows.checked_mul(row_len).and_then(|weights| kind.bytes(weights)).ok_or(HEIGHTS)?;
            if start.checked_add(len).is_none_or(|end| end > shared.file.len()) {
                return Err(STARTS);
            }
            let order = match head_dim {
                0 => RowOrder::Stored,
                _ if rows.is_multiple_of(head_dim) && head_dim.is_multiple_of(2) => RowOrder::RotaryHalves { head_dim },
                _ => return Err(HEADS),
            };
            all.push(Place { kind, rows, start, len, order });
        }
        match all.is_empty() {
            true => Err(KINDS),
            false => Ok(Self { shared: shared.clone(), row_len, all }),
        }
    }

    fn matrices(&self) -> Vec<Matrix<'_>> {
        let matrix = |place: &Place| Matrix {
            kind: place.kind,
            rows: place.rows,
            row_len: self.row_len,
            weights: &self.shared.file[place.start..place.start + place.len],
            order: place.order,
        };
        self.all.iter().map(matrix).collect()
    }
}

struct Product(Arc<Shared>);

impl Operator for Product {
    type Kernel<'attr> = Places;

    fn name(&self) -> &str {
        PRODUCT
    }

    fn inputs(&self) -> impl IntoIterator<Item = OperatorInput> {
        [OperatorInput::required(TensorElementType::Float32), OperatorInput::optional(TensorElementType::Float32)]
    }

    fn outputs(&self) -> impl IntoIterator<Item = OperatorOutput> {
        [OperatorOutput::required(TensorElementType::Float32)]
    }

    fn create_kernel<'attr>(&self, node: &KernelContext<'attr>) -> ort::Result<Places> {
        Places::read(&self.0, node)
    }

    fn infer_shape(&self, node: &mut ShapeInferenceContext) -> ort::Result<()> {
        let columns = node.attr::<Vec<i64>>(HEIGHTS)?.into_iter().fold(0, i64::saturating_add);
        let mut inputs = node.inputs();
        if let Some(ValueType::Tensor { shape, .. }) = inputs.first_mut()
            && let Some(last) = shape.last_mut()
        {
            *last = columns;
        }
        inputs.first().map_or(Ok(()), |output| node.set_output(0, output))
    }
}

impl OrtKernel for Places {
    fn compute(&mut self, context: &ComputeContext) -> ort::Result<()> {
        let missing = || ort::Error::new("a product has no activations");
        let input = context.input(0)?.ok_or_else(missing)?;
        let (shape, values) = input.try_extract_tensor::<f32>()?;
        let bias = context.input(1)?;
        let bias = bias.as_ref().map(|bias| bias.try_extract_tensor::<f32>()).transpose()?.map(|(_, bias)| bias);
        let mut shape = shape.to_vec();
        let columns: usize = self.all.iter().map(|place| place.rows).sum();
        match shape.last_mut() {
            Some(last) if *last == self.row_len as i64 => *last = columns as i64,
            _ => return Err(ort::Error::new("a product's activations have another width than its weights")),
        }
        if bias.is_some_and(|bias| bias.len() != columns) {
            return Err(ort::Error::new("a product's bias has another width than its weights"));
        }
        let mut output = context.output(0, shape)?.ok_or_else(missing)?;
        let (_, out) = output.try_extract_tensor_mut::<f32>()?;
        if values.is_empty() {
            return Ok(());
        }
        let Shared { kernel, workspace, activations, .. } = &*self.shared;
        let mut activations = activations.lock().unwrap_or_else(PoisonError::into_inner);
        kernel.round(values, self.row_len, &mut activations);
        kernel.multiply(&self.matrices(), &activations, bias, out, workspace, |tasks, perform| {
            context.par_for(tasks, 0, perform)
        })
    }
}

struct Rows(Arc<Shared>);

/// The matrix whose rows are looked up.
struct Lookup(Places);

impl Operator for Rows {
    type Kernel<'attr> = Lookup;

    fn name(&self) -> &str {
        ROWS
    }

    fn inputs(&self) -> impl IntoIterator<Item = OperatorInput> {
        [OperatorInput::required(TensorElementType::Int64)]
    }

    fn outputs(&self) -> impl IntoIterator<Item = OperatorOutput> {
        [OperatorOutput::required(TensorElementType::Float32)]
    }

    fn create_kernel<'attr>(&self, node: &KernelContext<'attr>) -> ort::Result<Lookup> {
        Places::read(&self.0, node).map(Lookup)
    }

    fn infer_shape(&self, node: &mut ShapeInferenceContext) -> ort::Result<()> {
        let row_len = node.attr::<i64>(ROW_LEN)?;
        let Some(ValueType::Tensor { shape, dimension_symbols, .. }) = node.inputs().into_iter().next() else {
            return Ok(());
        };
        let shape = Shape::new(shape.iter().copied().chain([row_len]));
        let dimension_symbols = SymbolicDimensions::new(dimension_symbols.iter().cloned().chain([String::new()]));
        node.set_output(0, &ValueType::Tensor { ty: TensorElementType::Float32, shape, dimension_symbols })
    }
}

impl OrtKernel for Lookup {
    fn compute(&mut self, context: &ComputeContext) -> ort::Result<()> {
        let missing = || ort::Error::new("no rows are asked for");
        let input = context.input(0)?.ok_or_else(missing)?;
        let (shape, ids) = input.try_extract_tensor::<i64>()?;
        let mut shape = shape.to_vec();
        shape.push(self.0.row_len as i64);
        let mut output = context.output(0, shape)?.ok_or_else(missing)?;
        let (_, out) = output.try_extract_tensor_mut::<f32>()?;
        let matrices = self.0.matrices();
        for (id, row) in ids.iter().zip(out.chunks_exact_mut(self.0.row_len)) {
            let weights = usize::try_from(*id).ok().and_then(|id| matrices[0].weights_of(id));
            matrices[0].kind.decode(weights.ok_or_else(|| ort::Error::new("a token has no row"))?, row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_do_not_fit_the_file_are_refused() {
        let Some(kernel) = Kernel::detect() else {
            return println!("skipped: this processor lacks what our kernels need");
        };
        let file = tempfile::NamedTempFile::new().unwrap();
        let kind = TensorType::Q8_0;
        let bytes = kind.bytes(4 * 64).unwrap() as i64;
        file.as_file().set_len(bytes as u64 + 8).unwrap();
        let (workspace, activations) = (Workspace::default(), Mutex::default());
        let shared = Arc::new(Shared { file: map(file.path()).unwrap(), kernel, workspace, activations });
        let places = |row_len, lists: [&[i64]; 4]| Places::new(&shared, row_len, &lists.map(<[i64]>::to_vec));
        let code = i64::from(kind.code());
        assert!(places(64, [&[code], &[4], &[8], &[2]]).is_ok());
        assert!(places(64, [&[code, code], &[2, 2], &[0, 8], &[0, 2]]).is_ok());
        for row_len in [0, -64, 32 + 1, i64::MAX, i64::MIN] {
            assert!(places(row_len, [&[code], &[4], &[8], &[2]]).is_err(), "rows of {row_len}");
        }
        let lists: [[&[i64]; 4]; 12] = [
            [&[], &[], &[], &[]],
            [&[code], &[4, 4], &[8], &[2]],
            [&[code], &[4], &[], &[2]],
            [&[code, code], &[4], &[8], &[2]],
            [&[code], &[4], &[9], &[2]],
            [&[code], &[5], &[8], &[0]],
            [&[code], &[0], &[8], &[2]],
            [&[code], &[i64::MAX], &[8], &[0]],
            [&[code], &[4], &[i64::MAX], &[2]],
            [&[code], &[4], &[-1], &[2]],
            [&[code], &[4], &[8], &[3]],
            [&[i64::MAX], &[4], &[8], &[2]],
        ];
        for lists in lists {
            assert!(places(64, lists).is_err(), "{lists:?}");
        }
    }
}
