//! The kinds of blocks, taken apart.
//!
//! Layouts as in ggml's `ggml-common.h`; [`quant`](crate::model::quant) has the same in plain Rust, by which the tests
//! compare.

use std::arch::x86_64::*;

use super::BLOCK;
use crate::model::kernel::activations::RUN;

/// A kind of blocks: weight = scale × (q − [`ZERO`](Self::ZERO)) − minimum.
pub(super) trait Block {
    /// Weights of a block, and the bytes they take.
    const WEIGHTS: usize;
    const BYTES: usize;
    /// What stands for 0 among the numbers, which are not negative.
    const ZERO: i32;
    /// Whether each half of 32 weights has a scale of its own.
    const HALVES: bool;
    /// Whether something is taken off each weight.
    const MINIMUM: bool;

    /// Hands over the block's numbers, 32 bytes at a time, with which 32 they are.
    ///
    /// # Safety
    /// The processor has AVX2.
    unsafe fn numbers(block: &[u8], each: impl FnMut(usize, __m256i));

    /// What the numbers mean.
    ///
    /// # Safety
    /// The processor has AVX2 and F16C.
    unsafe fn grid(block: &[u8]) -> Grid;
}

/// A scale for each [`RUN`] of a block, and for each two runs what is taken off.
pub(super) struct Grid {
    pub scales: [f32; 256 / RUN],
    pub minimums: [f32; 256 / BLOCK],
}

/// Q4_0, Q4_1, Q5_0 and Q5_1: 32 weights of 4 bits, or with a `FIFTH`, and with or without a `MINIMUM`.
pub(super) struct Legacy<const FIFTH: bool, const MINIMUM: bool>;

impl<const FIFTH: bool, const MINIMUM: bool> Legacy<FIFTH, MINIMUM> {
    /// Where in a block the fifth bits begin, and the others.
    pub const FIFTHS: usize = if MINIMUM { 4 } else { 2 };
    pub const PACKED: usize = Self::FIFTHS + if FIFTH { 4 } else { 0 };
}

impl<const FIFTH: bool, const MINIMUM: bool> Block for Legacy<FIFTH, MINIMUM> {
    const WEIGHTS: usize = 32;
    const BYTES: usize = Self::PACKED + 16;
    const ZERO: i32 = if MINIMUM {
        0
    } else if FIFTH {
        16
    } else {
        8
    };
    const HALVES: bool = false;
    const MINIMUM: bool = MINIMUM;

    #[inline(always)]
    unsafe fn numbers(block: &[u8], mut each: impl FnMut(usize, __m256i)) {
        unsafe {
            let packed = load_16(&block[Self::PACKED..]);
            let both = _mm256_set_m128i(_mm_srli_epi16::<4>(packed), packed);
            let mut q = _mm256_and_si256(both, _mm256_set1_epi8(15));
            if FIFTH {
                let bits = [0, 1, 2, 3].map(|i| block[Self::FIFTHS + i]);
                let fifths = spread(i32::from_le_bytes(bits));
                q = _mm256_or_si256(q, _mm256_and_si256(fifths, _mm256_set1_epi8(16)));
            }
            each(0, q);
        }
    }

    #[inline(always)]
    unsafe fn grid(block: &[u8]) -> Grid {
        unsafe {
            let minimum = if MINIMUM { -half(block, 2) } else { 0.0 };
            Grid { scales: [half(block, 0); _], minimums: [minimum; _] }
        }
    }
}

/// Q8_0: 32 weights of 8 bits.
pub(super) struct Q8_0;

impl Block for Q8_0 {
    const WEIGHTS: usize = 32;
    const BYTES: usize = 34;
    const ZERO: i32 = 128;
    const HALVES: bool = false;
    const MINIMUM: bool = false;

    #[inline(always)]
    unsafe fn numbers(block: &[u8], mut each: impl FnMut(usize, __m256i)) {
        unsafe { each(0, _mm256_xor_si256(load_32(&block[2..]), _mm256_set1_epi8(-128))) }
    }

    #[inline(always)]
    unsafe fn grid(block: &[u8]) -> Grid {
        unsafe { Grid { scales: [half(block, 0); _], minimums: [0.0; _] } }
    }
}

/// Q4_K, or Q5_K with a `FIFTH` bit: 256 weights, each 32 of them with a scale and a minimum of 6 bits.
pub(super) struct Q45K<const FIFTH: bool>;

impl<const FIFTH: bool> Block for Q45K<FIFTH> {
    const WEIGHTS: usize = 256;
    const BYTES: usize = if FIFTH { 176 } else { 144 };
    const ZERO: i32 = 0;
    const HALVES: bool = false;
    const MINIMUM: bool = true;

    #[inline(always)]
    unsafe fn numbers(block: &[u8], mut each: impl FnMut(usize, __m256i)) {
        unsafe {
            let nibble = _mm256_set1_epi8(15);
            let (high, packed) = block[16..].split_at(if FIFTH { 32 } else { 0 });
            let mut high = if FIFTH { load_32(high) } else { nibble };
            for group in 0..4 {
                let packed = load_32(&packed[32 * group..]);
                let mut low = _mm256_and_si256(packed, nibble);
                let mut upper = _mm256_and_si256(_mm256_srli_epi16::<4>(packed), nibble);
                if FIFTH {
                    let (one, two) = (_mm256_set1_epi8(1), _mm256_set1_epi8(2));
                    low = _mm256_or_si256(low, _mm256_slli_epi16::<4>(_mm256_and_si256(high, one)));
                    upper = _mm256_or_si256(upper, _mm256_slli_epi16::<3>(_mm256_and_si256(high, two)));
                    high = _mm256_srli_epi16::<2>(high);
                }
                each(2 * group, low);
                each(2 * group + 1, upper);
            }
        }
    }

    #[inline(always)]
    unsafe fn grid(block: &[u8]) -> Grid {
        unsafe {
            let [scales, minimums] = q45k_grid(block).map(|vector| store_8(vector));
            Grid { scales: std::array::from_fn(|run| scales[run / 2]), minimums }
        }
    }
}

/// The 8 scales and 8 minimums of Q4_K and Q5_K, which are of 6 bits times one of two floats.
#[inline(always)]
pub(super) unsafe fn q45k_grid(block: &[u8]) -> [__m256; 2] {
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| block[4 + at + i]));
    let (first, second, third) = (word(0), word(4), word(8));
    let (six, four, two) = (0x3f3f_3f3f, 0x0f0f_0f0f, 0x0303_0303);
    let scale_numbers = [first & six, third & four | (first >> 6 & two) << 4];
    let minimum_numbers = [second & six, third >> 4 & four | (second >> 6 & two) << 4];
    let floats = |[low, high]: [u32; 2]| unsafe {
        let bytes = u64::from(low) | u64::from(high) << 32;
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes.cast_signed())))
    };
    unsafe {
        [
            _mm256_mul_ps(_mm256_set1_ps(half(block, 0)), floats(scale_numbers)),
            _mm256_mul_ps(_mm256_set1_ps(half(block, 2)), floats(minimum_numbers)),
        ]
    }
}

/// Q6_K: 256 weights of 6 bits, each 16 of them with a scale of 8 bits.
pub(super) struct Q6K;

impl Block for Q6K {
    const WEIGHTS: usize = 256;
    const BYTES: usize = 210;
    const ZERO: i32 = 32;
    const HALVES: bool = true;
    const MINIMUM: bool = false;

    #[inline(always)]
    unsafe fn numbers(block: &[u8], mut each: impl FnMut(usize, __m256i)) {
        unsafe {
            let (nibble, upper) = (_mm256_set1_epi8(15), _mm256_set1_epi8(48));
            for group in 0..2 {
                let packed = [load_32(&block[64 * group..]), load_32(&block[64 * group + 32..])];
                let high = load_32(&block[128 + 32 * group..]);
                let highs =
                    [_mm256_slli_epi16::<4>(high), _mm256_slli_epi16::<2>(high), high, _mm256_srli_epi16::<2>(high)];
                for (i, high) in highs.into_iter().enumerate() {
                    let packed = if i < 2 { packed[i] } else { _mm256_srli_epi16::<4>(packed[i - 2]) };
                    let q = _mm256_or_si256(_mm256_and_si256(packed, nibble), _mm256_and_si256(high, upper));
                    each(4 * group + i, q);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn grid(block: &[u8]) -> Grid {
        unsafe {
            let [first, second] = q6k_scales(block).map(|vector| store_8(vector));
            Grid { scales: std::array::from_fn(|run| [first, second][run / 8][run % 8]), minimums: [0.0; _] }
        }
    }
}

/// The 16 scales of Q6_K.
#[inline(always)]
pub(super) unsafe fn q6k_scales(block: &[u8]) -> [__m256; 2] {
    unsafe {
        let scale = _mm256_set1_ps(half(block, 208));
        let times = load_16(&block[192..]);
        [times, _mm_unpackhi_epi64(times, times)]
            .map(|times| _mm256_mul_ps(scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(times))))
    }
}

/// A byte of ones for each bit that is set.
#[inline(always)]
unsafe fn spread(bits: i32) -> __m256i {
    unsafe {
        let bytes = _mm256_set_epi64x(0x0303_0303_0303_0303, 0x0202_0202_0202_0202, 0x0101_0101_0101_0101, 0);
        let each = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
        let spread = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), bytes), each);
        _mm256_cmpeq_epi8(spread, each)
    }
}

/// The float of 16 bits at `at`.
#[inline(always)]
pub(super) unsafe fn half(block: &[u8], at: usize) -> f32 {
    let bits = u16::from_le_bytes([block[at], block[at + 1]]);
    unsafe { _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(i32::from(bits)))) }
}

#[inline(always)]
pub(super) unsafe fn load_32(from: &[u8]) -> __m256i {
    let from = &from[..32];
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn load_16(from: &[u8]) -> __m128i {
    let from = &from[..16];
    unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
}

#[inline(always)]
pub(super) unsafe fn store_8(vector: __m256) -> [f32; 8] {
    let mut to = [0.0; 8];
    unsafe { _mm256_storeu_ps(to.as_mut_ptr(), vector) };
    to
}
