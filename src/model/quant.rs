//! The tensor types a GGUF can hold: how long their blocks are, what weights they stand for, and what they become in a
//! matrix of ours. A new type is one line of [`TYPES`] and one way to unpack it.
//!
//! Layouts as in ggml's `ggml-common.h`: blocks of 32 or 256 weights, little-endian.
//!
//! What re-expressing a block in 8 bits costs, the most that a weight moves:
//!
//! | type | |
//! |---|---|
//! | Q8_0, Q4_0, Q5_0, Q3_K, IQ4_NL, IQ4_XS | nothing |
//! | Q4_1, Q4_K | a 34th of the type's own step, when the block's range holds zero |
//! | Q5_1, Q5_K | a 16th of it, likewise |
//! | Q6_K | nothing when the two scales of 32 weights are small multiples of one number, else as floats |
//! | Q2_K | a 510th of the range of 32 weights and zero |
//! | F32, F16, BF16 | a 254th of the largest of 32 weights |

// Their paths are explicit so that this file can be included from elsewhere, to be fuzzed.
#[path = "quant/pack.rs"]
mod pack;
#[cfg(test)]
#[path = "quant/tests.rs"]
mod tests;
#[path = "quant/unpack.rs"]
mod unpack;

use half::{bf16, f16};

use self::unpack::Unpacked;
use crate::{Error, Result};

/// Weights that share one scale in a matrix of ours: the block size of `MatMulNBits`.
pub(super) const BLOCK: usize = 32;
/// Weights of ggml's large blocks, which hold several scales.
const SUPER_BLOCK: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TensorType {
    F32,
    F16,
    Bf16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2K,
    Q3K,
    Q4K,
    Q5K,
    Q6K,
    Iq4Nl,
    Iq4Xs,
}

/// What is fixed of a type.
struct Facts {
    kind: TensorType,
    /// ggml's number of it.
    code: u32,
    name: &'static str,
    /// Weights that a row must be a multiple of.
    granularity: usize,
    /// Bytes that so many weights take.
    bytes: usize,
    /// Whether every block's zero point in 8 bits is [`SYMMETRIC`].
    symmetric: bool,
}

const fn facts(
    kind: TensorType,
    code: u32,
    name: &'static str,
    granularity: usize,
    bytes: usize,
    symmetric: bool,
) -> Facts {
    Facts { kind, code, name, granularity, bytes, symmetric }
}

/// In the order of the enum.
const TYPES: [Facts; 15] = [
    facts(TensorType::F32, 0, "F32", 1, 4, true),
    facts(TensorType::F16, 1, "F16", 1, 2, true),
    facts(TensorType::Bf16, 30, "BF16", 1, 2, true),
    facts(TensorType::Q4_0, 2, "Q4_0", BLOCK, 18, true),
    facts(TensorType::Q4_1, 3, "Q4_1", BLOCK, 20, false),
    facts(TensorType::Q5_0, 6, "Q5_0", BLOCK, 22, true),
    facts(TensorType::Q5_1, 7, "Q5_1", BLOCK, 24, false),
    facts(TensorType::Q8_0, 8, "Q8_0", BLOCK, 34, true),
    facts(TensorType::Q2K, 10, "Q2_K", SUPER_BLOCK, 84, false),
    facts(TensorType::Q3K, 11, "Q3_K", SUPER_BLOCK, 110, true),
    facts(TensorType::Q4K, 12, "Q4_K", SUPER_BLOCK, 144, false),
    facts(TensorType::Q5K, 13, "Q5_K", SUPER_BLOCK, 176, false),
    facts(TensorType::Q6K, 14, "Q6_K", SUPER_BLOCK, 210, true),
    facts(TensorType::Iq4Nl, 20, "IQ4_NL", BLOCK, 18, true),
    facts(TensorType::Iq4Xs, 23, "IQ4_XS", SUPER_BLOCK, 136, true),
];

/// Types that ggml has and this has not, to be named in the refusal.
const UNSUPPORTED: [(u32, &str); 13] = [
    (9, "Q8_1"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (29, "IQ1_M"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
    (40, "NVFP4"),
];

/// Scale and zero point of 32 bytes `q`: weight = scale × (q − zero).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    pub scale: f32,
    pub zero: u8,
}

/// The zero point of symmetric blocks, and `MatMulNBits`'s own default at 8 bits.
pub(super) const SYMMETRIC: u8 = 128;

impl TensorType {
    pub fn all() -> impl Iterator<Item = Self> {
        TYPES.iter().map(|facts| facts.kind)
    }

    /// Reads ggml's number of the type.
    pub fn from_code(code: u32, tensor: &str) -> Result<Self> {
        if let Some(kind) = Self::all().find(|kind| kind.facts().code == code) {
            return Ok(kind);
        }
        let name = UNSUPPORTED.iter().find(|(known, _)| *known == code).map(|(_, name)| format!(" ({name})"));
        let supported: Vec<&str> = TYPES.iter().map(|facts| facts.name).collect();
        Err(Error::model(format!(
            "tensor `{tensor}` is of ggml type {code}{}; supported are {}",
            name.unwrap_or_default(),
            supported.join(", ")
        ))
        .advise("take the Q8_0 or Q4_K_M file of the same model"))
    }

    /// ggml's number of the type.
    pub fn code(self) -> u32 {
        self.facts().code
    }

    fn facts(self) -> &'static Facts {
        &TYPES[self as usize]
    }

    /// Weights that a tensor's row must be a multiple of.
    pub fn granularity(self) -> usize {
        self.facts().granularity
    }

    /// Bytes that `weights` (a multiple of the granularity) take.
    pub fn bytes(self, weights: usize) -> Option<usize> {
        (weights / self.granularity()).checked_mul(self.facts().bytes)
    }

    /// Weights that are re-expressed at once: one block, of 32 for the floats.
    pub fn unit(self) -> usize {
        self.granularity().max(BLOCK)
    }

    /// Bytes that a [`unit`](Self::unit) takes.
    pub fn unit_bytes(self) -> usize {
        self.unit() / self.granularity() * self.facts().bytes
    }

    /// Whether every block's zero point is [`SYMMETRIC`], so that none need be stored.
    pub fn is_symmetric(self) -> bool {
        self.facts().symmetric
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
            Self::Bf16 => {
                for (weight, bytes) in out.iter_mut().zip(raw.chunks_exact(2)) {
                    *weight = bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
                }
            }
            _ => {
                for (weights, block) in out.chunks_exact_mut(self.unit()).zip(raw.chunks_exact(self.unit_bytes())) {
                    Unpacked::of(self, block).write(weights);
                }
            }
        }
    }

    /// Re-expresses one unit in 8 bits: a byte for each weight into `out`, and what each 32 of them mean to `each`.
    pub fn to_8_bits(self, raw: &[u8], out: &mut [u8], mut each: impl FnMut(Affine)) {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => {
                let mut weights = [0.0; BLOCK];
                self.decode(raw, &mut weights);
                each(pack::symmetric(&weights, out));
            }
            _ => {
                let unpacked = Unpacked::of(self, raw);
                for (i, bytes) in out.chunks_exact_mut(BLOCK).enumerate() {
                    each(pack::block(&unpacked, i, self.is_symmetric(), bytes));
                }
            }
        }
    }
}

/// Re-orders a block of Q4_0 for `MatMulNBits` at 4 bits, whose zero point is 8 by itself: neighbours share a byte, the
/// first in its low half. The block's scale.
pub(super) fn q4_0_to_4_bits(block: &[u8], out: &mut [u8]) -> f32 {
    let low = |i: usize| block[2 + i] & 15;
    let high = |i: usize| block[2 + i] >> 4;
    for (i, byte) in out.iter_mut().enumerate() {
        // ggml keeps the first 16 weights in the low halves and the others in the high ones.
        let pair = 2 * i % (BLOCK / 2);
        *byte = if i < BLOCK / 4 { low(pair) | low(pair + 1) << 4 } else { high(pair) | high(pair + 1) << 4 };
    }
    half_at(block, 0)
}

fn half_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}
