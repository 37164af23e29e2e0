//! Products of activations with a matrix in GGUF's blocks, as they lie in the file: nothing is unpacked ahead, so a model
//! takes the memory of its file and starts as soon as the file is mapped.
//!
//! As in llama.cpp, and in `MatMulNBits` at accuracy level 4, activations are rounded to 8 bits, here in blocks of 32
//! with a scale each, and multiplied as whole numbers. The weights are exactly those of the file.
//!
//! One row of activations is multiplied by dots, which read each weight once and unpack it in registers. For more rows,
//! tiles of some columns are unpacked once and multiplied with all of them.
//!
//! This room knows neither files nor ONNX Runtime. Its instructions are those of x86-64 from AVX2 on. Elsewhere models are
//! built for `MatMulNBits` instead.

mod activations;
mod output;

#[cfg(target_arch = "x86_64")]
#[path = "x86/mod.rs"]
mod processor;
#[cfg(not(target_arch = "x86_64"))]
#[path = "elsewhere.rs"]
mod processor;

use self::output::Output;
pub(crate) use self::{activations::Activations, processor::Kernel, processor::Workspace};
use super::quant::{BLOCK, TensorType};
use super::row_order::RowOrder;

/// Bytes of weights that a thread multiplies before it asks for more.
const BYTES_A_TASK: usize = 64 << 10;

/// Tasks that the tiles of a matrix make at least, if there are so many.
const MIN_TASKS: usize = 16;

/// A matrix as a file holds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    pub kind: TensorType,
    pub rows: usize,
    pub row_len: usize,
    /// Of all rows; its length agrees with the numbers above.
    pub weights: &'a [u8],
    /// Which rows come out where.
    pub order: RowOrder,
}

impl<'a> Matrix<'a> {
    /// The weights of the row that comes out as number `row`, if there are so many.
    pub fn weights_of(&self, row: usize) -> Option<&'a [u8]> {
        let bytes = self.weights.len() / self.rows;
        (row < self.rows).then(|| &self.weights[self.order.source(row) * bytes..][..bytes])
    }
}

/// Whether a matrix of such rows can be multiplied with as it is.
pub(crate) fn takes(kind: TensorType, row_len: usize) -> bool {
    use TensorType::{Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0};
    matches!(kind, Q4_0 | Q4_1 | Q5_0 | Q5_1 | Q8_0 | Q4K | Q5K | Q6K) && row_len.is_multiple_of(kind.granularity())
}

/// Some rows of one matrix that a thread multiplies at once.
struct Task<'a> {
    matrix: &'a Matrix<'a>,
    first: usize,
    /// Where its products stand in a row of the output.
    column: usize,
    rows: usize,
}

impl Kernel {
    /// Multiplies `activations` with each of `parts`, whose products stand side by side in the rows of `out`, and adds
    /// `bias` to each row. `spread` calls what it is given for each number below the one that it is told, in threads or
    /// in turn.
    ///
    /// # Panics
    /// When the sizes do not agree.
    pub fn multiply<E>(
        self,
        parts: &[Matrix<'_>],
        activations: &Activations,
        bias: Option<&[f32]>,
        out: &mut [f32],
        workspace: &Workspace,
        spread: impl FnOnce(usize, &(dyn Fn(usize) + Sync)) -> Result<(), E>,
    ) -> Result<(), E> {
        let columns = parts.iter().map(|part| part.rows).sum();
        assert_eq!(out.len(), activations.rows() * columns, "room for all products");
        assert!(bias.is_none_or(|bias| bias.len() == columns), "a number for each column");
        let tasks = self.tasks(parts, activations.rows());
        let out = Output::new(out, columns, bias);
        spread(tasks.len(), &|task| self.perform(&tasks[task], activations, &out, workspace))
    }

    fn tasks<'a>(self, parts: &'a [Matrix<'a>], rows: usize) -> Vec<Task<'a>> {
        let mut tasks = Vec::new();
        let mut column = 0;
        for matrix in parts {
            assert!(takes(matrix.kind, matrix.row_len) && matrix.row_len % BLOCK == 0, "{:?}", matrix.kind);
            assert_eq!(Some(matrix.weights.len()), matrix.kind.bytes(matrix.rows * matrix.row_len));
            let step = match self.columns_of_tiles(rows) {
                // Several at a time, since one brings the next nearer, but enough for all threads.
                Some(columns) => (matrix.rows / columns / MIN_TASKS).clamp(1, 8) * columns,
                None => (BYTES_A_TASK * matrix.rows).div_ceil(matrix.weights.len()),
            };
            for first in (0..matrix.rows).step_by(step) {
                let rows = step.min(matrix.rows - first);
                tasks.push(Task { matrix, first, column: column + first, rows });
            }
            column += matrix.rows;
        }
        tasks
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
