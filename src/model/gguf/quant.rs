//! The tensor types a GGUF can hold, and what becomes of their blocks. A new type is one variant and its two decoders.
//!
//! Layouts as in ggml's `ggml-common.h`: blocks of 32 weights, little-endian, half-precision scales first.

use half::f16;

use crate::{Error, Result};

/// Weights that share one scale: ggml's block, and the block size of our `MatMulNBits`.
pub(super) const BLOCK: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TensorType {
    F32,
    F16,
    Q4_0,
    Q4_1,
    Q8_0,
}

/// Scale and zero point of 32 bytes `q`: weight = scale × (q − zero).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    pub scale: f32,
    pub zero: u8,
}

/// The zero point of symmetric blocks, and `MatMulNBits`'s own default at 8 bits.
pub(super) const SYMMETRIC: u8 = 128;

impl TensorType {
    /// Reads ggml's number of the type.
    pub fn from_code(code: u32, tensor: &str) -> Result<Self> {
        match code {
            0 => Ok(Self::F32),
            1 => Ok(Self::F16),
            2 => Ok(Self::Q4_0),
            3 => Ok(Self::Q4_1),
            8 => Ok(Self::Q8_0),
            _ => Err(Error::model(format!(
                "tensor `{tensor}` is of ggml type {code}; supported are F32, F16, Q8_0, Q4_0 and Q4_1"
            ))
            .advise("take the Q8_0 file of the same model")),
        }
    }

    /// Bytes that 32 weights take.
    pub fn block_bytes(self) -> usize {
        match self {
            Self::F32 => BLOCK * 4,
            Self::F16 => BLOCK * 2,
            Self::Q4_0 => 2 + BLOCK / 2,
            Self::Q4_1 => 4 + BLOCK / 2,
            Self::Q8_0 => 2 + BLOCK,
        }
    }

    /// Weights that a tensor's row must be a multiple of.
    pub fn granularity(self) -> usize {
        match self {
            Self::F32 | Self::F16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q8_0 => BLOCK,
        }
    }

    /// Bytes that `weights` (a multiple of the granularity) take.
    pub fn bytes(self, weights: usize) -> Option<usize> {
        match self {
            Self::F32 => weights.checked_mul(4),
            Self::F16 => weights.checked_mul(2),
            Self::Q4_0 | Self::Q4_1 | Self::Q8_0 => (weights / BLOCK).checked_mul(self.block_bytes()),
        }
    }

    /// Whether every block's zero point is [`SYMMETRIC`], so that none need be stored.
    pub fn is_symmetric(self) -> bool {
        self != Self::Q4_1
    }

    /// Decodes `raw` to `out.len()` weights; the lengths agree by [`bytes`](Self::bytes).
    pub fn decode(self, raw: &[u8], out: &mut [f32]) {
        match self {
            Self::F32 => {
                for (weight, bytes) in out.iter_mut().zip(raw.chunks_exact(4)) {
                    *weight = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
            }
            Self::F16 => {
                for (weight, bytes) in out.iter_mut().zip(raw.chunks_exact(2)) {
                    *weight = half_at(bytes, 0);
                }
            }
            Self::Q4_0 | Self::Q4_1 | Self::Q8_0 => {
                for (weights, block) in out.chunks_exact_mut(BLOCK).zip(raw.chunks_exact(self.block_bytes())) {
                    self.decode_block(block, weights);
                }
            }
        }
    }

    fn decode_block(self, block: &[u8], out: &mut [f32]) {
        let scale = half_at(block, 0);
        match self {
            Self::Q4_0 => nibbles(&block[2..], |i, q| out[i] = scale * (f32::from(q) - 8.0)),
            Self::Q4_1 => {
                let least = half_at(block, 2);
                nibbles(&block[4..], |i, q| out[i] = scale * f32::from(q) + least);
            }
            Self::Q8_0 => {
                for (weight, &q) in out.iter_mut().zip(&block[2..]) {
                    *weight = scale * f32::from(q.cast_signed());
                }
            }
            Self::F32 | Self::F16 => self.decode(block, out),
        }
    }

    /// Re-expresses one block in 8 bits. Q8_0 and Q4_0 come through exactly; Q4_1 within 1/32 of its own step; the
    /// floats are rounded to 255 steps over their largest magnitude, as Q8_0 does.
    pub fn to_8_bits(self, block: &[u8], out: &mut [u8]) -> Affine {
        match self {
            Self::Q8_0 => {
                for (byte, &q) in out.iter_mut().zip(&block[2..]) {
                    *byte = q.wrapping_add(SYMMETRIC);
                }
                Affine { scale: half_at(block, 0), zero: SYMMETRIC }
            }
            Self::Q4_0 => {
                nibbles(&block[2..], |i, q| out[i] = q + (SYMMETRIC - 8));
                Affine { scale: half_at(block, 0), zero: SYMMETRIC }
            }
            Self::Q4_1 => q4_1_to_8_bits(block, out),
            Self::F32 | Self::F16 => {
                let mut weights = [0.0; BLOCK];
                self.decode(block, &mut weights);
                symmetric(&weights, out)
            }
        }
    }
}

/// Q4_1 is `scale × q + least`: with sixteenths of its step the zero point −16 × least / scale is nearly whole, and
/// every weight of the block stays on the 8-bit grid. Blocks whose zero lies outside the byte are fitted to their range.
fn q4_1_to_8_bits(block: &[u8], out: &mut [u8]) -> Affine {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    let zero = (-16.0 * least / scale).round();
    if scale > 0.0 && (0.0..=255.0).contains(&zero) {
        nibbles(&block[4..], |i, q| out[i] = q * 16);
        return Affine { scale: scale / 16.0, zero: zero as u8 };
    }
    let mut weights = [0.0; BLOCK];
    TensorType::Q4_1.decode_block(block, &mut weights);
    let low = weights.iter().copied().fold(0.0, f32::min);
    let high = weights.iter().copied().fold(0.0, f32::max);
    let scale = if high > low { (high - low) / 255.0 } else { 1.0 };
    let zero = (-low / scale).round().clamp(0.0, 255.0);
    for (byte, weight) in out.iter_mut().zip(weights) {
        *byte = ((weight / scale).round() + zero).clamp(0.0, 255.0) as u8;
    }
    Affine { scale, zero: zero as u8 }
}

fn symmetric(weights: &[f32; BLOCK], out: &mut [u8]) -> Affine {
    let largest = weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    for (byte, weight) in out.iter_mut().zip(weights) {
        *byte = ((weight / scale).round().clamp(-127.0, 127.0) + f32::from(SYMMETRIC)) as u8;
    }
    Affine { scale, zero: SYMMETRIC }
}

fn half_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

/// The low nibbles are the block's first half, the high ones its second.
fn nibbles(packed: &[u8], mut each: impl FnMut(usize, u8)) {
    for (i, byte) in packed.iter().enumerate() {
        each(i, byte & 15);
        each(i + BLOCK / 2, byte >> 4);
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;

    const ALL: [TensorType; 5] =
        [TensorType::F32, TensorType::F16, TensorType::Q4_0, TensorType::Q4_1, TensorType::Q8_0];

    /// A block with sane scales and random weights.
    fn block(kind: TensorType, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let unit = |rng: &mut ChaCha8Rng| rng.next_u32() as f32 / u32::MAX as f32;
        let mut bytes = vec![0; kind.block_bytes()];
        rng.fill_bytes(&mut bytes);
        let scale = f16::from_f32(0.01 + unit(rng) * 0.05);
        match kind {
            TensorType::F32 => {
                bytes = (0..BLOCK).flat_map(|_| (unit(rng) - 0.5).to_le_bytes()).collect();
            }
            TensorType::F16 => {
                bytes = (0..BLOCK).flat_map(|_| f16::from_f32(unit(rng) - 0.5).to_le_bytes()).collect();
            }
            TensorType::Q4_1 => {
                bytes[..2].copy_from_slice(&scale.to_le_bytes());
                let least = f16::from_f32(-scale.to_f32() * 15.0 * (unit(rng) * 1.4 - 0.2));
                bytes[2..4].copy_from_slice(&least.to_le_bytes());
            }
            TensorType::Q4_0 | TensorType::Q8_0 => bytes[..2].copy_from_slice(&scale.to_le_bytes()),
        }
        bytes
    }

    #[test]
    fn eight_bits_say_the_same_as_the_plain_decoding() {
        let seed = 7;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for kind in ALL {
            for round in 0..200 {
                let bytes = block(kind, &mut rng);
                let (mut exact, mut quantised) = ([0.0; BLOCK], [0; BLOCK]);
                kind.decode(&bytes, &mut exact);
                let Affine { scale, zero } = kind.to_8_bits(&bytes, &mut quantised);
                assert!(!kind.is_symmetric() || zero == SYMMETRIC);
                let allowed = match kind {
                    TensorType::Q8_0 | TensorType::Q4_0 => 0.0,
                    // Half a step of rounding the zero point, or the weight itself.
                    _ => scale * 0.5001,
                };
                for (weight, q) in exact.iter().zip(quantised) {
                    let ours = scale * (f32::from(q) - f32::from(zero));
                    assert!(
                        (weight - ours).abs() <= allowed.max(1e-7),
                        "{kind:?} seed {seed} round {round}: {weight} became {ours}"
                    );
                }
            }
        }
    }

    #[test]
    fn layouts_are_ggmls() {
        let one = f16::from_f32(1.0).to_le_bytes();
        let mut q4_0 = one.to_vec();
        q4_0.extend([0x9a; 16]);
        let mut out = [0.0; BLOCK];
        TensorType::Q4_0.decode(&q4_0, &mut out);
        assert_eq!((out[0], out[15], out[16], out[31]), (2.0, 2.0, 1.0, 1.0));
        let mut q8_0 = one.to_vec();
        q8_0.extend((0..32).map(|i: i8| (i - 16).cast_unsigned()));
        TensorType::Q8_0.decode(&q8_0, &mut out);
        assert_eq!((out[0], out[31]), (-16.0, 15.0));
    }

    #[test]
    fn a_flat_block_survives() {
        // Scale 0: every weight equals the minimum.
        let mut bytes = f16::from_f32(0.0).to_le_bytes().to_vec();
        bytes.extend(f16::from_f32(-0.5).to_le_bytes());
        bytes.extend([0xff; 16]);
        let mut out = [0; BLOCK];
        let Affine { scale, zero } = TensorType::Q4_1.to_8_bits(&bytes, &mut out);
        for q in out {
            let weight = scale * (f32::from(q) - f32::from(zero));
            assert!((weight + 0.5).abs() < 1e-3, "{weight}");
        }
    }

    #[test]
    fn unknown_types_name_the_supported_ones() {
        let error = TensorType::from_code(12, "blk.0.attn_q.weight").unwrap_err();
        assert!(error.to_string().contains("ggml type 12") && error.to_string().contains("Q8_0"), "{error}");
    }
}
