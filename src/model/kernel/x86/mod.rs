//! The products on x86-64: with AVX2, or with AVX-512 and its VNNI and VBMI.
//!
//! What is below this file is generic over the kind of blocks and over the vectors, so that it is written once; every
//! function of it is inlined into one of the few here that say which instructions they need. A [`Kernel`] exists only
//! where those are there.

#![expect(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    reason = "Two things are unsafe in these files, and each of them for one reason. Instructions: the processor has \
              them, which every function's caller promises, up to those here that a Kernel stands for. Loads and stores \
              of vectors: from and to slices and arrays that were cut to the vector's length just before."
)]

mod blocks;
mod dots;
mod dots512;
mod round;
mod tiles;
mod vector;

use std::sync::{Mutex, PoisonError};

use self::blocks::{Legacy, Q6K, Q8_0, Q45K};
use self::dots512::Dot512;
use self::tiles::Tile;
use self::vector::{Avx2, Avx512, Vector};
use super::activations::Row;
use super::output::Output;
use super::{Activations, BLOCK, Task, TensorType};

/// Rows of activations from which on unpacking a tile for all of them costs less than unpacking for each.
const MANY: usize = 2;

const WITHIN: &str = "a task's rows are within the matrix";

/// Which instructions this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kernel(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Avx2,
    Avx512,
}

/// Room for tiles, which threads take and give back.
#[derive(Default)]
pub(crate) struct Workspace(Mutex<Vec<Tile>>);

impl Kernel {
    /// The best that this processor can do, if it can.
    pub fn detect() -> Option<Self> {
        Self::all().pop()
    }

    /// Whatever this processor can do, the best last.
    pub(super) fn all() -> Vec<Self> {
        let avx2 =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni")
            && is_x86_feature_detected!("avx512vbmi");
        let all = [(avx2, Self(Level::Avx2)), (avx512, Self(Level::Avx512))];
        all.into_iter().filter_map(|(has, kernel)| has.then_some(kernel)).collect()
    }

    /// Rounds rows of `row_len` values, a multiple of 32.
    pub fn round(self, values: &[f32], row_len: usize, into: &mut Activations) {
        into.resize(values.len() / row_len, row_len);
        // SAFETY: a kernel exists only where AVX2 is.
        unsafe { round_avx2(values, into) }
    }

    /// How many columns tiles have for so many rows of activations, if tiles are worth their making.
    pub(super) fn columns_of_tiles(self, rows: usize) -> Option<usize> {
        (rows >= MANY).then_some(match self.0 {
            Level::Avx2 => tiles::columns::<Avx2>(),
            Level::Avx512 => tiles::columns::<Avx512>(),
        })
    }

    pub(super) fn perform(self, task: &Task<'_>, activations: &Activations, out: &Output<'_>, workspace: &Workspace) {
        let work = Work { kernel: self, task, activations, out, workspace };
        match task.matrix.kind {
            TensorType::Q4_0 => work.with::<Legacy<false, false>>(),
            TensorType::Q4_1 => work.with::<Legacy<false, true>>(),
            TensorType::Q5_0 => work.with::<Legacy<true, false>>(),
            TensorType::Q5_1 => work.with::<Legacy<true, true>>(),
            TensorType::Q8_0 => work.with::<Q8_0>(),
            TensorType::Q4K => work.with::<Q45K<false>>(),
            TensorType::Q5K => work.with::<Q45K<true>>(),
            TensorType::Q6K => work.with::<Q6K>(),
            kind => unreachable!("{kind:?} was refused before"),
        }
    }
}

/// A task with all that it needs.
struct Work<'a> {
    kernel: Kernel,
    task: &'a Task<'a>,
    activations: &'a Activations,
    out: &'a Output<'a>,
    workspace: &'a Workspace,
}

impl Work<'_> {
    fn with<B: Dot512>(&self) {
        let locked = || self.workspace.0.lock().unwrap_or_else(PoisonError::into_inner);
        if self.activations.rows() < MANY {
            // SAFETY: the kernel says which instructions there are.
            return match self.kernel.0 {
                Level::Avx2 => unsafe { dots_avx2::<B>(self) },
                Level::Avx512 => unsafe { dots_avx512::<B>(self) },
            };
        }
        let mut tile = locked().pop().unwrap_or_default();
        // SAFETY: the kernel says which instructions there are.
        match self.kernel.0 {
            Level::Avx2 => unsafe { tiles_avx2::<B>(self, &mut tile) },
            Level::Avx512 => unsafe { tiles_avx512::<B>(self, &mut tile) },
        }
        locked().push(tile);
    }

    #[inline(always)]
    fn dots(&self, dot: impl Fn(&[u8], Row<'_>) -> f32) {
        let Task { matrix, first, column, rows } = *self.task;
        for i in 0..rows {
            let weights = matrix.weights_of(first + i).expect(WITHIN);
            for row in 0..self.activations.rows() {
                let product = dot(weights, self.activations.row(row));
                // SAFETY: each task has columns of its own.
                unsafe { self.out.put(row, column + i, &[product]) };
            }
        }
    }

    #[inline(always)]
    unsafe fn tiles<B: Dot512, V: Vector>(&self, tile: &mut Tile) {
        let Task { matrix, first, column, rows } = *self.task;
        for start in (0..rows).step_by(tiles::columns::<V>()) {
            let columns = tiles::columns::<V>().min(rows - start);
            let weights = |row| matrix.weights_of(first + start + row);
            // SAFETY: the caller has the instructions; each task has columns of its own.
            unsafe {
                tile.multiply::<B, V>(columns, weights, self.activations, |row, products| {
                    self.out.put(row, column + start, products);
                });
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn dots_avx2<B: Dot512>(work: &Work<'_>) {
    // SAFETY: this function has the instructions.
    work.dots(|weights, a| unsafe { B::dot(weights, a) });
}

#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni,avx512vbmi")]
fn dots_avx512<B: Dot512>(work: &Work<'_>) {
    // SAFETY: this function has the instructions.
    work.dots(|weights, a| unsafe { B::dot_512(weights, a) });
}

#[target_feature(enable = "avx2,fma,f16c")]
fn tiles_avx2<B: Dot512>(work: &Work<'_>, tile: &mut Tile) {
    // SAFETY: this function has the instructions.
    unsafe { work.tiles::<B, Avx2>(tile) }
}

#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni,avx512vbmi")]
fn tiles_avx512<B: Dot512>(work: &Work<'_>, tile: &mut Tile) {
    // SAFETY: this function has the instructions.
    unsafe { work.tiles::<B, Avx512>(tile) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn round_avx2(values: &[f32], into: &mut Activations) {
    // SAFETY: this function has the instructions.
    into.set(0, values.as_chunks::<BLOCK>().0.iter().map(|block| unsafe { round::block(block) }));
}
