//! Vectors of whole numbers and floats, as wide as the processor has them.

use std::arch::x86_64::*;

/// What the products need of a processor. A function of it may only be called where its instructions are there.
pub(super) trait Vector {
    /// Numbers of 32 bits in a vector.
    const LANES: usize;
    type Ints: Copy;
    type Floats: Copy;

    /// In each lane the same number, multiplied by 2 to the power of `SHIFT`.
    unsafe fn repeat<const SHIFT: u32>(number: i32) -> Self::Ints;
    /// Adds to each lane the four products of its bytes in `q` and those in `a`, which is the same for all lanes. Unless
    /// `WIDE`, no `q` is above 127.
    unsafe fn add_products<const WIDE: bool>(sum: Self::Ints, q: Self::Ints, a: i32) -> Self::Ints;
    unsafe fn load_bytes(from: &[[u8; 4]]) -> Self::Ints;
    unsafe fn load(from: &[f32]) -> Self::Floats;
    unsafe fn store(vector: Self::Floats, to: &mut [f32]);
    unsafe fn to_floats(ints: Self::Ints) -> Self::Floats;
    unsafe fn times(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a × b + c.
    unsafe fn times_plus(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// a × b + c, with the same `a` for all lanes.
    unsafe fn one_times_plus(a: f32, b: Self::Floats, c: Self::Floats) -> Self::Floats;
}

pub(super) struct Avx2;
pub(super) struct Avx512;

impl Vector for Avx512 {
    const LANES: usize = 16;
    type Ints = __m512i;
    type Floats = __m512;

    #[inline(always)]
    unsafe fn repeat<const SHIFT: u32>(number: i32) -> __m512i {
        unsafe { _mm512_slli_epi32::<SHIFT>(_mm512_set1_epi32(number)) }
    }
    #[inline(always)]
    unsafe fn add_products<const WIDE: bool>(sum: __m512i, q: __m512i, a: i32) -> __m512i {
        unsafe { _mm512_dpbusd_epi32(sum, q, _mm512_set1_epi32(a)) }
    }
    #[inline(always)]
    unsafe fn load_bytes(from: &[[u8; 4]]) -> __m512i {
        let from = &from[..16];
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn load(from: &[f32]) -> __m512 {
        let from = &from[..16];
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    unsafe fn store(vector: __m512, to: &mut [f32]) {
        let to = &mut to[..16];
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), vector) }
    }
    #[inline(always)]
    unsafe fn to_floats(ints: __m512i) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(ints) }
    }
    #[inline(always)]
    unsafe fn times(a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn times_plus(a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    unsafe fn one_times_plus(a: f32, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(_mm512_set1_ps(a), b, c) }
    }
}

impl Vector for Avx2 {
    const LANES: usize = 8;
    type Ints = __m256i;
    type Floats = __m256;

    #[inline(always)]
    unsafe fn repeat<const SHIFT: u32>(number: i32) -> __m256i {
        unsafe { _mm256_set1_epi32(number << SHIFT) }
    }
    #[inline(always)]
    unsafe fn add_products<const WIDE: bool>(sum: __m256i, q: __m256i, a: i32) -> __m256i {
        unsafe {
            let (a, ones) = (_mm256_set1_epi32(a), _mm256_set1_epi16(1));
            let products = |q| _mm256_madd_epi16(_mm256_maddubs_epi16(q, a), ones);
            if !WIDE {
                return _mm256_add_epi32(sum, products(q));
            }
            // Two products of 8 bits each do not fit into 16: without its last bit, and that bit.
            let half = _mm256_and_si256(_mm256_srli_epi16::<1>(q), _mm256_set1_epi8(127));
            let last = _mm256_and_si256(q, _mm256_set1_epi8(1));
            let sum = _mm256_add_epi32(sum, _mm256_slli_epi32::<1>(products(half)));
            _mm256_add_epi32(sum, products(last))
        }
    }
    #[inline(always)]
    unsafe fn load_bytes(from: &[[u8; 4]]) -> __m256i {
        let from = &from[..8];
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn load(from: &[f32]) -> __m256 {
        let from = &from[..8];
        unsafe { _mm256_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    unsafe fn store(vector: __m256, to: &mut [f32]) {
        let to = &mut to[..8];
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), vector) }
    }
    #[inline(always)]
    unsafe fn to_floats(ints: __m256i) -> __m256 {
        unsafe { _mm256_cvtepi32_ps(ints) }
    }
    #[inline(always)]
    unsafe fn times(a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn times_plus(a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    unsafe fn one_times_plus(a: f32, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(_mm256_set1_ps(a), b, c) }
    }
}
