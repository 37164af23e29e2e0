//! Blocks taken apart: small whole numbers and the grids they stand on. Decoding and packing both begin here.

use super::{BLOCK, SUPER_BLOCK, TensorType, half_at};

/// What a run of whole numbers `q` means: weight = unit × times × q + least.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grid {
    pub unit: f32,
    /// Whole, so that the runs of one block can be brought onto one grid.
    pub times: i32,
    pub least: f32,
}

impl Grid {
    pub fn scale(self) -> f32 {
        self.unit * self.times as f32
    }

    fn of(scale: f32, least: f32) -> Self {
        Self { unit: scale, times: 1, least }
    }
}

/// One block: as many numbers as it has weights, and a grid for every `run` of them.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub q: [i8; SUPER_BLOCK],
    grids: [Grid; SUPER_BLOCK / 16],
    pub run: usize,
}

/// The levels of the IQ4 types.
const LEVELS: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

impl Unpacked {
    /// Takes `block` apart, which has the length of one of `kind`. Floats have no grid and are not for this.
    pub fn of(kind: TensorType, block: &[u8]) -> Self {
        let mut this = Self { q: [0; SUPER_BLOCK], grids: [Grid::default(); SUPER_BLOCK / 16], run: BLOCK };
        match kind {
            TensorType::Q4_0 | TensorType::Q4_1 | TensorType::Q5_0 | TensorType::Q5_1 | TensorType::Iq4Nl => {
                this.small(kind, block);
            }
            TensorType::Q8_0 => {
                this.grids[0] = Grid::of(half_at(block, 0), 0.0);
                for (q, byte) in this.q.iter_mut().zip(&block[2..]) {
                    *q = byte.cast_signed();
                }
            }
            TensorType::Q2K => this.q2_k(block),
            TensorType::Q3K => this.q3_k(block),
            TensorType::Q4K | TensorType::Q5K => this.q45_k(kind, block),
            TensorType::Q6K => this.q6_k(block),
            TensorType::Iq4Xs => this.iq4_xs(block),
            TensorType::F32 | TensorType::F16 | TensorType::Bf16 => unreachable!("floats are decoded as they are"),
        }
        this
    }

    /// The grid of weight `i`.
    pub fn grid(&self, i: usize) -> Grid {
        self.grids[i / self.run]
    }

    pub fn write(&self, out: &mut [f32]) {
        for ((weights, q), grid) in out.chunks_mut(self.run).zip(self.q.chunks(self.run)).zip(self.grids) {
            let scale = grid.scale();
            for (weight, &q) in weights.iter_mut().zip(q) {
                *weight = scale * f32::from(q) + grid.least;
            }
        }
    }

    /// The blocks of 32 with nibbles: scale, minimum of the `_1` types, fifth bits of the Q5 ones, nibbles.
    fn small(&mut self, kind: TensorType, block: &[u8]) {
        let with_least = matches!(kind, TensorType::Q4_1 | TensorType::Q5_1);
        let fives = matches!(kind, TensorType::Q5_0 | TensorType::Q5_1);
        self.grids[0] = Grid::of(half_at(block, 0), if with_least { half_at(block, 2) } else { 0.0 });
        let rest = &block[if with_least { 4 } else { 2 }..];
        let (high, packed) = rest.split_at(if fives { 4 } else { 0 });
        nibbles(packed, |i, q| {
            let fifth = high.get(i / 8).map_or(0, |byte| (byte >> (i % 8) & 1) << 4);
            let q = (q | fifth).cast_signed();
            self.q[i] = match kind {
                TensorType::Q4_0 => q - 8,
                TensorType::Q5_0 => q - 16,
                TensorType::Iq4Nl => LEVELS[q as usize],
                _ => q,
            };
        });
    }

    /// 16 bytes of scale and minimum, 64 of numbers of 2 bits, the two scales of those.
    fn q2_k(&mut self, block: &[u8]) {
        self.run = 16;
        let (unit, least) = (half_at(block, 80), half_at(block, 82));
        for (grid, byte) in self.grids.iter_mut().zip(&block[..16]) {
            *grid = Grid { unit, times: i32::from(byte & 15), least: -(least * f32::from(byte >> 4)) };
        }
        for (i, q) in self.q.iter_mut().enumerate() {
            *q = two_bits(&block[16..80], i);
        }
    }

    /// 32 bytes of third bits, 64 of lower ones, 12 of scales of 6 bits, the scale of those.
    fn q3_k(&mut self, block: &[u8]) {
        self.run = 16;
        let (unit, scales) = (half_at(block, 108), &block[96..108]);
        for (i, grid) in self.grids.iter_mut().enumerate() {
            let low = scales[i % 8] >> (i / 8 * 4) & 15;
            let high = scales[8 + i % 4] >> (i / 4 * 2) & 3;
            *grid = Grid { unit, times: i32::from(low | high << 4) - 32, least: 0.0 };
        }
        for (i, q) in self.q.iter_mut().enumerate() {
            let third = block[i % 32] >> (i / 32) & 1;
            *q = two_bits(&block[32..96], i) - if third == 0 { 4 } else { 0 };
        }
    }

    /// Two scales, 12 bytes of 6-bit scales and minimums, fifth bits of Q5_K, nibbles.
    fn q45_k(&mut self, kind: TensorType, block: &[u8]) {
        let (unit, least) = (half_at(block, 0), half_at(block, 2));
        let s = &block[4..16];
        for i in 0..8 {
            let (times, minimum) = match i {
                0..4 => (s[i] & 63, s[i + 4] & 63),
                _ => (s[i + 4] & 15 | s[i - 4] >> 6 << 4, s[i + 4] >> 4 | s[i] >> 6 << 4),
            };
            self.grids[i] = Grid { unit, times: times.into(), least: -(least * f32::from(minimum)) };
        }
        let (high, packed) = block[16..].split_at(if kind == TensorType::Q5K { 32 } else { 0 });
        for (i, q) in self.q.iter_mut().enumerate() {
            let (group, within) = (i / 64, i % 64);
            let nibble = packed[group * 32 + within % 32] >> (within / 32 * 4) & 15;
            let fifth = high.get(i % 32).map_or(0, |byte| (byte >> (i / 32) & 1) << 4);
            *q = (nibble | fifth).cast_signed();
        }
    }

    /// 128 bytes of nibbles, 64 of upper bits, 16 of scales, the scale of those.
    fn q6_k(&mut self, block: &[u8]) {
        self.run = 16;
        let unit = half_at(block, 208);
        for (grid, byte) in self.grids.iter_mut().zip(&block[192..208]) {
            *grid = Grid { unit, times: byte.cast_signed().into(), least: 0.0 };
        }
        for (i, q) in self.q.iter_mut().enumerate() {
            let (group, within) = (i / 128, i % 128);
            let nibble = block[group * 64 + within % 64] >> (within / 64 * 4) & 15;
            let upper = block[128 + group * 32 + within % 32] >> (within / 32 * 2) & 3;
            *q = (nibble | upper << 4).cast_signed() - 32;
        }
    }

    /// A scale, 8 scales of 6 bits in two pieces, nibbles.
    fn iq4_xs(&mut self, block: &[u8]) {
        let (unit, high) = (half_at(block, 0), u16::from_le_bytes([block[2], block[3]]));
        for i in 0..8 {
            let low = block[4 + i / 2] >> (i % 2 * 4) & 15;
            let times = i32::from(low) | i32::from(high >> (2 * i) & 3) << 4;
            self.grids[i] = Grid { unit, times: times - 32, least: 0.0 };
            let packed = &block[8 + i * 16..][..16];
            nibbles(packed, |j, q| self.q[i * BLOCK + j] = LEVELS[usize::from(q)]);
        }
    }
}

/// Number `i` of those that lie four to a byte: 32 bytes for each 128 of them, a pair of bits for each 32.
fn two_bits(packed: &[u8], i: usize) -> i8 {
    (packed[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3).cast_signed()
}

/// The low nibbles are the block's first half, the high ones its second.
fn nibbles(packed: &[u8], mut each: impl FnMut(usize, u8)) {
    for (i, byte) in packed.iter().enumerate() {
        each(i, byte & 15);
        each(i + BLOCK / 2, byte >> 4);
    }
}
