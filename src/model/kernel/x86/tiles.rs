//! Several rows of activations times some columns, whose weights are unpacked once for all rows.

use std::arch::x86_64::*;
use std::ops::Range;

use super::blocks::{Block, Grid};
use super::vector::Vector;
use super::{Activations, BLOCK};
use crate::model::kernel::activations::Row;

/// Columns that are unpacked together.
const EIGHT: usize = 8;
/// Vectors of columns in a tile.
const VECTORS: usize = 2;
/// Columns of the widest tile.
pub(super) const WIDEST: usize = VECTORS * 16;
/// Blocks of a tile: with [`WIDEST`] columns its numbers fill two thirds of a level 1 cache of 48 KiB.
const DEPTH: usize = 1024 / BLOCK;

/// Columns of a tile.
pub(super) const fn columns<V: Vector>() -> usize {
    VECTORS * V::LANES
}

/// A part of some columns, unpacked. Only the first `VECTORS * V::LANES` columns are used.
#[derive(Default)]
struct Depth {
    /// Four numbers of each column together, as the processor adds them up.
    q: [[[u8; 4]; WIDEST]; BLOCK / 4],
    scales: [[f32; WIDEST]; 2],
    minimums: [f32; WIDEST],
}

/// What a thread needs to multiply, kept from one tile to the next.
#[derive(Default)]
pub(super) struct Tile {
    depths: Vec<Depth>,
    sums: Vec<[f32; WIDEST]>,
}

impl Tile {
    /// Multiplies all rows of `activations` with some columns, whose weights `weights` gives, and hands each row's
    /// products to `take`. What follows these columns, as far as there is any, is likely to be multiplied next.
    ///
    /// # Safety
    /// The processor has AVX2, F16C and what `V` asks for.
    #[inline(always)]
    pub unsafe fn multiply<'w, B: Block, V: Vector>(
        &mut self,
        columns: usize,
        weights: impl Fn(usize) -> Option<&'w [u8]>,
        activations: &Activations,
        mut take: impl FnMut(usize, &[f32]),
    ) {
        let rows = activations.rows();
        self.depths.resize_with(DEPTH, Depth::default);
        self.sums.clear();
        self.sums.resize(rows, [0.0; WIDEST]);
        let blocks = weights(0).map_or(0, |weights| weights.len() / B::BYTES * B::WEIGHTS / BLOCK);
        let bytes = |first: usize| {
            first * BLOCK / B::WEIGHTS * B::BYTES..(first + DEPTH).min(blocks) * BLOCK / B::WEIGHTS * B::BYTES
        };
        let ahead = |columns: Range<usize>, first: usize| {
            for weights in columns.filter_map(&weights) {
                // SAFETY: as the caller promises.
                unsafe { prefetch(&weights[bytes(first)]) };
            }
        };
        ahead(0..columns, 0);
        for first in (0..blocks).step_by(DEPTH) {
            let depth = DEPTH.min(blocks - first);
            for column in (0..columns).step_by(EIGHT) {
                // Columns that are too many are the last one once more.
                let weights: [&[u8]; EIGHT] = std::array::from_fn(|i| {
                    let weights = weights((column + i).min(columns - 1));
                    &weights.unwrap_or_default()[bytes(first)]
                });
                // SAFETY: as the caller promises.
                unsafe { unpack::<B>(column, weights, &mut self.depths[..depth]) };
            }
            // While these are multiplied the next ones come.
            match first + DEPTH < blocks {
                true => ahead(0..columns, first + DEPTH),
                false => ahead(columns..2 * columns, 0),
            }
            let part = |row| activations.row(row).part(first, depth);
            let mut row = 0;
            while row < rows {
                // As many rows as there are registers for.
                // SAFETY: as the caller promises.
                row += unsafe {
                    match rows - row {
                        4.. if V::LANES == 16 => self.add::<B, V, 4>(row, depth, part),
                        2.. => self.add::<B, V, 2>(row, depth, part),
                        _ => self.add::<B, V, 1>(row, depth, part),
                    }
                };
            }
        }
        for (row, sums) in self.sums.iter().enumerate() {
            take(row, &sums[..columns]);
        }
    }

    /// Adds the products of `ROWS` rows with the tile to their sums.
    #[inline(always)]
    unsafe fn add<'a, B: Block, V: Vector, const ROWS: usize>(
        &mut self,
        row: usize,
        depth: usize,
        part: impl Fn(usize) -> Row<'a>,
    ) -> usize {
        let rows = std::array::from_fn(|i| part(row + i));
        let sums = self.sums[row..].first_chunk_mut::<ROWS>().expect("as many rows as counted");
        // SAFETY: as the caller promises.
        unsafe { add_products::<B, V, ROWS>(&self.depths[..depth], &rows, sums) };
        ROWS
    }
}

/// Takes eight columns of the tile apart.
#[inline(always)]
unsafe fn unpack<B: Block>(column: usize, weights: [&[u8]; EIGHT], depths: &mut [Depth]) {
    for (at, depths) in depths.chunks_mut(B::WEIGHTS / BLOCK).enumerate() {
        unsafe {
            let mut q = [[_mm256_setzero_si256(); EIGHT]; 256 / BLOCK];
            for (i, weights) in weights.iter().enumerate() {
                let block = &weights[at * B::BYTES..][..B::BYTES];
                B::numbers(block, |depth, numbers| q[depth][i] = numbers);
                let Grid { scales, minimums } = B::grid(block);
                for (depth, to) in depths.iter_mut().enumerate() {
                    to.scales[0][column + i] = scales[2 * depth];
                    if B::HALVES {
                        to.scales[1][column + i] = scales[2 * depth + 1];
                    }
                    if B::MINIMUM {
                        to.minimums[column + i] = minimums[depth];
                    }
                }
            }
            for (to, q) in depths.iter_mut().zip(q) {
                for (to, fours) in to.q.iter_mut().zip(transposed(q)) {
                    _mm256_storeu_si256(to[column..][..EIGHT].as_mut_ptr().cast(), fours);
                }
            }
        }
    }
}

/// Brings bytes near before they are needed: rows that are taken apart together lie too far from each other for the
/// processor to see where it goes on.
#[inline(always)]
unsafe fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        // SAFETY: the caller has the instruction, and it reads nothing that could be seen.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}

/// From eight rows of eight times four bytes to eight columns of them.
#[inline(always)]
unsafe fn transposed(rows: [__m256i; EIGHT]) -> [__m256i; EIGHT] {
    unsafe {
        let [a, b, c, d, e, f, g, h] = rows;
        let pairs = |a, b| [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)];
        let fours = |[a, b]: [__m256i; 2], [c, d]: [__m256i; 2]| {
            [
                _mm256_unpacklo_epi64(a, c),
                _mm256_unpackhi_epi64(a, c),
                _mm256_unpacklo_epi64(b, d),
                _mm256_unpackhi_epi64(b, d),
            ]
        };
        let (first, second) = (fours(pairs(a, b), pairs(c, d)), fours(pairs(e, f), pairs(g, h)));
        std::array::from_fn(|i| match i < 4 {
            true => _mm256_permute2x128_si256::<0x20>(first[i], second[i]),
            false => _mm256_permute2x128_si256::<0x31>(first[i - 4], second[i - 4]),
        })
    }
}

/// Adds to `sums` the products of some rows with a tile.
#[inline(always)]
unsafe fn add_products<B: Block, V: Vector, const ROWS: usize>(
    depths: &[Depth],
    rows: &[Row<'_>; ROWS],
    sums: &mut [[f32; WIDEST]; ROWS],
) {
    unsafe {
        let at = |vector: usize| vector * V::LANES..(vector + 1) * V::LANES;
        let mut totals: [[V::Floats; VECTORS]; ROWS] =
            std::array::from_fn(|row| std::array::from_fn(|vector| V::load(&sums[row][at(vector)])));
        for (i, depth) in depths.iter().enumerate() {
            let halves = if B::HALVES { 2 } else { 1 };
            let quads = BLOCK / 4 / halves;
            let mut parts: [[Option<V::Floats>; VECTORS]; ROWS] = [[None; VECTORS]; ROWS];
            for half in 0..halves {
                let mut products: [[V::Ints; VECTORS]; ROWS] = std::array::from_fn(|row| {
                    let [first, second] = rows[row].sums[i];
                    let sum = if !B::HALVES {
                        first + second
                    } else if half == 0 {
                        first
                    } else {
                        second
                    };
                    let start = match B::ZERO {
                        0 => V::repeat::<0>(0),
                        8 => V::repeat::<3>(-sum),
                        16 => V::repeat::<4>(-sum),
                        32 => V::repeat::<5>(-sum),
                        _ => V::repeat::<7>(-sum),
                    };
                    [start; VECTORS]
                });
                for quad in half * quads..(half + 1) * quads {
                    let q: [V::Ints; VECTORS] = std::array::from_fn(|vector| V::load_bytes(&depth.q[quad][at(vector)]));
                    for row in 0..ROWS {
                        let a = four(&rows[row].q[i], quad);
                        for vector in 0..VECTORS {
                            products[row][vector] = if B::ZERO == 128 {
                                V::add_products::<true>(products[row][vector], q[vector], a)
                            } else {
                                V::add_products::<false>(products[row][vector], q[vector], a)
                            };
                        }
                    }
                }
                for vector in 0..VECTORS {
                    let scale = V::load(&depth.scales[half][at(vector)]);
                    for row in 0..ROWS {
                        let products = V::to_floats(products[row][vector]);
                        parts[row][vector] = Some(match parts[row][vector] {
                            None => V::times(products, scale),
                            Some(part) => V::times_plus(products, scale, part),
                        });
                    }
                }
            }
            for vector in 0..VECTORS {
                for row in 0..ROWS {
                    if let Some(part) = parts[row][vector] {
                        totals[row][vector] = V::one_times_plus(rows[row].scales[i], part, totals[row][vector]);
                    }
                    if B::MINIMUM {
                        let minimum = V::load(&depth.minimums[at(vector)]);
                        totals[row][vector] = V::one_times_plus(-rows[row].totals[i], minimum, totals[row][vector]);
                    }
                }
            }
        }
        for row in 0..ROWS {
            for vector in 0..VECTORS {
                V::store(totals[row][vector], &mut sums[row][at(vector)]);
            }
        }
    }
}

#[inline(always)]
fn four(q: &[i8; BLOCK], quad: usize) -> i32 {
    let at = 4 * quad;
    i32::from_le_bytes([q[at] as u8, q[at + 1] as u8, q[at + 2] as u8, q[at + 3] as u8])
}
