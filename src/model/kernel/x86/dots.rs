//! One row of activations times one row of weights, read once and used as they come.

use std::arch::x86_64::*;

use super::BLOCK;
use super::blocks::{Block, Legacy, Q6K, Q8_0, Q45K, half, load_32, q6k_scales, q45k_grid, store_8};
use crate::model::kernel::activations::Row;

/// Blocks of a kind that a row of weights can be multiplied with.
pub(super) trait Dot: Block {
    /// The sum of the products of all weights of a row with a row of activations.
    ///
    /// # Safety
    /// The processor has AVX2, FMA and F16C.
    unsafe fn dot(weights: &[u8], a: Row<'_>) -> f32;
}

impl<const FIFTH: bool, const MINIMUM: bool> Dot for Legacy<FIFTH, MINIMUM> {
    #[inline(always)]
    unsafe fn dot(weights: &[u8], a: Row<'_>) -> f32 {
        unsafe {
            // In turn into one of two sums, which do not wait for each other.
            let (mut sums, mut taken) = ([_mm256_setzero_ps(); 2], [0.0; 2]);
            let numbers = a.q.iter().zip(a.scales).zip(a.sums).zip(a.totals);
            for (block, (((q, a_scale), of_runs), total)) in weights.chunks_exact(Self::BYTES).zip(numbers) {
                let mut products = _mm256_setzero_si256();
                Self::numbers(block, |_, w| products = add_products(w, q));
                if MINIMUM {
                    taken = [taken[1], taken[0] - half(block, 2) * total];
                } else {
                    // The sums of both runs in four lanes each make four times what all 32 products have too much for
                    // each 1 that stands for 0.
                    let of_runs = i64::from(of_runs[0]) & 0xffff_ffff | i64::from(of_runs[1]) << 32;
                    let of_runs = _mm256_set1_epi64x(of_runs);
                    let less = if FIFTH { _mm256_slli_epi32::<2>(of_runs) } else { _mm256_slli_epi32::<1>(of_runs) };
                    products = _mm256_sub_epi32(products, less);
                }
                let scale = _mm256_set1_ps(half(block, 0) * a_scale);
                sums = [sums[1], _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(products), sums[0])];
            }
            total(_mm256_add_ps(sums[0], sums[1])) - (taken[0] + taken[1])
        }
    }
}

impl Dot for Q8_0 {
    #[inline(always)]
    unsafe fn dot(weights: &[u8], a: Row<'_>) -> f32 {
        unsafe {
            let mut sums = [_mm256_setzero_ps(); 2];
            for (block, (q, a_scale)) in weights.chunks_exact(Self::BYTES).zip(a.q.iter().zip(a.scales)) {
                let (w, q) = (load_32(&block[2..]), load_q(q));
                // The sign of a weight goes to the activation, since only one side may be negative.
                let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(q, w));
                let products = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
                let scale = _mm256_set1_ps(half(block, 0) * a_scale);
                sums = [sums[1], _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(products), sums[0])];
            }
            total(_mm256_add_ps(sums[0], sums[1]))
        }
    }
}

impl<const FIFTH: bool> Dot for Q45K<FIFTH> {
    #[inline(always)]
    unsafe fn dot(weights: &[u8], a: Row<'_>) -> f32 {
        unsafe {
            let (mut sums, mut taken) = ([_mm256_setzero_ps(); 2], _mm256_setzero_ps());
            let (scales, totals) = (a.scales.as_chunks::<8>().0, a.totals.as_chunks::<8>().0);
            let parts = a.q.chunks_exact(8).zip(scales).zip(totals);
            for (block, ((q, scales), totals)) in weights.chunks_exact(Self::BYTES).zip(parts) {
                let [scale, minimum] = q45k_grid(block);
                taken = _mm256_fmadd_ps(minimum, load_8(totals), taken);
                let scale = store_8(_mm256_mul_ps(scale, load_8(scales)));
                Self::numbers(block, |i, w| {
                    let products = _mm256_cvtepi32_ps(add_products(w, &q[i]));
                    sums[i % 2] = _mm256_fmadd_ps(_mm256_set1_ps(scale[i]), products, sums[i % 2]);
                });
            }
            total(_mm256_sub_ps(_mm256_add_ps(sums[0], sums[1]), taken))
        }
    }
}

impl Dot for Q6K {
    #[inline(always)]
    unsafe fn dot(weights: &[u8], a: Row<'_>) -> f32 {
        unsafe {
            let (mut sums, mut taken) = ([_mm256_setzero_ps(); 2], _mm256_setzero_ps());
            let (scales, of_runs) = (a.scales.as_chunks::<8>().0, a.sums.as_chunks::<8>().0);
            let parts = a.q.chunks_exact(8).zip(scales).zip(of_runs);
            for (block, ((q, scales), of_runs)) in weights.chunks_exact(Self::BYTES).zip(parts) {
                let mut scale = [[0.0; 8]; 2];
                let scales = load_8(scales);
                let lanes = [_mm256_set_epi32(3, 3, 2, 2, 1, 1, 0, 0), _mm256_set_epi32(7, 7, 6, 6, 5, 5, 4, 4)];
                for (half, of_half) in q6k_scales(block).into_iter().enumerate() {
                    let of_half = _mm256_mul_ps(of_half, _mm256_permutevar8x32_ps(scales, lanes[half]));
                    let of_runs = _mm256_loadu_si256(of_runs[4 * half..][..4].as_ptr().cast());
                    taken = _mm256_fmadd_ps(of_half, _mm256_cvtepi32_ps(of_runs), taken);
                    scale[half] = store_8(of_half);
                }
                Self::numbers(block, |i, w| {
                    let products = _mm256_cvtepi32_ps(add_products(w, &q[i]));
                    let [first, second] = [0, 1].map(|half| _mm_set1_ps(scale[i / 4][2 * (i % 4) + half]));
                    sums[i % 2] = _mm256_fmadd_ps(_mm256_set_m128(second, first), products, sums[i % 2]);
                });
            }
            let taken = _mm256_mul_ps(_mm256_set1_ps(Self::ZERO as f32), taken);
            total(_mm256_sub_ps(_mm256_add_ps(sums[0], sums[1]), taken))
        }
    }
}

/// Sums of four products each. No `w` is negative, and none above 127, so that two products fit into 16 bits.
#[inline(always)]
unsafe fn add_products(w: __m256i, q: &[i8; BLOCK]) -> __m256i {
    unsafe { _mm256_madd_epi16(_mm256_maddubs_epi16(w, load_q(q)), _mm256_set1_epi16(1)) }
}

#[inline(always)]
unsafe fn total(sums: __m256) -> f32 {
    unsafe {
        let four = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps::<1>(sums));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

#[inline(always)]
unsafe fn load_q(from: &[i8; BLOCK]) -> __m256i {
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn load_8(from: &[f32; 8]) -> __m256 {
    unsafe { _mm256_loadu_ps(from.as_ptr()) }
}
