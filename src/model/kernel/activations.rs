//! Activations in 8 bits.

use super::BLOCK;

/// Weights of the shortest run that shares a scale.
pub(super) const RUN: usize = BLOCK / 2;

/// Rows of activations, each 32 of them as whole numbers with one scale: value = scale × q.
#[derive(Debug, Default)]
pub(crate) struct Activations {
    /// Blocks in a row.
    width: usize,
    q: Vec<[i8; BLOCK]>,
    scales: Vec<f32>,
    /// Of the numbers of each [`RUN`].
    sums: Vec<[i32; 2]>,
    /// Of the values of each [`BLOCK`].
    totals: Vec<f32>,
}

/// Some blocks of one row of [`Activations`].
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub q: &'a [[i8; BLOCK]],
    pub scales: &'a [f32],
    pub sums: &'a [[i32; 2]],
    pub totals: &'a [f32],
}

impl Activations {
    /// Makes room for `rows` rows of `row_len` values, a multiple of 32.
    pub fn resize(&mut self, rows: usize, row_len: usize) {
        assert!(row_len > 0 && row_len.is_multiple_of(BLOCK), "whole blocks, not {row_len} values");
        self.width = row_len / BLOCK;
        let blocks = rows * self.width;
        self.q.resize(blocks, [0; BLOCK]);
        self.scales.resize(blocks, 0.0);
        self.sums.resize(blocks, [0; 2]);
        self.totals.resize(blocks, 0.0);
    }

    pub fn rows(&self) -> usize {
        self.q.len().checked_div(self.width).unwrap_or(0)
    }

    /// Blocks from number `first` on as `rounded` says.
    pub(super) fn set(&mut self, first: usize, rounded: impl IntoIterator<Item = ([i8; BLOCK], f32)>) {
        for (i, (q, scale)) in rounded.into_iter().enumerate().map(|(i, block)| (first + i, block)) {
            let sum = |run: &[i8]| run.iter().map(|&q| i32::from(q)).sum::<i32>();
            let sums = [sum(&q[..RUN]), sum(&q[RUN..])];
            (self.q[i], self.scales[i], self.sums[i]) = (q, scale, sums);
            self.totals[i] = scale * (sums[0] + sums[1]) as f32;
        }
    }

    pub(super) fn row(&self, row: usize) -> Row<'_> {
        let all = Row { q: &self.q, scales: &self.scales, sums: &self.sums, totals: &self.totals };
        all.part(row * self.width, self.width)
    }
}

impl<'a> Row<'a> {
    pub fn part(self, first: usize, blocks: usize) -> Row<'a> {
        let of = first..first + blocks;
        Row {
            q: &self.q[of.clone()],
            scales: &self.scales[of.clone()],
            sums: &self.sums[of.clone()],
            totals: &self.totals[of],
        }
    }
}
