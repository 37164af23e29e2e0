//! 32 weights as 32 bytes with one scale and one zero point, as near to what they were as can be had cheaply.

use super::unpack::{Grid, Unpacked};
use super::{Affine, BLOCK, SYMMETRIC};

/// Packs the `i`-th 32 weights of a block.
pub(super) fn block(unpacked: &Unpacked, i: usize, symmetric: bool, out: &mut [u8]) -> Affine {
    let start = i * BLOCK;
    let q: &[i8] = &unpacked.q[start..start + BLOCK];
    let grids = [unpacked.grid(start), unpacked.grid(start + BLOCK / 2)];
    let packed = match (symmetric, unpacked.run) {
        (true, _) => common_grid(q, grids, out),
        (false, BLOCK) => fine_grid(q, grids[0], out),
        (false, _) => None,
    };
    packed.unwrap_or_else(|| {
        let mut weights = [0.0; BLOCK];
        for (i, weight) in weights.iter_mut().enumerate() {
            let grid = grids[i / (BLOCK / 2)];
            *weight = grid.scale() * f32::from(q[i]) + grid.least;
        }
        if symmetric { self::symmetric(&weights, out) } else { range(&weights, out) }
    })
}

/// Both halves exactly, if their scales are multiples of one that leaves all products within a byte.
fn common_grid(q: &[i8], [first, second]: [Grid; 2], out: &mut [u8]) -> Option<Affine> {
    let divisor = gcd(first.times.unsigned_abs(), second.times.unsigned_abs()).max(1).cast_signed();
    // The other sign has room for one more: -128 but not 128.
    for unit in [divisor, -divisor] {
        let times = [first.times / unit, second.times / unit];
        let product = |(i, &q): (usize, &i8)| times[i / (BLOCK / 2)] * i32::from(q);
        if q.iter().enumerate().map(product).all(|product| i8::try_from(product).is_ok()) {
            for (byte, product) in out.iter_mut().zip(q.iter().enumerate().map(product)) {
                *byte = (product + i32::from(SYMMETRIC)) as u8;
            }
            return Some(Affine { scale: first.unit * unit as f32, zero: SYMMETRIC });
        }
    }
    None
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `scale × q + least` with the step divided by the whole number that makes `least` most nearly a whole number of steps:
/// every weight stays where it was but for one shift that they share.
fn fine_grid(q: &[i8], grid: Grid, out: &mut [u8]) -> Option<Affine> {
    let (scale, highest) = (grid.scale(), f32::from(*q.iter().max()?));
    let shift = grid.least / scale;
    if scale <= 0.0 || !shift.is_finite() {
        return None;
    }
    // The byte of q is parts × q + place; if that would be negative for q = 0, the zero point makes up for it.
    let (mut best, mut least_error) = (None, f32::INFINITY);
    for parts in 1..=u8::MAX {
        let parts = f32::from(parts);
        let place = (parts * shift).round();
        if parts * highest + place.max(0.0) > 255.0 || -place > 255.0 {
            break;
        }
        let error = (parts * shift - place).abs() / parts;
        if error < least_error {
            (best, least_error) = (Some((parts, place)), error);
        }
    }
    let (parts, place) = best?;
    for (byte, &q) in out.iter_mut().zip(q) {
        *byte = (parts * f32::from(q) + place.max(0.0)) as u8;
    }
    Some(Affine { scale: scale / parts, zero: (-place).max(0.0) as u8 })
}

/// 255 steps from the least to the largest weight.
fn range(weights: &[f32; BLOCK], out: &mut [u8]) -> Affine {
    let low = weights.iter().copied().fold(0.0, f32::min);
    let high = weights.iter().copied().fold(0.0, f32::max);
    let scale = if high > low { (high - low) / 255.0 } else { 1.0 };
    let zero = (-low / scale).round().clamp(0.0, 255.0);
    for (byte, weight) in out.iter_mut().zip(weights) {
        *byte = ((weight / scale).round() + zero).clamp(0.0, 255.0) as u8;
    }
    Affine { scale, zero: zero as u8 }
}

/// 127 steps to the largest magnitude on both sides, as Q8_0 does.
pub(super) fn symmetric(weights: &[f32; BLOCK], out: &mut [u8]) -> Affine {
    let largest = weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    for (byte, weight) in out.iter_mut().zip(weights) {
        *byte = ((weight / scale).round().clamp(-127.0, 127.0) + f32::from(SYMMETRIC)) as u8;
    }
    Affine { scale, zero: SYMMETRIC }
}
