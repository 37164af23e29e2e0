//! Activations rounded to 8 bits.

use std::arch::x86_64::*;

use super::BLOCK;

/// 127 steps to the largest magnitude on both sides. If a value is infinite or NaN, so is the scale, and the products show it.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn block(values: &[f32; BLOCK]) -> ([i8; BLOCK], f32) {
    unsafe {
        let eight: [__m256; 4] = std::array::from_fn(|i| _mm256_loadu_ps(values[8 * i..][..8].as_ptr()));
        let sign = _mm256_set1_ps(-0.0);
        // The bits of magnitudes, compared as integers, have the order of the numbers, and NaN is the greatest. A maximum of
        // floats would lose a NaN.
        let magnitudes = eight.map(|eight| _mm256_castps_si256(_mm256_andnot_ps(sign, eight)));
        let pairs = [_mm256_max_epi32(magnitudes[0], magnitudes[1]), _mm256_max_epi32(magnitudes[2], magnitudes[3])];
        let largest = _mm256_max_epi32(pairs[0], pairs[1]);
        let four = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256::<1>(largest));
        let two = _mm_max_epi32(four, _mm_unpackhi_epi64(four, four));
        let largest = _mm_max_epi32(two, _mm_shuffle_epi32::<1>(two));
        let largest = _mm_cvtss_f32(_mm_castsi128_ps(largest));
        let inverse = _mm256_set1_ps(if largest > 0.0 { 127.0 / largest } else { 0.0 });
        let [a, b, c, d] = eight.map(|eight| _mm256_cvtps_epi32(_mm256_mul_ps(eight, inverse)));
        // Packing works on the two halves of a vector apart; the numbers are put back into their order after it.
        let packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        let ordered = _mm256_permutevar8x32_epi32(packed, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
        let mut q = [0; BLOCK];
        _mm256_storeu_si256(q.as_mut_ptr().cast(), ordered);
        (q, largest / 127.0)
    }
}
