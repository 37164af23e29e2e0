//! One row of activations times one row of weights, 64 weights at a time.

use std::arch::x86_64::*;

use super::blocks::{Block, Legacy, Q6K, Q8_0, Q45K};
use super::dots::Dot;
use crate::model::kernel::activations::Row;

/// What wide vectors can do with a kind of blocks: the small ones come in pairs, which takes a quarter less time than one
/// by one. For the others narrow vectors are as fast.
pub(super) trait Dot512: Dot {
    /// As [`Dot::dot`].
    ///
    /// # Safety
    /// The processor has what `Level::Avx512` stands for.
    #[inline(always)]
    unsafe fn dot_512(weights: &[u8], a: Row<'_>) -> f32 {
        // SAFETY: such a processor has AVX2 too.
        unsafe { Self::dot(weights, a) }
    }
}

impl Dot512 for Q8_0 {}
impl<const FIFTH: bool> Dot512 for Q45K<FIFTH> {}
impl Dot512 for Q6K {}

impl<const FIFTH: bool, const MINIMUM: bool> Dot512 for Legacy<FIFTH, MINIMUM> {
    #[inline(always)]
    unsafe fn dot_512(weights: &[u8], a: Row<'_>) -> f32 {
        unsafe {
            let (mut sums, mut taken) = (_mm512_setzero_ps(), _mm512_setzero_ps());
            // Where two blocks have their numbers, each of them twice, and the floats before them.
            let packed = bytes(|i| (Self::BYTES * (i / 32) + Self::PACKED + i % 16) as u8);
            let shifts = words(|i| 4 * (i / 8 % 2) as u16);
            let of_blocks = |at| words(|i| ((Self::BYTES * (i / 8 % 2) + at) / 2) as u16);
            let (scales, minimums, lanes) = (of_blocks(0), of_blocks(2), dwords(|i| i as u32 / 8));
            let numbers = a.q.as_flattened().chunks(64).zip(a.scales.chunks(2)).zip(a.totals.chunks(2));
            for (pair, ((q, a_scales), totals)) in weights.chunks(2 * Self::BYTES).zip(numbers) {
                // Where an odd block is the last, all of the other is 0.
                let (both, q) = (load_some(pair), load_some(q));
                let shifted = _mm512_srlv_epi16(_mm512_permutexvar_epi8(packed, both), shifts);
                let mut w = _mm512_and_si512(shifted, _mm512_set1_epi8(15));
                if FIFTH {
                    let fifths = fifths(pair, Self::FIFTHS) | fifths(pair, Self::BYTES + Self::FIFTHS) << 32;
                    w = _mm512_mask_add_epi8(w, fifths, w, _mm512_set1_epi8(16));
                }
                let products = _mm512_dpbusd_epi32(taken_off::<Self>(q), w, q);
                let floats = |at| _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutexvar_epi16(at, both)));
                let scale = _mm512_mul_ps(floats(scales), _mm512_permutexvar_ps(lanes, load_two(a_scales)));
                sums = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(products), sums);
                if MINIMUM {
                    let totals = _mm512_permutexvar_ps(lanes, load_two(totals));
                    taken = _mm512_fmadd_ps(floats(minimums), totals, taken);
                }
            }
            // What is taken off stands in eight lanes each, and is less than 0 in these blocks.
            _mm512_reduce_add_ps(_mm512_fmadd_ps(_mm512_set1_ps(1.0 / 8.0), taken, sums))
        }
    }
}

/// What the products have too little when 0 is [`Block::ZERO`].
#[inline(always)]
unsafe fn taken_off<B: Block>(q: __m512i) -> __m512i {
    unsafe {
        let none = _mm512_setzero_si512();
        if B::ZERO == 0 {
            return none;
        }
        _mm512_sub_epi32(none, _mm512_dpbusd_epi32(none, _mm512_set1_epi8(B::ZERO as i8), q))
    }
}

/// The fifth bits of the 32 weights of the block that has them at `at`, if there is one.
#[inline(always)]
fn fifths(blocks: &[u8], at: usize) -> u64 {
    blocks.get(at..at + 4).map_or(0, |bits| u32::from_le_bytes([bits[0], bits[1], bits[2], bits[3]]).into())
}

#[inline(always)]
unsafe fn dwords(of: impl Fn(usize) -> u32) -> __m512i {
    let dwords: [u32; 16] = std::array::from_fn(of);
    unsafe { _mm512_loadu_si512(dwords.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn words(of: impl Fn(usize) -> u16) -> __m512i {
    let words: [u16; 32] = std::array::from_fn(of);
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn bytes(of: impl Fn(usize) -> u8) -> __m512i {
    let bytes: [u8; 64] = std::array::from_fn(of);
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The first 64 bytes of `from`, and zeros where it has fewer.
#[inline(always)]
unsafe fn load_some<T: Byte>(from: &[T]) -> __m512i {
    let mask = if from.len() < 64 { (1 << from.len()) - 1 } else { u64::MAX };
    unsafe { _mm512_maskz_loadu_epi8(mask, from.as_ptr().cast()) }
}

/// One byte, signed or not.
trait Byte {}
impl Byte for u8 {}
impl Byte for i8 {}

/// Two floats, or one and 0, before other lanes.
#[inline(always)]
unsafe fn load_two(from: &[f32]) -> __m512 {
    let second = from.get(1).copied().unwrap_or_default();
    unsafe { _mm512_castps128_ps512(_mm_set_ps(0.0, 0.0, second, from[0])) }
}
